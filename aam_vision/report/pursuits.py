"""What a policy that is told objectives can do: how often it achieves each, where, what else comes of it, and what it claims.

Its actions are called ``achieve-on`` or ``undo-on`` after what is to be true or false, and the fact ``claimed`` says whether it says that it
is done. How often it is achieved is told of pursuits that began where it did not hold yet; of the others, whether it was undone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from aam_vision.interrogation.chance.cases import CaseKnowledge
from aam_vision.interrogation.chance.intervals import ALPHA, Frequency, concentration, interval
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import side_effects
from aam_vision.interrogation.evidence.transcript import AttemptedStep
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.model.query import CLAIMED, ENDED, objective
from aam_vision.model.strips import LiftedAtom, Mode
from aam_vision.report import chance, english
from aam_vision.report.abilities import Clip, Deed
from aam_vision.support.wording import counted

MOST_OTHERS = 2
"""Of what else comes of the pursuits of a row, changes that are told, most frequent first."""


Trial = tuple[AttemptedStep, int, int]
"""An executed step, and the atoms of its action that held before it and after it, as masks."""


def deeds(
    known: ActionKnowledge,
    trials: Iterable[Trial],
    within: float,
    clips: Mapping[Hashable, tuple[str, ...]],
    lasted: Mapping[Hashable, int],
) -> list[Deed]:
    """A row for each condition under which an objective is achieved in another share of its pursuits (``trials``), most achieved first.

    ``within`` is the half width for which the intervals are narrowest; ``clips`` and ``lasted`` have images and numbers of steps of pursuits, by
    the handle of the situation in which each ended.
    """
    found = objective(known.index.header, known.index.vocabulary)
    assert found is not None, "only of such actions"
    (atom, value), index = found, known.index
    marks = atom, LiftedAtom(CLAIMED, ()), LiftedAtom(ENDED, ())
    goal, claimed, ended = (index.mask([one]) for one in marks)
    pursued: dict[int, list[Trial]] = {}
    kept: list[Trial] = []
    for trial in trials:
        if bool(trial[1] & goal) is value:
            kept.append(trial)
        else:
            pursued.setdefault(known.cases.index(known.case(trial[1])), []).append(trial)
    rows = []
    alpha = ALPHA / (2 * max(1, len(pursued) + bool(kept)))  # of all figures of the action together
    for case, ends in pursued.items():
        did = [bool(now & goal) is value for *_, now in ends]
        says = [bool(now & claimed) for *_, now in ends]
        often = frequency(sum(did), len(ends), alpha, within)
        told = f"achieved {chance.often(often.probability, often.low, often.high)}"
        took = [
            lasted[step.after.handle]
            for (step, *_), done in zip(ends, did, strict=True)
            if done and step.after is not None and step.after.handle in lasted
        ]
        if took:
            told += (
                f", in {counted(max(took), 'step')}"
                if min(took) == max(took)
                else f", in {min(took)} to {max(took)} steps"
            )
        if where := _where(known, known.cases[case], goal):
            told = f"if {where}, {told}"
        told += f"; {_claims(did, says, alpha, within)}"
        if others := _others(known, ends, goal | claimed | ended):
            told += f"; besides, {others}"
        shown: dict[bool, Clip] = {}
        for (step, *_), done, claim in zip(ends, did, says, strict=True):
            if step.after is not None and (images := clips.get(step.after.handle)):
                shown.setdefault(done, Clip(images, f"{step.action}: {_ended(done, claim)}"))
        kept_clips = tuple(shown[one] for one in (True, False) if one in shown)
        rows.append(Deed(index.header.name, told, often, kept_clips))
    rows.sort(key=lambda row: -row.found.probability if row.found else 0.0)
    still = [bool(now & goal) is value for *_, now in kept]
    if not all(still):
        often = frequency(sum(still), len(kept), alpha, within)
        share = chance.often(often.probability, often.low, often.high)
        told = f"where it holds already, it is kept {share}; "
        told += _claims(still, [bool(now & claimed) for *_, now in kept], alpha, within)
        rows.append(Deed(index.header.name, told, often))
    return rows or [Deed(index.header.name, "no pursuit of it was seen that began where it did not hold")]


def frequency(hits: int, made: int, alpha: float, within: float) -> Frequency:
    """How often something comes of pursuits, with limits that hold with probability 1 - ``alpha`` at all times."""
    low, high = interval(hits, made, alpha, concentration(within))
    return Frequency(hits, made, hits / made, low, high, high - low)


def _where(known: ActionKnowledge, case: CaseKnowledge, goal: int) -> str:
    """The condition of a case, without the objective, which did not hold."""
    return chance.literals(known, case.condition.without(Literals(goal, goal)))


def _claims(did: Sequence[bool], says: Sequence[bool], alpha: float, within: float) -> str:
    """What is claimed, and how often falsely."""
    made = len(did)
    if not any(says):
        return "it never claims to be done"
    false = sum(claim and not done for done, claim in zip(did, says, strict=True))
    silent = sum(done and not claim for done, claim in zip(did, says, strict=True))
    often = frequency(false, made, alpha, within)
    told = f"it claims to be done {100 * sum(says) / made:.0f}% of the time, "
    told += f"{100 * often.probability:.0f}% falsely ({chance.limits(often.low, often.high)})"
    return told + (f", and does not say so {100 * silent / made:.0f}%" if silent else "")


def _ended(done: bool, claim: bool) -> str:
    if done:
        return "achieved" if claim else "achieved, not claimed"
    return "claimed, not achieved" if claim else "not achieved"


def _others(known: ActionKnowledge, ends: Sequence[Trial], own: int) -> str:
    """What else changes, that of things which the objective does not name first, and how often."""
    index = known.index
    names = index.header.parameters
    count: Counter[tuple[bool, str]] = Counter()
    for step, held, now in ends:
        changed, objects = held ^ now, step.action.objects
        for bit in bits(changed & ~own):
            mode = Mode.POSITIVE if now & bit else Mode.NEGATIVE
            count[True, english.effect(index.atom(bit), mode, names, index.vocabulary)] += 1
        assert step.before is not None, "both ends were read"
        assert step.after is not None, "both ends were read"
        beyond = (step.before.state.true ^ step.after.state.true) - index.facts(changed | own, objects)
        beyond = index.vocabulary.undefined(beyond)
        count.update((False, one.text(names)) for one in side_effects(beyond, objects, step.before.state))
    told = sorted(count.items(), key=lambda one: (one[0][0], -one[1], one[0][1]))
    listed = [f"{words} ({100 * times / len(ends):.0f}%)" for (_, words), times in told[:MOST_OTHERS]]
    if len(told) > MOST_OTHERS:
        listed.append(f"{len(told) - MOST_OTHERS} more")
    return english.listed(listed) if listed else ""
