"""The economical policy under ``settable`` access, the paper's own setting: any state may be asked about.

Every undecided literal can be tested then: take a situation in which the action succeeded, and change the
one atom. So nothing is left undetermined, and the art is in the number of queries. A query ends at its first
failing step, and a failing *near miss* (one literal violated alone) is a proof whichever step it is. So
near misses are chained in one plan, the doubtful first: those that succeed are refuted for nothing, the first
that fails is proven. What is most probably spurious (negative literals, and positive ones of actions with many
atoms) is violated in one step as a group, which also rides along; only if that is refused is the group split.

Walks come first, as under ``snapshot`` access, the more the more actions there are. An action that no walk has shown is first executed in states
made for it, with every atom of its arguments true, as in the paper's own experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import chain as chain_together
from itertools import islice
from math import log

import numpy as np

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Stop
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.walking import Walker, after_walking
from aam_vision.interrogation.queries.constructed_states import arguments_as, left_false, roomiest, with_atoms
from aam_vision.interrogation.queries.literal_groups import (
    ActionTests,
    LiteralGroup,
    Probe,
    action_tests,
    likeliest,
)
from aam_vision.interrogation.queries.settable_chains import Chain, Sketch
from aam_vision.query import Situation
from aam_vision.strips import GroundAction, State

TEST = "test"
"""The purpose of steps that violate positive literals."""
MAX_CHAIN = 9
"""Near misses in one query."""
RIDERS = 24
"""Doubtful literals that are tried as further steps of a chain."""
OPENINGS = 20
"""Groups of negative literals that are tried as the first step of a chain."""
RIDER_SUCCESS = 0.05
"""A step that is reached with less probability is not made."""
MAX_REFUSALS = 2
"""Steps of one action for which a chain has no room, after which no other of it is tried."""
LASTS = 4
"""Actions of which the most probable precondition is tried as the last step of a chain."""


@dataclass
class SettablePolicy:
    """Few questions, each about a state made for it."""

    walker: Walker = field(default_factory=lambda: Walker(limit=150, per_action=5))
    expect: Callable[[Hypotheses, Sequence[Node]], Beliefs] = Beliefs
    """What is believed once walking is over, from what is known and the situations seen."""
    besides: str = ""
    """The purpose of queries that come with the walks, before anything is believed."""
    _beliefs: Beliefs | None = None
    _sketch: Sketch | None = None
    _outlooks: dict[str, ActionTests] = field(default_factory=dict)
    _exchanges: int = 0
    _tested: int = 0
    _refuted: int = 0

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk, make unseen actions succeed, prove with refutations riding along, stop."""
        if self._beliefs is None:
            walked = after_walking(evidence, besides=self.besides)
            walk = self.walker.next(evidence, rng) if walked is evidence else None
            if walk is not None:
                return walk
            self._beliefs = self.expect(walked.hypotheses, walked.nodes)
        self._take_stock(evidence)
        return (
            self._first_success(evidence)
            or self._proof(evidence)
            or self._refutation(evidence)
            or self._effect(evidence)
            or self._stop(evidence)
        )

    # --- queries ---------------------------------------------------------------------------------

    def _first_success(self, evidence: Evidence) -> Ask | None:
        """A state in which an action never executed so far should be executable.

        All its atoms true satisfies every positive precondition; a refusal leaves a clause that says what
        else must be false.
        """
        sketch = self._sketch_of(evidence)
        start = sketch.start
        for name, action in evidence.hypotheses.actions.items():
            if action.successes:
                continue
            expected = self._expected_false(name, action)
            for objects in sketch.arguments.choices(action.index.header.types)[:1]:
                for also in left_false(action):
                    off = expected | also
                    state = with_atoms(start, action, objects, action.index.everything & ~off, off)
                    if not action.certain_to_fail(action.violated(*action.index.values(state, objects))):
                        return _ask(evidence, state, [GroundAction(name, objects)], f"see {name} succeed")
        return None

    def _expected_false(self, name: str, action: ActionHypotheses) -> int:
        """Atoms that probably have to be false."""
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        negative = [literal for literal in action.undecided.singles() if literal.negative]
        return sum(one.negative for one in negative if self._beliefs.probability(name, one, action) > 0.5)

    def _proof(self, evidence: Evidence) -> Ask | None:
        """Near misses in a chain: doubtful ones first, in the end something that is probably true."""
        outlooks = [
            self._outlook(name, action)
            for name, action in evidence.hypotheses.actions.items()
            if action.successes
        ]
        waiting = [action_tests.positive for action_tests in outlooks if action_tests.positive]
        if not waiting:
            return None
        length = self._chain_length()
        length = max(length, min(MAX_CHAIN, sum(action_tests.doubtful for action_tests in outlooks) + 1))
        lasts = [
            (name, literals) for _, name, literals in sorted((w[-1] for w in waiting), reverse=True)[:LASTS]
        ]
        # no rider is an action's of which the least probable literals come after those of so many others
        doubtful = islice(merge(*sorted(waiting)[:RIDERS]), RIDERS) if length > 1 else ()
        riders = [rider for rider in doubtful if rider[1:] != lasts[0]]
        groups = [(action_tests.name, action_tests.group) for action_tests in outlooks if action_tests.group]
        for opening in (*([group] for group in groups[:OPENINGS]), []):
            chain = self._chain(evidence, opening, riders, lasts, length)
            if chain is not None:
                return self._ask_tests(evidence, chain)
        return self._near_miss(evidence, waiting)

    def _chain(
        self,
        evidence: Evidence,
        opening: list[Probe],
        riders: list[LiteralGroup],
        lasts: list[Probe],
        length: int,
    ) -> Chain | None:
        """A chain of the opening, riders, and a last probe after as many of them as leave room for it."""
        chain: Chain | None = Chain(evidence, self._sketch_of(evidence))
        for probe in opening:
            chain = chain and chain.then(*probe)
        if chain is None:
            return None
        stages = [chain]
        reached = 1.0
        refusals: dict[str, int] = {}
        for chance, name, literals in riders:
            if len(stages) == length or reached < RIDER_SUCCESS:
                break
            if refusals.get(name, 0) == MAX_REFUSALS:
                continue
            longer = stages[-1].then(name, literals)
            if longer is not None:
                stages.append(longer)
                reached *= 1 - chance
            else:
                refusals[name] = refusals.get(name, 0) + 1
        for stage in reversed(stages):
            for last in lasts:
                longer = None if stage.has(*last) else stage.then(*last)
                if longer is not None:
                    return longer
        return stages[-1] if len(stages) > 1 else None

    def _near_miss(self, evidence: Evidence, waiting: list[list[LiteralGroup]]) -> Ask | None:
        """A single step, where nothing can be chained; of one literal, where no group can be violated."""
        single = ((name, literal) for name, group in likeliest(waiting) for literal in group.singles())
        for probe in chain_together(likeliest(waiting), single):
            chain = Chain(evidence, self._sketch_of(evidence)).then(*probe)
            if chain is not None:
                return self._ask_tests(evidence, chain)
        return None

    def _ask_tests(self, evidence: Evidence, chain: Chain) -> Ask:
        """The query that a chain makes, with what it tests."""
        aims = [
            Aim(TEST, step.instruction.name, step.violated, number)
            for number, step in enumerate(chain.steps)
            if step.violated.positive
        ]
        return replace(_ask_chain(evidence, chain), aims=tuple(aims))

    def _chain_length(self) -> int:
        """How many near misses in a row make it improbable that all of them succeed."""
        share = (self._refuted + 0.5) / (self._tested + 4)
        return max(1, min(MAX_CHAIN, 1 + int(log(0.1) / log(min(share, 0.9)))))

    def _take_stock(self, evidence: Evidence) -> None:
        """Count how many of the literals tested so far turned out to be spurious."""
        for exchange in evidence.exchanges[self._exchanges :]:
            move = exchange.move
            if isinstance(move, Ask) and move.aims and move.aims[0].purpose == TEST:
                self._refuted += exchange.refuted
                self._tested += exchange.refuted + exchange.proven
        self._exchanges = len(evidence.exchanges)

    def _refutation(self, evidence: Evidence) -> Ask | None:
        """A step that violates a group of probably spurious literals at once."""
        for name, action in evidence.hypotheses.actions.items():
            group = self._outlook(name, action).group if action.successes else NOTHING
            if group:
                chain = Chain(evidence, self._sketch_of(evidence)).then(name, group)
                if chain is not None:
                    return _ask_chain(evidence, chain)
        return None

    def _effect(self, evidence: Evidence) -> Ask | None:
        """A step expected to succeed in a state where an undecided effect shows."""
        sketch = self._sketch_of(evidence)
        start = sketch.start
        for name, action in evidence.hypotheses.actions.items():
            candidates = action.candidates
            for bit in bits(action.undecided_effects) if action.successes else ():
                if bit & action.proven.positive & ~action.deletes:
                    if ask := self._undone(evidence, name, bit):
                        return ask
                    continue
                shown = self._shown(action, bit)
                for objects in sketch.arguments.choices(action.index.header.types)[:1]:
                    on, off = candidates.positive | shown, candidates.negative | (bit & ~shown)
                    state, step = with_atoms(start, action, objects, on, off), GroundAction(name, objects)
                    if action.violated(*action.index.values(state, objects)):
                        continue
                    if not evidence.was_seen_in(state, step):
                        text = action.index.text(Literals(bit, 0))[0]
                        return _ask(evidence, state, [step], f"see the effect on {text}")
        return None

    @staticmethod
    def _shown(action: ActionHypotheses, bit: int) -> int:
        """The atom's value before a step that is to show the effect on it, as a mask."""
        if bit & action.candidates.positive:
            return bit
        return 0 if bit & (action.candidates.negative | action.adds) else bit

    def _undone(self, evidence: Evidence, name: str, bit: int) -> Ask | None:
        """A step that deletes and, if the action adds what it requires, adds again one and the same atom."""
        action = evidence.hypotheses[name]
        start = self._sketch_of(evidence).start
        for first, other, merged in action.index.merges:
            if first != bit or not action.deletes & other or not action.executable_when(merged):
                continue
            objects = arguments_as(start.objects, action.index.header.types, merged)
            if objects is None:
                continue
            state = with_atoms(start, action, objects, action.candidates.positive, action.candidates.negative)
            step = GroundAction(name, objects)
            violated = action.violated(*action.index.values(state, objects))
            if not violated and not evidence.was_seen_in(state, step):
                text = action.index.text(Literals(bit, 0))[0]
                return _ask(evidence, state, [step], f"see whether {text} is added where it is deleted")
        return None

    def _stop(self, evidence: Evidence) -> Stop:
        left = evidence.hypotheses.size - evidence.hypotheses.decided()
        if left:
            return Stop(False, f"{left} pal tuples are undecided, but no state to ask about was found")
        return Stop(True, "every pal tuple is decided")

    def _outlook(self, name: str, action: ActionHypotheses) -> ActionTests:
        """What there is to test of one action; found anew when something was learnt of it."""
        known = self._outlooks.get(name)
        if known is None or known.version != action.version:
            assert self._beliefs is not None, "beliefs are formed when walking ends"
            known = self._outlooks[name] = action_tests(name, action, self._beliefs)
        return known

    def _sketch_of(self, evidence: Evidence) -> Sketch:
        """What all states are made from."""
        if self._sketch is None:
            self._sketch = Sketch(roomiest(evidence))
        return self._sketch


def _ask_chain(evidence: Evidence, chain: Chain) -> Ask:
    """The query that a chain makes."""
    texts = [", ".join(step.instruction.action.index.text(step.violated)) for step in chain.steps]
    return _ask(evidence, chain.state(), chain.plan(), f"test {'; then '.join(texts)}")


def _ask(evidence: Evidence, state: State, plan: list[GroundAction], why: str) -> Ask:
    return Ask(evidence.situation(Situation(state, state)), tuple(plan), why)
