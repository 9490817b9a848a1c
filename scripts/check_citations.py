#!/usr/bin/python3
"""Finds citations that lead nowhere: sections of the reference and of the architecture, decisions,
files, links of documents, papers and standards.

  scripts/check_citations.py              every text file that git knows or could know
  scripts/check_citations.py --root DIR   another tree

What it looks for:
  "reference B.9", "reference B.7 to B.10", "vector I-4", "F-12"   headings and rows of docs/reference/
  "architecture, sections 3 and 4"                                 headings of docs/architecture.md
  "docs/adr/0003", "ADR 0003"                                      files of docs/adr/
  "net/shim.h", 'docs/dpdk_notes.md, "Memory"'                     files of the tree, and their headings
  [text](file.md#anchor) in Markdown                               files and their anchors
  "the RLB paper", "[RLB]", "802.1Qbb", "RFC 826"                  keys of docs/papers.md

Prints file:line: what, for each finding; exits 1 if there is one, or if nothing cites the reference.
"""

import argparse
import bisect
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lib import cpp_text  # noqa: E402

REFERENCE = "docs/reference"
ARCHITECTURE = "docs/architecture.md"
PAPERS = "docs/papers.md"
# Holds citations that lead nowhere, to test this script with.
EXAMPLES = ("tests/unit/scripts/check_citations_test.py",)
# Not .topo and .csv: a result names the digest of those that it was made from, comments included.
TEXTS = (".h", ".cpp", ".py", ".md", ".yaml", ".yml", ".txt", ".cmake", ".json", ".cff", ".sh", ".html", ".css", ".js")
CPP = (".h", ".cpp")
FOLDERS = ("net", "system", "lb", "pfc", "host", "switch", "lab", "testbed", "config", "tests", "bench", "scripts", "docs",
           "cmake", "packaging", "plugin", "examples")
LARGEST = 1 << 20

SECTION = r"(?:[A-I]-\d+|[A-I]\.\d+(?:\.\d+)*|\d+\.\d+|[A-I](?![\w'-]|\.\w))"
AND = r"(?:(?: \([^()]*\))?(?:, and |, | and | to |-|/))"
CITED_REFERENCE = re.compile(rf"\b[Rr]eference(?:,? sections?|,? vectors?|,)? ({SECTION}(?:{AND}{SECTION})*)")
CITED_VECTOR = re.compile(r"\b([FI]-\d{1,2})\b(?![-\w])")
WITHIN_REFERENCE = re.compile(r"(?<![\w./#-])([A-I]\.\d{1,2}(?:\.\d+)*)(?![\w%])")
NUMBERS = r"\d+(?:(?:, and |, | and | to |-)\d+)*"
CITED_ARCHITECTURE = re.compile(rf"\b[Aa]rchitecture(?:\.md)?,? sections? ({NUMBERS})")
CITED_ADR = re.compile(r"(?:docs/adr/|\bADR )(\d{4})")
CITED_FILE = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./-]*\w\.(?:h|cpp|py|md|txt|csv|topo|yaml|json|js))"
                        r'(?!\w)(?:, (("[^"]+"(?:,? and |, )?)+))?')
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
TAG = re.compile(r"(?<!\])\[((?:[A-Z][\w-]*(?: [a-z]+)?)(?:, ?[A-Z][\w:-]*)*)\](?!\()")
NAMED_PAPER = re.compile(r"\b([A-Z][\w-]*[A-Za-z0-9])(?:'s)? papers?\b")
AUTHORS = re.compile(r"\b[A-Z]\w+(?: and [A-Z]\w+)?,? et al\b")
VENUE = re.compile(r"\b(?:SIGCOMM|NSDI|OOPSLA|INFOCOM|CoNEXT|EuroSys|APNet|ISCA|ICPP|ICNP|SOSR|SC|ATC)[ ,]*(?:'\d\d|(?:19|20)\d\d)\b")
STANDARD = re.compile(r"\b802\.(?:1[A-Za-z]+|3[a-z]*)\b")
RFC = re.compile(r"\bRFCs? ?(\d{3,4}(?:(?:, | and |, and )\d{3,4}\b)*)")
NO_NAMES = {"the", "this", "that", "each", "every", "no", "its", "a", "one", "these", "other", "both", "whose", "on"}


class Text:
    """A file as one line: ends of lines, and what begins a line of comment, are blanks."""

    JOINT = re.compile(r'[ \t]*(?:\\n"|")?\n[ \t]*(?:(?:///?|#|\*|>)(?= )|")?[ \t]*|\\n')

    def __init__(self, raw):
        self.raw = raw
        self.starts = [0] + [m.end() for m in re.finditer("\n", raw)]
        pieces, self._flat, self._raw, end, length = [], [], [], 0, 0
        for joint in self.JOINT.finditer(raw):
            self._flat.append(length)
            self._raw.append(end)
            pieces += [raw[end:joint.start()], " "]
            length += joint.start() - end + 1
            end = joint.end()
        self._flat.append(length)
        self._raw.append(end)
        self.flat = "".join(pieces) + raw[end:]

    def line(self, flat_offset):
        piece = bisect.bisect_right(self._flat, flat_offset) - 1
        return self.line_of_raw(self._raw[piece] + flat_offset - self._flat[piece])

    def line_of_raw(self, offset):
        return bisect.bisect_right(self.starts, offset)


