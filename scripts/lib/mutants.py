"""Semantic mutants of C++ text: small changes of meaning that a test must notice.

  comparison         < and <=, > and >=, == and !=, && and || for one another
  off_by_one         + 1 and - 1 left out; a loop that begins a step late or ends a step early
  constant           a number up to 16 and one more, a larger one doubled, the lowest bit of a
                     hexadecimal one, true and false
  dropped_call       a statement that is a call and nothing else, left out
  swapped_argument   two arguments that stand side by side, or the sides of a subtraction
  forgotten_counter  ++x, x += y and calls of count(), add() and the like, left out

What cannot be told apart, or is not there to be told apart, is left alone: comments, strings, the
preprocessor, static_assert, ASSERT (it states what cannot happen, so no test gets to its other side),
attributes, the heads of templates, lengths of arrays, prefetches, reserved memory and what is said on
stderr. A mutant's id is made of its file, its line's text and what is changed, so it stays as long as
that line does; line numbers have no part in it.
"""

import bisect
import hashlib
import re
from dataclasses import dataclass

from . import cpp_text

KINDS = ("comparison", "off_by_one", "constant", "dropped_call", "swapped_argument", "forgotten_counter")


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str
    line: int  # counted from 1
    kind: str
    start: int  # of what is replaced, in characters
    end: int
    replacement: str
    before: str  # the statement or line, in one line, and what becomes of it
    after: str
    id: str

    def applied(self, text):
        return text[:self.start] + self.replacement + text[self.end:]


def mutants_of(path, text):
    """Every mutant of the file, by place."""
    code = mutable_code(text)
    shown = cpp_text.without_comments(text)
    lines = [0] + [match.end() for match in re.finditer("\n", text)]
    inside = _inside_functions(text, lines)
    edits = [("comparison", *edit) for edit in _comparisons(code)]
    edits += [("off_by_one", *edit) for edit in _off_by_one(code)]
    edits += [("constant", *edit) for edit in _constants(code)]
    edits += [("swapped_argument", *edit) for edit in _swaps(code, text, inside)]
    edits += _statements(code, inside)
    seen, found = {}, []
    for kind, *edit in sorted(set(edits), key=lambda each: (each[1], each)):
        line = bisect.bisect_right(lines, edit[0])
        found.append(_mutant(path, shown, line, kind, edit, seen))
    return found


def _mutant(path, text, line, kind, edit, seen):
    start, end, replacement = edit
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    before = _in_one_line(text[first:last])
    after = _in_one_line(text[first:start] + replacement + text[end:last])
    named = "|".join((path, kind, before, after))
    seen[named] = seen.get(named, -1) + 1
    digest = hashlib.sha256(f"{named}|{seen[named]}".encode()).hexdigest()
    return Mutant(path, line, kind, start, end, replacement, before, after, digest[:10])


def _in_one_line(text):
    return " ".join(text.split())


# ---- what may be changed

_HINTS = re.compile(r"[Pp]refetch|\breserve\(|shrink_to_fit|stderr|kCacheLine|__builtin_expect|memory_order_acq")
_PREPROCESSOR = re.compile(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.MULTILINE)
_STATED = re.compile(r"\b(?:static_assert|ASSERT|alignas)\s*\(")
_TEMPLATE = re.compile(r"\btemplate\s*<")
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def mutable_code(text):
    """The text with blanks for all that is left alone; every character keeps its place."""
    code = cpp_text.without_comments_and_strings(text)
    for pattern in (_PREPROCESSOR, _ATTRIBUTE):
        code = pattern.sub(lambda match: _blank(match.group(0)), code)
    for pattern, pair in ((_STATED, "()"), (_TEMPLATE, "<>")):
        for match in list(pattern.finditer(code)):
            end = _closing(code, match.end() - 1, pair)
            code = code[:match.start()] + _blank(code[match.start():end + 1]) + code[end + 1:]
    return "\n".join(_blank(line) if _HINTS.search(line) else line for line in code.split("\n"))


