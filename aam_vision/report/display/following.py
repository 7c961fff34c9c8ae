"""Following an interrogation: a screen that changes on a terminal, plain lines elsewhere (stderr)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from textwrap import wrap
from time import monotonic
from typing import NamedTuple, TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Stop
from aam_vision.interrogation.statistics.assessment import Assessment
from aam_vision.interrogation.task.result import lower_bound
from aam_vision.interrogation.task.trial_design import Proposal
from aam_vision.model.query import Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, State
from aam_vision.report.album import Picture, picture
from aam_vision.report.display.pictures import Graphics, Pictures, graphics, remove
from aam_vision.report.english import signed
from aam_vision.support.wording import WIDTH, counted, one_line, plural

REFRESHES = 4
"""Refreshes of the screen in a second, at most."""
EVERY = 5.0
"""Seconds after which the costs are printed again, off a terminal, though nothing else is to be said."""
DOUBT = 1e-3
"""A palm tuple with less doubt counts as known on the screen."""


class Sights(NamedTuple):
    """Where to find the images of situations."""

    folder: Path
    """The folder of the run."""
    name: Callable[[Situation], str | None]
    """The name of a situation's image, if it has one."""


class Display:
    """Follows an interrogation on a stream (stderr if None), with the agent's images where the terminal can show them."""

    def __init__(
        self, *, quiet: bool = False, stream: TextIO | None = None, sights: Sights | None = None
    ) -> None:
        stream = stream or sys.stderr
        self._said = ""
        self._told = monotonic()
        self._moved = False
        self._sights = sights
        self._live: Live | None = None
        self._graphics: Graphics | None = None
        live = stream.isatty() and not quiet and os.environ.get("TERM") != "dumb"
        self._console = Console(file=stream, quiet=quiet, highlight=False, soft_wrap=not live)
        if live:
            self._live = _Screen(self._console)
            self._graphics = _graphics(self._console) if sights is not None else None

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._live is not None:
            self._live.stop()
            if self._graphics is not None:
                remove(self._graphics, self._console)

    def say(self, text: str) -> None:
        """Print a line that stays; off a terminal, one that is not too long for a log."""
        self._console.print(Text(text if self._live is not None else one_line(text, WIDTH)))
        self._told = monotonic()

    def ask(self, text: str) -> None:
        """Print a line in full, for somebody who is to do what it says."""
        self._console.print(Text(text))
        self._told = monotonic()

    def announce(self, text: str) -> None:
        """Say what is about to be done, until a move is there to be shown."""
        if self._console.quiet or self._moved:
            return
        if self._live is not None:
            self._live.update(Text(text))
        else:
            self.say(text)

    def watch(self, move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        """Show a move that was made."""
        if self._console.quiet:
            return
        self._moved, hypotheses, size = True, evidence.hypotheses, evidence.hypotheses.size
        if self._live is not None:
            decided = hypotheses.decided(), size, "lines of the model decided"
            self._show(_costs(agent.counts, lower_bound(hypotheses)), decided, *self._exchanged(move, agent))
            return
        known = f"{hypotheses.decided():4d}/{size} {plural('line', size)}"
        if isinstance(move, Ask):
            said = f"{move.why}: {' '.join(map(str, move.plan))}"
        else:
            said = move.why if isinstance(move, Stop) else "the agent acts on its own"
        self._tell(agent.counts, known, said, surely=isinstance(move, Ask))

    def watch_trial(self, proposal: Proposal, assessment: Assessment, agent: CountingAgent) -> None:
        """Show a trial whose answer is weighed; off a terminal, say so, and how far it is now and then."""
        if self._console.quiet:
            return
        self._moved = True
        actions = assessment.actions.values()
        if self._live is not None:
            sure = sum(int((action.doubts <= DOUBT).sum()) for action in actions)
            total = sum(action.doubts.size for action in actions)
            known = sure, total, f"lines of the model over {1 - DOUBT:.1%} sure"
            self._show(_costs(agent.counts), known, *self._answered(proposal.why, agent))
            return
        worst = max(float(action.doubts.max(initial=0.0)) for action in actions)
        said = "answers are not reliable: weighed from here on"
        self._tell(agent.counts, f"greatest doubt {worst:.1e}", said)

    def _tell(self, counts: Counts, known: str, said: str, *, surely: bool = False) -> None:
        """Say what was spent, what is known and what is done, at least where the last is new, and now and then."""
        if surely or said != self._said or monotonic() - self._told >= EVERY:
            queries, steps = plural("query", counts.queries), plural("step", counts.steps)
            spent = f"{counts.queries:4d} {queries:<7}  {counts.steps:5d} {steps:<5}"
            self.say(f"{spent}  {known}  {said}")
        self._said = said

    def _show(
        self,
        costs: str,
        known: tuple[int, int, str],
        exchange: Exchange | None,
        seen: Sequence[tuple[str, Situation]],
    ) -> None:
        assert self._live is not None, "there is a terminal"
        images = []
        if self._sights is not None and self._graphics is not None:
            for caption, situation in seen:
                if (name := self._sights.name(situation)) is not None:
                    images.append((caption, cache(partial(picture, self._sights.folder, name))))
        self._live.update(View(costs, known, exchange, images, self._graphics))

    def _exchanged(
        self, move: Move, agent: CountingAgent
    ) -> tuple[Exchange | None, list[tuple[str, Situation]]]:
        if isinstance(move, Stop):
            return Exchange(move.why, ()), []
        if isinstance(move, Ask):
            return self._answered(move.why, agent)
        walk = agent.latest_walk
        if not walk:
            return None, []
        title = f"The agent acts on its own: {counted(len(walk), 'step')}"
        return walked(title, walk), [("before", walk[0].before), ("after", walk[-1].after)]

    def _answered(
        self, why: str, agent: CountingAgent
    ) -> tuple[Exchange | None, list[tuple[str, Situation]]]:
        if agent.latest_answer is None:
            return None, []
        query, response = agent.latest_answer
        title = f"Query {agent.counts.queries}, to {why}"
        return asked(title, query, response), _before_and_after(query, response)


class _Screen(Live):
    """A live display that draws only changes, or everything again when the terminal has a new size."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            console=console,
            transient=True,
            refresh_per_second=REFRESHES,
            vertical_overflow="crop",
            redirect_stdout=sys.stdout.isatty(),
        )
        self._drawn: tuple[object, object] | None = None

    def refresh(self) -> None:
        with self._lock:
            now = self.get_renderable(), self.console.size
            if self._drawn is not None and self._drawn[1] != now[1]:
                self.console.clear()  # lines that no longer fit were broken at unknown places
            elif self._drawn is not None and self._drawn[0] is now[0]:
                return
            self._drawn = now
            super().refresh()


def _graphics(console: Console) -> Graphics | None:
    """How the console shows images, None if it cannot: half-blocks need enough colours and UTF-8."""
    found = graphics(os.environ)
    if found is Graphics.BLOCKS and (
        console.color_system not in ("256", "truecolor") or not console.encoding.startswith("utf")
    ):
        return None
    return found


def _before_and_after(query: Query, response: Response) -> list[tuple[str, Situation]]:
    if not response.executed:
        return [("before and after", query.initial)]
    after = "after" if response.executed == len(query.plan) else "before the refused step"
    return [("before", query.initial), (after, response.final)]


def _costs(counts: Counts, least: int | None = None) -> str:
    bound = "" if least is None else f" (at least {least} needed)"
    return f"{counted(counts.queries, 'query')}{bound}  {counted(counts.steps, 'step')}"


# The screen at one moment: costs, how much of the model is known, the last question, its answer, its images.


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
        gained = (atom for atom in after.true - before.true if before.value(atom) is False)
        lost = (atom for atom in before.true - after.true if after.value(atom) is False)
        changes = ", ".join(signed(gained, lost)) or "nothing changed"
        return f"{self.executed} of {len(self.steps)} done: {changes}"


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
