"""What a person sees while an interrogation runs: one line on a terminal, a few lines elsewhere (stderr)."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.moves import Ask, Move, Stop
from aam_vision.interrogation.noisy.assessment import Assessment
from aam_vision.interrogation.noisy.experimenter import Proposal


class Display:
    """Follows an interrogation; silent if ``quiet``."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        stream = stream or sys.stderr
        self._console = Console(file=stream, quiet=quiet, highlight=False, soft_wrap=True)
        self._live: Live | None = None
        self._said = ""
        if stream.isatty() and not quiet:
            self._live = Live(console=self._console, transient=True, refresh_per_second=8)

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(Text(text))

    def watch(self, move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        """One move was made."""
        line = status_line(agent.counts, evidence)
        if isinstance(move, Ask):
            plan = " ".join(str(step) for step in move.plan)
            line += f"  {move.why}: {plan}"
        elif isinstance(move, Stop):
            line += f"  {move.why}"
        else:
            line += "  the agent acts on its own"
        if self._live is not None:
            self._live.update(Text(line, overflow="ellipsis", no_wrap=True))
        elif not isinstance(move, Ask) and line.rsplit("  ", 1)[1] == self._said:
            return
        else:
            self.say(line)
        self._said = line.rsplit("  ", 1)[1]

    def watch_trial(self, proposal: Proposal, assessment: Assessment, agent: CountingAgent) -> None:
        """One trial was made of an agent whose answers are weighed; elsewhere than on a terminal, told once."""
        worst = max(float(action.doubts.max(initial=0.0)) for action in assessment.actions.values())
        said = "answers are not reliable, and weighed from here on"
        line = f"{agent.counts.queries:4d} queries  {agent.counts.steps:5d} steps  greatest doubt {worst:.1e}"
        if self._live is not None:
            line += f"  {proposal.why}: {proposal.action}"
            self._live.update(Text(line, overflow="ellipsis", no_wrap=True))
        elif self._said != said:
            self.say(f"{line}  {said}")
        self._said = said


def status_line(counts: Counts, evidence: Evidence) -> str:
    """Counts and how far the model is known."""
    hypotheses = evidence.hypotheses
    return (
        f"{counts.queries:4d} queries  {counts.steps:5d} steps"
        f"  {hypotheses.decided():4d}/{hypotheses.size} pal tuples"
    )
