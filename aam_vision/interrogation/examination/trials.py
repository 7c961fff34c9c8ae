"""Single steps with what was seen around them, how to ask for one again under each access, and what tells those apart that differ.

A single literal may tell the situations in which a step came out as expected from those in which it did not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NamedTuple

from aam_vision.agents.counting import CountingAgent
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.model.query import Access, Query, Situation, traced
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    State,
    Vocabulary,
    lifted_atoms,
)

MAX_STEPS = 1000
"""Steps that the experiments of one diagnosis may take."""

Plan = tuple[GroundAction, ...]


class History(NamedTuple):
    """How an agent came to a situation: where it began, and what it was asked since, refused steps included."""

    start: Situation
    asked: tuple[tuple[Plan, int], ...] = ()
    """Plans one after the other, and how many steps of each were executed."""

    def then(self, plan: Plan, executed: int) -> History:
        """The history after one more plan."""
        return History(self.start, (*self.asked, (plan, executed))) if plan else self

    @property
    def executed(self) -> Plan:
        """All executed steps."""
        return tuple(step for plan, executed in self.asked for step in plan[:executed])

    @property
    def length(self) -> int:
        """The number of attempted steps."""
        return sum(min(executed + 1, len(plan)) for plan, executed in self.asked)


@dataclass(frozen=True)
class Trial:
    """One attempted step, with what was seen before and after it."""

    before: Situation
    step: GroundAction
    after: Situation | None
    """None if the step was refused."""
    history: History | None = None
    """How the agent can be brought to ``before`` as it was; None if the access does not allow that."""
    steady: bool = field(default=False, compare=False)
    """Whether its outcome was looked at again, and surely is as it was seen."""

    @property
    def executed(self) -> bool:
        return self.after is not None

    def alike(self, other: Trial) -> bool:
        """Whether both steps came out the same, as far as that was seen."""
        if self.after is None or other.after is None:
            return self.after is other.after
        return not differing(self.after.state, other.after.state)

    @property
    def changed(self) -> list[Atom]:
        """The atoms that are known to have changed; none if the step was refused."""
        return [] if self.after is None else differing(self.before.state, self.after.state)

    @property
    def outcome(self) -> str:
        """What happened, in words: ``refused``, or the atoms that changed."""
        if self.after is None:
            return "refused"
        true = self.after.state.true
        told = ", ".join(f"{'+' if atom in true else '-'}{atom}" for atom in self.changed)
        return told or "executed, and nothing changed"


class Spent(Exception):
    """Raised when the experiments of a diagnosis have taken all the steps that they may take."""


@dataclass
class Trials:
    """All single steps of an interrogation, and more that are made on purpose: all that asks raises ``Spent`` in the end.

    ``transcript``: what it was asked so far; it is kept in single steps.
    """

    agent: CountingAgent
    transcript: Transcript
    allowed: int = MAX_STEPS
    seen: list[Trial] = field(default_factory=list)
    """Every step that was seen from the state before it to the state after it, in order."""
    asked: list[Asked] = field(default_factory=list)
    """The questions of the experiments, and their answers."""
    steps: int = 0
    """The number of steps that the experiments took."""
    known: int = 0
    """The number of steps that were seen before the experiments."""
    of_entry: list[tuple[History | None, list[Trial]]] = field(default_factory=list)
    """For each answer how the agent came to where the question began, and the steps that were seen."""
    _ways: dict[Hashable, History] = field(default_factory=dict)
    _stands: Hashable = None
    """The handle of the situation in which the last entry ended."""
    _walked: tuple[Hashable, History] | None = None
    """Where the last step of a walk led, and how the agent came there."""
    _reached: dict[tuple[Hashable, Plan], Situation] = field(default_factory=dict)
    """Situations after a history that has to be part of every question: they are looked at once."""

    def __post_init__(self) -> None:
        for situation in self.transcript.initial:
            self._ways.setdefault(situation.handle, History(situation))
        begins = [
            number == 0
            for entry in self.transcript.entries
            for number in range(1 if isinstance(entry, Asked) else len(entry.steps))
        ]
        self.transcript = self.transcript.in_single_steps()
        for entry, begun_anew in zip(self.transcript.entries, begins, strict=True):
            if begun_anew:
                self._walked = None
            self._set_out(entry)
            begun = self.history(entry.query.initial) if isinstance(entry, Asked) else None
            steps = list(self._in_steps(entry))
            self.of_entry.append((begun, steps))
            self.seen += steps
        self.known = len(self.seen)

    @property
    def access(self) -> Access:
        return self.agent.access

    def history(self, situation: Situation) -> History | None:
        """How to come to a situation as it was; None if the access leads to it no more."""
        if self.access.returns:
            return History(situation)
        if self.access.episodic:
            return self._ways.get(situation.handle)
        here = self.here
        return History(situation) if here is not None and here.handle == situation.handle else None

    @property
    def here(self) -> Situation | None:
        """Where the agent stands."""
        return self.asked[-1].response.final if self.asked else self.transcript.end

    def again(self, trial: Trial) -> Trial | None:
        """The same step after the same history; None if the access does not allow that."""
        history = trial.history
        if history is None or not self.access.restarts:
            history = self.history(trial.before)
        return None if history is None else self.attempt(history, trial.step)

    def attempt(self, history: History, step: GroundAction) -> Trial | None:
        """One step after others; None if those came out otherwise than they should."""
        before = self.reached(history)
        if before is None:
            return None
        start, way = before, tuple[GroundAction, ...]()
        if self.access.constructs:  # a question of its own would begin without a history
            start, way = history.start, history.executed
        executed, after = self.ask(Query(start, (*way, step)))
        if executed < len(way):
            return None
        kept = History(before) if self.access.snapshots else history
        found = Trial(before, step, after if executed > len(way) else None, kept)
        self.seen.append(found)
        return found

    def go_on(self, step: GroundAction) -> Trial | None:
        """One step from where the agent stands, whatever it was asked before; None if that is not known."""
        here = self.here
        if here is None:
            return None
        history = self.history(here)
        executed, after = self.ask(Query(here, (step,)))
        self.seen.append(Trial(here, step, after if executed else None, history))
        return self.seen[-1]

    def reached(self, history: History) -> Situation | None:
        """The situation after a history; None if a step of it came out otherwise."""
        at = history.start
        if not self.access.restarts and self.history(at) is None:
            return None
        if self.access.constructs and history.asked:
            key = at.handle, history.executed
            if key not in self._reached:
                executed, at = self.ask(Query(at, history.executed))
                if executed < len(history.executed):
                    return None
                self._reached[key] = at
            return self._reached[key]
        for plan, expected in history.asked:
            executed, at = self.ask(Query(at, plan))
            if executed != expected:
                return None
        return at

    def ask(self, query: Query) -> tuple[int, Situation]:
        """The number of executed steps, and where they led.

        Raises:
            Spent: too many steps have been attempted, or nothing can be asked.
        """
        if self.steps + len(query.plan) > self.allowed or traced(self.agent):
            raise Spent
        response = self.agent.ask_again(query)
        self.steps += min(len(query.plan), response.executed + 1)
        entry = Asked(query, response)
        self._set_out(entry)
        self.asked.append(entry)
        self._note_way(entry)
        return response.executed, response.final

    def look(self, situation: Situation) -> Situation | None:
        """The situation, looked at again; None if the access does not lead there, as it is."""
        here = self.here is not None and self.here.handle == situation.handle
        if not here and not self.access.returns:
            return None
        self.agent.counts.looks += 1
        return self.ask(Query(situation, ()))[1]

    def _in_steps(self, entry: Entry) -> Iterator[Trial]:
        """The steps of an entry that were seen from before to after; walks are in single steps."""
        if not isinstance(entry, Asked):
            for before, step, after in entry.steps:
                history = self.history(before)
                if self.access.constructs and self._walked is not None and self._walked[0] == before.handle:
                    history = self._walked[1]  # the steps of one walk share what is hidden
                if history is not None:
                    self._walked = after.handle, history.then((step,), 1)
                    self._ways[after.handle] = self._walked[1]
                yield Trial(before, step, after, history)
            return
        self._walked = None
        plan, executed, final = entry.query.plan, entry.response.executed, entry.response.final
        start = entry.query.initial
        history = self.history(start)
        self._note_way(entry)
        if executed < len(plan):
            before = final if executed else start
            way = self.history(before) if self.access.snapshots else history
            if way is history and history is not None:
                way = history.then(plan[:executed], executed)
            yield Trial(before, plan[executed], None, way)
        if executed == 1:
            yield Trial(start, plan[0], final, history)

    def _set_out(self, entry: Entry) -> None:
        """Forget what was asked in an initial situation before the agent left it: it has been reset since."""
        if isinstance(entry, Asked):
            begun, ended = entry.query.initial, entry.response.final
        elif entry.steps:
            begun, ended = entry.steps[0].before, entry.steps[-1].after
        else:
            return
        known = self._ways.get(begun.handle)
        initial = known is not None and known.start.handle == begun.handle
        if self.access.episodic and initial and self._stands != begun.handle:
            self._ways[begun.handle] = History(begun)
        self._stands = ended.handle

    def _note_way(self, entry: Asked) -> None:
        history = self._ways.get(entry.query.initial.handle)
        if history is not None:
            executed, final = entry.response.executed, entry.response.final
            # an agent that stands where nothing was executed has been asked all the same
            self._ways[final.handle] = history.then(entry.query.plan, executed)


_Value = Callable[[Trial], "bool | None"]

ENOUGH = 2
"""Situations of each kind that a literal has to tell apart, at least."""


def separating_literal(
    vocabulary: Vocabulary,
    header: ActionHeader,
    expected: Sequence[Trial],
    other: Sequence[Trial],
    *,
    enough: int = ENOUGH,
    own: bool = False,
) -> str | None:
    """A literal that is false wherever the step came out as expected, and true wherever it did not; None if none does.

    First literals over the action's own arguments, one argument named twice included; then whether some other object
    stands in a relation; then single ground atoms.

    ``enough``: how many there are of each kind, at least. ``own``: only literals over the action's own arguments.
    """
    if len(expected) < enough or len(other) < enough:
        return None
    names = {predicate.name for predicate in vocabulary.predicates}
    literals = [*_own(vocabulary, header)]
    if not own:
        literals += _with_another(vocabulary, header)
        literals += _ground(names, expected[0].before.state, other[0].before.state)
    for text, value in literals:
        normal = {value(trial) for trial in expected}
        strange = {value(trial) for trial in other}
        if None in normal | strange or len(normal) > 1 or len(strange) > 1 or normal == strange:
            continue
        return text if strange == {True} else f"not {text}"
    return None


def separating_pair(
    vocabulary: Vocabulary, header: ActionHeader, expected: Sequence[Trial], other: Sequence[Trial]
) -> str | None:
    """Two literals over the action's own arguments, both true wherever the step did not come out as expected, and nowhere else."""
    literals: list[tuple[str, set[int]]] = []
    for text, value in _own(vocabulary, header):
        strange = {value(trial) for trial in other}
        if len(strange) == 1 and None not in strange:
            held = {number for number, trial in enumerate(expected) if value(trial) in (*strange, None)}
            literals.append((text if True in strange else f"not {text}", held))
    return next(
        (f"{one} and {two}" for (one, a), (two, b) in combinations(literals, 2) if a.isdisjoint(b)), None
    )


