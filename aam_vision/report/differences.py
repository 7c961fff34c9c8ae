"""Where two models of one agent differ: line by line, on a plan, or in the cases of controls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from pathlib import Path
from typing import Any, NamedTuple

from aam_vision.interrogation.controls.mapping import Carrier, Carriers, read_carriers
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.strips import ActionSchema, LiftedAtom, Location, Mode, Model, Vocabulary
from aam_vision.report import english
from aam_vision.report.evaluation import Disagreement, shortest_disagreement
from aam_vision.report.recorded import shape
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted, lines

MAX_NAMINGS = 5040
"""Ways to name the parameters of one operator after those of another one that are tried, at most."""


@dataclass(frozen=True)
class Difference:
    """A pal tuple with another mode in another model."""

    action: str
    location: Location
    text: str
    modes: tuple[Mode, Mode]

    def __str__(self) -> str:
        ours, other = (mode.value for mode in self.modes)
        return f"{self.text} in {self.location.value} of {self.action}: {ours} and {other}"


def differences(one: Model, other: Model) -> list[Difference]:
    """The palm tuples in which two models of the same actions differ, in the order of the first."""
    found = []
    for schema in one.actions:
        rival = other.schema(schema.header.name)
        for location in Location:
            atoms = dict.fromkeys((*_atoms(schema, location), *_atoms(rival, location)))
            for atom in sorted(atoms, key=lambda atom: (atom.predicate, str(atom.arguments))):
                modes = schema.mode(atom, location), rival.mode(atom, location)
                if modes[0] is not modes[1]:
                    text = atom.text(schema.header.parameters)
                    found.append(Difference(schema.header.name, location, text, modes))
    return found


def _atoms(schema: ActionSchema, location: Location) -> list[LiftedAtom]:
    if location is Location.PRE:
        return [*schema.positive, *schema.negative]
    return [*schema.add, *schema.delete]


class Models:
    """The files of two PDDL domains, with problems in which a plan is looked for that tells them apart, in so many states in all.

    Raises:
        UnusableInput: a file cannot be used, or they are about other actions or predicates.
    """

    def __init__(self, first: Path, second: Path, problems: Sequence[Path], max_states: int) -> None:
        self.models = read_domain(first), read_domain(second)
        self._one, self._other = self.models
        if shape(self._one) != shape(self._other):
            raise UnusableInput(
                f"{first} and {second}: have other actions, parameters' types or predicates; give models of one agent"
            )
        self._paths, self._names = (first, second), (first.name, second.name)
        self._found = differences(self._one, self._other)
        self._problems, self._max_states = problems, max_states

    def _searches(self) -> Iterator[tuple[Path, Disagreement]]:
        """By problem, the search for a plan that tells the models apart."""
        for path in self._problems:
            initial = read_problem(self._one, path).initial
            yield path, shortest_disagreement(self._one, self._other, initial, self._max_states)

    def lines(self) -> Iterator[str]:
        """The difference, in lines."""
        if self._found:
            differ = "differs" if len(self._found) == 1 else "differ"
            names = " and ".join(self._names)
            yield f"{counted(len(self._found), 'line')} of the model {differ} ({names}):"
        else:
            yield "no difference: every line of the model is the same"
        yield from (f"  {difference}" for difference in self._found)
        for path, told in self._searches():
            if told.plan is None:
                within = f"none within {counted(told.states, 'state')}; more with --max-states"
                ended = "none" if told.exhausted else within
                yield f"{path.name}: a plan on which they disagree: {ended}"
                continue
            yield f"{path.name}: they disagree on this plan ({counted(len(told.plan), 'step')}):"
            yield from (f"  ({' '.join([step.name, *step.objects])})" for step in told.plan)
            yield from (f"  {name}: {end}" for name, end in zip(self._names, told.outcomes, strict=True))

    def json(self) -> dict[str, Any]:
        """The difference for programs."""
        palm_tuples = [
            {
                "action": one.action,
                "location": one.location.value,
                "atom": one.text,
                **{name: mode.name.lower() for name, mode in zip("ab", one.modes, strict=True)},
            }
            for one in self._found
        ]
        plans = [
            {
                "problem": str(problem),
                "plan": None if told.plan is None else [[step.name, *step.objects] for step in told.plan],
                **{
                    name: None if told.plan is None else outcome
                    for name, outcome in zip("ab", told.outcomes, strict=True)
                },
                "states": told.states,
                "exhausted": told.exhausted,
            }
            for problem, told in dict(self._searches()).items()
        ]
        told = {"different": bool(self._found), "palm_tuples": palm_tuples, "plans": plans}
        return dict(zip("ab", map(str, self._paths), strict=True)) | told


# The cases of controls in which two runs differ, whatever their operators and parameters are called.


class Case(NamedTuple):
    """What a control does in one kind of situation: the operator that it carries out there."""

    schema: ActionSchema
    carrier: Carrier
    vocabulary: Vocabulary

    @property
    def name(self) -> str:
        """The operator."""
        return self.schema.header.name

    def needs(self, names: Sequence[str] = ()) -> list[str]:
        """The precondition; other ``names`` may be given to the parameters, in their order."""
        return _texts(self.schema.positive, self.schema.negative, names or self.schema.header.parameters)

    def changes(self, names: Sequence[str] = ()) -> list[str]:
        """The effects, in the same way."""
        return _texts(self.schema.add, self.schema.delete, names or self.schema.header.parameters)

    def __str__(self) -> str:
        one, about = self.schema, (self.schema.header.parameters, self.vocabulary)
        needs = [english.literal(*literal, *about) for literal in english.marked(one.positive, one.negative)]
        changes = [english.effect(*literal, *about) for literal in english.marked(one.add, one.delete)]
        when = f"where {english.listed(needs)}: " if needs else ""
        return f"{self.name} ({self.carrier.control}, {when}{english.listed(changes)})"

    def json(self) -> dict[str, Any]:
        """The case for programs."""
        told = {"operator": self.name, "control": self.carrier.control}
        return {**told, "precondition": self.needs(), "effects": self.changes()}


class Pair(NamedTuple):
    """A case that both runs have, and what only one of them requires, in the names of the first."""

    one: Case
    other: Case
    required: tuple[list[str], list[str]]

    @property
    def size(self) -> int:
        """How many literals only one of them requires."""
        return sum(map(len, self.required))

    def text(self, first: str = "A", second: str = "B") -> str:
        """The case in words, with names for the two runs."""
        called = "" if self.one.name == self.other.name else f", called {self.other.name} by {second}"
        told = [
            f"only {run} requires {english.listed(some)}"
            for run, some in zip((first, second), self.required, strict=True)
            if some
        ]
        return f"{self.one.name} ({self.one.carrier.control}{called}): {'; '.join(told)}"


@dataclass(frozen=True)
class Cases:
    """Where two runs with controls differ."""

    pairs: list[Pair]
    only_one: list[Case]
    only_other: list[Case]

    def texts(self, first: str = "A", second: str = "B") -> list[str]:
        """The difference in words, with names for the two runs."""
        told = [f"only {first}: {case}" for case in self.only_one]
        told += [f"only {second}: {case}" for case in self.only_other]
        told += [f"both: {pair.text(first, second)}" for pair in self.pairs if pair.size]
        same = sum(not pair.size for pair in self.pairs)
        return [*told, f"{counted(same, 'case')} of controls in both runs"]

    def lines(self) -> Iterator[str]:
        """The same as lines of a terminal."""
        for text in self.texts():
            yield from lines(text, indent=2)

    def json(self) -> dict[str, Any]:
        """The difference for programs."""
        both = [
            {"a": one.name, "b": other.name, "required_by_a": ours, "required_by_b": theirs}
            for one, other, (ours, theirs) in self.pairs
        ]
        return {
            "different": bool(self.only_one or self.only_other or any(pair.size for pair in self.pairs)),
            "only_a": [case.json() for case in self.only_one],
            "only_b": [case.json() for case in self.only_other],
            "both": both,
        }


def compared(first: Path, second: Path) -> Cases:
    """The cases of two runs' folders: those of one control with the same effects are one. Raises UnusableInput: damaged, or of other predicates."""
    models = [read_domain(run / "model.pddl") for run in (first, second)]
    if len({frozenset(model.vocabulary.predicates) for model in models}) > 1:
        raise UnusableInput(f"{first} and {second}: have other predicates; give runs with one vocabulary")
    return matched(
        *(cases(one, read_carriers(run, one)) for run, one in zip((first, second), models, strict=True))
    )


