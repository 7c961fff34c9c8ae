"""The findings of a run that learned how often: conditions with their proofs, outcomes with their trials, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.retelling import retold
from aam_vision.interrogation.evidence.transcript import AttemptedStep
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.task.verdict import NOT_STRIPS, Verdict
from aam_vision.model.strips import LiftedAtom, Mode, Model
from aam_vision.report import chance, english
from aam_vision.report.ending import printable, unfinished
from aam_vision.report.events import Event, Events
from aam_vision.report.recorded import Recorded
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

MAX_KINDS = 30
"""Kinds of trials of one action that are listed, at most."""


@dataclass(frozen=True)
class OutcomeAccount:
    """One outcome of an action."""

    words: str
    effects: tuple[str, ...]
    """The literals that are true afterwards."""
    way: chance.Way
    open: tuple[str, ...]
    """Effects of which it was not seen whether the outcome has them."""
    example: Event | None
    """A step that came out so."""

    @property
    def probability(self) -> float:
        return self.way.found.probability

    @property
    def figures(self) -> str:
        """``69% (63-74%), 190 of 276 trials``."""
        found = self.way.found
        if not found.trials:
            return "not counted: no trial tells it from the others"
        return f"{100 * found.probability:.0f}% ({self.way.limits}), {found.hits} of {counted(found.trials, 'trial')}"


@dataclass(frozen=True)
class Kind:
    """Trials before which the same of an action's atoms held."""

    held: tuple[str, ...]
    hits: tuple[int, ...]
    """How often each outcome came, or what looks like it there."""
    counted: bool
    """Whether they tell all outcomes apart."""


@dataclass(frozen=True)
class ActionAccount:
    """The findings about one action."""

    known: ActionKnowledge
    sentence: str
    shared: str
    """What all outcomes change, in words; empty if that is nothing."""
    conditions: tuple[Condition, ...]
    outcomes: tuple[OutcomeAccount, ...]
    kinds: tuple[Kind, ...]

    @property
    def name(self) -> str:
        return self.known.index.header.name

    @property
    def certain(self) -> bool:
        """Whether the outcomes are certain, and not only the fewest that explain what was seen."""
        return self.known.certain

    @property
    def doing(self) -> str:
        """The same without what is not excluded; empty if it was never executed."""
        return chance.doing(self.known) if self.known.executed else ""

    @property
    def unseen(self) -> str:
        """The probability of an outcome that is not excluded, at most."""
        return chance.percent(self.known.unseen, up=True)

    @property
    def best(self) -> OutcomeAccount | None:
        """The outcome that tells most of the action: that with which it works, else the likeliest."""
        found = chance.working([one.way for one in self.outcomes])
        return next(
            (one for one in self.outcomes if one.way is found), self.outcomes[0] if self.outcomes else None
        )


