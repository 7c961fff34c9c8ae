"""One trajectory in which a refusal may hinge on more than distinct objects that the instruction names.

*Constants that a vocabulary forgets.* What a refusal hinged on may be an object that the instruction does not name.

``put_on_tray(?sandwich, ?tray)`` may need the tray in the kitchen. If nobody said that instructions may mean the kitchen, its refusals
elsewhere prove a wrong precondition, or nothing explains them. So once nothing else can be asked, objects on which the refusals
may hinge are supposed to be constants, and the interrogation goes on. They are believed only if nothing else explains all answers.

*Objects that have to be named twice.* An interrogation begins with steps that name no object twice, and goes on with all of them once
an action seems to need that (``Distinct``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.beliefs.unexecuted_actions import UnexecutedActions
from aam_vision.interrogation.evidence.graph import Evidence, Refusal, supported
from aam_vision.interrogation.evidence.moves import Entry, Policy
from aam_vision.interrogation.evidence.transcript import Transcript, taken_in
from aam_vision.interrogation.policies.decorators import Exhaustive
from aam_vision.interrogation.policies.distinct import DISTINCT, Distinct
from aam_vision.interrogation.policies.trajectory import TrajectoryPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import DOUBTED, Interrupted, interrogate
from aam_vision.interrogation.task.result import CurvePoint, Result
from aam_vision.interrogation.task.verdict import FAILED
from aam_vision.model.query import Agent, Situation
from aam_vision.model.strips import GroundAction, State, Vocabulary
from aam_vision.support.threads import one_thread

MOST_SUPPOSED = 4
"""Objects that are supposed to be constants at a time. More: each action gets more atoms, and none is decided."""

Template = tuple[str, tuple[int | str, ...]]
"""An atom of one object that a step does not name; the others by their places in the step."""


def interrogated(agent: Agent, steps: int, rng: np.random.Generator) -> tuple[Result, tuple[str, ...]]:
    """Interrogate an agent on one trajectory, in case that its instructions mean objects without naming them, or name one twice.

    A model that is proven in the vocabulary that was given is not questioned. Answers are taken at their word: experiments that tell
    why they contradict each other would take more steps than there are.

    Args:
        agent: one that is deterministic and refuses surely.
        steps: that may be attempted, refused ones included.
        rng: the source of all random choices.

    Returns:
        The result, and the constants that it takes to explain all answers; in the vocabulary that was given if it takes none.
    """
    result = _run(agent, steps, rng, distinct=True)
    if result.cut == DISTINCT:
        before, left = result.transcript, steps - result.counts.steps
        standing = WithConstants(agent, {}, before.initial)
        found = _run(standing, left, rng, before.entries, repeated=True)
        result = replace(_after(result, found), counts=result.counts + found.counts)
    left, objects = steps - result.counts.steps, suspects(result.transcript)
    if result.proven or left <= 0 or not objects or (result.cut == FAILED and not result.doubt):
        return result, ()
    before = result.transcript
    kinds = {one: before.initial[0].state.objects[one] for one in objects}
    extending = WithConstants(agent, kinds, before.initial)
    found = _run(extending, left, rng, before.entries, repeated=before.repeated)
    both = result.counts + found.counts
    found, result = replace(_after(result, found), counts=both), replace(result, counts=both)
    if found.cut == FAILED and not found.doubt:
        result = replace(result, cut=FAILED, why=found.why)
    for constants in ((), _required(objects, found), objects):
        vocabulary = extended(before.vocabulary, {one: kinds[one] for one in constants})
        transcript = replace(before, vocabulary=vocabulary, entries=found.transcript.entries)
        evidence, contradicted = taken_in(transcript)
        if contradicted is not None:
            continue
        hypotheses = evidence.hypotheses
        model = hypotheses.model()
        if constants:
            why = f"{', '.join(constants)}: no constant so far, but no model without it explains all answers"
            last = CurvePoint(both.queries, both.steps, model)
            result = replace(found, proven=False, doubt="", why=why, curve=(*found.curve, last))
        return replace(result, hypotheses=hypotheses, model=model, transcript=transcript), constants
    return result, ()


def _after(before: Result, found: Result) -> Result:
    """The result with the models of the interrogation before it."""
    queries, steps = before.counts.queries, before.counts.steps
    later = [
        replace(point, queries=point.queries + queries, steps=point.steps + steps) for point in found.curve
    ]
    return replace(found, curve=(*before.curve, *later))


def _run(
    agent: Agent,
    steps: int,
    rng: np.random.Generator,
    known: Sequence[Entry] = (),
    *,
    distinct: bool = False,
    repeated: bool = False,
) -> Result:
    """The result of the loop, however it ends; ``distinct``: also where an object may have to be named twice."""
    counting = CountingAgent(agent)
    guesses = UnexecutedActions()
    policy: Policy = Exhaustive(TrajectoryPolicy(unexecuted=guesses), agent.access)
    if distinct:
        policy = Distinct(policy, guesses)
    try:
        with one_thread():
            return interrogate(
                counting,
                policy,
                rng,
                budget=Budget(steps=steps),
                repeated=repeated,
                scrutiny=DOUBTED,
                known=known,
            )
    except Interrupted as error:
        return error.result


def suspects(transcript: Transcript) -> tuple[str, ...]:
    """Objects on which refusals may hinge: something that involves such an object, and no step names it, was missing.

    It held in every success of the action, or may be what has kept it from ever being executed. Those come first that may explain
    most.
    """
    evidence, contradicted = taken_in(transcript)
    unexplained = [] if contradicted is None else evidence.refusals[-1:]
    actions = evidence.hypotheses.actions
    conclusions: list[tuple[str, list[Refusal]]] = [(one.action.name, [one]) for one in unexplained]
    for name, action in actions.items():
        if not action.successes:
            conclusions.append((name, [one for one in evidence.refusals if one.action.name == name]))
    for claim, refusals in supported(evidence).items():
        if actions[claim.action].successes and claim.literals.size() == 1:
            conclusions.append((claim.action, refusals))
    count: Counter[str] = Counter()
    for name, refusals in conclusions:
        missing = _always(evidence, name) if actions[name].successes else _possible(evidence, name)
        for one in refusals:
            missing -= _templates(one.at.state, one.action)
        fixed = {one for _, arguments in missing for one in arguments if isinstance(one, str)}
        count.update(one for one in fixed if not _can_be_named(evidence, name, one))
    return tuple(sorted(count, key=lambda one: (-count[one], one))[:MOST_SUPPOSED])


def _can_be_named(evidence: Evidence, name: str, one: str) -> bool:
    """Whether some parameter of the action may be the object: an instruction that names such objects needs no constant."""
    hypotheses, kind = evidence.hypotheses, evidence.initial[0].state.objects[one]
    return any(hypotheses.vocabulary.types.is_a(kind, own) for own in hypotheses[name].index.header.types)


def _always(evidence: Evidence, name: str) -> set[Template]:
    """What held of objects that no step names, in every success of an action."""
    steps = [edge for edge in evidence.edges if edge.action.name == name]
    return set.intersection(*(_templates(edge.before.state, edge.action) for edge in steps))


def _possible(evidence: Evidence, name: str) -> set[Template]:
    """What held of objects that no step would have to name, under some arguments of an action that was never executed."""
    vocabulary, kinds = evidence.hypotheses.vocabulary, evidence.hypotheses[name].index.header.types
    objects = evidence.initial[0].state.objects
    found: set[Template] = set()
    for predicate, facts in {atom for node in evidence.nodes for atom in node.state.true}:
        places: list[list[int | str]] = [
            [place for place, kind in enumerate(kinds) if vocabulary.types.is_a(objects[one], kind)]
            for one in facts
        ]
        for constant, one in enumerate(facts):
            choices = [[one] if number == constant else some for number, some in enumerate(places)]
            found.update((predicate, arguments) for arguments in product(*choices) if len(arguments) > 1)
    return found


def _templates(state: State, step: GroundAction) -> set[Template]:
    """The atoms of one object that the step does not name, and of some that it names."""
    places = {one: place for place, one in enumerate(step.objects)}
    found: set[Template] = set()
    for predicate, objects in state.true:
        arguments = tuple(places.get(one, one) for one in objects)
        if len(objects) > 1 and sum(isinstance(one, str) for one in arguments) == 1:
            found.add((predicate, arguments))
    return found


def _required(objects: Sequence[str], found: Result) -> tuple[str, ...]:
    """The objects that preconditions name for certain."""
    required = {
        argument
        for action in found.hypotheses.actions.values()
        for atom in action.index.select(action.proven.positive | action.proven.negative)
        for argument in atom.arguments
    }
    return tuple(one for one in objects if one in required)


def extended(vocabulary: Vocabulary, constants: Mapping[str, str]) -> Vocabulary:
    """The vocabulary with more constants, by name with their types."""
    return replace(vocabulary, constants={**vocabulary.constants, **constants})


class WithConstants(AgentDecorator):
    """An agent whose vocabulary has more constants; ``initial``: where it stands, if it is not to be asked where it begins."""

    def __init__(
        self, agent: Agent, constants: Mapping[str, str], initial: Sequence[Situation] | None = None
    ) -> None:
        super().__init__(agent)
        self._initial = initial
        self._vocabulary = extended(agent.vocabulary, constants)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    def initial(self) -> Sequence[Situation]:
        return self.agent.initial() if self._initial is None else self._initial
