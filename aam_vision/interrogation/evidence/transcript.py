"""All questions to an agent and all its answers, in order: enough to check a result.

A transcript holds no conclusions: they can be drawn from it again, whatever policy asked the questions. Read step by step, it says
which modes every attempted step rules out by the states seen around it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.query import Access, Situation
from aam_vision.model.strips import ActionHeader, GroundAction, Location, Mode, State, Vocabulary
from aam_vision.support.errors import InconsistentAgent
from aam_vision.support.wording import counted

Place = tuple[Location, Mode]
"""A location and a mode; a mask for each says for which atoms the mode is ruled out there."""


@dataclass(frozen=True)
class Transcript:
    """The vocabulary and the start of an interrogation, and its questions, walks and answers."""

    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    access: Access
    initial: tuple[Situation, ...]
    entries: tuple[Entry, ...]
    repeated: bool = False
    """Whether one object may be named by several arguments."""
    lines: tuple[str, ...] = ()
    """Of traces: the line of a file in which each attempted step came to its end, as ``FILE:LINE``."""

    @property
    def end(self) -> Situation | None:
        """Where the agent stands after the last entry; None if nothing was asked or shown."""
        for entry in reversed(self.entries):
            if isinstance(entry, Asked):
                return entry.response.final
            if entry.steps:
                return entry.steps[-1].after
        return None

    @property
    def beginnings(self) -> tuple[Situation, ...]:
        """Where an interrogation can begin anew: as at first, or where the agent stands if there is no way back."""
        here = None if self.access.restarts else self.end
        return self.initial if here is None else (here,)

    def names(self) -> list[str]:
        """Names of the entries for messages, e.g. ``query 3 (stack(a, b): 0 of 1 steps executed)``; of traces by their lines."""
        queries = looks = steps = told = 0
        found = []
        for entry in self.entries:
            told += len(entry.actions)
            if self.lines:
                refused = " refused" if isinstance(entry, Asked) else ""
                both = dict.fromkeys((self.lines[told - len(entry.actions)], self.lines[told - 1]))
                found.append(f"{' to '.join(both)} ({', '.join(map(str, entry.actions))}{refused})")
            elif isinstance(entry, Asked) and entry.looks:
                looks += 1
                found.append(f"look {looks}")
            elif isinstance(entry, Asked):
                queries += 1
                plan = ", ".join(map(str, entry.query.plan))
                executed = f"{entry.response.executed} of {counted(len(entry.query.plan), 'step')} executed"
                found.append(f"query {queries} ({plan}: {executed})")
            else:
                first, steps = steps + 1, steps + len(entry.steps)
                which = f"walk step {steps}" if first == steps else f"walk steps {first} to {steps}"
                found.append(f"{which} ({', '.join(map(str, entry.actions))})")
        return found

    def in_single_steps(self) -> Transcript:
        """The same with every walk as walks of one step."""
        single: list[Entry] = []
        for entry in self.entries:
            single += [entry] if isinstance(entry, Asked) else [Walked((step,)) for step in entry.steps]
        return self.of(single)

    def of(self, entries: Sequence[Entry]) -> Transcript:
        """The same interrogation with other entries."""
        return replace(self, entries=tuple(entries))


def evidence_of(transcript: Transcript, entries: Iterable[Entry] = ()) -> Evidence:
    """The evidence of the initial situations of the problems, and of some entries.

    Raises:
        InconsistentAgent: one of them contradicts those before it.
    """
    evidence = Evidence(Hypotheses(transcript.vocabulary, transcript.headers, repeated=transcript.repeated))
    for situation in transcript.initial:
        evidence.begin(situation)
    for entry in entries:
        evidence.take_in(entry)
    return evidence


def taken_in(transcript: Transcript) -> tuple[Evidence, int | None]:
    """The evidence up to the first entry that contradicts those before it, and the number of that entry; None if none does."""
    evidence = evidence_of(transcript)
    for number, entry in enumerate(transcript.entries):
        try:
            evidence.take_in(entry)
        except InconsistentAgent:
            return evidence, number
    return evidence, None


RIGHT_AFTER = "it came right after {}"
REFUSED = RIGHT_AFTER.format("a refused step")


class Moment(NamedTuple):
    """When a step is attempted: how many came before it, and what came right before."""

    attempts: int = 0
    """Steps that were attempted, of all actions."""
    steps: int = 0
    """Those that were carried out."""
    since: int = 0
    """The same since the agent was last put somewhere, by a question that did not begin where it stood."""
    turn: int = 0
    """Steps of the same action that were carried out with the same objects."""
    before: tuple[str, ...] = ()
    """What was so, as a clause that follows "whether"; an argument is called by its place (``#0``)."""


class Course:
    """An agent's steps as they are counted, one after the other."""

    def __init__(self) -> None:
        self.now = Moment()
        self.after = ""
        """What comes right before the next step: ``RIGHT_AFTER`` an action, or ``REFUSED``; empty if the agent was put somewhere since."""
        self.problem: int | None = None
        """The problem that it is in, if it looks at first like another one."""
        self._stands: State | None = None
        self._last: GroundAction | None = None
        self._idle = self._refused = False
        """Whether the last step changed nothing; whether one was refused since the agent was put somewhere."""
        self._turns: dict[GroundAction, int] = {}
        self._named: dict[str, tuple[str, ...]] = {}
        """The objects that the last step of each action named."""

    def begin(self, state: State) -> None:
        """A question or a walk begins in a state."""
        if state != self._stands:
            self.now = self.now._replace(since=0)
            self._stands, self.after, self._refused = state, "", False

    def step(self, action: GroundAction, *, executed: bool) -> Moment:
        """A step is attempted; when."""
        now, turn = self.now, self._turns.get(action, 0)
        self.now = Moment(now.attempts + 1, now.steps + executed, now.since + executed)
        when = now._replace(turn=turn, before=tuple(self._before(action)))
        self._last, self.after, self._idle = (
            action,
            RIGHT_AFTER.format(action.name) if executed else REFUSED,
            False,
        )
        self._refused = self._refused or not executed
        if executed:
            self._turns[action], self._named[action.name] = turn + 1, action.objects
        return when

    def _before(self, action: GroundAction) -> Iterator[str]:
        for place, (one, other) in enumerate(
            zip(action.objects, self._named.get(action.name, ()), strict=False)
        ):
            if one == other:
                yield f"the step of it before named the same #{place}"
        if self.after and self._last is not None:
            yield self.after
            if self._idle:
                yield f"{self._last.name} had just changed nothing"
            if set(self._last.objects).intersection(action.objects):
                yield "the step right before named one of its objects"
        if self.problem is not None:
            yield f"it began in problem {self.problem}, which looks like others at first"
        if self._refused:
            yield "a step had been refused since the agent was put where it began"

    def end(self, state: State) -> None:
        """The agent is seen in a state."""
        self._idle = self.after != REFUSED and state == self._stands
        self._stands = state


@dataclass(frozen=True)
class AttemptedStep:
    """One attempted step; the situation before or after it is None where it was not observed."""

    entry: int
    """The entry of the transcript (walks in single steps) that it belongs to, from 0."""
    position: int
    """Which step of that entry's plan it is, from 0."""
    action: GroundAction
    executed: bool
    before: Situation | None
    after: Situation | None
    when: Moment = field(default=Moment(), compare=False)


def attempted(transcript: Transcript, course: Course | None = None) -> Iterator[AttemptedStep]:
    """All attempted steps, in order; the transcript's walks must be in single steps.

    Args:
        transcript: of an interrogation.
        course: counts them; default from its beginning.
    """
    course = course or Course()
    for number, entry in enumerate(transcript.entries):
        if not isinstance(entry, Asked):
            for before, action, after in entry.steps:
                course.begin(before.state)
                yield AttemptedStep(
                    number, 0, action, True, before, after, course.step(action, executed=True)
                )
                course.end(after.state)
            continue
        executed, final = entry.response.executed, entry.response.final
        course.begin(entry.query.initial.state)
        for position, action in enumerate(entry.actions):
            if position == executed:
                last = final if executed else entry.query.initial
                yield AttemptedStep(
                    number, position, action, False, last, None, course.step(action, executed=False)
                )
                break
            begun = None if position else entry.query.initial
            ended = final if position == executed - 1 else None
            yield AttemptedStep(
                number, position, action, True, begun, ended, course.step(action, executed=True)
            )
        course.end(final.state)


def violated(index: AtomIndex, refused: AttemptedStep) -> Literals:
    """The literals that may have been violated where a step was refused: both of an atom that was not seen."""
    assert refused.before is not None, "a refusal is where the plan's execution ended, which was seen"
    held, unknown = index.values(refused.before.state, refused.action.objects)
    return Literals(index.everything & ~held, held | unknown)


def ruled_out(index: AtomIndex, executed: AttemptedStep) -> dict[Place, int]:
    """The modes that an executed step rules out, as masks of the atoms that cannot have them.

    The joint effects on atoms that are one under the step's binding are left out.
    """
    objects = executed.action.objects
    held, unknown = 0, index.everything
    if executed.before is not None:
        held, unknown = index.values(executed.before.state, objects)
    found = {
        (Location.PRE, Mode.POSITIVE): index.everything & ~(held | unknown),
        (Location.PRE, Mode.NEGATIVE): held,
    }
    if executed.after is None:
        return found
    now, now_unknown = index.values(executed.after.state, objects)
    known = ~(now_unknown | index.shared(objects)) & index.everything
    ended_on, ended_off = known & now, known & ~now
    seen = known & ~unknown
    return {
        **found,
        (Location.EFF, Mode.POSITIVE): ended_off,
        (Location.EFF, Mode.NEGATIVE): ended_on,
        (Location.EFF, Mode.ABSENT): seen & (now ^ held),
    }
