"""Two versions of an agent with chance side by side, in words: per action what differs, by how much, and whether it can be chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, permutations
from pathlib import Path
from typing import Any, NamedTuple

from aam_vision.controls.mapping import Carrier, read_carriers
from aam_vision.interrogation.chance.comparing import (
    ALPHA,
    ActionDifferences,
    AtomDifference,
    Count,
    OutcomeDifference,
    differences,
)
from aam_vision.interrogation.chance.interrogating import Options
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.retelling import retold
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import ActionSchema, LiftedAtom, Mode, Vocabulary
from aam_vision.report import chance, english
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.english import listed
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted, some

_NEEDS = {Mode.POSITIVE: "needs {}", Mode.NEGATIVE: "needs not {}", Mode.ABSENT: "does not need {}"}
_SURE = f"{100 * (1 - ALPHA):.0f}%"


@dataclass(frozen=True)
class Line:
    """A line of the comparison: of what, in words, and whether it is a difference that chance does not explain."""

    text: str
    different: bool


class Versions:
    """Two runs of ``--chance`` over the same actions and predicates.

    Raises:
        UnusableInput: they are about other actions or predicates.
    """

    def __init__(self, one: ChanceAccount, other: ChanceAccount) -> None:
        self.one, self.other = one, other
        if _shape(one) != _shape(other):
            raise UnusableInput(
                f"{one.run.folder} and {other.run.folder}: have other actions, parameters' types or predicates; "
                "give runs of one agent"
            )

    @property
    def independent(self) -> bool:
        """Whether the chance of one says nothing of that of the other: they did not draw it from the same seed."""
        seeds = self.one.run.chance_seed, self.other.run.chance_seed
        return seeds[0] is None or seeds[0] != seeds[1]

    @cached_property
    def actions(self) -> list[ActionDifferences]:
        """What differs, action by action."""
        run, first = self.other.run, self.one.run.transcript
        # atoms are compared by their numbers, which follow from the order of the predicates
        transcript = replace(run.transcript, vocabulary=first.vocabulary, headers=first.headers)
        others = retold(transcript, precision_of(run.within or Options().within)).actions
        return differences(self.one.knowledge.actions, others, independent=self.independent)

    @cached_property
    def same(self) -> tuple[str, ...]:
        """The conditions of the interrogations that were the same."""
        first, second = (_conditions(one) for one in (self.one, self.other))
        return tuple(name for name, value in first.items() if value == second[name])

    @property
    def apart(self) -> tuple[str, ...]:
        """Those that were not."""
        return tuple(name for name in _conditions(self.one) if name not in self.same)

    @property
    def matched(self) -> str:
        """What the runs have in common, and what they have not, as a sentence."""
        told = f"matched: {f'the same {listed(self.same)}' if self.same else 'nothing'}"
        return f"{told}; NOT matched: {listed(self.apart)}" if self.apart else told

    @property
    def warnings(self) -> list[str]:
        """Which run is no good base of a comparison, and why, in sentences."""
        found = []
        for name, account in (("A", self.one), ("B", self.other)):
            judged = account.verdict
            if account.figures is None or account.figures["status"] == NOT_STRIPS:
                found.append(
                    f"{name}: {judged.title}: {judged.main} What is said of it below is not certain."
                )
        return found

    def lines(self, action: ActionDifferences) -> list[Line]:
        """All lines of one action."""
        return [*_precondition(action), *_outcomes(action)]

    @property
    def verdict(self) -> str:
        """What it comes to, in a sentence."""
        found = [one.one.index.header.name for one in self.actions if one.different]
        sure = f"all that is said holds together with {_SURE}, however long either version was tried"
        if not found:
            return f"nothing differs that chance does not explain ({sure})"
        return f"{counted(len(found), 'action')} {'differs' if len(found) == 1 else 'differ'}: {listed(found)} ({sure})"

    @property
    def method(self) -> str:
        """How probabilities were compared, in a sentence."""
        if self.independent:
            return (
                "method: product of both versions' martingales (anytime-valid), an outcome's share of the error probability by its "
                "probability, actions by Bonferroni"
            )
        return (
            "method: both drew their chance from the same seed, so their trials may depend on each other: each version's "
            "martingale at half the error probability, which holds whatever the dependence; other seeds tell more with fewer trials"
        )


def _shape(account: ChanceAccount) -> object:
    vocabulary, headers = account.run.transcript.vocabulary, account.run.transcript.headers
    return (
        sorted((header.name, header.types) for header in headers),
        sorted(vocabulary.predicates, key=lambda predicate: predicate.name),
        dict(vocabulary.types.parents),
        dict(vocabulary.constants),
    )


def _conditions(account: ChanceAccount) -> dict[str, object]:
    """Under which conditions an agent was interrogated."""
    run = account.run
    return {
        "starts": frozenset(one.state for one in run.transcript.initial),
        "access": run.transcript.access,
        "precision": run.within,
        "seed": run.seed,
    }


# --- preconditions ------------------------------------------------------------------------------


def _precondition(action: ActionDifferences) -> Iterator[Line]:
    one, other = action.one, action.other
    for version, name in ((one, "A"), (other, "B")):
        if not version.executed:
            yield Line(
                f"never executed in {name}, refused {counted(version.refused, 'time')}", different=False
            )
    for atom in action.atoms:
        yield Line(f"precondition: {_atom(action, atom)} (proven)", different=True)
    if action.incompatible and not action.atoms:
        yield Line(
            "precondition: it differs (proven): A and B refused and executed steps that no one precondition explains",
            different=True,
        )
    if not action.incompatible and action.undecided:
        told = (
            f"precondition: no difference is proven; {counted(action.undecided, 'atom')} undecided in A or B"
        )
        yield Line(told, different=False)
    elif not action.incompatible:
        yield Line("precondition: the same (proven)", different=False)


def _atom(action: ActionDifferences, atom: AtomDifference) -> str:
    text = action.one.index.atom(atom.bit).text(action.one.index.header.parameters)
    told = [f"{name} {_modes(modes, text)}" for name, modes in (("A", atom.one), ("B", atom.other))]
    return ", ".join(told)


def _modes(modes: Sequence[Mode], text: str) -> str:
    return listed((_NEEDS[mode].format(text) for mode in modes), "or")


# --- outcomes -----------------------------------------------------------------------------------


def _outcomes(action: ActionDifferences) -> Iterator[Line]:
    if not (action.one.executed and action.other.executed):
        return
    found = list(action.outcomes)
    if not action.certain:
        yield Line(
            f"outcomes: {_uncertain(action)}; trials are compared where the same held before them",
            different=False,
        )
        found = [one for one in found if one.comparison.different]
        if not found:
            yield Line("outcomes: no difference that chance does not explain", different=False)
    elif not found or not any(one.comparison.one.trials and one.comparison.other.trials for one in found):
        yield Line(
            "outcomes: not compared: one of them has no trial that tells outcomes apart", different=False
        )
        return
    for one in found:
        yield Line(_outcome(action, one), one.comparison.different)


def _uncertain(action: ActionDifferences) -> str:
    """Why outcomes cannot be compared as such."""
    cases = [[case.condition for case in version.cases] for version in (action.one, action.other)]
    if any(
        version.dependence.suspected or version.dependence.unexplained
        for version in (action.one, action.other)
    ):
        return "they may depend on something that is not told yet"
    if cases[0] == cases[1]:
        return "no situation shows all outcomes of both"
    told = [
        f"{name}'s depend on {_depends(version)}"
        for version, name in ((action.one, "A"), (action.other, "B"))
    ]
    return ", ".join(told)


def _depends(version: ActionKnowledge) -> str:
    """The atoms on which the outcomes of an action depend, and whether that is certain."""
    found = version.dependence
    if not found.atoms:
        return "nothing"
    named = listed(version.index.text(Literals(found.atoms, 0)))
    return named if found.atoms == found.sure else f"{named} (not certain)"


def _outcome(action: ActionDifferences, one: OutcomeDifference) -> str:
    words = chance.effects(action.one, one.adds, one.deletes)
    found = one.comparison
    shares = [
        f"{name} {100 * count.share:.0f}% ({count.hits} of {count.trials})"
        for name, count in (("A", found.one), ("B", found.other))
    ]
    where = ""
    if one.kind is not None:
        held = action.one.index.text(Literals(one.kind, 0))
        where = f" where {some(held, 4) or 'nothing'} held"
    if one.condition != NOTHING:
        where = f" if {listed(action.one.index.text(one.condition))}"
    if one.matched:
        names = action.one.index.header.parameters
        told = [split.text(names, action.one.index.atoms) for split in one.matched]
        where += f", compared where {listed(told)} {'is' if len(told) == 1 else 'are'} the same"
    return (
        f"{words}{where}: {', '.join(shares)}; B {chance.difference(*found.limits)}; {_chance(found.p_value)}"
    )


def _chance(p_value: float) -> str:
    if p_value <= ALPHA:
        shown = "less than 0.0001" if p_value < 1e-4 else f"{p_value:.2g}"
        return f"not chance (p {shown})" if p_value < 1e-4 else f"not chance (p = {shown})"
    return "may be chance"


# The cases of controls in which two runs differ, whatever their operators and parameters are called.


MAX_NAMINGS = 5040
"""Ways to name the parameters of one operator after those of another one that are tried, at most."""


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
        needs = [english.literal(*literal, *about) for literal in _literals(one.positive, one.negative)]
        changes = [english.effect(*literal, *about) for literal in _literals(one.add, one.delete)]
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

    def __str__(self) -> str:
        called = "" if self.one.name == self.other.name else f", called {self.other.name} by B"
        told = [
            f"only {run} requires {english.listed(some)}"
            for run, some in zip("AB", self.required, strict=True)
            if some
        ]
        return f"{self.one.name} ({self.one.carrier.control}{called}): {'; '.join(told)}"


@dataclass(frozen=True)
class Cases:
    """Where two runs with controls differ."""

    pairs: list[Pair]
    only_one: list[Case]
    only_other: list[Case]

    def lines(self) -> Iterator[str]:
        """The difference, in lines."""
        yield from (f"only A: {case}" for case in self.only_one)
        yield from (f"only B: {case}" for case in self.only_other)
        yield from (f"both: {pair}" for pair in self.pairs if pair.size)
        yield f"{counted(sum(not pair.size for pair in self.pairs), 'case')} of controls in both runs"

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
    """The cases of two runs' folders: those of one control with the same effects are the same case.

    Raises:
        UnusableInput: a file is damaged, or the runs have other predicates.
    """
    models = [read_domain(run / "model.pddl") for run in (first, second)]
    if len({frozenset(model.vocabulary.predicates) for model in models}) > 1:
        raise UnusableInput(f"{first} and {second}: have other predicates; give runs with one vocabulary")
    mappings = [read_carriers(run, model) for run, model in zip((first, second), models, strict=True)]
    ours, left = (
        [Case(schema, carriers[schema.header.name], model.vocabulary) for schema in model.actions]
        for model, carriers in zip(models, mappings, strict=True)
    )
    found = Cases([], [], left)
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


def _literals(true: Iterable[LiftedAtom], false: Iterable[LiftedAtom]) -> list[tuple[LiftedAtom, Mode]]:
    both = ((true, Mode.POSITIVE), (false, Mode.NEGATIVE))
    return [(atom, mode) for atoms, mode in both for atom in sorted(atoms, key=str)]


def _texts(true: Iterable[LiftedAtom], false: Iterable[LiftedAtom], names: Sequence[str]) -> list[str]:
    return sorted(
        ("not " if mode is Mode.NEGATIVE else "") + atom.text(names) for atom, mode in _literals(true, false)
    )


# A comparison of two runs with ``--chance`` as JSON: what ``compare --json`` prints.


def of_runs(first: Path, second: Path, versions: Versions) -> dict[str, Any]:
    """What differs between two runs with ``--chance``, by how much, and whether chance explains it."""
    return {
        "a": str(first),
        "b": str(second),
        "different": any(one.different for one in versions.actions),
        "confidence": 1 - ALPHA,
        "independent": versions.independent,
        "matched": list(versions.same),
        "not_matched": list(versions.apart),
        "warnings": versions.warnings,
        "actions": [_action(one) for one in versions.actions],
    }


def _action(found: ActionDifferences) -> dict[str, Any]:
    index = found.one.index
    return {
        "action": index.header.name,
        "different": found.different,
        "executed": {"a": found.one.executed, "b": found.other.executed},
        "refused": {"a": found.one.refused, "b": found.other.refused},
        "precondition": {
            "different": found.incompatible,
            "atoms": [
                {
                    "atom": index.atom(one.bit).text(index.header.parameters),
                    "a": [mode.name.lower() for mode in one.one],
                    "b": [mode.name.lower() for mode in one.other],
                }
                for one in found.atoms
            ],
            "undecided": found.undecided,
        },
        "outcomes_certain": found.certain,
        "outcomes": [_outcome_facts(found, one) for one in found.outcomes],
    }


def _outcome_facts(found: ActionDifferences, one: OutcomeDifference) -> dict[str, Any]:
    text, compared = found.one.index.text, one.comparison
    return {
        "effects": text(Literals(one.adds, one.deletes)),
        "condition": text(one.condition),
        "held": None if one.kind is None else text(Literals(one.kind, 0)),
        "a": _count(compared.one),
        "b": _count(compared.other),
        "more_often": [round(limit, 4) for limit in compared.limits],
        "p_value": compared.p_value,
        "different": compared.different,
    }


def _count(found: Count) -> dict[str, Any]:
    return {"hits": found.hits, "trials": found.trials, "unread": found.lost}