def in_own_words(header: ActionHeader, step: GroundAction, atom: Atom) -> str:
    """A ground atom with the action's parameters in place of the step's arguments."""
    names = {name: f"?{parameter}" for name, parameter in zip(step.objects, header.parameters, strict=True)}
    return f"{atom.predicate}({', '.join(names.get(name, name) for name in atom.objects)})"


def _own(vocabulary: Vocabulary, header: ActionHeader) -> Iterator[tuple[str, _Value]]:
    for lifted in lifted_atoms(vocabulary, header, repeated=True):

        def value(trial: Trial, lifted: LiftedAtom = lifted) -> bool | None:
            return trial.before.state.value(lifted.ground(trial.step.objects))

        yield lifted.text(header.parameters), value


def _ground(names: Collection[str], *states: State) -> Iterator[tuple[str, _Value]]:
    for atom in sorted({atom for state in states for atom in state.true if atom.predicate in names}):

        def value(trial: Trial, atom: Atom = atom) -> bool | None:
            return trial.before.state.value(atom)

        yield str(atom), value


def _with_another(vocabulary: Vocabulary, header: ActionHeader) -> Iterator[tuple[str, _Value]]:
    """Whether an object that is no argument stands in a relation, to an argument or to anything."""
    for predicate in vocabulary.predicates:
        places: list[list[int | None]] = [
            [None, *(n for n, own in enumerate(header.types) if vocabulary.types.is_a(own, kind))]
            for kind in predicate.types
        ]
        for chosen in product(*places):
            if None not in chosen:
                continue

            def value(
                trial: Trial, name: str = predicate.name, chosen: tuple[int | None, ...] = chosen
            ) -> bool | None:
                own = trial.step.objects
                return any(
                    all(
                        one not in own if place is None else one == own[place]
                        for one, place in zip(row, chosen, strict=True)
                    )
                    for row in trial.before.state.rows.get(name, [])
                )

            shown = ["another" if n is None else f"?{header.parameters[n]}" for n in chosen]
            yield f"{predicate.name}({', '.join(shown)})", value