def cases(model: Model, carriers: Carriers) -> list[Case]:
    """The cases that a model of operators tells of."""
    return [Case(schema, carriers[schema.header.name], model.vocabulary) for schema in model.actions]


def matched(ours: Sequence[Case], theirs: Iterable[Case]) -> Cases:
    """The cases of two runs with one vocabulary: those of one control with the same effects are the same case."""
    found = Cases([], [], left := [*theirs])
    for case in ours:
        pairs = [pair for rival in left for pair in _pairs(case, rival)]
        if not pairs:
            found.only_one.append(case)
            continue
        found.pairs.append(min(pairs, key=lambda pair: pair.size))
        left.remove(found.pairs[-1].other)
    return found


def _pairs(one: Case, other: Case) -> Iterator[Pair]:
    """The two as one case, by every way to name the parameters in which their effects are the same."""
    if one.carrier != other.carrier:
        return
    ours, theirs, given = one.schema.header.parameters, other.schema.header.parameters, one.carrier.given
    names = *ours[given:], *(f"{name}-of-B" for name in theirs[given:])
    for free in islice(permutations(names, len(theirs) - given), MAX_NAMINGS):
        called = *ours[:given], *free
        if other.changes(called) == one.changes():
            needs, rival = one.needs(), other.needs(called)
            required = (
                [need for need in needs if need not in rival],
                [need for need in rival if need not in needs],
            )
            yield Pair(one, other, required)


def _texts(true: Iterable[LiftedAtom], false: Iterable[LiftedAtom], names: Sequence[str]) -> list[str]:
    return sorted(
        ("not " if mode is Mode.NEGATIVE else "") + atom.text(names)
        for atom, mode in english.marked(true, false)
    )
