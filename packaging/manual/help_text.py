"""Reads what a program's --help says: the one source of manual pages and completion.

The form is CLI11's: a description, "Usage: ...", then groups of two columns, the second of which begins at column 30, on a
line of its own where the first is longer; what follows is the program's own words on its commands.
"""

import re
import subprocess
from dataclasses import dataclass, field

COLUMN = 30
GROUPS = ("Positionals:", "Options:", "Subcommands:")
COMMANDS = "Commands:"


@dataclass
class Argument:
    """An option or a positional."""

    names: list
    help: str
    kind: str = ""        # TEXT, UINT, ...; empty: a flag
    choices: list = field(default_factory=list)
    range: str = ""
    default: str = ""
    required: bool = False
    repeats: bool = False
    excludes: list = field(default_factory=list)
    needs: list = field(default_factory=list)

    @property
    def name(self):
        """The longest name."""
        return max(self.names, key=len)


@dataclass
class Command:
    """A program, or one of its subcommands."""

    name: str
    about: str = ""
    usage: str = ""
    positionals: list = field(default_factory=list)
    options: list = field(default_factory=list)
    subcommands: list = field(default_factory=list)   # of Command
    words: list = field(default_factory=list)         # of (words, help): commands that are words, as eddyctl's
    kinds: list = field(default_factory=list)         # of (word, help): what stands for KIND in them
    notes: list = field(default_factory=list)         # lines that stand below all

    def option(self, name):
        """The option of this name; None if there is none."""
        return next((option for option in self.options if name in option.names), None)


def columns(lines):
    """Pairs of first and second column."""
    pairs = []
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith(" " * COLUMN):
            if not pairs[-1][1]:
                pairs[-1] = (pairs[-1][0], line.strip())
        elif below.startswith(" " * COLUMN) or line[COLUMN - 1:COLUMN] != " ":
            pairs.append((line.strip(), ""))
        else:
            pairs.append((line[:COLUMN].strip(), line[COLUMN:].strip()))
    return pairs


def take(text, pattern):
    """The match of a pattern's first group, or "", and the text without the match."""
    found = re.search(pattern, text)
    return (found.group(1), text[:found.start()] + text[found.end():]) if found else ("", text)


def argument(first, help_text):
    """Of "--jobs UINT:INT in [1 - 1024] Excludes: --real" or "experiment TEXT REQUIRED"."""
    rest = first
    excludes, rest = take(rest, r" Excludes:((?: (?!Needs)\S+)+)")
    needs, rest = take(rest, r" Needs:((?: \S+)+)")
    required, rest = take(rest, r" (REQUIRED)")
    repeats, rest = take(rest, r" (\.\.\.)")
    choices, rest = take(rest, r":\{([^}]*)\}")
    limits, rest = take(rest, r":\w+ in \[([^\]]*)\]")
    names, _, rest = rest.partition(" ")
    kind, _, default = rest.strip().partition("=")
    return Argument(names=[re.sub(r"\{.*\}", "", name).lstrip("!") for name in names.split(",")], help=help_text,
                    kind=kind.strip(), choices=choices.split(",") if choices else [], range=limits, default=default.strip(),
                    required=bool(required), repeats=bool(repeats), excludes=excludes.split(), needs=needs.split())


def own_words(lines):
    """Commands that a program describes itself below "Commands:", what KIND is in them, and the other lines."""
    words, notes = [], []
    kinds = []
    inside = False
    longer = ""  # a command whose help is on the line below it
    for line in lines:
        first, second = line[:COLUMN], line[COLUMN:]
        if line.strip() == COMMANDS:
            inside = True
        elif longer and not first.strip():
            words.append((longer, second.strip()))
            longer = ""
        elif inside and re.match(r"  \S", line) and len(line) > COLUMN - 1 and ":" not in line:
            if first.endswith(" "):
                words.append((first.strip(), second.strip()))
            else:
                longer = line.strip()
        elif inside and first.startswith("  ") and first.endswith(" ") and second.strip():
            (kinds if first.startswith("   ") else words).append((first.strip(), second.strip()))
        elif inside and line.startswith("  "):
            notes.append(line.strip())
            words += [(phrase.strip(), "") for phrase in line.partition(":")[0].split(",") if phrase.split()[-1:] == ["KIND"]]
        else:
            inside = inside and not line.strip()
            notes.append(line.strip())
    return words, kinds, notes


def parse(name, text):
    """A command from its help; subcommands have their names and descriptions only."""
    lines = text.rstrip().splitlines()
    command = Command(name=name)
    group, collected = None, {}
    tail = []
    for line in lines:
        if line.startswith("Usage: "):
            command.usage = line[len("Usage: "):]
            group = ""
        elif line in GROUPS:
            group = line
            collected[group] = []
        elif group is None:
            command.about = f"{command.about} {line}".strip()
        elif group and line.startswith("  "):
            collected[group].append(line)
        elif line.strip() or tail:
            group = ""
            tail.append(line)
    command.positionals = [argument(*pair) for pair in columns(collected.get("Positionals:", []))]
    command.options = [argument(*pair) for pair in columns(collected.get("Options:", []))]
    command.subcommands = [Command(name=first, about=second) for first, second in columns(collected.get("Subcommands:", []))]
    command.words, command.kinds, command.notes = own_words(tail)
    return command


def read(program, runner=()):
    """A program and all its subcommands. `runner`: what runs programs of another processor."""
    def ask(*words):
        return subprocess.run([*runner, str(program), *words, "--help"], capture_output=True, text=True, check=True).stdout

    command = parse(program.name, ask())
    command.subcommands = [parse(sub.name, ask(sub.name)) for sub in command.subcommands]
    return command
