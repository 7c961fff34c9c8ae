"""What is known of one action: its precondition, its cases with their outcomes, and what is worth trying next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from aam_vision.interrogation.chance.cases import AWAITED, CaseKnowledge
from aam_vision.interrogation.chance.conditions import Dependence, dependence, tried_in_vain, worth_trying
from aam_vision.interrogation.chance.intervals import Frequency, Numbers, Precision
from aam_vision.interrogation.chance.likely_conditions import Part, likely_parts, mattering
from aam_vision.interrogation.chance.observations import (
    Change,
    Explanation,
    Observations,
    Setting,
    SideEffect,
    holds,
    side_effects,
)
from aam_vision.interrogation.evidence.transcript import AttemptedStep, Moment
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex, Literals, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.model.query import Situation
from aam_vision.model.strips import ActionHeader, ActionSchema, Atom, Case, State, Vocabulary
from aam_vision.support.errors import InconsistentAgent
from aam_vision.support.wording import counted

_REQUIRED = 0.5, 0.15
"""How probable it is that a positive and a negative literal is required that held in every execution: orders tests only."""
CONFIRMED, _CONFIRMING = 10, 0.005
"""Refusals for one literal alone after which it is no chance that it was missing, and what each is worth: less than all else."""
_EXPECTED, _UNEXPECTED = 0.95, 0.01
"""The same where earlier findings say that it was, or that it was not."""
_FIRST = 0.8
"""Worth of trying an action that was never executed, at most; refusals make it less."""
_PATIENCE = 10
"""Refusals of an action that was never executed after which another attempt is worth half."""
_LASTING = 4
"""Looks at which no cases explain on what the outcomes depend, after which none will."""
OFTEN, _SHARE = 8, 8
"""Trials that are made right after each step that others make possible, and of how many one is, where fewer are made."""
_DOUBTED = 3
"""Trials of which one is made right after something, where it is doubted that it makes no difference."""
_LOOKS = 10, 1.3, 1.05
"""Executions after which it is first looked whether outcomes depend on anything, and the factors to the next look: where what came before is not doubted to matter, and where it is."""


def index_of(vocabulary: Vocabulary, header: ActionHeader, initial: Sequence[Situation]) -> AtomIndex:
    """The atoms of an action. Where all objects that it may be told to use are constants, as directions are, they are no constants to it.

    Else every step would make two atoms one fact, and which of them changed, or was required, could not be told: as it cannot where there is
    but one such object.
    """
    index = AtomIndex(vocabulary, header)
    coinciding = {*index.coinciding_constants}
    named = [{one for at in initial for one in at.state.objects.of_type(kind)} for kind in header.types]
    told = set().union(*(objects for objects in named if len(objects) > 1 and objects <= coinciding))
    if not told:
        return index
    left = {name: kind for name, kind in vocabulary.constants.items() if name not in told}
    return AtomIndex(replace(vocabulary, constants=left), header)


class ActionKnowledge:
    """All that was seen of one action, and what follows.

    Masks are those of the action's atoms (``AtomIndex``); states before a step are fully known; of those after it atoms may be unknown.
    """

    def __init__(self, index: AtomIndex, precision: Precision) -> None:
        self.index = index
        self.precondition = ActionHypotheses(index)
        self.given_up = False
        """Whether it was never executed, and nothing that it could require explains all refusals: it is not tried any more."""
        self.confirms = False
        """Whether refusals may be a matter of chance, so that one proves no literal yet."""
        self.leads_as_seen = False
        """Whether only outcomes that came where the same held are taken to lead on: it requires nothing, so that all would lead anywhere."""
        self.refused = 0
        self.refusals: dict[int, int] = {}
        """By the atoms that held, how often a step was refused."""
        self.example: tuple[State, tuple[str, ...]] | None = None
        """A step that was executed."""
        self.version = 0
        """Grows when the precondition, the cases or the outcomes (not their frequencies) change."""
        self.expected: Literals | None = None
        """What it is expected to require, by earlier findings; orders tests only."""
        self.dependence = Dependence()
        """On what the outcomes depend, where they do."""
        self.mattering: Numbers | None = None
        """Of an objective, how probable it was before any pursuit that each atom makes a difference (see ``compare_objectives``)."""
        self.steps = Observations()
        self._precision = precision
        self.cases: tuple[CaseKnowledge, ...] = (
            CaseKnowledge(self.precondition, NOTHING, self.steps, precision),
        )
        self._look = _LOOKS[0]
        self._looked = 0
        self._worth: dict[int, float] = {}
        self._compared: list[tuple[State, tuple[str, ...], int]] | None = None
        """See ``comparisons``; None where it has to be found anew."""
        self.side_effects: dict[SideEffect, tuple[int, Atom]] = {}
        """Changes of facts of which its instruction does not name the objects: in how many steps, and the first of them."""
        self.astray = 0
        """Executed steps that changed such facts."""
        self.named: dict[tuple[str, ...], int] = {}
        """How often an executed step named which objects."""
        self.before: Counter[str] = Counter()
        """How many trials were made before which something was so (``Moment.before``)."""
        self._unexplained = 0
        """Looks in a row at which no cases explained on what the outcomes depend."""
        self._sure: tuple[int, dict[int, bool]] = 0, {}

    def __str__(self) -> str:
        """``press: if wet(?b): 92% (85-96%) done(?b), 8% (4-15%) nothing; not excluded: another outcome in up to 2%``."""
        if not self.executed:
            refused = f", though it was tried {counted(self.refused, 'time')}, and nothing explains that"
            return f"{self.index.header.name}: never executed{refused if self.given_up else ''}"
        told = "; ".join(self._told(case) for case in self.cases)
        sure = "" if self.certain else " (not certain)"
        return f"{self.index.header.name}: {told}{sure}; not excluded: another outcome in up to {100 * self.unseen:.1f}%"

    def _told(self, case: CaseKnowledge) -> str:
        """The outcomes of a case, likeliest first."""
        where = ", ".join(self.index.text(case.condition))
        found = sorted(zip(case.frequencies, case.outcomes, strict=True), key=lambda one: -one[0].probability)
        outcomes = [
            f"{100 * often.probability:.0f}% ({100 * often.low:.0f}-{100 * often.high:.0f}%) "
            f"{', '.join(self.index.text(Literals(one.adds, one.deletes))) or 'nothing'}"
            for often, one in found
        ]
        return f"{f'if {where}: ' if where else ''}{', '.join(outcomes)}"

    # --- learning --------------------------------------------------------------------------------

    def was_seen(self, step: AttemptedStep) -> bool:
        """Learn from a step that was attempted before; whether it tells anything: the agent has to be seen around it.

        Raises:
            InconsistentAgent: as ``was_executed`` and ``was_refused``.
        """
        before, objects = step.before, step.action.objects
        if before is None or before.state.unknown or (step.executed and step.after is None):
            return False
        if step.after is None:
            self.was_refused(before.state, objects)
        else:
            self.was_executed(before.state, objects, step.after.state, step.when)
        return True

    def was_refused(self, state: State, objects: tuple[str, ...]) -> None:
        """Learn from a refused step.

        Raises:
            InconsistentAgent: nothing that may be required was missing, and it was executed before.
        """
        held, _ = self.index.values(state, objects)
        self.refused += 1
        self.refusals[held] = self.refusals.get(held, 0) + 1
        self._forget()
        if self.given_up:
            return
        try:
            self.version += self.precondition.failed(held, 0)
        except InconsistentAgent:
            if self.precondition.successes:
                raise
            self.given_up, self.precondition = True, ActionHypotheses(self.index)
            self.version += 1

    def was_executed(
        self,
        state: State,
        objects: tuple[str, ...],
        after: State,
        when: Moment = Moment(),  # noqa: B008 - it cannot be changed
    ) -> None:
        """Learn from an executed step.

        Raises:
            InconsistentAgent: it was executed where a proven precondition did not hold, or was given up before, or has too many outcomes.
        """
        if self.given_up:
            raise InconsistentAgent(
                f"{self.index.header.name} was executed, and refused before although every literal that could be its precondition held"
            )
        true, _ = self.index.values(state, objects)
        now, hidden = self.index.values(after, objects)
        held = true & ~self.index.reported
        own = self.index.facts(true ^ now, objects)
        if other := self.index.vocabulary.undefined((state.true ^ after.true) - own - after.unknown):
            self.astray += 1
            for effect, example in side_effects(other, objects, state).items():
                made, first = self.side_effects.get(effect, (0, example))
                self.side_effects[effect] = made + 1, first
        for known in dict.fromkeys((held, held | self.index.reported)):  # what was said is no precondition
            self.version += self.precondition.succeeded(known, 0)
        self._forget()
        if self.index.shared(
            objects
        ):  # one fact stands for several atoms, and it cannot be told which was changed
            return
        self.precondition.successes += 1
        self.example = self.example or (state, objects)
        self.named[objects] = self.named.get(objects, 0) + 1
        if hidden:
            self.steps.lose(held)
            self.case(held).lose(held)
            return
        if self.reveals(held):
            self.before.update(when.before)
        setting = Setting(objects, state.true - self.index.facts(true, objects), state.objects)
        self.steps.add(held, now, setting, None, when)
        self.version += self.case(held).add(held, now, setting, len(self.steps.course) - 1, when)
        if self.executed >= self._look or (len(self.cases) == 1 and self._parted):
            self.reconsider()
            doubted = any(case.difference is not None and case.difference.by.before for case in self.cases)
            self._look = int(self.executed * _LOOKS[2 if doubted else 1]) + 1

    def reconsider(self) -> None:
        """Look on what the outcomes depend, and put what was seen into cases anew if that is another thing than before."""
        if self._looked == self.executed:
            return
        self._looked = self.executed
        found = dependence(self.steps, self.index.everything, self._precision, self.index.goal)
        self._unexplained = self._unexplained + 1 if found.unexplained else 0
        if found != self.dependence:
            self.dependence = found
            self._forget()
            self.version += 1
            if found.cases != tuple(case.condition for case in self.cases):
                share = self._precision._replace(alpha=self._precision.alpha / len(found.cases))
                self.cases = tuple(
                    CaseKnowledge(self.precondition, one, self.steps.within(one), share)
                    for one in found.cases
                )
        doubted = [case.doubted for case in self.cases]
        for case in self.cases:
            case.look(self.steps.course, unexplained=found.unexplained)
        if doubted != [case.doubted for case in self.cases]:
            self._forget()
            self.version += 1

    @property
    def _parted(self) -> bool:
        """Whether it is an objective that was pursued both where it held already and where it did not."""
        goal = self.index.goal
        return bool(goal) and len({holds(goal, held) for held in self.steps.contexts}) == 2

    def _forget(self) -> None:
        self._worth.clear()
        self._compared = None

    # --- what is known ---------------------------------------------------------------------------

    @property
    def executed(self) -> int:
        return self.steps.executed

    @property
    def lost(self) -> Mapping[int, int]:
        """By the atoms that held before, how often it could not be read which held after."""
        return self.steps.unread

    @property
    def seen(self) -> Mapping[int, Mapping[int, int]]:
        """By the atoms that held before an execution, in the order of the first ones, how often which held after."""
        return self.steps.contexts

    @property
    def unread(self) -> int:
        """Executed steps of which it could not be read what came of them."""
        return sum(self.steps.unread.values())

    def case(self, held: int) -> CaseKnowledge:
        """The case in which the action is where these atoms hold."""
        return next(case for case in self.cases if holds(case.condition, held))

    @property
    def explanation(self) -> Explanation:
        """The outcomes of all cases; ``sure`` where those of each case are."""
        return Explanation(self.outcomes, all(case.explanation.sure for case in self.cases))

    @property
    def outcomes(self) -> tuple[Change, ...]:
        """Of all cases, one case after the other."""
        return tuple(one for case in self.cases for one in case.outcomes)

    @property
    def frequencies(self) -> tuple[Frequency, ...]:
        """Of every outcome; in each case, estimates add up to one."""
        return tuple(one for case in self.cases for one in case.frequencies)

    @property
    def certain(self) -> bool:
        """Whether the outcomes are certain, and not only the fewest that explain what was seen."""
        found = self.dependence
        return bool(self.executed and self.explanation.sure and not found.suspected and not found.unexplained)

    @property
    def varies(self) -> bool:
        """Whether it was seen to have several outcomes."""
        return any(case.varies for case in self.cases)

    def reveals(self, held: int) -> bool:
        """Whether the step is surely executed there, and shows which of several outcomes came."""
        return self.varies and self.certain_to_succeed(held) and self.case(held).explanation.revealing(held)

    def lacks(self, clause: str) -> bool:
        """Whether few trials were made before which that was so."""
        doubted = any(
            case.difference is not None and case.difference.by.before == clause for case in self.cases
        )
        least = self.executed // _DOUBTED if doubted else min(OFTEN, self.executed // _SHARE)
        return self.before[clause] < least

    @property
    def late(self) -> bool:
        """Whether it is doubted that outcomes come as often late as right after the agent was put somewhere."""
        return any(case.difference is not None and case.difference.by.begun for case in self.cases)

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be found out of what its outcomes depend on, so that it may be said to depend on something else."""
        return not self.dependence.suspected and (
            not self.dependence.unexplained or self._unexplained >= _LASTING
        )

    @property
    def looked(self) -> bool:
        """Whether it was looked after the last step on what the outcomes depend."""
        return self._looked == self.executed

    def leads(self, held: int) -> list[tuple[int, int]]:
        """Every outcome that is possible where these atoms hold, by its number, with the atoms that hold after it."""
        before = 0
        for case in self.cases:
            if holds(case.condition, held):
                found = enumerate(case.after(held), before)
                return [one for one in found if not self.leads_as_seen or one[1] in self.seen.get(held, {})]
            before += len(case.outcomes)
        return []

    def chance_of(self, held: int, outcome: int) -> float:
        """How probable an outcome, by its number, seems where these atoms hold: the less the more often it did not come there, if it never did."""
        for case in self.cases:
            if outcome < len(case.outcomes):
                break
            outcome -= len(case.outcomes)
        found, one = case.frequencies[outcome].probability, case.outcomes[outcome]
        if (held | one.adds) & ~one.deletes in self.seen.get(held, ()):
            return found
        return found * AWAITED / (AWAITED + self.steps.made(held))

    @property
    def uncertainty(self) -> float:
        """Half the width of its widest interval; one half before the first trial."""
        return max(case.uncertainty for case in self.cases)

    @property
    def wide(self) -> bool:
        """Whether an interval is wider than is wanted."""
        return self.uncertainty > self._precision.within

    @property
    def tried_enough(self) -> bool:
        """Whether it was tried as often as intervals of two groups of trials take that are as narrow as is wanted."""
        return self.executed >= self._precision.twice

    @property
    def unseen(self) -> float:
        """No outcome that was not seen has a probability above this in its case, at the intervals' confidence."""
        return max(case.unseen for case in self.cases)

    def schema(self) -> ActionSchema:
        """The cautious model, as of an agent without chance: undetermined positive preconditions in, all else out.

        Where outcomes are not certain, or their intervals not narrow, it has the conditions that are ``likely``, too.
        """
        required, select = self.precondition.cautious, self.index.select
        positive, negative = select(required.positive), select(required.negative)
        cases = []
        for case in self.cases:
            for part in self._parts(case) or (Part(NOTHING, ()),):
                condition = union((case.condition, part.condition))
                own = select(condition.positive), select(condition.negative)
                cases.append(Case(*own, case.model(part.probabilities)))
        return ActionSchema(self.index.header, positive, negative, cases=tuple(cases))

    @property
    def likely(self) -> int:
        """Atoms on which the outcomes depend in the model alone, as a mask: that is likely, and not certain."""
        conditions = union(part.condition for case in self.cases for part in self._parts(case))
        return (conditions.positive | conditions.negative) & ~self.dependence.atoms

    def _parts(self, case: CaseKnowledge) -> tuple[Part, ...]:
        """What a case falls into in the model; none if it stays whole."""
        return likely_parts(case, self.index, self.mattering) if self.wide or not self.certain else ()

    @property
    def listed(self) -> list[dict[str, Any]]:
        """Its outcomes, likeliest first, those of one with conditional effects case by case: as ``result.json`` has them."""
        found: list[dict[str, Any]] = []
        for case in self.cases:
            condition = {"condition": self.index.text(case.condition)} if len(self.cases) > 1 else {}
            own = [
                {
                    **condition,
                    "effects": self.index.text(Literals(one.adds, one.deletes)),
                    "probability": round(often.probability, 6),
                    "interval": [round(often.low, 6), round(often.high, 6)],
                    "trials": often.trials,
                    "hits": often.hits,
                }
                for one, often in zip(case.outcomes, case.frequencies, strict=True)
            ]
            found += sorted(own, key=lambda one: -one["probability"])
        return found

    def aim(self, within: float) -> None:
        """Want intervals of another half width from now on; they are as valid as before."""
        self._precision = self._precision._replace(within=within)
        for case in self.cases:
            case.aim(within)
        self._forget()

    # --- what is worth trying --------------------------------------------------------------------

    def certain_to_succeed(self, held: int) -> bool:
        """Whether the step is executed there under all that is possible."""
        version, known = self._sure
        if version != self.version:
            self._sure = self.version, (known := {})
        if held not in known:
            known[held] = not (self.given_up or self.precondition.violated(held, 0))
        return known[held]

    def certain_to_fail(self, held: int) -> bool:
        """Whether the step is refused there under all that is possible."""
        return self.given_up or self.precondition.certain_to_fail(self.precondition.violated(held, 0))

    def worth(self, held: int) -> float:
        """What a step is worth where these atoms hold: 0 if it tells nothing."""
        if held not in self._worth:
            self._worth[held] = self._weighed(held)
        return self._worth[held]

    def _weighed(self, held: int) -> float:
        precondition = self.precondition
        if self.given_up:
            return 0.0
        violated = precondition.violated(held, 0)
        if not violated:
            return self.case(held).worth(held)
        if precondition.certain_to_fail(violated):
            return _CONFIRMING if self._to_confirm(violated) else 0.0
        if not self.executed:
            missing = violated.positive.bit_count() / max(1, len(self.index.atoms))
            return _FIRST * (1.01 - missing) / (1 + self.refused / _PATIENCE)
        size = violated.size()
        succeeds = self._succeeds(violated)
        return succeeds * (0.7 + 0.3 * size) + (1 - succeeds) * (1 if size == 1 else 0.25 / size)

    def _to_confirm(self, violated: Literals) -> bool:
        """Whether it was refused less often than it is to be where nothing but this literal was missing."""
        if not (self.confirms and self.executed) or violated.size() != 1:
            return False
        refusals = self.refusals.items()
        return (
            sum(often for held, often in refusals if self.precondition.violated(held, 0) == violated)
            < CONFIRMED
        )

    def _succeeds(self, violated: Literals) -> float:
        """How probable it is that none of these literals is required."""
        if self.expected is not None:
            known = violated.common(self.expected).size()
            return float((1 - _EXPECTED) ** known * (1 - _UNEXPECTED) ** (violated.size() - known))
        return prod([1 - _REQUIRED[0]] * violated.positive.bit_count()) * prod(
            [1 - _REQUIRED[1]] * violated.negative.bit_count()
        )

    @property
    def doubtful(self) -> int:
        """Atoms on which the outcomes may depend, or something else that was always so where these were."""
        return union(Literals(mask, 0) for _, mask in self._doubts).positive

    @property
    def unsettled(self) -> int:
        """Those of them of which it was tried as often as it is to be what they change, and could not be told."""
        return union(
            Literals(bit, 0) for where, bit in self._doubts if tried_in_vain(self.steps, where, bit)
        ).positive

    @property
    def _doubts(self) -> list[tuple[Literals, int]]:
        """Atoms on which the outcomes may depend, each with the condition under which they may."""
        found = self.dependence
        return [(where, bit) for where, mask in (*found.unproven, *found.suspicions) for bit in bits(mask)]

    def comparisons(self) -> list[tuple[State, tuple[str, ...], int]]:
        """Steps that tell on which atoms the outcomes depend: the situation, the objects, and the atoms that hold."""
        if self._compared is None:
            wanted = dict.fromkeys(
                one for where, bit in self._doubts for one in worth_trying(self.steps, where, bit)
            )
            self._compared = [
                (
                    State(setting.others | self.index.facts(held, setting.named), setting.objects),
                    setting.named,
                    held,
                )
                for setting, held in wanted
                if setting.objects is not None and self.certain_to_succeed(held)
            ]
        return self._compared


def compare_objectives(actions: Sequence[ActionKnowledge]) -> None:
    """Tell each objective how probable it is that an atom makes a difference to its pursuits, by those of all others."""
    objectives = [one for one in actions if one.index.goal]
    found = mattering([(one.index, one.cases) for one in objectives]) if objectives else []
    for one, own in zip(objectives, found, strict=True):
        one.mattering = own
