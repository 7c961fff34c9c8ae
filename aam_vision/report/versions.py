"""Two versions of an agent with chance side by side, in words: per action what differs, by how much, and whether it can be chance.

Of a run with ``--prior`` also what has changed since the agent was interrogated earlier; and what a version has lost, with chance or without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from aam_vision.interrogation.chance.comparing import (
    ALPHA,
    ActionDifferences,
    AtomDifference,
    Count,
    OutcomeDifference,
    differences,
)
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.prior import Claim, EarlierModel, EarlierRun, Prior
from aam_vision.interrogation.chance.refusals import with_refusals
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.chance.retelling import retold
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals
from aam_vision.interrogation.task.result import check_prior
from aam_vision.interrogation.task.undetermined import CANNOT_MATTER
from aam_vision.interrogation.task.verdict import COMPLETE, FAILED, NOT_STRIPS
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Agent
from aam_vision.model.strips import ActionSchema, Location, Mode, Model, Vocabulary, lifted_atoms
from aam_vision.report import chance
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.ending import read_undetermined
from aam_vision.report.english import listed
from aam_vision.report.recorded import read_run, shape
from aam_vision.support import wording
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted, some

_NEEDS = {Mode.POSITIVE: "needs {}", Mode.NEGATIVE: "needs not {}", Mode.ABSENT: "does not need {}"}
_SURE = (
    f"all that is said holds together with {100 * (1 - ALPHA):.0f}%, however long either version was tried"
)
_NOTHING = "nothing differs that chance does not explain"
_METHOD = (
    "method: product of both versions' martingales (anytime-valid), an outcome's share of the error probability by its "
    "probability, actions by Bonferroni"
)
_METHOD_OF_ONE_SEED = (
    "method: both drew their chance from the same seed, so their trials may depend on each other: each version's "
    "martingale at half the error probability, which holds whatever the dependence; other seeds tell more with fewer trials"
)
"""How probabilities were compared."""


Line = tuple[str, bool]
"""A line about an action, and whether it is a difference that chance does not explain."""


class Versions:
    """Two runs of ``--chance`` over the same actions and predicates. Raises UnusableInput: they are about other actions or predicates."""

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
        # atoms are compared by their numbers, which follow from the order of the predicates, and from what may be named at first
        transcript = replace(
            run.transcript, vocabulary=first.vocabulary, headers=first.headers, initial=first.initial
        )
        ones = self.one.knowledge.actions
        if run.refusals != self.one.run.refusals:  # what is an outcome of one is an outcome of both
            both = {*run.refusals, *self.one.run.refusals}
            transcript = with_refusals(transcript, both)
            ones = retold(with_refusals(first, both), precision_of(self.one.within)).actions
        others = retold(transcript, precision_of(run.within or Options().within)).actions
        return differences(ones, others, independent=self.independent)

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
    def warnings(self) -> list[str]:
        """Which run is no good base of a comparison, and why, in sentences."""
        return [
            f"{name}: {account.verdict.title}: {account.verdict.main} What is said of it below is not certain."
            for name, account in (("A", self.one), ("B", self.other))
            if account.run.figures is None or account.run.figures["status"] == NOT_STRIPS
        ]

    def lines(self) -> Iterator[str]:
        """What differs, by how much, and whether chance explains it."""
        same = f"the same {listed(self.same)}" if self.same else "nothing"
        apart = f"; NOT matched: {listed(self.apart)}" if self.apart else ""
        for text in (f"matched: {same}{apart}", *self.warnings):
            yield from wording.lines(text, indent=2)
        for action in self.actions:
            yield f"\n{action.one.index.header.name}{': DIFFERENT' if action.different else ''}"
            for told, different in (*_precondition(action), *_outcomes(action)):
                first, *more = wording.lines(told, indent=4)
                yield from (f"{'!' if different else ' '} {first}", *more)
        yield ""
        found = [one.one.index.header.name for one in self.actions if one.different]
        differ = f"{'differs' if len(found) == 1 else 'differ'}: {listed(found)}"
        verdict = f"{counted(len(found), 'action')} {differ}" if found else _NOTHING
        method = _METHOD if self.independent else _METHOD_OF_ONE_SEED
        for text in (f"{verdict} ({_SURE})", method):
            yield from wording.lines(text, indent=2)

    def json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "different": any(one.different for one in self.actions),
            "confidence": 1 - ALPHA,
            "independent": self.independent,
            "matched": list(self.same),
            "not_matched": list(self.apart),
            "warnings": self.warnings,
            "actions": [_action(one) for one in self.actions],
        }


def _shape(account: ChanceAccount) -> object:
    return shape(account.model), dict(account.vocabulary.types.parents), dict(account.vocabulary.constants)


def _conditions(account: ChanceAccount) -> dict[str, object]:
    """Under which conditions an agent was interrogated."""
    run = account.run
    return {
        "starts": frozenset(one.state for one in run.transcript.initial),
        "access": run.transcript.access,
        "precision": run.within,
        "seed": run.seed,
    }


def _precondition(action: ActionDifferences) -> Iterator[Line]:
    index = action.one.index
    for name, version in (("A", action.one), ("B", action.other)):
        if not version.executed:
            yield f"never executed in {name}, refused {counted(version.refused, 'time')}", False
    for atom in action.atoms:
        text = index.atom(atom.bit).text(index.header.parameters)
        both = atom.one, atom.other
        a, b = (listed((_NEEDS[mode].format(text) for mode in modes), "or") for modes in both)
        yield f"precondition: A {a}, B {b} (proven)", True
    if action.incompatible and not action.atoms:
        why = "A and B refused and executed steps that no one precondition explains"
        yield f"precondition: it differs (proven): {why}", True
    if not action.incompatible and action.undecided:
        undecided = f"{counted(action.undecided, 'atom')} undecided in A or B"
        yield f"precondition: no difference is proven; {undecided}", False
    elif not action.incompatible:
        yield "precondition: the same (proven)", False


def _outcomes(action: ActionDifferences) -> Iterator[Line]:
    if not (action.one.executed and action.other.executed):
        return
    found = list(action.outcomes)
    if action.moving:
        yield "outcomes: not compared: how often they come changes with time, or by spells", False
        return
    if not action.certain:
        compared = "trials are compared where the same held before them"
        yield f"outcomes: {_uncertain(action)}; {compared}", False
        found = [one for one in found if one.comparison.different]
        if not found:
            yield "outcomes: no difference that chance does not explain", False
    elif not any(one.comparison.one.trials and one.comparison.other.trials for one in found):
        yield "outcomes: not compared: one of them has no trial that tells outcomes apart", False
        return
    for one in found:
        yield outcome_text(action, one), one.comparison.different


def _uncertain(action: ActionDifferences) -> str:
    """Why outcomes cannot be compared as such."""
    one, other = versions = action.one, action.other
    if any(version.dependence.suspected or version.dependence.unexplained for version in versions):
        return "they may depend on something that is not told yet"
    if [case.condition for case in one.cases] == [case.condition for case in other.cases]:
        return "no situation shows all outcomes of both"
    return f"A's depend on {_depends(one)}, B's depend on {_depends(other)}"


def _depends(version: ActionKnowledge) -> str:
    """The atoms on which the outcomes of an action depend, and whether that is certain."""
    found = version.dependence
    if not found.atoms:
        return "nothing"
    named = listed(version.index.text(Literals(found.atoms, 0)))
    return named if found.atoms == found.sure else f"{named} (not certain)"


def outcome_text(action: ActionDifferences, one: OutcomeDifference) -> str:
    """How often an outcome came in both versions, and whether that is chance."""
    words = chance.effects(action.one, one.adds, one.deletes)
    found = one.comparison
    shares = [
        f"{name} {100 * count.share:.0f}% ({count.hits} of {count.trials})"
        for name, count in (("A", found.one), ("B", found.other))
    ]
    where = chance.held(action.one, one.kind)
    if one.condition != NOTHING:
        where = f" if {listed(action.one.index.text(one.condition))}"
    if one.matched:
        names = action.one.index.header.parameters
        told = [
            f"{'whether ' if split.before else ''}{split.text(names, action.one.index.atoms)}"
            for split in one.matched
        ]
        where += f", compared where {listed(told)} {'is' if len(told) == 1 else 'are'} the same"
    differs = chance.difference(*found.limits)
    return f"{words}{where}: {', '.join(shares)}; B {differs}; {_chance(found.p_value)}"


def _chance(p_value: float) -> str:
    if p_value > ALPHA:
        return "may be chance"
    return f"not chance (p {'less than 0.0001' if p_value < 1e-4 else f'= {p_value:.2g}'})"


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
                    **{
                        name: [mode.name.lower() for mode in modes]
                        for name, modes in zip("ab", (one.one, one.other), strict=True)
                    },
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


# What has changed since an agent was interrogated earlier: ``--prior`` of a run, or of a model.


def earlier(path: Path, agent: Agent, seed: int | None) -> Prior:
    """The earlier findings: of the folder of a run with ``--chance`` its trials, else the model, whose probabilities are claims.

    ``seed``: from which the agent's chance is drawn; None if that is of its own. Raises UnusableInput: nothing there is of this agent.
    """
    vocabulary, headers = agent.vocabulary, agent.headers
    if path.is_dir():
        run = read_run(path)
        if run.within is not None:
            told = run.transcript
            _check(Model(told.vocabulary, tuple(ActionSchema(one) for one in told.headers)), agent, path)
            transcript = replace(told, vocabulary=vocabulary, headers=headers)  # atoms in the agent's order
            independent = run.chance_seed is None or run.chance_seed != seed
            known = retold(transcript, precision_of(run.within)).actions
            return EarlierRun(known, independent, run.refusals)
        path = path / "model.pddl"
        if not path.is_file():
            raise UnusableInput(
                "holds no model; give the folder of a finished run, or a PDDL domain", "prior", path
            )
    model = read_domain(path, chance=True)
    _check(Model(model.vocabulary, tuple(ActionSchema(one) for one in model.headers)), agent, path)
    return EarlierModel(model)


def _check(model: Model, agent: Agent, path: Path) -> None:
    check_prior(model, agent.vocabulary, agent.headers, path)
    own, given = agent.vocabulary, model.vocabulary
    if dict(own.constants) != dict(given.constants) or own.types != given.types:
        raise UnusableInput("is of another agent: its types or constants differ", "prior", path)


def changes(prior: Prior, actions: tuple[ActionKnowledge, ...]) -> dict[str, Any]:
    """``differences`` and ``as_before`` of ``result.json``: what differs, and by how much the rest may at most."""
    found: list[dict[str, Any]] = []
    before: dict[str, float | None] = {}
    for action in actions:
        told, widest = _of_run(prior, action) if isinstance(prior, EarlierRun) else _of_model(prior, action)
        found += told
        if not told:
            before[action.index.header.name] = None if widest is None else round(widest, 4)
    return {"differences": found, "as_before": before}


def lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for a person."""
    none = ["none to what was learned earlier that chance does not explain"]
    texts = [one["text"] for one in told["differences"]] or none
    known = [
        f"{name} (no outcome's probability by more than {100 * widest:.0f} points)"
        for name, widest in told["as_before"].items()
        if widest is not None
    ]
    unknown = [name for name, widest in told["as_before"].items() if widest is None]
    rows = [("" if number else "differences", text) for number, text in enumerate(texts)]
    if known:
        rows.append(("as before", "; ".join(known)))
    if unknown:
        rows.append(("not told", f"whether outcomes are as before: {some(unknown, 12)}"))
    return rows


