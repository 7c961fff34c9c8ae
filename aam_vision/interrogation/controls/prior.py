"""What an earlier run found out of the controls: a hypothesis that says which controls to give first, and nothing else.

Where one of the earlier operators would be carried out, its control is given, a few times in different situations. What comes of it is a
transition as any other: operators are discovered, interrogated and examined from what is seen now alone. So a wrong hypothesis
costs controls, and makes nothing wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.mapping import Carriers
from aam_vision.interrogation.controls.reach import Way
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, Model, State
from aam_vision.planning.joins import bindings

TRIED = 3
"""Situations in which an operator is tried."""
LOOKED_AT = 1000
"""Situations, seen or expected, in which a place to try one is looked for."""


@dataclass(frozen=True)
class Prior:
    """The operators that an earlier run has found, and the controls that carry them out."""

    model: Model
    carriers: Carriers

    def carried_out(self, giving: Giving, state: State) -> dict[GroundAction, dict[str, State]]:
        """By control, the earlier operators that it would carry out in a situation, and where each would lead."""
        index, found = giving.indices.of(state), dict[GroundAction, dict[str, State]]()
        for schema in self.model.actions:
            name = schema.header.name
            for objects in bindings(index, schema.header, sorted(schema.positive, key=str)):
                if schema.applicable(state, objects):
                    control = self.carriers[name].instructed(objects)
                    found.setdefault(control, {})[name] = schema.successor(state, objects)
        return found


@dataclass
class Trials:
    """The controls by which an earlier operator was tried: how many came out as it says, and whether one did not."""

    as_before: int = 0
    contradicted: bool = False


def try_earlier(giving: Giving, prior: Prior) -> Mapping[str, Trials]:
    """Give controls that would carry out earlier operators; by operator, what came of that."""
    giving.initial()
    trials = {header.name: Trials() for header in prior.model.headers}
    for _ in range(TRIED * len(trials)):
        way = _way(giving, prior, trials)
        if way is None:
            break
        here = way.start
        for control in way.controls:
            expected = prior.carried_out(giving, here.state).get(control, {})
            transition, here = giving.give(here, control)
            seen = transition.after
            for name, after in expected.items():
                trial = trials[name]
                trial.contradicted |= bool((after.true ^ seen.true) - after.unknown - seen.unknown)
                trial.as_before += not trial.contradicted
            if any(trials[name].contradicted for name in expected):
                break
    return trials


def _way(giving: Giving, prior: Prior, trials: Mapping[str, Trials]) -> Way | None:
    """The shortest way to a control that was not given and would carry out an operator that is still to be tried; None if there is none near."""
    waiting: deque[tuple[State, Situation, tuple[GroundAction, ...]]] = deque(
        (state, situation, ()) for state, situation in giving.situations.items()
    )
    known = set(giving.situations)
    for _ in range(LOOKED_AT):
        if not waiting:
            break
        state, start, way = waiting.popleft()
        given, offered = giving.given_in(state), prior.carried_out(giving, state)
        tried_here = {name for one in given for name in offered.get(one, ())}
        for control, operators in offered.items():
            wanted = [name for name in operators if name not in tried_here and _open(trials[name])]
            if wanted and control not in given:
                return Way(start, (*way, control))
            for name, expected in operators.items():
                after = giving.seen_after(state, control) or expected
                if after not in known and not trials[name].contradicted:
                    known.add(after)
                    waiting.append((after, start, (*way, control)))
    return None


def _open(trials: Trials) -> bool:
    return trials.as_before < TRIED and not trials.contradicted