def _closing(code, opening, pair="()"):
    """Where the bracket that opens at `opening` closes."""
    depth = 0
    for at in range(opening, len(code)):
        if code[at] == pair[0]:
            depth += 1
        elif code[at] == pair[1]:
            depth -= 1
            if depth == 0:
                return at
    return len(code) - 1


def _inside_functions(text, lines):
    """Whether a place is on a line of a function."""
    functions = cpp_text.functions(cpp_text.without_comments_and_strings(text))
    numbers = {line for each in functions for line in range(each.line, each.line + each.lines)}
    return lambda at: bisect.bisect_right(lines, at) in numbers


# ---- the kinds: each yields (start, end, replacement)

_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
_OPERATOR = re.compile(r"(?<=[\w)\]}\"'] )(<=|>=|==|!=|&&|\|\||<|>)(?=\s)")
# Which of two equal values is taken cannot be seen.
_CHOICE_OF_EQUALS = re.compile(r"([\w.()>-]+) [<>]=? ([\w.()>-]+) \? (?:\1 : \2|\2 : \1)\b")


def _comparisons(code):
    vain = [match.span() for match in _CHOICE_OF_EQUALS.finditer(code)]
    for match in _OPERATOR.finditer(code):
        if not any(start <= match.start() < end for start, end in vain):
            yield match.start(1), match.end(1), _OTHER[match.group(1)]


_STEP = re.compile(r"(?<=[\w)\]] )[+-] 1(?![\w.'])")
_LOOP_START = re.compile(r"\bfor \((?:const )?(?:auto|[\w:]+) \w+ = (0);")
_LOOP_BOUND = re.compile(r"; (\w+) < [^;?&|]+;")


def _off_by_one(code):
    for match in _STEP.finditer(code):
        yield match.end() - 1, match.end(), "0"
    for match in _LOOP_START.finditer(code):
        yield match.start(1), match.end(1), "1"
    for match in _LOOP_BOUND.finditer(code):
        yield match.start(1), match.end(1), f"{match.group(1)} + 1"


_NUMBER = re.compile(r"(?<![\w.'])(0x[0-9a-fA-F']+|\d[\d']*(?:\.\d+)?)(u?l{0,2}|U?L{0,2}|_\w+|f)(?![\w.'>])")
# A function without a body, a field of bits, the length of an array.
_NO_VALUE = re.compile(r"(?:\)|const|override) = $|\w : $|[\w>] \w+\[$")
_GREATEST_STEP, _GREATEST_DOUBLED = 16, 2**61


def _constants(code):
    begins = {match.start(1) for match in _LOOP_START.finditer(code)}
    for match in _NUMBER.finditer(code):
        ahead = code[max(0, match.start() - 40):match.start()]
        only_step = match.group(0) == "1" and ahead.endswith(("+ ", "- "))
        other = _other_number(match.group(1))
        if other and not only_step and not _NO_VALUE.search(ahead) and match.start() not in begins:
            yield match.start(1), match.end(1), other
    for match in re.finditer(r"\b(true|false)\b(?!_)", code):
        yield match.start(), match.end(), "false" if match.group(0) == "true" else "true"


def _other_number(digits):
    digits = digits.replace("'", "")
    if digits.startswith("0x"):
        return f"{int(digits, 16) ^ 1:#x}"
    if "." in digits:
        return repr(float(digits) * 2 or 1.0)
    value = int(digits)
    if value > _GREATEST_DOUBLED:
        return ""
    return str(value + 1 if value <= _GREATEST_STEP else value * 2)


_CALL = re.compile(r"\b(\w+)\(")
_NO_CALL = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "alignof", "catch", "noexcept", "min", "max",
            "gcd", "lcm", "swap", "operator", "requires", "minmax", "equal", "tie", "format"}
_DECLARED = re.compile(r"[\w>&*]\s+&?\*?\w|[{}]|\.\.\.|^\s*$|^\s*[\w:<>]+\s*[&*]+\s*$")
# A literal, a string, the value of an enumeration, an address: what is one changes places with another.
_SHAPES = tuple(map(re.compile, (r"^[\d']+$|^(?:true|false)$", r'^"', r"^[A-Z]\w*::[a-z]\w*$|::memory_order", "^&")))
_OPERAND = r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\(\)|\[\w+\])*"
_DIFFERENCE = re.compile(rf"(?<=[(\s])(?<![-*/+%.] )({_OPERAND}) - ({_OPERAND})(?=[;),]| [<>=&|?:)])")


