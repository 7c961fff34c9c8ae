"""Learning where nothing can be asked: traces of what an agent did, as an agent that does that once more and nothing else.

A trace is a transcript whose moves nobody chose. ``Retelling`` makes these moves one after the other, and ``TracedAgent`` answers as
it is recorded; so loop, beliefs, journal and report are those of every interrogation.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from aam_vision.interrogation.evidence.anomalies import changed_untouched
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Entry, Move, Stop, Walk, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.model.pddl import read_domain
from aam_vision.model.pddl.traces import Trace, read_trace
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, State, Vocabulary
from aam_vision.support.errors import AamWarning, AgentFailed, UnusableInput
from aam_vision.support.wording import counted, listed


def read_traces(domain: Path, files: Iterable[Path]) -> Transcript:
    """Traces as one transcript: each is a problem, executed steps are walks, and a refused one is a question.

    Args:
        domain: declares predicates and actions; what these require and change there is not looked at.
        files: as AMLGym writes them.

    Raises:
        UnusableInput: a file cannot be used, none is given, or a state cannot follow from the one before it, whatever the step does to
            the objects that it names.

    Warns:
        AamWarning: objects that the domain does not declare are taken for constants.
    """
    declared, files = read_domain(domain), [*files]
    traces = [read_trace(declared, file) for file in files]
    if forgotten := _forgotten(traces, declared.vocabulary):
        told = " ".join(f"{name} - {kind}" for name, kind in forgotten.items())
        line = (
            f"{domain}: steps always change what is true of {listed([*forgotten])}, which they do not name; read as if the domain had "
            f"(:constants {told})"
        )
        warnings.warn(line, AamWarning, stacklevel=2)
        words = declared.vocabulary
        words = replace(words, constants={**words.constants, **forgotten})
        declared = replace(declared, vocabulary=words)
        traces = [read_trace(declared, file) for file in files]
    return transcript_of(declared.vocabulary, declared.headers, traces)


def transcript_of(
    vocabulary: Vocabulary, headers: tuple[ActionHeader, ...], traces: Sequence[Trace]
) -> Transcript:
    """The same of traces that were read already."""
    if not traces:
        raise UnusableInput("there are none; give at least one file", "traces")
    constants = vocabulary.constants
    numbers = count()
    initial = tuple(_situation(trace.initial, numbers) for trace in traces)
    entries = tuple(
        entry
        for trace, start in zip(traces, initial, strict=True)
        for entry in _entries(trace, start, constants, numbers)
    )
    named = [step.action.objects for trace in traces for step in trace.steps]
    named += [atom.objects for trace in traces for atom in trace.atoms]
    repeated = any(len(set(objects)) < len(objects) for objects in named)
    lines = tuple(f"{trace.path}:{step.line}" for trace in traces for step in trace.steps)
    return Transcript(vocabulary, headers, Access.RESET, initial, entries, repeated, lines)


def _forgotten(traces: Sequence[Trace], vocabulary: Vocabulary) -> dict[str, str]:
    """Objects that explain, as constants, all that steps change and do not name, with their types; none if such do not.

    Each such change has to come with every execution of the action, and each object to be met in two steps: else it is more probable
    that a step is missing from a trace.
    """
    executed: list[tuple[State, GroundAction, State]] = []
    for trace in traces:
        here = trace.initial
        for action, after, _ in trace.steps:
            executed += [] if after is None else [(here, action, after)]
            here = here if after is None else after
    met, always = Counter[str](), dict[tuple[str, Atom], bool]()
    for before, action, after in executed:
        changed = changed_untouched(before, [action], after, vocabulary.constants)
        met.update(
            {one for atom in changed for one in atom.objects} - {*action.objects, *vocabulary.constants}
        )
        places = {one: f"?{number}" for number, one in enumerate(action.objects)}
        for atom in changed:
            lifted = Atom(atom.predicate, tuple(places.get(one, one) for one in atom.objects))
            always[action.name, lifted] = atom in after.true
    for (name, lifted), true in always.items():
        for _, action, after in executed:
            bound = {f"?{number}": one for number, one in enumerate(action.objects)}
            atom = Atom(lifted.predicate, tuple(bound.get(one, one) for one in lifted.objects))
            if action.name == name and (atom in after.true) is not true:
                return {}
    if min(met.values(), default=0) < 2:
        return {}
    kinds = {one: [t.initial.objects[one] for t in traces if one in t.initial.objects] for one in sorted(met)}
    is_a = vocabulary.types.is_a
    return {one: next((k for k in of if all(is_a(k, o) for o in of)), of[0]) for one, of in kinds.items()}


def _entries(
    trace: Trace, here: Situation, constants: Collection[str], numbers: Iterator[int]
) -> Iterator[Entry]:
    walked = list[WalkStep]()
    for action, state, line in trace.steps:
        if state is None:
            if walked:
                yield Walked(tuple(walked))
            walked = []
            yield Asked(Query(here, (action,)), Response(0, here))
            continue
        if changed := changed_untouched(here.state, [action], state, constants):
            raise UnusableInput(
                f"{trace.path}:{line}: {changed[0]} has changed, which {action} does not name: a step is missing before this state, "
                "or it is no agent of STRIPS in these words"
            )
        after = _situation(state, numbers)
        walked.append(WalkStep(here, action, after))
        here = after
    if walked:
        yield Walked(tuple(walked))


def _situation(state: State, numbers: Iterator[int]) -> Situation:
    """A state is one situation wherever it is seen, but what is not known in full may be another each time."""
    return Situation(next(numbers) if state.unknown else state, state)


class TracedAgent(Agent):
    """An agent of which nothing is left but a transcript; its refusals count as right."""

    refuses_surely = True
    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    access: Access

    def __init__(self, transcript: Transcript) -> None:
        self.traced = transcript
        self.vocabulary, self.headers, self.access = (
            transcript.vocabulary,
            transcript.headers,
            transcript.access,
        )
        self._told = 0

    def initial(self) -> Sequence[Situation]:
        """Where the traces begin."""
        return self.traced.initial

    def ask(self, query: Query) -> Response:
        """The next answer of the transcript.

        Raises:
            AgentFailed: it is about another question.
        """
        entry = self._next()
        if not isinstance(entry, Asked) or entry.query != query:
            raise AgentFailed("nothing can be asked of a trace")
        return entry.response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The next walk of the transcript.

        Raises:
            AgentFailed: it begins elsewhere.
        """
        entry = self._next()
        if not isinstance(entry, Walked) or entry.steps[0].before != start:
            raise AgentFailed("nothing can be asked of a trace")
        return entry.steps

    def _next(self) -> Entry | None:
        self._told += 1
        return next(iter(self.traced.entries[self._told - 1 : self._told]), None)


@dataclass(frozen=True)
class Retelling:
    """The moves of a transcript as a policy; it stops where that ends."""

    transcript: Transcript

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next recorded move."""
        told, entries = len(evidence.exchanges), self.transcript.entries
        if told == len(entries):
            left = evidence.hypotheses.undecided()
            known = (
                f"the traces leave {counted(left, 'line')} open" if left else "the traces decide every line"
            )
            return Stop(False, f"{known}; nothing could be asked, and nothing was examined")
        entry = entries[told]
        if isinstance(entry, Walked):
            return Walk(evidence.situation(entry.steps[0].before), len(entry.steps), "recorded")
        start = evidence.situation(entry.query.initial)
        again = evidence.was_asked(start, entry.query.plan)
        return Ask(start, entry.query.plan, "recorded", again=again)
