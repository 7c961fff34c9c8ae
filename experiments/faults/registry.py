"""All families of faults: how each is made, and the verdicts on it that count as right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from aam_vision.agents.unreliable import distinct_atoms
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Model, Objects, State
from experiments.faults import conditional
from experiments.faults.conditional import (
    LEAST,
    OFTEN,
    SHARES,
    Conditional,
    Unsuitable,
    one_of,
    some_action,
    some_condition,
    some_effect,
    where,
)
from experiments.faults.world import (
    Fault,
    FaultyAgent,
    Nature,
    Outcome,
    Setting,
    World,
    foreign,
    holds,
    lacking,
    own,
    with_value,
)
from experiments.random_strips import all_bindings

# Agents that depend on what no predicate speaks of.
#
# Either their world has a hidden part, which every snapshot brings back, or they become others while they are asked, and
# no reset and no snapshot brings the old one back.


LONG = 30  # steps that an agent has to be able to go on for


@dataclass(eq=False, kw_only=True)
class Counter(Fault):
    """Executed steps of some actions use something up; when it is gone, they have the consequence."""

    uses: int

    @property
    def detail(self) -> str:
        return f"{self.uses} uses"

    def fresh(self, state: State) -> Any:
        return self.uses

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return bool(world.hidden == 0)

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Any:
        return max(0, world.hidden - (executed and step.name in self.actions))


class EpisodeEnd(Counter):
    """The same for all steps, refused ones included."""

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Any:
        return super().remembers(world, step, True)


class Pending(NamedTuple):
    """An effect that has yet to come."""

    atom: Atom
    value: bool


class Later(Fault):
    """An executed step has consequences that come later, as what is hidden says; a refused one has none."""

    def executed(self, world: World, step: GroundAction, state: State) -> World:
        """The world after a step that leads an honest agent to a state."""
        raise NotImplementedError

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        state = self.setting.outcome(world.state, step)
        return Outcome(False, world) if state is None else Outcome(True, self.executed(world, step, state))


@dataclass(eq=False, kw_only=True)
class Delayed(Later):
    """One effect of an action comes with the next executed step."""

    effect: LiftedAtom

    @property
    def detail(self) -> str:
        return self.effect.predicate

    def executed(self, world: World, step: GroundAction, state: State) -> World:
        touched, pending = world.state.true ^ state.true, None
        if step.name in self.actions:
            atom = self.effect.ground(step.objects)
            if atom in touched:
                pending = Pending(atom, atom in state.true)
                state = with_value(state, atom, atom in world.state.true)
        if world.hidden is not None and world.hidden.atom not in touched:
            state = with_value(state, *world.hidden)
        return World(state, pending)


@dataclass(eq=False, kw_only=True)
class WearingOff(Later):
    """One effect of an action is undone so many executed steps later, unless a step has changed its atom meanwhile."""

    effect: LiftedAtom
    lasting: int

    @property
    def detail(self) -> str:
        return f"{self.effect.predicate} for {self.lasting} steps"

    def fresh(self, state: State) -> Any:
        return ()

    def executed(self, world: World, step: GroundAction, state: State) -> World:
        touched = world.state.true ^ state.true
        lasting = {atom: left - 1 for atom, left in world.hidden if atom not in touched}
        undone = frozenset(atom for atom, left in lasting.items() if not left)
        if step.name in self.actions and (atom := self.effect.ground(step.objects)) in touched:
            lasting[atom] = self.lasting
        hidden = tuple((atom, left) for atom, left in lasting.items() if left)
        return World(replace(state, true=state.true ^ undone), hidden)


@dataclass(eq=False, kw_only=True)
class AtSetTime(Later):
    """With a certain executed step of each episode an atom becomes false, whatever is done; it may become true again, and so on."""

    atom: Atom
    time: int
    lasts: int = 0  # steps until it becomes true again; 0 if never
    returns: int = 0  # steps from then on until it becomes false again; 0 if never

    @property
    def detail(self) -> str:
        return f"{self.atom} with step {self.time}"

    def fresh(self, state: State) -> Any:
        return 0

    def executed(self, world: World, step: GroundAction, state: State) -> World:
        true, since = state.true, world.hidden + 1 - self.time
        if self.returns and since > 0:
            since %= self.lasts + self.returns
        if since == 0:
            true -= {self.atom}
        elif since == self.lasts:
            true |= {self.atom}
        return World(replace(state, true=true), world.hidden + 1)


@dataclass(eq=False, kw_only=True)
class Spoiling(Fault):
    """Some actions are refused for objects with which another action was done before."""

    spoiler: str  # the other action
    spoiled: int  # the place of the object in it
    place: int  # its place in those that are refused

    @property
    def detail(self) -> str:
        return f"after {self.spoiler}"

    def fresh(self, state: State) -> Any:
        return frozenset[str]()

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return step.objects[self.place] in world.hidden

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Any:
        spoils = executed and step.name == self.spoiler
        return world.hidden | {step.objects[self.spoiled]} if spoils else world.hidden

    def struck(self, nature: Nature) -> list[tuple[State, GroundAction, bool]]:
        """Steps of its actions in walks of the honest agent, each with whether the fault would strike there."""
        found = []
        for walk in self.setting.walks:
            hidden = frozenset[str]()
            for before, step, _ in walk:
                world = World(before, hidden)
                if step.name in self.actions:
                    found.append((before, step, self.strikes(world, step, nature)))
                hidden = self.remembers(world, step, True)
        return found


class Stale(Fault):
    """Whether a step can be executed is judged by the state before the last executed step."""

    def fresh(self, state: State) -> Any:
        return state

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        if self.setting.outcome(world.hidden, step) is None:
            return Outcome(False, world)
        after = self.setting.model.schema(step.name).successor(world.state, step.objects)
        return Outcome(True, World(after, world.state))


def hidden_counter(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused after two to five uses."""
    return Counter(setting, (some_action(setting, rng, OFTEN),), uses=int(rng.integers(2, 6)))


