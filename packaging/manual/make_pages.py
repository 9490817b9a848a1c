#!/usr/bin/python3
"""Writes the manual pages: those of programs from their --help and manual/sections/PROGRAM.md, those of files and of
schemes from docs/configuration.md and docs/experiments.md, which come from the table of keys.

  make_pages.py --programs BIN --out DIR --version 0.1.0 [--runner COMMAND]
"""

import argparse
import gzip
import re
import sys
from email.utils import parsedate_to_datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import help_text  # noqa: E402
import roff  # noqa: E402
from kinds import placeholder  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = {"eddyd": 8, "eddyctl": 1, "eddylab": 1, "eddyhost": 1, "eddywire": 8}
# Made where what they need is installed.
PERHAPS = {"eddylab-mpi": 1}
# What documents name in the tree, where packages have it.
INSTALLED = {"config/eddyd.schema.json": "/usr/share/eddy/schema/eddyd.schema.json",
             "config/examples/": "/usr/share/doc/eddy/examples/", "config/experiments/": "/usr/share/eddy/experiments/"}
# Sections of docs/configuration.md that say how RLB is set.
RLB = ("rlb", "predictor", "warning", "guard", "recirculation", "failure_detector")


def changelog_date():
    """The day of the last entry: pages of one version are the same whenever they are made."""
    text = (ROOT / "packaging/debian/changelog").read_text(encoding="utf-8")
    return parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", text, re.M)[1]).date().isoformat()


def argument_text(program, command, argument):
    """An option or positional as a tagged paragraph."""
    value = placeholder(program, command, argument)
    names = ", ".join(rf"\fB{roff.escaped(name)}\fR" for name in argument.names)
    if not argument.name.startswith("-"):
        names = rf"\fI{roff.escaped(argument.name)}\fR" + (" ..." if argument.repeats else "")
    elif value:
        names += rf" \fI{roff.escaped(value)}\fR"
    facts = [f"default: {argument.default}"] if argument.default else []
    facts += [f"{argument.range.replace(' - ', ' to ')}"] if argument.range else []
    facts += ["may be given again"] if argument.repeats and argument.name.startswith("-") and "again" not in argument.help else []
    facts += ["with " + ", ".join(argument.needs)] if argument.needs else []
    facts += ["not with " + ", ".join(argument.excludes)] if argument.excludes else []
    text = argument.help + (f" ({'; '.join(facts)})" if facts else "")
    return f".TP\n{names}\n{roff.inline(text)}\n"


def arguments_text(program, command):
    name = command.name if command.name != program else ""  # --help is said once
    shown = [one for one in command.options if not name or "--help" not in one.names]
    return "".join(argument_text(program, name, one) for one in command.positionals + shown)


def synopsis(command):
    words = command.usage or command.name
    bold, _, rest = words.partition(" [")
    return f".B {roff.escaped(bold)}\n" + (f"{roff.escaped('[' + rest)}\n" if rest else "")


def program_body(command):
    body = ".SH SYNOPSIS\n"
    if command.subcommands:
        body += ".br\n".join(synopsis(sub) for sub in command.subcommands)
    else:
        body += synopsis(command)
    sections = (HERE / "sections" / f"{command.name}.md").read_text(encoding="utf-8")
    about, _, rest = sections.partition("\n## ")
    body += ".SH DESCRIPTION\n" + roff.from_markdown(about)
    body += ".SH OPTIONS\n" + arguments_text(command.name, command)
    if command.words:
        body += ".SH COMMANDS\n"
        for words, text in command.words:
            body += f".TP\n\\fB{roff.breakable(words)}\\fR\n{roff.inline(text) if text else 'Of one KIND alone:'}\n"
        if command.kinds:
            body += ".SS KIND is one of\n"
            body += "".join(f".TP\n\\fB{roff.breakable(words)}\\fR\n{roff.inline(text)}\n" for words, text in command.kinds)
    if command.subcommands:
        body += ".SH COMMANDS\n"
        for sub in command.subcommands:
            body += f".SS {roff.escaped(sub.usage.split(' ', 1)[1])}\n{roff.inline(sub.about)}\n"
            body += arguments_text(command.name, sub)
    return body + (roff.from_markdown("## " + rest) if rest else "")


def parts_of(name):
    """The introduction of a document, and its sections by their names."""
    document = (ROOT / "docs" / name).read_text(encoding="utf-8").replace("| below |", "|  |")
    for place, installed in INSTALLED.items():
        document = document.replace(place, installed)
    introduction, *sections = re.split(r"^## ", document, flags=re.M)
    return introduction, {section.partition("\n")[0]: "## " + section for section in sections}


def without_title(text):
    return re.sub(r"^# .*\n", "", text, flags=re.M)


def configuration_pages():
    """Name, section, what it is, body."""
    introduction, sections = parts_of("configuration.md")
    balancer = sections.pop("load_balancer")
    keys = "".join(sections.values()) + "## load_balancer\n\nA scheme and its parameters: see **eddy-schemes**(7).\n"
    yield ("eddyd.yaml", 5, "configuration of the Eddy switch", ".SH DESCRIPTION\n" +
           roff.from_markdown(without_title(introduction) + keys) + see_also("eddyd(8), eddy-schemes(7)"))
    about = (HERE / "sections" / "eddy-schemes.md").read_text(encoding="utf-8")
    rlb = "".join("### " + sections[name].removeprefix("## ") for name in RLB)
    schemes = balancer.replace("## load_balancer", "## schemes", 1)
    yield ("eddy-schemes", 7, "how Eddy chooses paths, and RLB", ".SH DESCRIPTION\n" +
           roff.from_markdown(about + "\n" + schemes + "\n## keys of RLB\n\n" + rlb) +
           see_also("eddyd.yaml(5), eddy-experiment(5), eddyctl(1)"))
    introduction, sections = parts_of("experiments.md")
    sections.pop("load_balancer")
    yield ("eddy-experiment", 5, "experiments of eddylab and eddyhost", ".SH DESCRIPTION\n" +
           roff.from_markdown(without_title(introduction) + "".join(sections.values())) +
           see_also("eddylab(1), eddyhost(1), eddyd.yaml(5), eddy-schemes(7)"))


def see_also(pages):
    named = re.sub(r"([\w.-]+)\((\d)\)", r"**\1**(\2)", pages)
    return f".SH SEE ALSO\n{roff.inline(named)}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--runner", default="")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    pages = []
    perhaps = {name: section for name, section in PERHAPS.items() if (asked.programs / name).exists()}
    for program, section in (PROGRAMS | perhaps).items():
        command = help_text.read(asked.programs / program, asked.runner.split())
        about = command.about.rstrip(".")
        pages.append((program, section, about[0].lower() + about[1:], program_body(command)))
    for name, section, about, body in [*pages, *configuration_pages()]:
        text = roff.page(name, section, asked.version, changelog_date(), about, body)
        # As gzip -9n: without a name and a time.
        with open(asked.out / f"{name}.{section}.gz", "wb") as file, \
                gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as packed:
            packed.write(text.encode())


if __name__ == "__main__":
    main()
