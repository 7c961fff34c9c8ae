"""What a person sees of an account: the text of its page, and its overview in a terminal."""

from __future__ import annotations

import io
from html.parser import HTMLParser

from rich.console import Console

from aam_vision.report import terminal
from aam_vision.report.account import Account


class _Texts(HTMLParser):
    """The text of a page, without its style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skip = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skip = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._skip = False

    def handle_data(self, data: str) -> None:
        if not self._skip:
            self.parts.append(data)


def text_of(html: str) -> str:
    return " ".join("".join(_Texts(html).parts).split())


def in_terminal(account: Account) -> str:
    """The overview, in lines as long as need be."""
    told = io.StringIO()
    terminal.overview(account, Console(file=told, width=10_000))
    return told.getvalue()