def _of_run(prior: EarlierRun, action: ActionKnowledge) -> tuple[list[dict[str, Any]], float | None]:
    name = action.index.header.name
    before = next(one for one in prior.actions if one.index.header.name == name)
    count = len(prior.actions)
    (found,) = differences([before], [action], independent=prior.independent, actions=count)
    told = [_atom(action, atom) for atom in found.atoms]
    if found.incompatible and not found.atoms:
        why = "no precondition explains the answers of both runs"
        told.append(_entry(action, "pre", f"{name} requires something else: {why}"))
    for one in found.outcomes:
        compared = one.comparison
        if compared.different:
            shares = compared.one.share, compared.other.share
            condition = action.index.text(one.condition)
            told.append(_outcome(action, one, condition, shares, compared.limits, compared.p_value))
    return told, found.widest


def _of_model(prior: Prior, action: ActionKnowledge) -> tuple[list[dict[str, Any]], float | None]:
    assert isinstance(prior, EarlierModel), "the other kind"
    told = [_atom(action, atom) for atom in prior.atoms(action)]
    claims = list(prior.claims(action))
    for one in claims:
        if one.wrong:
            told.append(_outcome(action, one, [], (one.probability, one.seen.share), one.limits, one.p_value))
    if not action.executed or not action.explanation.sure or not claims:
        return told, None
    return told, max(max(-low, high) for low, high in (one.limits for one in claims))


