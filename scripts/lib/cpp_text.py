"""Reads C++ as text: comments and strings out, functions found by their braces.

Good enough for clang-formatted code: it knows no types and no macros. Line numbers are kept: what
is taken out is replaced by blanks.
"""

import re
from dataclasses import dataclass

_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/)
      | (?P<raw>R"(?P<delimiter>[^(\s"]*)\(.*?\)(?P=delimiter)")
      | (?P<string>"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments_and_strings(text):
    """The code alone; strings keep their quotes."""

    def replace(match):
        if match.lastgroup == "comment":
            return _blank(match.group(0))
        body = match.group(0)
        return body[0] + _blank(body[1:-1]) + body[-1]

    return _TOKENS.sub(replace, text)


def without_comments(text):
    """Code and strings."""
    return _TOKENS.sub(lambda m: _blank(m.group(0)) if m.lastgroup == "comment" else m.group(0), text)


def comments_only(text):
    """The comments at their places, all else blank."""
    out, end = [], 0
    for match in _TOKENS.finditer(text):
        out.append(_blank(text[end:match.start()]))
        keep = match.lastgroup == "comment"
        out.append(match.group(0) if keep else _blank(match.group(0)))
        end = match.end()
    out.append(_blank(text[end:]))
    return "".join(out)


@dataclass(frozen=True)
class Function:
    """A function or lambda with a body."""

    name: str
    line: int  # where its head begins
    lines: int  # head and body
    parameters: int


_PREPROCESSOR = re.compile(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.MULTILINE)
_NO_FUNCTION = re.compile(
    r"^\s*(?:\}\s*)?(?:if|for|while|switch|catch|do|else|try|namespace|enum|union|extern|return)\b")
_AFTER_PARAMETERS = re.compile(
    r"\)\s*(?:const|noexcept(?:\([^()]*\))?|override|final|mutable|constexpr|&&?|\s)*"
    r"(?:->[^;{}]*?|requires[^;{}]*?)?(?::(?!:)[^;]*)?$")


def functions(code):
    """Every function and lambda of `code`, which has no comments and strings any more."""
    code = _PREPROCESSOR.sub(lambda m: _blank(m.group(0)), code)
    found, stack, head_start = [], [], 0
    for match in re.finditer(r"[{};]", code):
        at, mark = match.start(), match.group(0)
        if mark == "{":
            stack.append((head_start, at))
            if not _is_expression(code, head_start, at):
                head_start = at + 1
        elif mark == "}" and stack:
            start, opening = stack.pop()
            function = _as_function(code, start, code[start:opening], at)
            if function:
                found.append(function)
            head_start = start if _is_expression(code, start, opening) else at + 1
        elif mark == ";" and not _inside_parentheses(code[head_start:at]):
            head_start = at + 1
    return sorted(found, key=lambda f: f.line)


def _is_expression(code, start, opening):
    """Whether this brace continues a statement: x_{1}, a lambda among arguments."""
    return code[opening - 1] not in " \n" or _inside_parentheses(code[start:opening])


def _inside_parentheses(head):
    return head.count("(") > head.count(")")


def _as_function(code, start, head, end):
    if head[-1:] not in " \n" or _NO_FUNCTION.match(head):
        return None
    if not _AFTER_PARAMETERS.search(head.rstrip()):
        return None
    if re.match(r"^\s*(?:template\s*<.*?>\s*)?(?:class|struct)\b[^()]*$", head, re.DOTALL):
        return None
    start += len(head) - len(head.lstrip())
    name, parameters = _signature(head)
    line = code.count("\n", 0, start) + 1
    return Function(name, line, code.count("\n", start, end) + 1, parameters)


def _signature(head):
    """(name, number of parameters) of the head's own parameter list."""
    opening = head.rfind("](")
    if opening >= 0:
        name, opening = "lambda", opening + 1
    else:
        match = re.search(r"(operator\s*\(\)|operator[^\s(]+|[\w~:]+)(?:<[^()]*>)?\s*\(", head)
        if not match:
            return "function", 0
        name, opening = match.group(1), match.end() - 1
    return name, _count_parameters(head[opening:])


def _count_parameters(text):
    depth, count, seen = 0, 0, False
    for character in text:
        if character in "(<[{":
            depth += 1
        elif character in ")>]}":
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and character == ",":
            count += 1
        if depth >= 1 and not character.isspace() and character != "(":
            seen = True
    return count + 1 if seen else 0
