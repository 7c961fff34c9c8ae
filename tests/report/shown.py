"""What a person sees of an account: the text of its page, and its overview in a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from aam_vision.report import terminal
from aam_vision.report.account import Account
from aam_vision.report.written import named
from tests.elements import Elements


def text_of(html: str) -> str:
    return " ".join(Elements(html).text.split())


def in_terminal(account: Account, why: str | None = None) -> str:
    """The overview, or the proof of a line, in lines as long as need be."""
    told = io.StringIO()
    console = Console(file=told, width=10_000)
    if why is None:
        terminal.overview(account, console)
    else:
        terminal.proof(account, named(why, account.indexes), console)
    return told.getvalue()
