"""What an agent with chance does, in plain English, with how often and how sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import ceil, floor
from operator import and_
from typing import Final, NamedTuple

from aam_vision.interrogation.chance.cases import CaseKnowledge
from aam_vision.interrogation.chance.checking import beside_own
from aam_vision.interrogation.chance.intervals import ALPHA, Frequency, concentration, interval
from aam_vision.interrogation.chance.knowledge import OFTEN, ActionKnowledge
from aam_vision.interrogation.chance.observations import Change, side_effects
from aam_vision.interrogation.evidence.transcript import REFUSED, RIGHT_AFTER, AttemptedStep
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.task.verdict import ASSUMED
from aam_vision.model.query import CLAIMED, ENDED, objective
from aam_vision.model.strips import LiftedAtom, Mode
from aam_vision.report import english
from aam_vision.report.abilities import Clip, Deed
from aam_vision.report.english import listed
from aam_vision.support.wording import counted, some, times

NOTHING, NOTHING_ELSE = "nothing changes", "nothing else changes"
ASSUMED_OF_LOOKS: Final = ASSUMED.replace(
    "states are seen rightly", "looks at a situation err independently of each other"
)
"""The same where every situation was looked at until it was certain."""


def courses(actions: Sequence[ActionKnowledge]) -> str:
    """After how many steps, and right after what, the trials of actions with several outcomes were made: what was not so is taken to be alike; empty if there are none."""
    since = sorted(step.when.since + 1 for one in actions if one.varies for step in one.steps.course)
    if not since:
        return ""
    middle, late, last = since[len(since) // 2], since[len(since) * 19 // 20], since[-1]
    names = [one.index.header.name for one in actions if one.executed]
    befores = (REFUSED.removeprefix(RIGHT_AFTER.format("")), *names)
    few = [
        f"{one.index.header.name} after {what} ({counted(made, 'trial')})"
        for one in actions
        if one.varies
        for what in befores
        if (made := one.before[RIGHT_AFTER.format(what)]) < OFTEN
    ]
    return (
        f"half of the trials were made within {counted(middle, 'step')} after the agent was put somewhere, one in twenty after {late} or "
        f"more, none after more than {last}: longer courses are taken to be like these; "
        f"{OFTEN} or more trials of each action were made right after a refused step and after each action{', but for ' if few else ''}{some(few, 4)}"
    )


class Way(NamedTuple):
    """One outcome in words: what it changes beside what every outcome of its case changes, and how often it comes."""

    words: str
    outcome: Change
    found: Frequency
    case: CaseKnowledge
    """The only one, unless the action has conditional effects."""

    @property
    def often(self) -> str:
        """``69% of the time (63-74%)``."""
        return often(self.found.probability, self.found.low, self.found.high)

    @property
    def limits(self) -> str:
        """The limits of the interval: ``63-74%``."""
        return limits(self.found.low, self.found.high)


def ways(action: ActionKnowledge, most: int | None = None) -> list[Way]:
    """The outcomes of an action (``most`` effects of each), case by case, likeliest first; equally likely ones in the order in which they are known."""
    return [way for case in action.cases for way in _ways(action, case, most)]


def always(action: ActionKnowledge, most: int | None = None) -> str:
    """What all of several outcomes change, in words (``most`` effects); empty if that is nothing, or there are cases."""
    added, deleted = _shared(action, action.cases[0])
    return effects(action, added, deleted, most) if added | deleted else ""


def literals(action: ActionKnowledge, found: Literals) -> str:
    """Literals of an action in words; empty if there are none."""
    told = _clauses(action, english.literal, found.positive, found.negative)
    return listed(told) if told else ""


def _clauses(action: ActionKnowledge, write: Callable[..., str], positive: int, negative: int) -> list[str]:
    """Atoms of an action in words, those that are true (or become so) first."""
    index = action.index
    return [
        write(atom, mode, index.header.parameters, index.vocabulary)
        for mask, mode in ((positive, Mode.POSITIVE), (negative, Mode.NEGATIVE))
        for atom in sorted(index.select(mask), key=index.atoms.index)
    ]


def held(action: ActionKnowledge, kind: int | None) -> str:
    """That trials are told apart by what held before them, to follow an outcome; empty if they are not."""
    return "" if kind is None else f" where {some(action.index.text(Literals(kind, 0)), 4) or 'nothing'} held"


def _ways(action: ActionKnowledge, case: CaseKnowledge, most: int | None) -> list[Way]:
    (added, deleted), found = _shared(action, case), list[Way]()
    for one, often in zip(case.outcomes, case.frequencies, strict=True):
        own = one.adds & ~added, one.deletes & ~deleted
        found.append(Way(effects(action, *own, most, others=bool(added | deleted)), one, often, case))
    return sorted(found, key=lambda way: -way.found.probability)


def _shared(action: ActionKnowledge, case: CaseKnowledge) -> tuple[int, int]:
    """The atoms that all of several outcomes add, and those that all delete; none where there are cases."""
    if len(action.cases) > 1 or len(case.outcomes) < 2:
        return 0, 0
    masks = zip(*((one.adds, one.deletes) for one in case.outcomes), strict=True)
    added, deleted = (reduce(and_, each) for each in masks)
    return added, deleted


def working(found: Sequence[Way]) -> Way | None:
    """The outcome that is meant where an action is said to work: it changes something, and comes in most trials."""
    changing = [way for way in found if way.words not in (NOTHING, NOTHING_ELSE)]
    best = max(changing, key=lambda way: way.found.probability, default=None)
    return best if best is not None and len(found) > 1 and best.found.probability > 0.5 else None


def sentence(action: ActionKnowledge) -> str:
    """What one action does: ``stack works 92% of the time (85-96%): ?x is on ?y; else ?x is on the table.`` and what is open."""
    name = action.index.header.name
    if not action.executed:
        tried = f", and refused {times(action.refused)}" if action.refused else ""
        return f"{name} was never executed{tried}."
    return f"{doing(action)} {doubt(action)}"


def doing(action: ActionKnowledge, most: int | None = None) -> str:
    """What an action that was executed does, and how often, as a sentence; ``most`` effects of each outcome."""
    name = action.index.header.name
    if len(action.cases) > 1:
        told = [
            f"if {literals(action, case.condition)}, {_in_case(_ways(action, case, most))}"
            for case in action.cases
        ]
        return f"{name}: {'; '.join(told)}."
    found, shared = ways(action, most), always(action, most)
    if len(found) == 1:
        return f"{name}: {found[0].words}, {_in_all(found[0])}."
    best = None if shared else working(found)
    if best is None:
        chances = "; ".join(f"{way.often} {way.words}" for way in found)
        return f"{name}: {shared}. Besides, {chances}." if shared else f"{name}: {chances}."
    others = [way for way in found if way is not best]
    told = [f"{way.words} ({100 * way.found.probability:.0f}%, {way.limits})" for way in others]
    rest = others[0].words if len(others) == 1 else listed(told, "or")
    return f"{name} works {best.often}: {best.words}; else {rest}."


def _in_all(only: Way) -> str:
    """In how many trials the only outcome came."""
    match only.found.trials:
        case 0:
            return "as far as was seen: no trial shows all of it at once"
        case 1:
            return "in the only trial"
        case trials:
            return f"in all of {trials} trials"


def _in_case(found: Sequence[Way]) -> str:
    """The outcomes of one case."""
    if not found:
        return "nothing is known"
    if len(found) == 1:
        return f"{found[0].words}, {_in_all(found[0])}"
    return ", ".join(f"{way.often} {way.words}" for way in found)


def doubt(action: ActionKnowledge) -> str:
    """What is not excluded, as a sentence or two."""
    if not action.explanation.sure:
        told = "These are the fewest outcomes that explain what was seen; no situation was found that shows all of them."
    else:
        which = "another outcome" if len(action.outcomes) == 1 else "a further outcome"
        told = f"Not excluded: {which} with a probability of up to {percent(action.unseen, up=True)}."
    if action.side_effects:
        told += f" {beside_own(action)}."
    return " ".join([told, *_of_conditions(action)])


def _of_conditions(action: ActionKnowledge) -> Iterator[str]:
    """How sure it is on which atoms the outcomes depend."""
    found = action.dependence

    def named(mask: int) -> str:
        return listed(action.index.text(Literals(mask, 0)))

    if found.atoms and found.atoms == found.sure:
        yield f"That it depends on {named(found.atoms)} is certain."
    elif found.atoms:
        others = listed(map(named, found.others[:3]), "or")
        instead = f": {others} would explain it as well" if found.others else ""
        yield f"That it depends on {named(found.atoms)} is not certain{instead}."
    if suspected := found.suspected & ~action.likely:
        yield f"Perhaps it depends on {named(suspected)} too: more differs than chance is likely to make, but not surely."
    if action.likely:
        yield f"It probably depends on {named(action.likely)}: that is not certain, but the model says so."


def often(share: float, low: float, high: float) -> str:
    """A probability with its limits: ``69% of the time (63-74%)``."""
    return f"{100 * share:.0f}% of the time ({limits(low, high)})"


def limits(low: float, high: float) -> str:
    """The limits of an interval: ``63-74%``."""
    return f"{percent(low, up=False).rstrip('%')}-{percent(high, up=True)}"


def percent(share: float, *, up: bool) -> str:
    """A limit as a whole percentage, rounded to the safe side."""
    return f"{ceil(100 * share - 1e-9) if up else floor(100 * share + 1e-9)}%"


def difference(low: float, high: float) -> str:
    """The limits of a difference of percentages: ``less often by 6 to 31 points``."""
    least, most = floor(100 * low + 1e-9), ceil(100 * high - 1e-9)
    if least >= 0 and most > 0:
        return f"more often by {least} to {most} points"
    if most <= 0 and least < 0:
        return f"less often by {-most} to {-least} points"
    return f"from {-least} points less often to {most} points more often"


def effects(
    action: ActionKnowledge, adds: int, deletes: int, most: int | None = None, *, others: bool = False
) -> str:
    """These effects in words, the first ``most`` of them; ``others``: there are more than these."""
    told = _clauses(action, english.effect, adds, deletes)
    if not told:
        return NOTHING_ELSE if others else NOTHING
    more = 0 if most is None else len(told) - most
    return listed(told if more < 2 else [*told[:most], f"{more} more"])


def not_tried(constants: Mapping[str, Sequence[str]]) -> str:
    """Of which steps nothing is claimed, by action the constants of the domain that they name; empty if there are none."""
    named = [f"{action} that name {listed(names, 'or')}" for action, names in constants.items() if names]
    return f"steps of {listed(named)} where two of the action's atoms would be one fact" if named else ""


# What a policy that is told objectives can do: how often it achieves each, where, what else comes of it, and what it claims.
#
# Its actions are called ``achieve-on`` or ``undo-on`` after what is to be true or false, and the fact ``claimed`` says whether it says that it
# is done. How often it is achieved is told of pursuits that began where it did not hold yet; of the others, whether it was undone.


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
        rate = frequency(sum(did), len(ends), alpha, within)
        told = f"achieved {often(rate.probability, rate.low, rate.high)}"
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
        # the objective itself did not hold
        if where := literals(known, known.cases[case].condition.without(Literals(goal, goal))):
            told = f"if {where}, {told}"
        told += f"; {_claims(did, says, alpha, within)}"
        if others := _others(known, ends, goal | claimed | ended):
            told += f"; besides, {others}"
        shown: dict[bool, Clip] = {}
        for (step, *_), done, claim in zip(ends, did, says, strict=True):
            if step.after is not None and (images := clips.get(step.after.handle)):
                shown.setdefault(done, Clip(images, f"{step.action}: {_ended(done, claim)}"))
        kept_clips = tuple(shown[one] for one in (True, False) if one in shown)
        rows.append(Deed(index.header.name, told, rate, kept_clips))
    rows.sort(key=lambda row: -row.found.probability if row.found else 0.0)
    still = [bool(now & goal) is value for *_, now in kept]
    if not all(still):
        rate = frequency(sum(still), len(kept), alpha, within)
        share = often(rate.probability, rate.low, rate.high)
        told = f"where it holds already, it is kept {share}; "
        told += _claims(still, [bool(now & claimed) for *_, now in kept], alpha, within)
        rows.append(Deed(index.header.name, told, rate))
    return rows or [Deed(index.header.name, "no pursuit of it was seen that began where it did not hold")]


def frequency(hits: int, made: int, alpha: float, within: float) -> Frequency:
    """How often something comes of pursuits, with limits that hold with probability 1 - ``alpha`` at all times."""
    low, high = interval(hits, made, alpha, concentration(within))
    return Frequency(hits, made, hits / made, low, high, high - low)


def _claims(did: Sequence[bool], says: Sequence[bool], alpha: float, within: float) -> str:
    """What is claimed, and how often falsely."""
    made = len(did)
    if not any(says):
        return "it never claims to be done"
    false = sum(claim and not done for done, claim in zip(did, says, strict=True))
    silent = sum(done and not claim for done, claim in zip(did, says, strict=True))
    rate = frequency(false, made, alpha, within)
    told = f"it claims to be done {100 * sum(says) / made:.0f}% of the time, "
    told += f"{100 * rate.probability:.0f}% falsely ({limits(rate.low, rate.high)})"
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
        for one in side_effects(beyond, objects, step.before.state):
            mode = Mode.POSITIVE if one.added else Mode.NEGATIVE
            count[False, english.effect(one.atom, mode, names, index.vocabulary)] += 1
    told = sorted(count.items(), key=lambda one: (one[0][0], -one[1], one[0][1]))
    listed = [f"{words} ({100 * times / len(ends):.0f}%)" for (_, words), times in told[:MOST_OTHERS]]
    if len(told) > MOST_OTHERS:
        listed.append(f"{len(told) - MOST_OTHERS} more")
    return english.listed(listed) if listed else ""