def _atom(action: ActionKnowledge, atom: AtomDifference) -> dict[str, Any]:
    name, text = action.index.header.name, action.index.atom(atom.bit).text(action.index.header.parameters)
    before, now = (" or ".join(mode.value for mode in modes) for modes in (atom.one, atom.other))
    entry = _entry(action, "pre", f"{name} requires {text}: {before} before, {now} now")
    return {**entry, "atom": text, "before": before, "now": now}


def _outcome(
    action: ActionKnowledge,
    one: OutcomeDifference | Claim,
    condition: Sequence[str],
    shares: tuple[float, float],
    limits: tuple[float, float],
    p_value: float,
) -> dict[str, Any]:
    words = chance.effects(action, one.adds, one.deletes) + chance.held(action, one.kind)
    if condition:
        words += f" if {', '.join(condition)}"
    assert p_value <= ALPHA, "others are not told"
    often = f"{100 * shares[0]:.0f}% before, {100 * shares[1]:.0f}% now ({chance.difference(*limits)})"
    return {
        **_entry(action, "outcome", f"{action.index.header.name}: {words}: {often}"),
        "effects": action.index.text(Literals(one.adds, one.deletes)),
        "before": round(shares[0], 6),
        "now": round(shares[1], 6),
        "difference": [round(limit, 4) for limit in limits],
        "p_value": p_value,
    }


