"""Numbers and long lines in the messages of all parts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import wrap

WIDTH = 100
"""Characters of a line of output, at most."""


def counted(number: int, word: str) -> str:
    """A number with its noun: ``1 query``, ``2 queries``, ``0 steps``."""
    return f"{number} {plural(word, number)}"


def plural(word: str, number: int) -> str:
    """The noun for so many: the plural of the last word in English, for regular nouns."""
    if number == 1:
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def lines(text: str, indent: int = 0, width: int = WIDTH) -> list[str]:
    """A text in lines of at most ``width`` characters, all but the first indented; words stay whole."""
    return wrap(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def one_line(text: str, width: int = sys.maxsize) -> str:
    """A text, which may quote a file, in one line without control characters; what is longer ends in ``...``."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.splitlines()))
    return line if len(line) <= width else f"{line[: width - 3].rstrip()}..."


def some(parts: Sequence[str], most: int) -> str:
    """The first of them, and how many more there are: ``a, b and 3 more``."""
    if len(parts) <= most:
        return ", ".join(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"


def times(number: int) -> str:
    """How often: ``once``, ``3 times``."""
    return "once" if number == 1 else f"{number} times"


def listed(parts: Sequence[str]) -> str:
    """All of them: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([part for part in (", ".join(parts[:-1]), *parts[-1:]) if part])