@dataclass
class Tree:
    """What can be cited."""

    root: Path
    files: list
    sections: set = field(default_factory=set)
    chapters: set = field(default_factory=set)
    decisions: set = field(default_factory=set)
    papers: dict = field(default_factory=dict)  # by lower case
    rfcs: set = field(default_factory=set)
    headings: dict = field(default_factory=dict)  # file -> (texts, anchors)
    findings: list = field(default_factory=list)
    counts: dict = field(default_factory=dict)

    def count(self, kind, number=1):
        self.counts[kind] = self.counts.get(kind, 0) + number

    def add(self, path, line, what):
        self.findings.append((path, line, what))

    def has(self, path):
        return path in self._known

    def __post_init__(self):
        self._known = set(self.files)
        for name in self.files:
            self._known.update(parent.as_posix() for parent in Path(name).parents)


def read(root, path):
    try:
        return (root / path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None


def prose_of(path, text, strings):
    """Of C++ the comments, and the strings if asked for; of anything else all."""
    if not path.endswith(CPP):
        return text
    if not strings:
        return Text(cpp_text.comments_only(text.raw))
    code = cpp_text.without_comments_and_strings(text.raw)
    return Text("".join(a if a == "\n" or a != b else " " for a, b in zip(text.raw, code)))


def outside_fences(text):
    """Markdown without what stands between ``` and ```; lines are kept."""
    return re.sub(r"(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def without_code_spans(text):
    return re.sub(r"`[^`\n]*`", lambda m: " " * len(m.group(0)), outside_fences(text))


def anchor_of(heading, seen):
    """The anchor that GitHub and its like give to a heading."""
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
    count = seen.get(slug, 0)
    seen[slug] = count + 1
    return f"{slug}-{count}" if count else slug


def headings_of(text):
    texts, anchors, seen = [], set(), {}
    for match in re.finditer(r"(?m)^#{1,6} +(.*?) *#* *$", outside_fences(text)):
        texts.append(match.group(1))
        anchors.add(anchor_of(match.group(1), seen))
    anchors.update(re.findall(r'<a (?:name|id)="([^"]+)"', text))
    return texts, anchors


def gather(root, files):
    tree = Tree(root, files)
    for path in files:
        if not path.endswith(".md"):
            continue
        text = read(root, path) or ""
        tree.headings[path] = headings_of(text)
        if path.startswith(REFERENCE + "/"):
            for title in tree.headings[path][0]:
                match = re.match(r"([0-9A-I])\. |([0-9A-I](?:\.\d+)+) ", title)
                if match:
                    tree.sections.add(match.group(1) or match.group(2))
            tree.sections.update(re.findall(r"(?m)^\| (?:★ ?)?([FI]-\d+) ", text))
        match = re.match(r"docs/adr/(\d{4})-", path)
        if match:
            tree.decisions.add(match.group(1))
    for title in tree.headings.get(ARCHITECTURE, ((), ()))[0]:
        tree.chapters.update(re.findall(r"^(\d+)\. ", title))
    papers = read(root, PAPERS) or ""
    for row in re.findall(r"(?m)^\| *([^|]+?) *\|", papers):
        if row != "key" and not row.startswith("---"):
            tree.papers[row.lower()] = row
    tree.rfcs = set(re.findall(r"\b(\d{3,4})\s+\(", papers))
    return tree


def check_sections(tree, path, text):
    for match in CITED_REFERENCE.finditer(text.flat):
        for section in re.findall(SECTION, match.group(1)):
            tree.count("sections of the reference")
            if section not in tree.sections:
                tree.add(path, text.line(match.start()), f"reference {section}: there is no such section")
    patterns = [CITED_VECTOR] if path.endswith((".h", ".cpp", ".py", ".md", ".yaml")) else []
    if path.startswith(REFERENCE):
        patterns.append(WITHIN_REFERENCE)
    for pattern in patterns:
        for match in pattern.finditer(text.flat):
            if match.group(1) not in tree.sections:
                tree.add(path, text.line(match.start()), f"{match.group(1)}: the reference has no such section")
    for match in CITED_ARCHITECTURE.finditer(text.flat):
        for chapter in re.findall(r"\d+", match.group(1)):
            tree.count("sections of the architecture")
            if chapter not in tree.chapters:
                tree.add(path, text.line(match.start()), f"architecture, section {chapter}: there is no such section")
    for match in CITED_ADR.finditer(text.flat):
        tree.count("decisions")
        if match.group(1) not in tree.decisions:
            tree.add(path, text.line(match.start()), f"docs/adr/{match.group(1)}: there is no such decision")


def check_files(tree, path, text):
    """Files that are named by their path from the top, and sections of documents named in quotes."""
    if not path.endswith((".md", ".yaml", *CPP)):
        return
    text = prose_of(path, text, strings=False)
    for match in CITED_FILE.finditer(text.flat):
        name, quoted = match.group(1), match.group(2)
        tree.count("files")
        if not tree.has(name):
            tree.add(path, text.line(match.start()), f"{name}: there is no such file")
        elif quoted and name.endswith(".md"):
            for title in re.findall(r'"([^"]+)"', quoted):
                if title not in tree.headings[name][0]:
                    tree.add(path, text.line(match.start()), f'{name}: has no section "{title}"')


def check_links(tree, path, text):
    body = without_code_spans(text.raw)
    for match in LINK.finditer(body):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = path
        if name:
            file = (Path(path).parent / name).as_posix().rstrip("/")
            while re.search(r"[^/.]+/\.\./", file):
                file = re.sub(r"[^/.]+/\.\./", "", file, count=1)
            file = re.sub(r"(^|/)\./", r"\1", file)
        line = text.line_of_raw(match.start())
        tree.count("links")
        if not tree.has(file):
            tree.add(path, line, f"link to {target}: there is no such file")
        elif anchor and anchor not in tree.headings.get(file, ((), ()))[1]:
            tree.add(path, line, f"link to {target}: {file} has no such heading")


def check_papers(tree, path, text):
    """Papers and standards go by their keys, everywhere but where they are listed."""
    text = prose_of(path, text, strings=True)
    for match in NAMED_PAPER.finditer(text.flat):
        name = match.group(1)
        if name.lower() not in NO_NAMES and tree.papers.get(name.lower()) != name:
            tree.add(path, text.line(match.start()), f"the {name} paper: {PAPERS} has no such key")
    for pattern in (AUTHORS, VENUE):
        for match in pattern.finditer(text.flat):
            tree.add(path, text.line(match.start()), f"'{match.group(0)}': name the paper by its key in {PAPERS}")
    for match in STANDARD.finditer(text.flat):
        if tree.papers.get(match.group(0).lower()) != match.group(0):
            tree.add(path, text.line(match.start()), f"{match.group(0)}: {PAPERS} has no such standard")
    for match in RFC.finditer(text.flat):
        for number in re.findall(r"\d+", match.group(1)):
            if number not in tree.rfcs:
                tree.add(path, text.line(match.start()), f"RFC {number}: {PAPERS} does not list it")
    if path.startswith(REFERENCE + "/"):
        for match in TAG.finditer(text.flat):
            for name in re.split(", ?", match.group(1)):
                known = name in ("D", "STD") or tree.papers.get(name.lower()) == name
                if not known and not re.match(r"C:|table ", name):
                    tree.add(path, text.line(match.start()), f"[{name}]: {PAPERS} has no such key")


def check_spelling(tree, path, text):
    """A key in prose is spelled as it is listed; in lower case it may be a scheme's name."""
    if not path.endswith((".md", *CPP)):
        return
    prose = prose_of(path, text, strings=False)
    if path.endswith(".md"):
        prose = Text(without_code_spans(text.raw))
    code = set()
    if path.endswith(CPP):
        code.update(re.findall(r"\w+", cpp_text.without_comments_and_strings(text.raw)))
    for match in re.finditer(r"(?<![\w/.-])[A-Za-z][\w]*(?:-[A-Z]\w+)?(?![\w/]|\.[a-z])", prose.flat):
        word = match.group(0)
        key = tree.papers.get(word.lower())
        if key:
            tree.count("names of papers and standards")
        if key and word not in (key, word.lower(), key + "s") and word not in code:
            tree.add(path, prose.line(match.start()), f"'{word}': {PAPERS} spells it '{key}'")


def check_file(tree, path):
    raw = read(tree.root, path)
    if raw is None or len(raw) > LARGEST:
        return
    text = Text(raw)
    check_sections(tree, path, text)
    check_files(tree, path, text)
    if path.endswith(".md"):
        check_links(tree, path, text)
    if path != PAPERS:
        check_papers(tree, path, text)
        check_spelling(tree, path, text)


def tracked_files(root):
    """Files that git tracks or would track; every file where there is no git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]
    return sorted({name for name in names if (root / name).is_file()})


def is_text(path):
    return path.endswith(TEXTS) or "." not in Path(path).name


def findings_of(root):
    """What is wrong below root, in the order of files and lines, and what was read: (lines, counts)."""
    files = tracked_files(root)
    tree = gather(root, files)
    read_files = [path for path in files if is_text(path) and path not in EXAMPLES]
    for path in read_files:
        check_file(tree, path)
    tree.counts["files read"] = len(read_files)
    return [f"{path}:{line}: {what}" for path, line, what in sorted(set(tree.findings))], tree.counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    arguments = parser.parse_args()
    lines, counts = findings_of(arguments.root)
    for line in lines:
        print(line)
    print(f"check_citations: {len(lines)} findings in " +
          ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
    return 1 if lines or not counts.get("sections of the reference") else 0


if __name__ == "__main__":
    sys.exit(main())
