"""The screen at one moment: costs, how much of the model is known, the last question, its answer, its images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from aam_vision.display.graphics import Graphics
from aam_vision.display.pictures import Pictures
from aam_vision.query import Query, Response, WalkStep
from aam_vision.report.album import Picture
from aam_vision.strips import GroundAction, State

PLAN_LINES = 5
"""Steps of a plan that are shown at most: the last ones."""
LINES = 2
"""Lines of facts and of changes, at most."""
BAR = 40
"""Columns of the progress bar at most."""

_COLOURS = {"done": "green", "refused": "bold red", "not reached": "dim"}


@dataclass(frozen=True)
class Exchange:
    """A question and its answer, or the agent's own steps, as far as they are shown."""

    title: str
    steps: Sequence[tuple[GroundAction, str]]
    """The steps, each with its outcome: ``done``, ``refused`` or ``not reached``."""
    before: State | None = None
    after: State | None = None

    @property
    def executed(self) -> int:
        """How many steps were done."""
        return sum(outcome == "done" for _, outcome in self.steps)

    @property
    def where(self) -> str:
        """The facts at the beginning about the objects that the steps name."""
        if self.before is None:
            return ""
        names = {name for step, _ in self.steps for name in step.objects}
        return ", ".join(str(atom) for atom in sorted(self.before.true) if names.issuperset(atom.objects))

    @property
    def answer(self) -> str:
        """How far the plan was executed, and what that changed."""
        before, after = self.before, self.after
        if before is None or after is None:
            return ""
        if not self.executed:
            return "refused, so nothing changed"
        gained = [f"+{atom}" for atom in sorted(after.true - before.true) if before.value(atom) is False]
        lost = [f"-{atom}" for atom in sorted(before.true - after.true) if after.value(atom) is False]
        return f"{self.executed} of {len(self.steps)} done: {', '.join(gained + lost) or 'nothing changed'}"


def asked(title: str, query: Query, response: Response) -> Exchange:
    """A query with its answer."""
    outcomes = ["done"] * response.executed + ["refused"] + ["not reached"] * len(query.plan)
    steps = tuple(zip(query.plan, outcomes, strict=False))
    return Exchange(title, steps, query.initial.state, response.final.state)


def walked(title: str, walk: Sequence[WalkStep]) -> Exchange:
    """A walk of one step or more."""
    steps = tuple((step.action, "done") for step in walk)
    return Exchange(title, steps, walk[0].before.state, walk[-1].after.state)


@dataclass(frozen=True)
class View:
    """The screen at one moment. Everything is computed when it is drawn, since not every moment is."""

    costs: str
    """The costs in a line."""
    known: tuple[int, int, str]
    """The number that is known, the number in all, and what is counted."""
    exchange: Exchange | None
    images: Sequence[tuple[str, Callable[[], Picture | None]]] = ()
    """Captions, and functions that fetch the images."""
    graphics: Graphics | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        lines = [_cut(self.costs, width, "bold"), self._bar(width), *self._words(width)]
        yield from lines
        height = console.size.height - len(lines) - 2
        found = [(caption, one) for caption, fetch in self.images if (one := fetch()) is not None]
        if found and self.graphics is not None:
            yield Pictures(found, self.graphics, height)

    def _bar(self, width: int) -> Table | Text:
        done, total, name = self.known
        text = f"{done} of {total} {name}"
        room = min(BAR, width - len(text) - 2)
        if room < 5:
            return _cut(text, width)
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(ProgressBar(total=max(1, total), completed=done, width=room), Text(text))
        return line

    def _words(self, width: int) -> list[Text]:
        if self.exchange is None:
            return []
        exchange, steps = self.exchange, self.exchange.steps
        lines = [_cut(exchange.title, width), *_told("where", exchange.where, width)]
        left_out = max(0, len(steps) - PLAN_LINES)
        for number, (step, outcome) in enumerate(steps[left_out:]):
            label = "" if number else f"+{left_out}" if left_out else "plan"
            text = Text.assemble((f"{label:<8}", "dim"), (f"{outcome:<13}", _COLOURS[outcome]), str(step))
            lines.append(_cut(text, width))
        return [*lines, *_told("answer", exchange.answer, width)]


def _told(label: str, text: str, width: int) -> list[Text]:
    """A text in at most ``LINES`` lines, under its label."""
    if not text:
        return []
    lines = wrap(text, max(1, width - 8), max_lines=LINES, placeholder=" ...", break_on_hyphens=False)
    labels = [label, *[""] * LINES]
    return [Text.assemble((f"{name:<8}", "dim"), line) for name, line in zip(labels, lines, strict=False)]


def _cut(text: str | Text, width: int, style: str = "") -> Text:
    """One line of a text."""
    line = Text(text, style) if isinstance(text, str) else text
    line.truncate(width, overflow="ellipsis")
    return line
