"""Reading a file as nested lists of words with their lines, within limits on size and depth.

PDDL text is ``(define (domain NAME) (:section ...) ...)``. Nothing is known here about what sections
mean, except that a word beginning with a colon opens one: that tells where a parenthesis is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited

MAX_BYTES = 20_000_000
"""Larger files are refused: they are not planning problems that this toolkit can handle."""
MAX_TOKENS = 200_000
"""Files of more parentheses and words than this are refused; outside the initial state far fewer may be."""
MAX_DEPTH = 200
"""Parentheses (and type hierarchies) nested deeper than this are refused."""

_COMMENT = re.compile(r";[^\n]*")
_INSTRUCTIONS = re.compile(r";[ \t;]*\(:actions\b([^()\n]*)\)", re.IGNORECASE)
"""PDDLGym names the predicates that are instructions in a comment."""
_BLANK = " \t\n\r\f\v"
_TOKEN = re.compile(r"\s+|[()]|[^\s()]+", re.ASCII)


class Word(NamedTuple):
    """A name, variable, keyword or dash, in lower case: PDDL tells no upper from lower case letters."""

    text: str
    line: int


class Group(NamedTuple):
    """The expressions between two parentheses, and the line of the first."""

    parts: list[Expression]
    line: int

    @property
    def head(self) -> str:
        """The word that it begins with; empty if it does not begin with a word."""
        first = self.parts[0] if self.parts else None
        return first.text if isinstance(first, Word) else ""


Expression = Word | Group


@dataclass(frozen=True)
class Definition:
    """A whole file: its kind (``domain`` or ``problem``), its name and its sections in their order."""

    path: Path
    kind: str
    name: Word
    sections: tuple[Group, ...]
    instructions: tuple[str, ...] = ()
    """What a comment ``; (:actions move)`` names: see ``instructions``."""

    def refuse(self, line: int, what: str) -> NoReturn:
        """Raises UnusableInput for a line of this file."""
        refuse(self.path, line, what)


def refuse(path: Path, line: int | None, what: str) -> NoReturn:
    """Raises UnusableInput with the place and what is wrong there, in one line."""
    place = "".join(c if c.isprintable() else "?" for c in str(path))
    if line is not None:
        place = f"{place}:{line}"
    raise UnusableInput(f"{place}: {what}")


def show(expression: Expression | str) -> str:
    """An expression as a message quotes it: shortened, and printable whatever the file holds."""
    if isinstance(expression, Group):
        return f"'({_printable(expression.head)}'"
    return f"'{_printable(expression if isinstance(expression, str) else expression.text)}'"


def read_definition(path: Path, kind: str) -> Definition:
    """The definition in a file, which must be of the kind asked for.

    Raises:
        UnusableInput: the file cannot be read, is too large, is not one balanced ``(define ...)``, or defines
            something else.
    """
    text = _text(path)
    outer = read_group(path, text)
    if outer.head != "define":
        refuse(path, outer.line, f"expected '(define', found {show(outer)}; is it a PDDL file?")
    title = outer.parts[1] if len(outer.parts) > 1 else outer
    if not isinstance(title, Group) or title.head not in ("domain", "problem") or len(title.parts) != 2:
        refuse(path, title.line, f"expected '({kind} NAME)' after 'define', found {show(title)}")
    if title.head != kind:
        refuse(path, title.line, f"defines a {title.head}, but a {kind} is wanted here; give a {kind} file")
    name = title.parts[1]
    if not isinstance(name, Word):
        refuse(path, name.line, f"expected the name of the {kind}, found {show(name)}")
    sections = []
    for part in outer.parts[2:]:
        if not isinstance(part, Group) or not part.head.startswith(":"):
            refuse(path, part.line, f"expected a section such as '(:init', found {show(part)}")
        sections.append(part)
    named = [one for found in _INSTRUCTIONS.findall(text) for one in found.lower().split()]
    return Definition(path, kind, name, tuple(sections), tuple(named))


def _printable(text: str) -> str:
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else "?" for c in plain)
    return plain if len(plain) <= 40 else f"{plain[:37]}..."


def _text(path: Path) -> str:
    try:
        data = read_limited(path, MAX_BYTES)
    except OSError as error:
        refuse(path, None, f"cannot be read ({error.strerror or error}); give the path of a PDDL file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(path, line, f"is not UTF-8 text (byte {error.start}); PDDL is plain text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _tokens(path: Path, text: str) -> Iterator[Word]:
    line, count = 1, 0
    for match in _TOKEN.finditer(_COMMENT.sub("", text)):
        token = match.group()
        if token[0] in _BLANK:
            line += token.count("\n")
        else:
            count += 1
            if count > MAX_TOKENS:
                refuse(path, line, f"more than {MAX_TOKENS} words and parentheses; give a smaller problem")
            yield Word(token.lower(), line)


def read_group(path: Path, text: str) -> Group:
    """The text as one group; ``path`` is named in messages.

    Raises:
        UnusableInput: its parentheses are not balanced, it is empty, too long or nested too deep.
    """
    open_groups: list[Group] = []
    outer: Group | None = None
    misplaced = ""
    line = 1
    for word in _tokens(path, text):
        token, line = word
        if outer is not None:
            extra = "unexpected ')'" if token == ")" else f"unexpected {show(token)}"
            refuse(path, line, f"{extra} after the end of the definition; is there a ')' too many before it?")
        if token == "(":
            if len(open_groups) == MAX_DEPTH:
                refuse(path, line, f"parentheses nested deeper than {MAX_DEPTH}; flatten the expression")
            open_groups.append(Group([], line))
        elif not open_groups:
            refuse(path, line, f"expected '(define', found {show(token)}; is it a PDDL file?")
        elif token == ")":
            closed = open_groups.pop()
            if open_groups:
                open_groups[-1].parts.append(closed)
            else:
                outer = closed
        else:
            current = open_groups[-1]
            if not misplaced and token[0] == ":" and not current.parts and len(open_groups) > 2:
                around = open_groups[1]
                misplaced = (
                    f"'({_printable(token)}' stands inside {show(around)} of line {around.line}"
                    " in a file with too few ')'; close what comes before it"
                )
                misplaced_line = line
            current.parts.append(word)
    if outer is not None:
        return outer
    if misplaced:
        refuse(path, misplaced_line, misplaced)
    if open_groups:
        inner = open_groups[-1]
        refuse(
            path,
            line,
            f"the text ends with {len(open_groups)} '(' still open, the last from line {inner.line}"
            f" ({show(inner)}); expected ')'",
        )
    refuse(path, line, "expected '(define', found nothing: the file is empty")
