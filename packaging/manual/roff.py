"""Manual pages in roff: from Markdown of the plain kind that this tree has, and the parts that pages have in common."""

import re

def escaped(text):
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", "\\&.", text, flags=re.M)


def breakable(text):
    """The same of "ports|queues|drops", which may go on on the next line behind each of them."""
    return escaped(text).replace("|", "|\\:")


def inline(text):
    """A line of Markdown: code and strong words are bold, of links the text remains."""
    text = re.sub(r"!?\[([^\]]*)\]\([^()\s]*\)", r"\1", text)
    out = []
    for part in re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text):
        if part.startswith("`"):
            out.append(rf"\fB{escaped(part[1:-1])}\fR")
        elif part.startswith("**"):
            out.append(rf"\fB{escaped(part[2:-2])}\fR")
        else:
            out.append(escaped(part))
    line = "".join(out)
    return f"\\&{line}" if line.startswith((".", "\\(aq")) else line


def cells(row):
    parts = re.split(r"(?<!\\)\|", row.strip().strip("|"))
    return [part.strip().replace("\\|", "|") for part in parts]


def table(rows):
    """A table: each row is what its first cell names, with the others below it by their headings."""
    heads = cells(rows[0])
    out = ""
    for row in rows[2:]:
        values = dict(zip(heads, cells(row)))
        first = inline(values.pop(heads[0]))
        meaning = values.pop("meaning", "")
        if "class" in values and not values["class"]:
            del values["class"]
        facts = "; ".join(f"{head}: {value}" if head not in ("value",) else value for head, value in values.items() if value)
        out += f".TP\n{first}\n"
        body = [line for line in (inline(meaning), inline(f"({facts})") if facts else "") if line]
        out += "\n.br\n".join(body) + "\n" if body else "\\&\n"
    return out


def code(lines):
    return ".PP\n.in +4\n.nf\n" + "".join(f"{inline_code(line)}\n" for line in lines) + ".fi\n.in\n"


def inline_code(line):
    text = escaped(line)
    return f"\\&{text}" if text.startswith((".", "\\(aq")) or not text else text


def paragraph(lines):
    text = " ".join(line.strip() for line in lines)
    if text.startswith("* "):
        return "".join(f".IP \\(bu 2\n{inline(part)}\n" for part in re.split(r"(?:^| )\* ", text) if part)
    return f".PP\n{inline(text)}\n"


def heading(line, shift):
    level = len(line) - len(line.lstrip("#")) + shift
    words = escaped(line.lstrip("# "))
    return f".SH {words.upper()}\n" if level <= 2 else f".SS {words}\n"


def from_markdown(text, shift=0):
    """Headings, paragraphs, lists, tables and code; pictures and comments are left out. `shift` lowers headings."""
    out, block, fence = "", [], None

    def flush():
        nonlocal out, block
        if block and block[0].lstrip().startswith("|"):
            out += table(block)
        elif block:
            out += paragraph(block)
        block = []

    for line in text.splitlines():
        if line.startswith("```"):
            if fence is None:
                flush()
                fence = []
            else:
                out, fence = out + code(fence), None
        elif fence is not None:
            fence.append(line)
        elif line.startswith(("<!--", "![")):
            continue
        elif line.startswith("#"):
            flush()
            out += heading(line, shift)
        elif not line.strip():
            flush()
        else:
            if block and (line.lstrip().startswith("|") != block[0].lstrip().startswith("|")):
                flush()
            block.append(line)
    flush()
    return out


def page(name, section, version, date, about, body):
    """A whole page. `about`: what follows the name in its first line."""
    return (f'.\\" Made by packaging/manual/make_pages.py.\n.TH {name.upper()} {section} {date} "Eddy {version}" "Eddy"\n'
            f".nh\n.ad l\n.SH NAME\n{escaped(name)} \\- {escaped(about)}\n{body}")
