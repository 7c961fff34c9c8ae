"""The account of a run in a terminal: a shorter version of the page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aam_vision.model.strips import PalTuple
from aam_vision.report.account import Account, ActionAccount
from aam_vision.report.chance import NOTHING
from aam_vision.report.control_account import Controls
from aam_vision.report.events import Event
from aam_vision.support.wording import counted

NAMED = 6
"""Open lines of an action that are named, at most."""
_COLOURS = {
    **dict.fromkeys(("proven", "certain"), "green"),
    **dict.fromkeys(("seen once", "one of several", "open", "doubtful"), "yellow"),
    **dict.fromkeys(("cannot matter", "by definition"), "cyan"),
    "estimated": "red",
}


def overview(account: Account, console: Console) -> None:
    """Print the whole model in words, and how each line is known."""
    screen = account.screen
    for part in screen.abilities.parts:
        console.print(Text(part))
    _apart(f"Verdict: {screen.verdict.title}", console, "bold")
    _indented(screen.verdict.sentences, console)
    if account.contradiction:
        told = f"The answers contradict each other; only those before are used here: {account.contradiction}"
        _apart(told, console, "red")
    if account.cost:
        _apart(account.cost, console)
    if account.changed:
        _apart("Since the model learned earlier:", console, "bold")
        _indented(account.changed, console)
    if account.controls is not None:
        _controls(account.controls, console)
    for action in account.actions:
        _action(account, action, console)
    console.print()
    if account.differences is not None:
        same = not account.differences
        console.print(Text("Exactly the ground truth." if same else "Other than in the ground truth:"))
        _indented([f"{difference} (true)" for difference in account.differences], console)
    console.print(Text(f"Predicates: {_predicates(account)}."))
    page = account.run.folder / "report.html"
    if page.is_file():
        console.print(Text(f"With all proofs and pictures: {page}", no_wrap=True, overflow="ignore"))


def proof(account: Account, pal: PalTuple, console: Console) -> None:
    """Print the proof of a line, or what else the answers say of it."""
    for title, steps in account.explained(pal):
        console.print(Text(title, style="bold"))
        for step in steps:
            _apart(step.text, console)
            _indented(step.consequences, console, 4)
            if step.event is not None:
                _indented(_event(step.event), console)


def _apart(text: str, console: Console, style: str = "") -> None:
    console.print()
    console.print(Text(text, style))


def _indented(texts: Sequence[str], console: Console, columns: int = 2) -> None:
    for text in texts:
        console.print(Padding(Text(text), (0, 0, 0, columns), expand=False))


def _controls(controls: Controls, console: Console) -> None:
    """Print what each control does, and what no case explains."""
    for one in controls.told:
        _apart(str(one.header), console, "bold")
        often = f"given in {counted(one.given, 'situation')}, in {one.changed} of them something changed"
        told = often if one.changed else f"never seen to do anything in {counted(one.given, 'situation')}"
        _indented([told, *(f"{case.action}: {case.sentence}" for case in one.cases)], console)
    if controls.unexplained:
        _apart("What no case explains, or some of it:", console, "bold")
    _indented([f"{example.step}: {example.outcome}" for example in controls.unexplained], console)


def _predicates(account: Account) -> str:
    """Where the truth of the predicates comes from, as far as that is recorded."""
    told = [f"{name} {source.kind}" for name, source in account.run.sources.items()]
    if told:
        return ", ".join(told)
    if account.run.sights:
        return "seen in images; which of them are perceived is recorded at the end of a run"
    return "all told by the agent itself"


def _action(account: Account, action: ActionAccount, console: Console) -> None:
    _apart(str(action.header), console, "bold")
    _indented([action.sentence], console)
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 2))
    rows = [
        (title, line.text, Text(line.tag, style=_COLOURS[line.status]), account.sources(line))
        for title, lines in (("needs", action.needs), ("changes", action.changes))
        for line in lines
    ]
    for one in action.outcomes or ():
        examples = [] if one.example is None else [one.example]
        rows.append(("then", ", ".join(one.effects) or NOTHING, Text(one.figures), examples))
    before = ""
    for title, text, tag, events in rows:
        names = dict.fromkeys(event.name[:1].lower() + event.name[1:] for event in events)
        table.add_row("" if title == before else title, Text(text), tag, Text(", ".join(names)))
        before = title
    console.print(table)
    may = "may play a part" if action.outcomes is None else "may be needed"
    for lines, words in ((action.open, may), (action.cannot_matter, "undetermined, but cannot matter")):
        if lines:
            some = ", ".join(f"{line.text} in {line.pal.location.value}" for line in lines[:NAMED])
            more = ", ..." if len(lines) > NAMED else ""
            _indented([f"{len(lines)} more {words}: {some}{more}"], console)
    settles = dict.fromkeys(account.settle(line) for line in action.open[:2])
    _indented([f"to settle {text}" for text in settles if text], console, 4)


def _event(event: Event) -> list[str]:
    """An attempted step in lines: the plan, its arguments, what held before, what changed, and its images."""
    lines = []
    if len(event.plan) > 1:
        lines.append("plan: " + ", ".join(f"{text} ({state})" for text, state in event.plan))
    lines.append("where: " + ", ".join(f"{name}={thing}" for name, thing in event.binding))
    if event.held is not None:
        lines.append("true before: " + (", ".join(event.held) or "nothing"))
    if event.unknown:
        lines.append("not seen: " + ", ".join(event.unknown))
    if event.changes:
        lines.append("changed: " + ", ".join(event.changes))
    return lines + [f"image {shown.caption}: frames/{shown.image}.png" for shown in event.shown]