class ChanceAccount:
    """The findings of one run of ``--chance``.

    Raises:
        UnusableInput: the run is of another kind.
    """

    def __init__(self, run: Recorded) -> None:
        if run.within is None:
            raise UnusableInput(f"{run.folder}: is no run with --chance; give the folder of one")
        self.run = run
        self.within = run.within
        """The half width of the intervals that was wanted."""
        single = run.transcript.in_single_steps()
        self.knowledge = retold(run.transcript, precision_of(run.within))
        self.events = Events(run, single)
        self.model = Model(run.transcript.vocabulary, tuple(one.schema() for one in self.knowledge.actions))

    @property
    def figures(self) -> Mapping[str, Any] | None:
        """``result.json``; None if the run did not come to its end."""
        return self.run.figures

    @cached_property
    def actions(self) -> tuple[ActionAccount, ...]:
        """The findings about every action, in the order of the agent's own."""
        return tuple(self._action(one) for one in self.knowledge.actions)

    @property
    def verdict(self) -> Verdict:
        """How sure the model is, why, and on which assumption."""
        figures = self.figures
        if figures is None:
            return unfinished("What is told here is what the answers so far say.")
        why = f"{figures['why'][:1].upper()}{figures['why'][1:]}."
        if figures["status"] == NOT_STRIPS:
            false = "So no model with fixed outcomes explains the answers: nothing below is certain."
            return Verdict(f"{NOT_STRIPS}: no model with outcomes fits", why, "", "", (false,))
        return Verdict(figures["status"], why, self.assumed, self._sure, self._left)

    @property
    def assumed(self) -> str:
        """What the findings rest on, as a sentence."""
        return f"Assumed: {chance.ASSUMED_OF_LOOKS if self.run.looked else chance.ASSUMED}."

    @property
    def _sure(self) -> str:
        """How sure the intervals are, as a sentence."""
        widest = max((one.uncertainty for one in self.knowledge.actions if one.executed), default=0.5)
        return (
            "With 95% all intervals of an action hold together, however long one looks; "
            f"the widest is ±{100 * widest:.0f} percentage points."
        )

    @property
    def _left(self) -> tuple[str, ...]:
        """What is open, in sentences."""
        told = []
        never = [one.name for one in self.actions if not one.known.executed]
        if never:
            told.append(f"Never executed: {english.listed(never)}.")
        unsure = [one.name for one in self.actions if one.known.executed and not one.certain]
        if unsure:
            told.append(f"Which outcomes these have is not certain: {english.listed(unsure)}.")
        lost = sum(action.known.unread for action in self.actions)
        if lost:
            told.append(
                f"{counted(lost, 'executed step')} led to what could not be read: it may have been any outcome."
            )
        count = sum(one.status != PROVEN for action in self.actions for one in action.conditions)
        if count:
            told.append(f"{counted(count, 'literal')} may be preconditions or not.")
        untried = chance.not_tried({one.name: one.known.index.coinciding_constants for one in self.actions})
        if untried:
            told.append(f"Not tried, and nothing is claimed of them: {untried}.")
        return tuple(told)

    @property
    def changes(self) -> tuple[str, ...]:
        """What is different from the model learned earlier, in sentences; none where there was no such model."""
        told = (self.figures or {}).get("differences") or []
        return tuple(
            printable(one["text"])
            for one in told
            if isinstance(one, dict) and isinstance(one.get("text"), str)
        )

    def execution_where(self, action: ActionAccount, atom: LiftedAtom, *, value: bool) -> Event | None:
        """The first execution of an action before which one of its atoms had this value."""
        for step in self._steps(action.name):
            before = step.before if step.executed else None
            if before is not None and before.state.value(atom.ground(step.action.objects)) is value:
                return self.events.event(step)
        return None

    # --- one action ------------------------------------------------------------------------------

    def _steps(self, name: str) -> Iterator[AttemptedStep]:
        return (step for step in self.knowledge.steps if step.action.name == name)

    def _action(self, known: ActionKnowledge) -> ActionAccount:
        steps = list(self._steps(known.index.header.name))
        outcomes = tuple(self._outcome(known, way, steps) for way in chance.ways(known))
        return ActionAccount(
            known,
            chance.sentence(known),
            chance.always(known),
            tuple(conditions(known, steps, self.events)),
            outcomes,
            tuple(_kinds(known, [one.way for one in outcomes], steps)),
        )

    def _outcome(
        self, known: ActionKnowledge, way: chance.Way, steps: Sequence[AttemptedStep]
    ) -> OutcomeAccount:
        index, one = known.index, way.outcome
        may_add, may_delete = way.case.open_additions(one), way.case.open_deletions(one)
        condition = chance.condition(known, way.case)
        return OutcomeAccount(
            f"if {condition}: {way.words}" if condition else way.words,
            tuple(index.text(Literals(one.adds, one.deletes))),
            way,
            tuple(index.text(Literals(may_add, may_delete))),
            self._example(known, way, steps),
        )

    def _example(
        self, known: ActionKnowledge, way: chance.Way, steps: Sequence[AttemptedStep]
    ) -> Event | None:
        """The first step that came out so and shows all of it, or else some of it."""
        best: AttemptedStep | None = None
        for step in steps:
            if step.before is None or step.after is None or step.after.state.unknown:
                continue
            held = known.index.values(step.before.state, step.action.objects)[0]
            now = known.index.values(step.after.state, step.action.objects)[0]
            if known.case(held) is not way.case:
                continue
            number = way.case.outcomes.index(way.outcome)
            if way.case.after(held)[number] != now or not way.case.telling(held)[number]:
                continue
            if way.case.explanation.revealing(held):
                return self.events.event(step)
            best = best or step
        return None if best is None else self.events.event(best)


