"""The account of a run that learned how often, in a terminal: a shorter version of the page."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aam_vision.model.strips import Location, PalTuple
from aam_vision.report import chance
from aam_vision.report.chance_account import PROVEN, ActionAccount, ChanceAccount
from aam_vision.report.events import Event
from aam_vision.report.terminal import event_lines
from aam_vision.support.wording import counted, times


def overview(account: ChanceAccount, console: Console) -> None:
    """Print what every action does, how often, when, and how that is known."""
    judged = account.verdict
    console.print(Text(f"Verdict: {judged.title}", style="bold"))
    for text in judged.sentences:
        _indented(text, console)
    if account.knowledge.contradiction:
        told = f"The answers contradict each other; only those before are used here: {account.knowledge.contradiction}"
        console.print(Text(told, style="red"))
    for action in account.actions:
        _action(action, console)
    console.print()
    figures = account.figures
    if figures is not None:
        console.print(
            Text(
                f"{figures['env']}: {counted(figures['steps'], 'step')}, {figures['failed_steps']} of them refused."
            )
        )
    page = account.run.folder / "report.html"
    if page.is_file():
        console.print(Text(f"With bars and steps: {page}", no_wrap=True, overflow="ignore"))


def _action(action: ActionAccount, console: Console) -> None:
    console.print()
    console.print(Text(str(action.known.index.header), style="bold"))
    _indented(action.sentence, console)
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 2))
    title = "needs"
    for one in action.conditions:
        if one.in_model:
            source = "" if one.refusal is None else one.refusal.name.lower()
            colour = "green" if one.status == PROVEN else "yellow"
            table.add_row(title, Text(one.text), Text(one.status, style=colour), Text(source))
            title = ""
    title = "then"
    for outcome in action.outcomes:
        source = "" if outcome.example is None else outcome.example.name.lower()
        table.add_row(
            title, Text(", ".join(outcome.effects) or chance.NOTHING), Text(outcome.figures), Text(source)
        )
        title = ""
    console.print(table)
    left = [one.text for one in action.conditions if not one.in_model]
    if left:
        _indented(
            f"{len(left)} more may be needed: {', '.join(left[:6])}{', ...' if len(left) > 6 else ''}",
            console,
        )


def proof(account: ChanceAccount, pal: PalTuple, console: Console) -> None:
    """Print what the answers say of one atom of an action."""
    action = next(one for one in account.actions if one.name == pal.action)
    index = action.known.index
    text = pal.atom.text(index.header.parameters)
    where = "pre" if pal.location is Location.PRE else "eff"
    if pal.location is Location.PRE:
        found = [one for one in action.conditions if one.text.removeprefix("not ") == text]
        for one in found:
            console.print(Text(f"{one.text} in pre of {action.name}: {one.status}", style="bold"))
            console.print(Text(one.why))
            if one.refusal is not None:
                _event(one.refusal, console)
        if not found:
            _not_needed(account, action, pal, text, console)
        return
    console.print(Text(f"{text} in {where} of {action.name}", style="bold"))
    touched = False
    for outcome in action.outcomes:
        signs = [one for one in outcome.effects if one.removeprefix("not ") == text]
        touched = touched or bool(signs)
        does = (
            "leaves it as it is"
            if not signs
            else "makes it false"
            if signs[0].startswith("not ")
            else "makes it true"
        )
        console.print()
        console.print(Text(f"{outcome.words}: {does}; {outcome.figures}"))
        for literal in outcome.open:
            if literal.removeprefix("not ") == text:
                told = f"whether it also makes {literal} true; that held in every trial that came out so."
                _indented(f"Not seen: {told}", console)
        if outcome.example is not None and signs:
            _event(outcome.example, console)
    if not touched:
        console.print(
            Text(
                f"No outcome of {action.name} was seen to change it, in {counted(action.known.executed, 'execution')}."
            )
        )


def _not_needed(
    account: ChanceAccount, action: ActionAccount, pal: PalTuple, text: str, console: Console
) -> None:
    """Say why neither an atom nor its negation is a precondition."""
    console.print(Text(f"{text} in pre of {action.name}: not needed", style="bold"))
    if not action.known.executed:
        console.print(
            Text(
                f"{action.name} was never executed, so nothing is known of it; refused {times(action.known.refused)}."
            )
        )
        return
    for value, word in ((True, "true"), (False, "false")):
        event = account.execution_where(action, pal.atom, value=value)
        if event is not None:
            console.print(
                Text(f"It was executed where it was {word} ({event.name.lower()}), so that is no hindrance.")
            )


def _event(event: Event, console: Console) -> None:
    console.print(Text(f"{event.name}: {event.step} {event.outcome}"))
    for text in event_lines(event):
        _indented(text, console)


def _indented(text: str, console: Console) -> None:
    console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
