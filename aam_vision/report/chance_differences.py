"""Two versions of an agent with chance side by side, in words: per action what differs, by how much, and whether it can be chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from aam_vision.chance.comparing import ALPHA
from aam_vision.chance.interrogating import Options
from aam_vision.chance.knowledge import ActionKnowledge
from aam_vision.chance.retelling import precision_of, retold
from aam_vision.chance.versions import ActionDifferences, AtomDifference, OutcomeDifference, differences
from aam_vision.errors import UnusableInput
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.report import chance
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.english import listed
from aam_vision.strips import Mode
from aam_vision.wording import counted, some

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
