"""What an agent with chance does, in plain English, with how often and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from aam_vision.chance.explaining import Change
from aam_vision.chance.knowledge import ActionKnowledge, Frequency
from aam_vision.report.english import effect, listed
from aam_vision.strips import Mode


def sentence(action: ActionKnowledge) -> str:
    """What one action does, e.g. ``stack: ?x is on ?y. Besides, 8% of the time (4-15%) ?y is destroyed; ...``."""
    name = action.index.header.name
    if not action.executed:
        tried = f", {action.refused} times tried" if action.refused else ""
        return f"{name} was never executed{tried}."
    outcomes = list(zip(action.outcomes, action.frequencies, strict=True))
    if len(outcomes) == 1:
        (one, found), excluded = outcomes[0], percent(action.unseen, up=True)
        does = _effects(action, one.adds, one.deletes)
        return (
            f"{name}: {does}, in all of {found.trials} trials. "
            f"Not excluded: another outcome with a probability of up to {excluded}."
        )
    added, deleted = _shared([one for one, _ in outcomes])
    always = f"{_effects(action, added, deleted)}. Besides, " if added or deleted else ""
    outcomes.sort(key=lambda pair: -pair[1].probability)
    ways = [
        f"{_often(found)} {_effects(action, one.adds & ~added, one.deletes & ~deleted)}"
        for one, found in outcomes
    ]
    doubt = (
        f"Not excluded: a further outcome with a probability of up to {percent(action.unseen, up=True)}."
        if action.explanation.sure
        else "These are the fewest outcomes that explain what was seen; no situation was found that shows all of them."
    )
    return f"{name}: {always}{'; '.join(ways)}. {doubt}"


def percent(share: float, *, up: bool) -> str:
    """A limit as a whole percentage, rounded to the safe side."""
    return f"{ceil(100 * share - 1e-9) if up else floor(100 * share + 1e-9)}%"


def _often(found: Frequency) -> str:
    low, high = percent(found.low, up=False).rstrip("%"), percent(found.high, up=True)
    return f"{100 * found.probability:.0f}% of the time ({low}-{high})"


def _shared(outcomes: Sequence[Change]) -> tuple[int, int]:
    """The atoms that all outcomes add, and those that all delete."""
    added, deleted = outcomes[0].adds, outcomes[0].deletes
    for one in outcomes[1:]:
        added, deleted = added & one.adds, deleted & one.deletes
    return added, deleted


def _effects(action: ActionKnowledge, adds: int, deletes: int) -> str:
    index = action.index
    names, vocabulary = index.header.parameters, index.vocabulary
    return listed(
        effect(atom, mode, names, vocabulary)
        for mask, mode in ((adds, Mode.POSITIVE), (deletes, Mode.NEGATIVE))
        for atom in sorted(index.select(mask), key=index.atoms.index)
    ).replace("nothing", "nothing changes" if not adds | deletes else "nothing")
