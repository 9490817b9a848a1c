#!/usr/bin/python3
"""Writes the completion of all programs for bash and zsh: their commands, options and values as --help lists them, the keys
and schemes of the JSON Schema; experiments, variants, switches and ports are asked for when Tab is pressed.

  make_completion.py --programs BIN --bash DIR --zsh DIR [--runner COMMAND]
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import help_text  # noqa: E402
import settings  # noqa: E402
from kinds import KINDS, kind_of  # noqa: E402

HERE = Path(__file__).resolve().parent
PROGRAMS = ("eddyd", "eddyctl", "eddylab", "eddyhost", "eddywire")
# Made where what they need is installed.
PERHAPS = ("eddylab-mpi",)
# Words in capitals of a program's own commands.
CAPITALS = {"P": "ports", "FILE": "files", "DIR": "folders", "ARCHIVE": "files"}


def offered(program, command, argument):
    """What completion offers as the value; "" for a flag, "none" where nobody knows."""
    kind = kind_of(program, command, argument)
    if kind == "choice":
        return "=" + " ".join(argument.choices)
    return "" if not kind else KINDS.get(kind, ("", ""))[1] or "none"


def commands_of(program):
    """(name, command) of the program itself, "", and of each subcommand."""
    return [("", program), *((sub.name, sub) for sub in program.subcommands)]


def word_tree(command):
    """For commands that are words: what has been said -> what may follow."""
    follows = {}
    for phrase, _ in command.words:
        said = []
        for part in re.sub(r"[\[\]]", "", phrase).split():
            if part == "KIND":
                choices = "=" + " ".join(word for word, _ in command.kinds)
            elif part.isupper():
                choices = CAPITALS.get(part, "none")
            else:
                choices = "=" + part.replace("|", " ")
            key = " ".join(said)
            if choices.startswith("=") and follows.get(key, "").startswith("="):
                known = follows[key][1:].split()
                choices = "=" + " ".join(known + [word for word in choices[1:].split() if word not in known])
            follows[key] = choices
            said.append("*" if part.isupper() or "|" in part else part)
    return follows


def shell_name(program):
    """In names of functions and variables."""
    return program.replace("-", "_")


def case(rows, otherwise=""):
    lines = [f"    {pattern}) REPLY='{value}' ;;" for pattern, value in rows]
    lines.append(f"    *) REPLY='{otherwise}' ;;")
    return '  case "$1" in\n' + "\n".join(lines) + "\n  esac\n"


def quoted_pattern(words):
    """A pattern of case: words are themselves, * is any word."""
    return "".join("*" if part == "*" else f'"{part}"' for part in re.split(r"(\*)", words) if part) or '""'


def longest_first(follows):
    """So that a pattern with * does not take what a longer one means."""
    return sorted(follows.items(), key=lambda row: -len(row[0].split()))


def bash_operand(program):
    """A function of: command, how many operands stand before, what they are."""
    if program.words:
        rows = [(quoted_pattern(said), choices) for said, choices in longest_first(word_tree(program))]
        return '  set -- "$3"\n' + case(rows)
    rows = []
    for name, command in commands_of(program):
        for number, argument in enumerate(command.positionals):
            pattern = f'"{name} "*' if argument.repeats else f'"{name} {number}"'
            rows.append((pattern, offered(program.name, name, argument)))
    return '  set -- "$1 $2"\n' + case(rows)


def bash_text(program, keys):
    name = shell_name(program.name)
    values = [(f'"{sub} {option}"', offered(program.name, sub, argument)) for sub, command in commands_of(program)
              for argument in command.options if argument.kind for option in argument.names]
    options = [(f'"{sub}"', "=" + " ".join(option for argument in command.options for option in argument.names))
               for sub, command in commands_of(program)]
    text = f"# bash completion of {program.name}. Made by packaging/manual/make_completion.py.\n"
    text += f"__{name}_value() {{\n{case(values)}}}\n"
    text += f"__{name}_options() {{\n{case(options)}}}\n"
    text += f"__{name}_operand() {{\n{bash_operand(program)}}}\n"
    if keys:
        text += f"__{name}_keys() {{\n  printf '%s\\n' {' '.join(keys)}\n}}\n"
        rows = [(f'"{key}"', " ".join(words)) for key, words in keys.items() if words]
        text += f"__{name}_words_of() {{\n  local REPLY\n{case(rows)}  printf '%s\\n' \"$REPLY\"\n}}\n"
    engine = (HERE / "engine.bash").read_text(encoding="utf-8")
    return text + engine.replace("@SUBCOMMANDS@", " ".join(sub.name for sub in program.subcommands)).replace(
        "complete -F _@P@ @P@", f"complete -F _{name} {program.name}").replace("@P@", name)


def zsh_escaped(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_action(program, choices):
    if choices.startswith("="):
        return f"({choices[1:]})"
    if choices in ("files", "results"):
        return "_files"
    return {"folders": "_files -/", "yaml": '_files -g "*.y*ml(-.)"', "none": " "}.get(
        choices, f"__{shell_name(program)}_{choices}")


def zsh_option(program, command, argument):
    """The specification of _arguments for an option, one for each of its names."""
    choices = offered(program, command, argument)
    value = f":{zsh_escaped(argument.kind.lower())}:{zsh_action(program, choices)}" if choices else ""
    group = " ".join(argument.names + argument.excludes)
    for name in argument.names:
        start = "'*" if argument.repeats else f"'({group})"
        yield f"{start}{name}{'=' if value and name.startswith('--') else ''}[{zsh_escaped(argument.help)}]{value}'"


def zsh_arguments(program, command_name, command):
    specs = [spec for argument in command.options for spec in zsh_option(program.name, command_name, argument)]
    for number, argument in enumerate(command.positionals, 1):
        action = zsh_action(program.name, offered(program.name, command_name, argument))
        specs.append(f"'{'*' if argument.repeats else number}:{zsh_escaped(argument.name)}:{action}'")
    return specs


def zsh_call(specs, flags=""):
    return f"_arguments -s -S {flags}" + " \\\n      ".join(["", *specs]).strip() + "\n"


def zsh_words(program):
    """The function that completes commands that are words."""
    rows = [f"    {quoted_pattern(said)}) {zsh_line(program.name, choices)} ;;" for said, choices in longest_first(word_tree(program))]
    valued = "|".join(name for argument in program.options if argument.kind for name in argument.names)
    said = (f"  local said= i\n  for ((i = 2; i < CURRENT; i++)); do\n    case \"$words[i]\" in\n      {valued}) ((++i)) ;;\n"
            "      -*) ;;\n      *) said+=\"${said:+ }$words[i]\" ;;\n    esac\n  done\n")
    return f"__{program.name}_words() {{\n{said}  case \"$said\" in\n" + "\n".join(rows) + "\n  esac\n}\n"


def zsh_line(program, choices):
    return f"compadd -- {choices[1:]}" if choices.startswith("=") else zsh_action(program, choices).strip() or "_message value"


def zsh_text(program, keys):
    name = shell_name(program.name)
    text = f"#compdef {program.name}\n# zsh completion of {program.name}. Made by packaging/manual/make_completion.py.\n"
    text += (HERE / "engine.zsh").read_text(encoding="utf-8").replace("@P@", name)
    if keys:
        rows = [f"    {key}) compadd -- {' '.join(words)} ;;" for key, words in keys.items() if words]
        text += f"__{name}_words_of() {{\n  case \"$1\" in\n" + "\n".join(rows) + "\n  esac\n}\n"
        text += f"__{name}_keys=({' '.join(keys)})\n"
    if program.subcommands:
        listed = " ".join(f"'{sub.name}:{zsh_escaped(sub.about)}'" for sub in program.subcommands)
        text += f"__{name}_subcommands() {{\n  local -a known=({listed})\n  _describe command known\n}}\n"
        arms = "\n".join(f"    {sub.name}) {zsh_call(zsh_arguments(program, sub.name, sub))}      ;;" for sub in program.subcommands)
        specs = zsh_arguments(program, "", program) + [f"'1: :__{name}_subcommands'", "'*:: :->rest'"]
        text += (f"_{name}() {{\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n  {zsh_call(specs, '-C ')}"
                 f"  [[ $state == rest ]] || return\n  case \"$words[1]\" in\n{arms}\n  esac\n}}\n")
    else:
        specs = zsh_arguments(program, "", program)
        if program.words:
            text += zsh_words(program)
            specs = [spec for spec in specs if "words:" not in spec] + [f"'*: :__{name}_words'"]
        text += f"_{name}() {{\n  local -a line\n  local -A opt_args\n  {zsh_call(specs)}}}\n"
    return text + f"_{name} \"$@\"\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--bash", type=Path, required=True)
    parser.add_argument("--zsh", type=Path, required=True)
    parser.add_argument("--runner", default="")
    asked = parser.parse_args()
    runner = asked.runner.split()
    keys = settings.settings(settings.schema(asked.programs / "eddylab", "schema", "experiment", runner=runner))
    for folder in (asked.bash, asked.zsh):
        folder.mkdir(parents=True, exist_ok=True)
    for name in (*PROGRAMS, *(name for name in PERHAPS if (asked.programs / name).exists())):
        program = help_text.read(asked.programs / name, runner)
        sets = any(command.option("--set") for _, command in commands_of(program))
        (asked.bash / name).write_text(bash_text(program, keys if sets else {}), encoding="utf-8")
        (asked.zsh / f"_{name}").write_text(zsh_text(program, keys if sets else {}), encoding="utf-8")


if __name__ == "__main__":
    main()