def limited_steps(kind: type[Counter], setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step is refused after 8 to 25 steps, executed or (``EpisodeEnd``) attempted ones."""
    return kind(setting, tuple(setting.sample), uses=int(rng.integers(8, 26)))


def fault_after_uses(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action lacks an effect from its third to sixth use in an episode on."""
    action = some_action(setting, rng, OFTEN)
    uses = int(rng.integers(2, 6))
    return Counter(setting, (action,), lacking(some_effect(setting, action, rng)), uses=uses)


def delayed_effect(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action comes a step later; Unsuitable if the agent is soon stuck without it."""
    action = some_action(setting, rng)
    return _goes_on(Delayed(setting, (action,), effect=some_effect(setting, action, rng)), rng)


def effect_wears_off(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action is undone two to four steps later; Unsuitable if the agent is soon stuck."""
    action = some_action(setting, rng)
    effect, lasting = some_effect(setting, action, rng), int(rng.integers(2, 5))
    return _goes_on(WearingOff(setting, (action,), effect=effect, lasting=lasting), rng)


def changes_at_set_time(setting: Setting, rng: np.random.Generator) -> Fault:
    """A fact becomes false with the second to sixth step of each episode; Unsuitable if it mostly is by then, or the agent is soon stuck."""
    time = int(rng.integers(2, 7))
    late = [walk[time - 1][2].true for walk in setting.walks if len(walk) >= time]
    fluents = {atom.predicate for schema in setting.model.actions for atom in schema.add | schema.delete}
    everywhere = set[str].intersection(*({*state.objects} for state in setting.initial))
    often = [
        atom
        for atom in sorted(frozenset[Atom]().union(*late))
        if atom.predicate in fluents
        and everywhere.issuperset(atom.objects)
        and sum(atom in true for true in late) > len(late) / 2
    ]
    return _goes_on(AtSetTime(setting, tuple(setting.sample), atom=one_of(often, rng), time=time), rng)


def comes_and_goes(setting: Setting, rng: np.random.Generator) -> Fault:
    """The same, but the fact becomes true again one to five steps later, and in two of three agents false again, and so on."""
    fault = changes_at_set_time(setting, rng)
    assert isinstance(fault, AtSetTime), "that is what it makes"
    fault.lasts = int(rng.integers(1, 6))
    fault.returns = int(rng.integers(1, 6)) if rng.random() < 2 / 3 else 0
    return _goes_on(fault, rng)


def _goes_on(fault: Fault, rng: np.random.Generator) -> Fault:
    """The same, if its agent can."""
    agent = FaultyAgent(fault, fault.setting.problems, Access.SNAPSHOT, rng)
    if any(len(agent.walk(start, LONG, rng)) < LONG for start in agent.initial()):
        raise Unsuitable
    return fault


def refused_for_spoiled(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused for an object with which another one was done before in the episode.

    Unsuitable where it would seldom or nearly always be refused, or an atom tells the same.
    """
    places = [
        (header.name, place, kind)
        for header in setting.model.headers
        for place, kind in enumerate(header.types)
    ]
    pairs = [
        (one, other) for one, other in permutations(places, 2) if one[0] != other[0] and one[2] == other[2]
    ]
    (spoiler, spoiled, _), (action, place, _) = one_of(pairs, rng)
    fault = Spoiling(setting, (action,), spoiler=spoiler, spoiled=spoiled, place=place)
    struck = fault.struck(Nature(rng))
    share = sum(refused for _, _, refused in struck) / max(1, len(struck))
    header = setting.header(action)
    told = any(
        len({holds(atom, before, step.objects) is refused for before, step, refused in struck}) == 1
        for atom in (*own(setting.model, header), *foreign(setting.model, header))
    )
    if len(struck) < LEAST or told or not SHARES[0] <= share <= SHARES[1]:
        raise Unsuitable
    return fault


HONEST_STEPS = {
    "gripper": {"trajectory": 11, "reset": 40, "snapshot": 36, "settable": 45},
    "blocksworld": {"trajectory": 30, "reset": 78, "snapshot": 73, "settable": 73},
    "miconic": {"trajectory": 23, "reset": 78, "snapshot": 75, "settable": 77},
    "logistics": {"trajectory": 22, "reset": 60, "snapshot": 54, "settable": 60},
}
"""The fewest steps of an interrogation of the honest agent, by domain and access (docs/results/trust.md)."""
PORTIONS = (0.3, 0.6)  # the agent changes after a portion of them between these


@dataclass(eq=False, kw_only=True)
class Changing(Conditional):
    """One action has the consequence from some moment of the process on, where a test of the state comes true."""

    since: Callable[[Nature], bool]

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return self.since(nature) and super().strikes(world, step, nature)


def fault_after_process_uses(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action lacks an effect from its third to fifth use in the process on."""
    action, most = some_action(setting, rng, OFTEN), int(rng.integers(2, 5))
    effect = some_effect(setting, action, rng)
    return Changing(setting, (action,), lacking(effect), since=lambda nature: nature.uses[action] >= most)


def drift_of_effect(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action loses an effect in the course of an interrogation."""
    action = some_action(setting, rng)
    since = _later(setting, rng)
    return Changing(setting, (action,), lacking(some_effect(setting, action, rng)), since=since)


def drift_of_precondition(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action gets a further precondition in the course of an interrogation."""
    action, condition = some_condition(setting, "own", rng)
    test = where(condition, bool(rng.integers(2)))
    return Changing(setting, (action,), test=test, since=_later(setting, rng))


@dataclass(eq=False, kw_only=True)
class Updated(Fault):
    """From some moment of the process on it is another agent."""

    then: Fault
    since: Callable[[Nature], bool]

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        return (
            self.then.step(world, step, nature) if self.since(nature) else super().step(world, step, nature)
        )


def lost_precondition(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action loses a precondition in the course of an interrogation; Unsuitable if that seldom makes a difference."""
    strict = setting.model.schema(some_action(setting, rng))
    lost = one_of(sorted(strict.positive, key=str), rng)
    lax = replace(strict, positive=strict.positive - {lost})
    actions = tuple(lax if schema is strict else schema for schema in setting.model.actions)

    def freed(state: State) -> bool:
        named = all_bindings(strict.header, state.objects)
        return any(lax.applicable(state, one) and not strict.applicable(state, one) for one in named)

    states = [before for walk in setting.walks for before, _, _ in walk]
    some = [states[int(number)] for number in rng.permutation(len(states))[:LONG]]
    if sum(map(freed, some)) < SHARES[0] * len(some):
        raise Unsuitable
    then = Fault(setting.with_model(Model(setting.model.vocabulary, actions)))
    since = _later(setting, rng)
    return Updated(setting, (strict.header.name,), condition=lost, then=then, since=since)


def _later(setting: Setting, rng: np.random.Generator) -> Callable[[Nature], bool]:
    least = HONEST_STEPS[setting.domain][setting.access.value]
    moment = int(rng.uniform(*PORTIONS) * least)
    return lambda nature: nature.clock >= moment


# Honest agents that are seen wrongly.


LOOK_RATE = 0.03  # the probability that something is wrong with one look


@dataclass(eq=False)
class Seen(Fault):
    """The base: nothing is wrong but what is seen."""

    only_seen = True
    noisy: bool = True

    def atoms(self, objects: Objects) -> list[Atom]:
        """All atoms that name no object twice, in a fixed order."""
        return distinct_atoms(self.setting.model.vocabulary, objects)


class MisreadLook(Seen):
    """One atom is misread in a few looks."""

    def see(self, world: World, nature: Nature) -> State:
        hit = nature.rng.random() < LOOK_RATE
        return self.misread(world.state, nature.rng) if hit else world.state

    def misread(self, state: State, rng: np.random.Generator) -> State:
        """What is seen at such a look."""
        atom = one_of(self.atoms(state.objects), rng)
        return with_value(state, atom, atom not in state.true)


class Confused(MisreadLook):
    """Two objects of one type are taken for each other in a few looks."""

    def misread(self, state: State, rng: np.random.Generator) -> State:
        objects = state.objects
        kinds = [kind for kind in dict.fromkeys(objects.values()) if len(objects.of_type(kind)) > 1]
        names = objects.of_type(one_of(kinds, rng))
        one, other = (names[int(number)] for number in rng.permutation(len(names))[:2])
        turned = {one: other, other: one}
        true = {Atom(p, tuple(turned.get(name, name) for name in row)) for p, row in state.true}
        return replace(state, true=frozenset(true))


@dataclass(eq=False, kw_only=True)
class MisreadStates(Seen):
    """Some states are misread in the same way at every look: by a classifier, not by a camera."""

    seed: int  # of the choice of states and atoms
    states: float  # the share of states that are misread
    share: float | None = None  # the share of their atoms; None for one atom

    def see(self, world: World, nature: Nature) -> State:
        state = world.state
        text = "\n".join(map(str, sorted(state.true)))
        digest = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        rng = np.random.default_rng([self.seed, digest])
        if rng.random() >= self.states:
            return state
        atoms = self.atoms(state.objects)
        if self.share is None:
            wrong = {atoms[int(rng.integers(len(atoms)))]}
        else:
            wrong = {atoms[int(number)] for number in np.flatnonzero(rng.random(len(atoms)) < self.share)}
        return replace(state, true=state.true ^ wrong)


class Lagging(Seen):
    """The image is that before the last executed step."""

    def fresh(self, state: State) -> Any:
        return state

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Any:
        return world.state if executed else world.hidden

    def see(self, world: World, nature: Nature) -> State:
        assert isinstance(world.hidden, State), "the state before"
        return world.hidden


def misread_states(setting: Setting, rng: np.random.Generator) -> Fault:
    """One atom of two to ten states of a hundred is misread at every look; Unsuitable if no state of the sample is among them."""
    fault = MisreadStates(setting, seed=int(rng.integers(2**31)), states=float(rng.uniform(0.02, 0.1)))
    met = {after for steps in setting.sample.values() for _, _, after in steps}
    nature = Nature(rng)
    if all(fault.see(World(state), nature) == state for state in met):
        raise Unsuitable
    return fault


DOMAINS = ("gripper", "blocksworld", "miconic", "logistics")  # where faults are put
LARGEST = {Access.TRAJECTORY: 1}
"""The size of problems at most, by access: with larger ones a run takes several seconds."""


@dataclass(frozen=True)
class Kind:
    """One family of faults."""

    make: Callable[[Setting, np.random.Generator], Fault]
    """A fault of this family in a setting; raises ``Unsuitable`` where there is none."""
    right: tuple[str, ...]
    """Families of ``examination.findings`` that name it rightly; none for honest agents."""


def right_verdicts(family: str, access: Access | str, *, misread: bool = False) -> tuple[str, ...]:
    """The families of ``examination.findings`` that count as right, of an agent that may be ``misread`` at random as well.

    Where nothing can be had again, what is hidden cannot be told from a change.
    """
    right = {**FAMILIES, **SEVERAL}[family].right
    if Access(access) is Access.TRAJECTORY and {"hidden", "changing"} & {*right}:
        right = (*right, "hidden", "changing")
    return (*right, "misread", "random") if misread else right


def _as_it_is(kind: Callable[[Setting], Fault]) -> Callable[..., Fault]:
    """Faults of which nothing is drawn."""
    return lambda setting, rng: kind(setting)


HONEST: Mapping[str, Kind] = {
    "honest": Kind(_as_it_is(Fault), ()),
    "honest, arguments in another order": Kind(conditional.swapped_always, ()),
}
FAULTY: Mapping[str, Kind] = {
    "hidden counter": Kind(hidden_counter, ("hidden",)),
    "hidden fuel": Kind(partial(limited_steps, Counter), ("hidden",)),
    "episode end": Kind(partial(limited_steps, EpisodeEnd), ("hidden",)),
    "fault after k uses in an episode": Kind(fault_after_uses, ("hidden",)),
    "delayed effect": Kind(delayed_effect, ("hidden",)),
    "stale state": Kind(_as_it_is(Stale), ("hidden", "misread")),
    "repeated arguments": Kind(conditional.repeated_arguments, ("conditional",)),
    "refused for another object": Kind(conditional.refused_for_other, ("conditional",)),
    "refused for a count": Kind(conditional.refused_for_count, ("conditional",)),
    "effect depends on own atom": Kind(conditional.effect_if_own, ("conditional",)),
    "effect depends on another object": Kind(conditional.effect_if_other, ("conditional",)),
    "effect elsewhere": Kind(conditional.effect_elsewhere, ("conditional", "unknown")),
    "silent no-op": Kind(conditional.silent_no_op, ("random",)),
    "random refusal": Kind(conditional.random_refusal, ("random",)),
    "random outcome": Kind(conditional.random_outcome, ("random",)),
    "arguments swapped sometimes": Kind(conditional.swapped_sometimes, ("random",)),
    "fault after k uses in the process": Kind(fault_after_process_uses, ("changing",)),
    "drift of an effect": Kind(drift_of_effect, ("changing",)),
    "drift of a precondition": Kind(drift_of_precondition, ("changing",)),
    "one look misread": Kind(_as_it_is(MisreadLook), ("misread", "random")),
    "objects confused": Kind(_as_it_is(Confused), ("misread", "random")),
    "states misread": Kind(misread_states, ("misread",)),
    "lagging image": Kind(_as_it_is(Lagging), ("misread", "hidden")),
    "lamp of every step": Kind(partial(conditional.lamps_of_every_step, 1), ("conditional",)),
    "lamp of one action": Kind(conditional.lamp_of_one_action, ("conditional",)),
    "two lamps": Kind(partial(conditional.lamps_of_every_step, 2), ("conditional",)),
    "lamp of a count": Kind(conditional.lamp_of_a_count, ("conditional",)),
    "effect on all objects": Kind(conditional.effect_on_all, ("conditional",)),
    "effect wears off": Kind(effect_wears_off, ("hidden",)),
    "refused for a spoiled object": Kind(refused_for_spoiled, ("hidden",)),
    "refused unless one of two": Kind(conditional.refused_unless_one_of_two, ("conditional",)),
    "refused in spells": Kind(conditional.refused_in_spells, ("random",)),
    "precondition lost": Kind(lost_precondition, ("changing",)),
    "changes at a set time": Kind(changes_at_set_time, ("hidden",)),
    "comes and goes": Kind(comes_and_goes, ("hidden",)),
}
FAMILIES: Mapping[str, Kind] = {**HONEST, **FAULTY}
SEVERAL: Mapping[str, Kind] = {
    "chance and a condition": Kind(conditional.chance_and_condition, ("random", "conditional")),
}
"""Families of agents with several faults at once."""


def faulty_agent(family: str, access: Access | str, seed: int, size: int = 2) -> FaultyAgent:
    """The agent of a family: a domain, its problems of this size, and where the fault is put, all drawn from the seed."""
    families = {**FAMILIES, **SEVERAL}
    allowed, number = Access(access), list(families).index(family)
    rng = np.random.default_rng([seed, 5, number])
    while True:
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        largest = min(size, LARGEST.get(allowed, size))
        setting = Setting.of(domain, allowed, largest, int(rng.integers(2**31)))
        try:
            fault = families[family].make(setting, rng)
        except Unsuitable:
            continue
        nature = np.random.default_rng([seed, 6, number, list(Access).index(allowed)])
        return FaultyAgent(fault, fault.setting.problems, allowed, nature)