def _entry(action: ActionKnowledge, location: str, text: str) -> dict[str, Any]:
    return {"action": action.index.header.name, "location": location, "text": text}


# What a version has lost that an earlier one could do: the question of a gate between two versions.
#
# *Lost* is what is sure: a step that is refused where it was not, an effect that does not come any more, or one that came to it; with
# chance, the likeliest change that an action brings about comes less often by more than a margin. What comes more often, or is needed no
# more, is no loss.


MARGIN: Final = 0.05
"""By how much less often something may come, by default, before that is a loss."""
CODES: Final = {"lost": 5, "not sure": 6, "nothing lost": 0}
"""Exit codes, by verdict."""


@dataclass(frozen=True)
class Losses:
    """What version B has surely lost, and what may be lost and is not told, in lines."""

    lost: tuple[str, ...]
    unsure: tuple[str, ...]
    cure: str = ""
    """How more can be told."""

    @property
    def verdict(self) -> str:
        """``lost``, ``not sure`` or ``nothing lost``."""
        return "lost" if self.lost else "not sure" if self.unsure else "nothing lost"

    def lines(self) -> Iterator[str]:
        """The verdict, and the reasons for it."""
        for kind, texts in (("lost", self.lost), ("not sure", self.unsure)):
            for text in texts:
                yield from wording.lines(f"{kind}: {text}", indent=2)
        if not (self.lost or self.unsure):
            yield "nothing lost: B does all that A does"
        elif not self.lost and self.cure:
            yield f"to be sure: {self.cure}"

    def json(self) -> dict[str, Any]:
        """The same for programs."""
        return {"verdict": self.verdict, "lost": list(self.lost), "unsure": list(self.unsure)}