def _swaps(code, text, inside):
    for match in _CALL.finditer(code):
        if match.group(1) in _NO_CALL or not inside(match.start()):
            continue
        arguments = _arguments(code, match.end() - 1)
        for (start, end), (next_start, next_end) in zip(arguments, arguments[1:]):
            one, other = text[start:end], text[next_start:next_end]
            if one != other and _may_swap(code[start:end], code[next_start:next_end]):
                yield start, next_end, other + text[end:next_start] + one
    for match in _DIFFERENCE.finditer(code):
        if match.group(1) != match.group(2):
            yield match.start(1), match.end(2), f"{match.group(2)} - {match.group(1)}"


def _may_swap(one, other):
    """Whether neither is a parameter's declaration, and both may be of one type."""
    if _DECLARED.search(one) or _DECLARED.search(other):
        return False
    return [bool(shape.search(one)) for shape in _SHAPES] == [bool(shape.search(other)) for shape in _SHAPES]


def _arguments(code, opening):
    """The spans of a call's arguments, without blanks around them."""
    closing, depth, start, spans = _closing(code, opening), 0, opening + 1, []
    for at in range(opening + 1, closing + 1):
        if (code[at] == "," and depth == 0) or at == closing:
            words = code[start:at]
            left = start + len(words) - len(words.lstrip())
            spans.append((left, start + len(words.rstrip())))
            start = at + 1
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
    return spans


_COUNTS = re.compile(r"(?:\+\+|--)\S+$|\S+(?:\+\+|--)$|[^=]+ [+-]= .+$|(?:[^=\s]*[.>:])?(?:count|add|increment|report_tie)\(.*\)$",
                     re.DOTALL)
_WORDS = re.compile(r"(?:return|throw|delete|using|goto|break|continue|case|default|co_\w+|static|const|typedef|friend)\b")


def _statements(code, inside):
    """Calls and counts that stand for themselves, left out: (kind, start, end, replacement)."""
    for start, end in _statement_spans(code):
        start = _after_heads(code, start, end)
        words = code[start:end]
        if not words.strip() or not inside(start) or _WORDS.match(words):
            continue
        if _COUNTS.match(words):
            yield "forgotten_counter", start, end, ""
        elif _is_call(words):
            yield "dropped_call", start, end, ""


def _statement_spans(code):
    """Where the statements are that end with a semicolon; those of a lambda, too."""
    outer, start, depth = [], 0, 0
    for match in re.finditer(r"[;{}()]", code):
        at, mark = match.start(), match.group(0)
        if mark in "()":
            depth += 1 if mark == "(" else -1
        elif mark == "{":
            outer.append((start, depth))
            start, depth = at + 1, 0
        elif mark == "}" and outer:
            start, depth = outer.pop()
            if depth == 0 and code[at + 1:at + 2] in ("\n", ""):
                start = at + 1
        elif mark == ";" and depth == 0:
            yield start, at
            start = at + 1


_HEAD = re.compile(r"\s*(?:else\b(?!\s+if)|(?:else\s+)?(?:if|while|for)\s*(?:constexpr\s*)?(?=\()|case [\w:]+:(?!:)|default:|do\b)")


def _after_heads(code, start, end):
    """Where the statement itself begins: behind `if (..)`, `else`, `for (..)` and labels."""
    while match := _HEAD.match(code, start, end):
        start = match.end()
        if code[start] == "(":
            start = _closing(code, start) + 1
    return start + len(code[start:end]) - len(code[start:end].lstrip())


def _is_call(words):
    if not words.endswith(")"):
        return False
    outside, depth = [], 0
    for character in words:
        if character in ")]}":
            depth -= 1
        if depth == 0:
            outside.append(character)
        if character in "([{":
            depth += 1
    skeleton = "".join(outside)
    return re.fullmatch(r"[A-Za-z_][\w:.()\[\]>-]*\(\)", skeleton) is not None
