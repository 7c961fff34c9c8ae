"""``python -m aam_vision.explain RUN``: the findings of a run, and the proof of any line of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.support.commandline import check_file, run_command, write_named


def explain_run(
    run: Annotated[Path, typer.Argument(help="Folder of a run: what --out was.", metavar="RUN")],
    why: Annotated[
        str | None, typer.Option(help="Show the proof of one line, such as 'clear(?to) in pre of move'.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page with the images to this file.")] = None,
) -> None:
    """Say what a run has found out about its agent, and why.

    Examples:
        python -m aam_vision.explain runs/first
        python -m aam_vision.explain runs/first --why "clear(?to) in pre of move"
        python -m aam_vision.explain runs/first --html report.html
    """
    from rich.console import Console

    from aam_vision.report import terminal
    from aam_vision.report.account import account_of
    from aam_vision.report.page import page
    from aam_vision.report.recorded import read_run
    from aam_vision.report.written import named

    if html is not None:
        check_file(html, "--html")
    account = account_of(read_run(run))
    console = Console(highlight=False, markup=False)
    if html is not None:
        write_named(html, "--html", page(account))
    if why is not None:
        terminal.proof(account, named(why, account.indexes), console)
    elif html is None:
        terminal.overview(account, console)


if __name__ == "__main__":
    sys.exit(run_command(explain_run))