def _kinds(
    known: ActionKnowledge, ways: Sequence[chance.Way], steps: Sequence[AttemptedStep]
) -> Iterator[Kind]:
    """The trials by what held before them, most frequent kinds first."""
    found: dict[int, Counter[int]] = {}
    for step in steps:
        if step.before is not None and step.after is not None and not step.after.state.unknown:
            held = known.index.values(step.before.state, step.action.objects)[0]
            now = known.index.values(step.after.state, step.action.objects)[0]
            found.setdefault(held, Counter())[now] += 1
    kinds = sorted(found.items(), key=lambda one: (-one[1].total(), one[0]))
    for held, afters in kinds[:MAX_KINDS]:
        case = known.case(held)
        ends = dict(zip(case.outcomes, case.after(held), strict=True))
        yield Kind(
            tuple(known.index.text(Literals(held, 0))),
            tuple(afters[ends[one.outcome]] if one.case is case else 0 for one in ways),
            all(case.telling(held)),
        )


# What an action with chance needs, and the refusals that prove it.


PROVEN, ONE_OF, OPEN = "proven", "one of several", "open"
MAX_OTHERS = 6
"""Steps that are named behind one proof, at most."""


@dataclass(frozen=True)
class Condition:
    """A literal that an action needs, or may need."""

    text: str
    words: str
    status: str
    """``proven``, ``one of several`` or ``open``."""
    why: str
    anchor: str
    """A name that is unique on the page and safe in HTML."""
    in_model: bool
    """Whether the cautious model has it: most open negative literals are left out."""
    refusal: Event | None = None
    """The refused step that proves it, or leaves it open."""


def conditions(known: ActionKnowledge, steps: Sequence[AttemptedStep], events: Events) -> Iterator[Condition]:
    """What an action needs, and may need; proven conditions first.

    Args:
        known: what is known of it.
        steps: its steps.
        events: what they look like.
    """
    precondition = known.precondition
    refused = [(step, _violated(known, step)) for step in steps if not step.executed]
    of_clauses = union(precondition.clauses)
    for literal in (*precondition.proven.singles(), *precondition.undecided.singles()):
        (text,) = known.index.text(literal)
        status = (
            PROVEN
            if literal.overlaps(precondition.proven)
            else ONE_OF
            if literal.overlaps(of_clauses)
            else OPEN
        )
        if status == PROVEN:
            refusal = next((step for step, violated in refused if violated == literal), None)
        else:
            refusal = next((step for step, violated in refused if literal.within(violated)), None)
        if status == OPEN and not known.executed:
            continue  # every literal is open then
        atom = known.index.atom(literal.positive | literal.negative)
        mode = Mode.POSITIVE if literal.positive else Mode.NEGATIVE
        header = known.index.header
        words = english.literal(atom, mode, header.parameters, known.index.vocabulary)
        event = None if refusal is None else events.event(refusal)
        anchor = f"why-{header.name}-{'needs' if literal.positive else 'not'}-{known.index.atoms.index(atom)}"
        why = _why(known, status, refusal, steps, events)
        yield Condition(text, words, status, why, anchor, literal.within(precondition.cautious), event)


def _why(
    known: ActionKnowledge,
    status: str,
    refusal: AttemptedStep | None,
    steps: Sequence[AttemptedStep],
    events: Events,
) -> str:
    """How a condition is known, as a sentence or two."""
    if status == OPEN or refusal is None:
        return "It held in every execution, and no step was refused because of it alone: no answer tells whether it is needed."
    violated = _violated(known, refusal)
    name = events.event(refusal).name.lower()
    if status == ONE_OF:
        among = english.listed(known.index.text(violated), "or")
        return f"In {name} the step was refused: one of {among} is needed, and no answer tells which."
    alone = f"In {name} the step was refused, and of all that may be needed only this did not hold"
    false = _false(known, refusal)
    others = Literals(false.positive & ~violated.positive, false.negative & ~violated.negative)
    if not others:
        return f"{alone}."
    names = []
    left = others
    for step in steps:
        if not step.executed or step.before is None:
            continue
        shown = left.common(_false(known, step))
        if shown:
            names.append(events.event(step).name.lower())
            left = left.without(shown)
    told = english.listed([*names[:MAX_OTHERS], *(["others"] if len(names) > MAX_OTHERS else [])])
    return f"{alone}: the other {counted(others.size(), 'literal')} that did not are not needed, as executions without them show ({told})."


def _false(known: ActionKnowledge, step: AttemptedStep) -> Literals:
    """The literals that did not hold before a step."""
    assert step.before is not None, "such agents are asked for single steps"
    held, _ = known.index.values(step.before.state, step.action.objects)
    return Literals(known.index.everything & ~held, held)


def _violated(known: ActionKnowledge, step: AttemptedStep) -> Literals:
    """The literals among them that may be needed, by all answers."""
    return _false(known, step).common(known.precondition.candidates)