def of_models(models: Sequence[Model], folders: Sequence[Path | None]) -> Losses:
    """What model B of two without chance has lost; folders of their runs say what is not determined. Raises UnusableInput: a file there is damaged."""
    told = [
        ("", []) if one is None else read_undetermined(one / "result.json", ended=True) for one in folders
    ]
    no_base = [
        f"{name} ended as {status}, so nothing of it is certain"
        for name, (status, _) in zip("AB", told, strict=True)
        if status in (NOT_STRIPS, FAILED)
    ]
    if no_base:
        return Losses((), tuple(no_base))
    undetermined = {
        (one.action, one.location, text.partition(" or ")[0].removeprefix("not ").lstrip("+-")): one.kind
        for _, groups in told
        for one in groups
        for text in one.texts
    }
    first, second = models
    lost = [
        f"{one.header.name}: {text}"
        for one in first.actions
        for text in _of_action(one, second.schema(one.header.name), first.vocabulary, undetermined)
    ]
    by_action = Counter(action for (action, _, _), kind in undetermined.items() if kind != CANNOT_MATTER)
    unsure = [
        f"{name}: {counted(count, 'line')} of the model not determined in A or B"
        for name, count in by_action.items()
    ]
    return Losses(tuple(lost), tuple(unsure))


def of_versions(versions: Versions, margin: float) -> Losses:
    """What a version with chance has lost, where what comes less often by ``margin`` at most is no loss."""
    lost: list[str] = []
    unsure = list(versions.warnings)
    ended = all((one.run.figures or {}).get("status") == COMPLETE for one in (versions.one, versions.other))
    for action in versions.actions:
        name = action.one.index.header.name
        for atom in action.atoms:
            if Mode.ABSENT in atom.one and Mode.ABSENT not in atom.other:
                text = action.one.index.atom(atom.bit).text(action.one.index.header.parameters)
                where = "false" if atom.other == (Mode.POSITIVE,) else "true"
                lost.append(f"{name}: refused where {text} is {where}")
        if action.incompatible and not action.atoms:
            unsure.append(f"{name}: it is refused elsewhere, and no precondition explains where")
        if action.undecided and not ended:  # else no situation that can be reached would tell
            atoms = counted(action.undecided, "atom")
            unsure.append(f"{name}: {atoms} of its precondition undecided in A or B")
        if action.one.executed and not action.other.executed:
            unsure.append(f"{name}: never executed in B")
        for one in _wanted(action) if action.one.executed and action.other.executed else ():
            low, high = one.comparison.limits
            if high < -margin:
                lost.append(f"{name}: {outcome_text(action, one)}")
            elif low < -margin:
                unsure.append(f"{name}: {outcome_text(action, one)}")
    cure = "interrogate both with a smaller --within, or allow a larger --margin"
    return Losses(() if versions.warnings else tuple(lost), tuple(unsure), cure)


def _wanted(action: ActionDifferences) -> Iterator[OutcomeDifference]:
    """Of each case the outcome that is the likeliest in A of those that change something."""
    best: dict[object, OutcomeDifference] = {}
    for one in action.outcomes:
        case = one.condition, one.kind
        if one.adds | one.deletes and one.comparison.one.hits:
            rival = best.get(case)
            if rival is None or one.comparison.one.share > rival.comparison.one.share:
                best[case] = one
    yield from best.values()


def _of_action(
    one: ActionSchema,
    other: ActionSchema,
    vocabulary: Vocabulary,
    undetermined: Collection[tuple[str, str, str]],
) -> Iterator[str]:
    """What is lost of an action, atom by atom, as far as both lines are determined."""
    value = {Mode.POSITIVE: "true", Mode.NEGATIVE: "false"}
    for atom in lifted_atoms(vocabulary, one.header):
        text = atom.text(one.header.parameters)
        pre, eff = ((one.header.name, place.value, text) not in undetermined for place in Location)
        needs, rival = (schema.mode(atom, Location.PRE) for schema in (one, other))
        makes, instead = (schema.mode(atom, Location.EFF) for schema in (one, other))
        if pre and rival is not Mode.ABSENT and rival is not needs:
            yield f"refused where {text} is {'false' if rival is Mode.POSITIVE else 'true'}"
        elif (
            eff
            and makes is not instead
            and any(
                (before if makes is Mode.ABSENT else makes)
                is not (before if instead is Mode.ABSENT else instead)
                for before in value
                if needs in (before, Mode.ABSENT)
            )
        ):
            if instead is Mode.ABSENT:
                yield f"no longer makes {text} {value[makes]}"
            else:
                yield f"makes {text} {value[instead]}{', too' if makes is Mode.ABSENT else ''}"
