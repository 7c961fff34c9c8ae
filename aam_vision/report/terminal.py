"""The account of a run in a terminal: a shorter version of the page."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aam_vision.report.account import Account, ActionAccount
from aam_vision.report.controls import ControlsAccount, controls_of
from aam_vision.report.events import Event, Line
from aam_vision.support.wording import counted

_COLOURS = {
    "proven": "green",
    "one of several": "yellow",
    "open": "yellow",
    "cannot matter": "cyan",
    "estimated": "red",
    "certain": "green",
    "doubtful": "yellow",
}


def overview(account: Account, console: Console) -> None:
    """Print the whole model in words, and how each line is known."""
    _verdict(account, console)
    if account.contradiction:
        told = f"The answers contradict each other; only those before are used here: {account.contradiction}"
        console.print()
        console.print(Text(told, style="red"))
    controls = controls_of(account)
    if controls is not None:
        _controls(controls, console)
    for action in account.actions:
        _action(account, action, console)
    console.print()
    if account.truth is not None:
        verdict = (
            "Exactly the ground truth." if not account.differences else "Other than in the ground truth:"
        )
        console.print(Text(verdict))
        for difference in account.differences:
            console.print(Text(f"  {difference} (true)"))
    console.print(Text(f"Predicates: {_sources(account)}."))
    page = account.run.folder / "report.html"
    if page.is_file():
        console.print(Text(f"With images: {page}", no_wrap=True, overflow="ignore"))


def _verdict(account: Account, console: Console) -> None:
    """Print what the agent can do, how sure that is and why, and what it cost."""
    for part in account.abilities.parts:
        console.print(Text(part))
    judged, figures, (decided, size) = account.verdict, account.run.figures, account.decided
    console.print()
    console.print(Text(f"Verdict: {judged.title}", style="bold"))
    for text in judged.sentences:
        console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
    if figures is None:
        return
    if account.run.controls is not None:
        said = f"{figures['env']}: {counted(figures['steps'], 'control')} given, {counted(figures['queries'], 'query')}"
        console.print()
        console.print(Text(f"{said}, {decided} of {counted(size, 'line')} of the model decided."))
        return
    known = "decided" if account.weighing is None else "certain"
    looks = f", {counted(figures['looks'], 'look')}" if account.weighing and figures.get("looks") else ""
    console.print()
    console.print(
        Text(
            f"{figures['env']}: {counted(figures['queries'], 'query')} (at least {figures['lower_bound']} needed), "
            f"{counted(figures['steps'], 'step')}{looks}, {decided} of {counted(size, 'line')} of the model {known}."
        )
    )


def _controls(controls: ControlsAccount, console: Console) -> None:
    """Print what each control does, and what no case explains."""
    for one in controls.controls:
        console.print()
        console.print(Text(str(one.header), style="bold"))
        often = f"given in {counted(one.given, 'situation')}, in {one.changed} of them something changed"
        told = [often if one.changed else f"never seen to do anything in {counted(one.given, 'situation')}"]
        told += [f"{case.action}: {case.sentence}" for case in one.cases]
        for text in told:
            console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
    if controls.unexplained:
        console.print()
        console.print(Text("What no case explains, or some of it:", style="bold"))
    for example in controls.unexplained:
        console.print(Padding(Text(f"{example.step}: {example.outcome}"), (0, 0, 0, 2), expand=False))


def _sources(account: Account) -> str:
    """Where the truth of the predicates comes from, as far as that is recorded."""
    told = [f"{name} {source.kind}" for name, source in account.run.sources.items()]
    if told:
        return ", ".join(told)
    if account.run.sights:
        return "seen in images; which of them are perceived is recorded at the end of a run"
    return "all told by the agent itself"


def proof(account: Account, line: Line, console: Console) -> None:
    """Print the proof of a line."""
    state = f"{line.pal.atom.text(account.model.schema(line.pal.action).header.parameters)} in {line.pal.location.value} of {line.pal.action}"
    console.print(Text(f"{state}: {line.mode.value} ({line.tag})", style="bold"))
    steps = account.why(line)
    for step in steps:
        console.print()
        console.print(Text(step.text))
        for text in step.consequences:
            console.print(Padding(Text(text), (0, 0, 0, 4), expand=False))
        if step.event is not None:
            _event(step.event, console)
    if not steps:
        console.print(Text("No answer says anything about it."))


def _action(account: Account, action: ActionAccount, console: Console) -> None:
    console.print()
    console.print(Text(str(action.header), style="bold"))
    console.print(Padding(Text(action.sentence), (0, 0, 0, 2), expand=False))
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 2))
    for title, lines in (("needs", action.needs), ("changes", action.changes)):
        for line in lines:
            table.add_row(
                title, Text(line.text), Text(line.tag, style=_COLOURS[line.status]), _source(account, line)
            )
            title = ""
    console.print(table)
    for lines, words in (
        (action.open, "may play a part"),
        (action.cannot_matter, "undetermined, but cannot matter"),
    ):
        if lines:
            told = Text(f"{len(lines)} more {words}: {_some(lines)}")
            console.print(Padding(told, (0, 0, 0, 2), expand=False))
    for group in dict.fromkeys(
        account.groups[line.pal] for line in action.open[:2] if line.pal in account.groups
    ):
        told = Text(f"to settle {', '.join(group.group)}: {group.settle}")
        console.print(Padding(told, (0, 0, 0, 4), expand=False))


def _source(account: Account, line: Line) -> Text:
    """The names of the answers on which a line rests."""
    if line.status == "estimated" or account.weighing is not None:
        return Text("")
    steps = account.proofs.proof(line.pal)
    ones = [steps.refusal] if steps.refusal is not None else []
    ones += [one.step for one in steps.exclusions]
    names = [account.events.event(step).name.lower() for step in ones]
    return Text(", ".join(dict.fromkeys(names)))


def event_lines(event: Event) -> list[str]:
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


def _event(event: Event, console: Console) -> None:
    for text in event_lines(event):
        console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))


def _some(lines: tuple[Line, ...], most: int = 6) -> str:
    words = [f"{line.text} in {line.pal.location.value}" for line in lines[:most]]
    return ", ".join(words) + (", ..." if len(lines) > most else "")
