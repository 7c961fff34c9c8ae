"""The account of a run that learned how often: conditions with their proofs, and outcomes with their trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.retelling import retold
from aam_vision.interrogation.evidence.transcript import AttemptedStep
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.task.verdict import ASSUMED, COMPLETE, NOT_STRIPS, Verdict
from aam_vision.model.query import objective
from aam_vision.model.strips import ActionSchema, LiftedAtom, Location, Mode, Model, PalTuple
from aam_vision.report import chance, english
from aam_vision.report.abilities import ROOM, Abilities, Deed, main_conditions, paragraph
from aam_vision.report.account import Account, ActionAccount, Kind, Line, Outcome, ProofStep
from aam_vision.report.ending import printable, unfinished
from aam_vision.report.events import Event, Events, ShownImage
from aam_vision.report.recorded import Recorded
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted, times

PROVEN, ONE_OF, OPEN = "proven", "one of several", "open"
MAX_KINDS = 30
"""Kinds of trials of one action that are listed, at most."""
MAX_OTHERS = 6
"""Steps that are named behind one proof, at most."""
FIGURES_ROOM = 40
"""Characters that probabilities and intervals take on the first screen, about."""
_SHARES: Sequence[tuple[int, int]] = ((3, 2), (2, 2), (1, 1))
"""Conditions of each action and effects of each outcome that are told on the first screen, tried in turn."""


class ChanceAccount(Account):
    """The findings of one run of ``--chance``. Raises UnusableInput: the run is of another kind."""

    def __init__(self, run: Recorded) -> None:
        if run.within is None:
            raise UnusableInput(f"{run.folder}: is no run with --chance; give the folder of one")
        self.run = run
        self.within = run.within
        """The half width of the intervals that was wanted."""
        self.knowledge = retold(run.transcript, precision_of(run.within))
        self.steps = self.knowledge.steps
        self.events = Events(run, run.transcript.in_single_steps())
        self.contradiction = self.knowledge.contradiction
        self._known = {one.index.header.name: one for one in self.knowledge.actions}
        self.indexes = {name: one.index for name, one in self._known.items()}
        self.model = Model(self.vocabulary, tuple(one.schema() for one in self.knowledge.actions))

    @property
    def title(self) -> str:
        return f"What the agent of {self.name} does, and how often"

    @property
    def cost(self) -> str:
        figures = self.run.figures
        if figures is None:
            return ""
        return f"{figures['env']}: {counted(figures['steps'], 'step')}, {figures['failed_steps']} of them refused."

    @cached_property
    def actions(self) -> tuple[ActionAccount, ...]:
        return tuple(self._action(one) for one in self.knowledge.actions)

    @property
    def verdict(self) -> Verdict:
        figures = self.run.figures
        if figures is None:
            return unfinished("What is told here is what the answers so far say.")
        why = f"{figures['why'][:1].upper()}{figures['why'][1:]}."
        if figures["status"] == NOT_STRIPS:
            false = "So no model with fixed outcomes explains the answers: nothing below is certain."
            return Verdict(f"{NOT_STRIPS}: no model with outcomes fits", why, "", "", (false,))
        courses = chance.courses(self.knowledge.actions)
        assumed = f"Assumed: {chance.ASSUMED_OF_LOOKS if self.run.looked else ASSUMED}."
        assumed += f" {courses[:1].upper()}{courses[1:]}." if courses else ""
        widest = max((one.uncertainty for one in self.knowledge.actions if one.executed), default=0.5)
        sure = (
            "With 95% all intervals of an action hold together, however long one looks; "
            f"the widest is ±{100 * widest:.0f} percentage points."
        )
        return Verdict(figures["status"], why, assumed, sure, tuple(self._left()))

    def _left(self) -> Iterator[str]:
        """What the run has gone on from, and what is open, in sentences."""
        further = (self.run.figures or {}).get("went_on")
        if isinstance(further, dict) and isinstance(why := further.get("why"), str):
            yield f"The run went on from a diagnosis: {printable(why)}."
        if isinstance(invented := (self.run.figures or {}).get("invented"), str):
            yield printable(invented)
        executed = {name: one for name, one in self._known.items() if one.executed}
        if never := [name for name in self._known if name not in executed]:
            yield f"Never executed: {english.listed(never)}."
        if unsure := [name for name, one in executed.items() if not one.certain]:
            yield f"Which outcomes these have is not certain: {english.listed(unsure)}."
        if lost := sum(one.unread for one in self.knowledge.actions):
            yield f"{counted(lost, 'executed step')} led to what could not be read: it may have been any outcome."
        literals = [one for action in self.actions for one in (*action.needs, *action.open)]
        if count := sum(one.status != PROVEN for one in literals):
            yield f"{counted(count, 'literal')} may be preconditions or not."
        constants = {name: index.coinciding_constants for name, index in self.indexes.items()}
        if untried := chance.not_tried(constants):
            yield f"Not tried, and nothing is claimed of them: {untried}."

    @property
    def compared(self) -> list[tuple[str, str]]:
        told, figures = list[tuple[str, str]](), self.run.figures or {}
        if (distance := self.number("variational_distance")) is not None:
            told.append(("Variational distance", f"{distance:.3f}"))
        if (wrong := self.number("wrong_certain")) is not None:
            told.append(("Certain and wrong", f"{wrong:.0f}"))
        intervals, right = self.number("intervals"), self.number("intervals_right")
        if intervals is not None and right is not None:
            told.append(("Intervals that are right", f"{right:.0f} of {intervals:.0f}"))
        if isinstance(figures.get("exact"), bool):
            same = "same where compared" if figures.get("equivalent") is True else "another"
            told.append(("Structure", "exact" if figures["exact"] else same))
        return told

    # The first screen: actions with several outcomes before those that always do the same.

    @property
    def abilities(self) -> Abilities:
        actions = sorted(self.actions, key=lambda action: -min(2, len(action.outcomes or ())))
        whole = Model(self.vocabulary, tuple(_all_effects(one) for one in self.model.actions))

        def deed(action: ActionAccount, conditions: int, effects: int) -> Deed:
            known, best = self._known[action.name], _best(action)
            if best is None:
                return Deed(action.name, "it was never executed")
            does = chance.doing(known, most=effects).removeprefix(action.name).removesuffix(".")
            does = does.removeprefix(": ") if does.startswith(": ") else f"it{does}"
            needs = main_conditions(whole, whole.schema(action.name), conditions)
            words = f"if {needs}, then {does}" if needs else does
            return Deed(action.name, words, None if len(known.cases) > 1 else best.way.found)

        def told(action: ActionAccount, *share: int) -> list[Deed]:
            if not (action.outcomes and objective(action.header, self.vocabulary)):
                return [deed(action, *share)]
            known = self._known[action.name]
            steps = [step for step in self.steps if step.action.name == action.name]
            return chance.deeds(known, _seen(known, steps), self.within, self.run.clips, self.run.lasted)

        return paragraph(
            counted(len(actions), "action"),
            whole,
            lambda *share: [row for action in actions for row in told(action, *share)],
            _SHARES,
            complete=self.run.figures is not None and self.run.figures["status"] == COMPLETE,
            room=ROOM + FIGURES_ROOM,
        )

    def pair(self) -> tuple[str, tuple[ShownImage, ...]]:
        """The first outcome that is not the one most often meant, or any."""
        best: tuple[str, tuple[ShownImage, ...]] = "", ()
        for action in self.actions:
            for one in action.outcomes or ():
                if one.example is None or len(one.example.shown) < 2:
                    continue
                before, after = one.example.shown
                shown = (before, replace(after, caption=f"{after.caption}: {one.words}"))
                told = f"{one.example.name}: {one.example.step}; {one.words}", shown
                if one is not _best(action):
                    return told
                best = best if best[1] else told
        return best

    def _action(self, known: ActionKnowledge) -> ActionAccount:
        header = known.index.header
        steps = [step for step in self.steps if step.action.name == header.name]
        outcomes = tuple(self._outcome(known, way, steps) for way in chance.ways(known))
        lines = list(self._conditions(known))
        return ActionAccount(
            header=header,
            sentence=chance.sentence(known),
            needs=tuple(one for one in lines if one.mode is not Mode.ABSENT),
            open=tuple(one for one in lines if one.mode is Mode.ABSENT),
            successes=known.executed,
            refusals=known.refused,
            outcomes=outcomes,
            shared=chance.always(known),
            kinds=tuple(_kinds(known, [one.way for one in outcomes], steps)),
            unseen=known.unseen if known.certain else None,
        )

    def _outcome(self, known: ActionKnowledge, way: chance.Way, steps: Sequence[AttemptedStep]) -> Outcome:
        index, one = known.index, way.outcome
        may_add, may_delete = way.case.open_additions(one), way.case.open_deletions(one)
        condition = chance.literals(known, way.case.condition)
        return Outcome(
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
        number, case, some = way.case.outcomes.index(way.outcome), way.case, list[AttemptedStep]()
        for step, held, now in _seen(known, steps):
            if known.case(held) is case and case.after(held)[number] == now and case.telling(held)[number]:
                if case.explanation.revealing(held):
                    return self.events.event(step)
                some.append(step)
        return self.events.event(some[0]) if some else None

    # What an action needs, and the refusals that prove it.

    def _conditions(self, known: ActionKnowledge) -> Iterator[Line]:
        """What an action needs, and may need; proven conditions first."""
        precondition, header = known.precondition, known.index.header
        of_clauses = union(precondition.clauses)
        for literal in (*precondition.proven.singles(), *precondition.undecided.singles()):
            proven = literal.overlaps(precondition.proven)
            status = PROVEN if proven else ONE_OF if literal.overlaps(of_clauses) else OPEN
            if status == OPEN and not known.executed:
                continue  # every literal is open then
            atom = known.index.atom(literal.positive | literal.negative)
            mode = Mode.POSITIVE if literal.positive else Mode.NEGATIVE
            yield Line(
                PalTuple(atom, header.name, Location.PRE),
                mode if literal.within(precondition.cautious) else Mode.ABSENT,
                known.index.text(literal)[0],
                english.literal(atom, mode, header.parameters, self.vocabulary),
                status,
            )

    def _refusal(self, line: Line) -> AttemptedStep | None:
        """The refused step that proves a condition, or leaves it open."""
        known = self._known[line.pal.action]
        bit = known.index.bit[line.pal.atom]
        literal = Literals(0, bit) if line.text.startswith("not ") else Literals(bit, 0)
        for step, violated in self._refused[line.pal.action]:
            if violated == literal if line.status == PROVEN else literal.within(violated):
                return step
        return None

    @cached_property
    def _refused(self) -> dict[str, list[tuple[AttemptedStep, Literals]]]:
        """By action its refused steps, with what may be needed and did not hold."""
        found: dict[str, list[tuple[AttemptedStep, Literals]]] = {name: [] for name in self._known}
        for step in self.steps:
            if not step.executed:
                found[step.action.name].append((step, _violated(self._known[step.action.name], step)))
        return found

    def sources(self, line: Line) -> list[Event]:
        refusal = self._refusal(line)
        return [] if refusal is None else [self.events.event(refusal)]

    def why(self, line: Line) -> list[ProofStep]:
        known, refusal = self._known[line.pal.action], self._refusal(line)
        shown = [] if refusal is None else [_shown(self.events.event(refusal))]
        if line.status == OPEN or refusal is None:
            text = "It held in every execution, and no step was refused because of it alone: no answer tells whether it is needed."
            return [ProofStep(text), *shown]
        violated = _violated(known, refusal)
        name = self.events.event(refusal).name.lower()
        if line.status == ONE_OF:
            among = english.listed(known.index.text(violated), "or")
            text = f"In {name} the step was refused: one of {among} is needed, and no answer tells which."
            return [ProofStep(text), *shown]
        alone = f"In {name} the step was refused, and of all that may be needed only this did not hold"
        left = others = _false(known, refusal).without(violated)
        names = []
        for step in self.steps:
            if not left or step.action.name != line.pal.action or not step.executed or step.before is None:
                continue
            if shows := left.common(_false(known, step)):
                names.append(self.events.event(step).name.lower())
                left = left.without(shows)
        if others:
            told = english.listed([*names[:MAX_OTHERS], *(["others"] if len(names) > MAX_OTHERS else [])])
            alone += f": the other {counted(others.size(), 'literal')} that did not are not needed, as executions without them show ({told})"
        return [ProofStep(f"{alone}."), *shown]

    def explained(self, pal: PalTuple) -> list[tuple[str, list[ProofStep]]]:
        action = next(one for one in self.actions if one.name == pal.action)
        text = pal.atom.text(action.header.parameters)
        if pal.location is Location.EFF:
            return [(f"{text} in eff of {pal.action}", self._changing(action, text))]
        lines = [one for one in (*action.needs, *action.open) if one.pal == pal]
        if lines:
            return [(f"{one.text} in pre of {pal.action}: {one.status}", self.why(one)) for one in lines]
        return [(f"{text} in pre of {pal.action}: not needed", list(self._not_needed(action, pal.atom)))]

    def _changing(self, action: ActionAccount, text: str) -> list[ProofStep]:
        """Which outcomes of an action change an atom."""
        found, touched = list[ProofStep](), False
        for outcome in action.outcomes or ():
            makes = {f"not {text}": "makes it false", text: "makes it true"}
            does = next((words for sign, words in makes.items() if sign in outcome.effects), "")
            unseen = tuple(
                f"Not seen: whether it also makes {literal} true; that held in every trial that came out so."
                for literal in outcome.open
                if literal in makes
            )
            told = f"{outcome.words}: {does or 'leaves it as it is'}; {outcome.figures}"
            found.append(ProofStep(told, None, unseen))
            touched = touched or bool(does)
            if does and outcome.example is not None:
                found.append(_shown(outcome.example))
        if not touched:
            seen = counted(action.successes, "execution")
            found.append(ProofStep(f"No outcome of {action.name} was seen to change it, in {seen}."))
        return found

    def _not_needed(self, action: ActionAccount, atom: LiftedAtom) -> Iterator[ProofStep]:
        """Why neither an atom nor its negation is a precondition."""
        if not action.successes:
            refused = f"refused {times(action.refusals)}"
            yield ProofStep(f"{action.name} was never executed, so nothing is known of it; {refused}.")
            return
        for value, word in ((True, "true"), (False, "false")):
            for step in self.steps:
                before = step.before if step.executed and step.action.name == action.name else None
                if before is not None and before.state.value(atom.ground(step.action.objects)) is value:
                    name = self.events.event(step).name.lower()
                    yield ProofStep(f"It was executed where it was {word} ({name}), so that is no hindrance.")
                    break


def _shown(event: Event) -> ProofStep:
    """An event as a step of a proof."""
    return ProofStep(f"{event.name}: {event.step} {event.outcome}", event)


def _best(action: ActionAccount) -> Outcome | None:
    """The outcome that tells most of the action: that with which it works, else the likeliest."""
    outcomes = action.outcomes or ()
    found = chance.working([one.way for one in outcomes])
    return next((one for one in outcomes if one.way is found), outcomes[0] if outcomes else None)


def _all_effects(schema: ActionSchema) -> ActionSchema:
    """An action with all that it may change, for what tells actions apart."""
    adds = frozenset(atom for one in schema.single for atom in one.add)
    deletes = frozenset(atom for one in schema.single for atom in one.delete)
    return ActionSchema(schema.header, schema.positive, schema.negative, adds, deletes - adds)


def _seen(known: ActionKnowledge, steps: Sequence[AttemptedStep]) -> Iterator[tuple[AttemptedStep, int, int]]:
    """The steps that led to what could be read, with the atoms that held before and after each."""
    for step in steps:
        if step.before is not None and step.after is not None and not step.after.state.unknown:
            objects = step.action.objects
            now, _ = known.index.values(step.after.state, objects)
            yield step, known.index.before(step.before.state, objects), now


def _kinds(
    known: ActionKnowledge, ways: Sequence[chance.Way], steps: Sequence[AttemptedStep]
) -> Iterator[Kind]:
    """The trials by what held before them, most frequent kinds first."""
    found: dict[int, Counter[int]] = {}
    for _, held, now in _seen(known, steps):
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


def _false(known: ActionKnowledge, step: AttemptedStep) -> Literals:
    """The literals that did not hold before a step."""
    assert step.before is not None, "such agents are asked for single steps"
    held, _ = known.index.values(step.before.state, step.action.objects)
    return Literals(known.index.everything & ~held, held)


def _violated(known: ActionKnowledge, step: AttemptedStep) -> Literals:
    """The literals among them that may be needed, by all answers."""
    return _false(known, step).common(known.precondition.candidates)
