"""Controls whose outcome is random: each is given again where it was given, until its likeliest outcome there is known.

The same control from the same snapshot has one outcome, whatever is hidden; if it has two, chance decides. What comes most often is then
taken for what the control does: operators, proofs and walks are those of every interrogation of controls. How often it comes, and what
comes instead, is counted in all tries, with intervals that hold however often one looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log
from typing import Any, Final

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.chance.intervals import ALPHA, concentration, interval
from aam_vision.interrogation.controls.giving import Given, Giving, StepsSpent, ground
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.rules import ControlModel
from aam_vision.interrogation.examination.findings import ENOUGH
from aam_vision.model.query import Agent, Query, Response, Situation
from aam_vision.model.strips import ActionHeader, GroundAction, State
from aam_vision.support.errors import AamError
from aam_vision.support.wording import counted, listed

LAST, FEW, OFTEN = 4, 30, 8
"""Transitions of a control that are given again to find out whether chance decides, at most: the last ones that did something. Of so
few in all, those that did nothing are given again, too, each so often, and as often again those that did something."""
DOUBT: Final = 1e-6
"""How probable it may be, about, that an outcome is taken for the likeliest one of a situation and is not."""
MOST = 300
"""Tries of one control in one situation, at most."""
RAREST: Final = 0.45
"""The share of other outcomes with which is reckoned at most: at a half, none would be the likeliest."""
WITHIN: Final = 0.1
"""Half width of intervals at most, as far as controls may be given for that."""
NOTHING, OTHERWISE = "nothing changes", "something else happens"
"""What may come instead of the likeliest outcome, beside what another control does."""


class Random(AamError):
    """Raised when one control, given again from one snapshot, went another way: chance decides."""

    def __init__(self, control: GroundAction) -> None:
        super().__init__(f"{control}, given again from the same snapshot, went another way: chance decides")


def check_chance(giving: Giving, strange: Sequence[Transition] = ()) -> None:
    """Give again what is strange, and what each control did last, as part of the examination.

    Raises:
        Random: something went another way.
        AgentFailed: the agent cannot answer any more.
    """
    if giving.memory is not None:
        return  # that was found out before it was taken to remember anything
    wanted, names = {id(one) for one in strange}, [header.name for header in giving.controls]
    few = len(giving.given) <= FEW
    given = [one for one in giving.given if few or one.transition.change]
    pools = [[one for one in given if id(one.transition) in wanted]]
    pools += [[one for one in given if one.transition.change]] * few
    pools += [[one for one in given if one.transition.control.name == name] for name in names]
    pools = [some if few else some[-LAST:] for some in pools if some]
    most = (2 * max(ENOUGH + 1, OFTEN * len(given)) if few else ENOUGH + 1) if pools else 0
    with suppress(StepsSpent):  # as far as it may be asked
        if (control := giving.agent.examined(lambda: _another_way(giving, pools, most))) is not None:
            raise Random(control)


def _another_way(giving: Giving, pools: Sequence[Sequence[Given]], most: int) -> GroundAction | None:
    """The first control that went another way from the same snapshot, if one did; one of each pool is given in turn, so many in all."""
    known: dict[tuple[Hashable, GroundAction], State] = {}
    for number in range(most):
        pool = pools[number % len(pools)]
        before, transition, _ = pool[number // len(pools) % len(pool)]
        control = transition.control
        # it has to be brought back: what was given and showed nothing may have changed what is hidden
        away = next((one.before for one in giving.given if one.before.handle != before.handle), None)
        giving.look(Query(away or giving.initial()[0], ()))
        after = giving.led(before, control).state
        if known.setdefault((before.handle, control), after) != after:
            return control
    return None


class LikeliestAgent(AgentDecorator):
    """Controls of an agent with chance, each with the outcome that is likeliest in its situation.

    Args:
        agent: each of its instructions can always be given; its access is ``snapshot``.
        initial: where its problems begin.
        most: controls that may be given in all; None for any number.
    """

    def __init__(self, agent: Agent, initial: Sequence[Situation], most: int | None = None) -> None:
        super().__init__(agent)
        self._initial = initial
        self.tries: dict[tuple[State, GroundAction], Counter[State]] = {}
        """By situation and control, how often each outcome came."""
        self.given = 0
        """The controls that were given."""
        self._where: dict[tuple[State, GroundAction], Situation] = {}
        """By situation and control, a situation that looks like that in which it was given."""
        self._most = most
        self._of_control: dict[str, tuple[int, int]] = {}
        """By control: tries with the outcome that came most often in their situation, and all."""

    def initial(self) -> Sequence[Situation]:
        return self._initial

    def ask(self, query: Query) -> Response:
        """The likeliest outcome of each control of a plan, in turn.

        Raises:
            StepsSpent: no more controls may be given.
        """
        here = query.initial
        for control in query.plan:
            here = self._outcome(here, control)
        return Response(len(query.plan), here) if query.plan else self.agent.ask(query)

    def _outcome(self, here: Situation, control: GroundAction) -> Situation:
        key = here.state, control
        tries, led = self.tries.setdefault(key, Counter()), dict[State, Situation]()
        self._where.setdefault(key, here)
        while True:
            likeliest = self._likeliest(control.name, tries)
            if likeliest in led:
                return led[likeliest]
            if led and sum(tries.values()) >= MOST:
                return next((led[state] for state, _ in tries.most_common() if state in led))
            after = self._try(here, control)
            led.setdefault(after.state, after)

    def _try(self, here: Situation, control: GroundAction) -> Situation:
        """One outcome of a control, which is counted."""
        if self._most is not None and self.given >= self._most:
            raise StepsSpent(f"--max-steps: {self._most} controls were given")
        after = self.agent.ask(Query(here, (control,))).final
        self.given += 1
        tries, (best, of) = self.tries[here.state, control], self._of_control.get(control.name, (0, 0))
        most = max(tries.values(), default=0)
        tries[after.state] += 1
        self._of_control[control.name] = best + max(tries.values()) - most, of + 1
        return after

    def narrow(self) -> None:
        """Give each control where it changes something until the interval of its likeliest outcome is as narrow as is wanted.

        Raises:
            StepsSpent: no more controls may be given.
        """
        does: dict[str, list[tuple[State, GroundAction]]] = {}
        for key, tries in self.tries.items():
            if _most_often(tries) != key[0]:
                does.setdefault(key[1].name, []).append(key)
        for keys in does.values():
            hits = sum(max(self.tries[key].values()) for key in keys)
            made = sum(sum(self.tries[key].values()) for key in keys)
            while (limits := _limits(hits, made, 2)) and (limits[1] - limits[0]) / 2 > WITHIN:
                key = keys[made % len(keys)]
                likeliest = _most_often(self.tries[key])
                hits += self._try(self._where[key], key[1]).state == likeliest
                made += 1

    @property
    def unclear(self) -> set[str]:
        """The controls of which no outcome was clearly the likeliest in some situation, as often as they were given there."""
        return {
            control.name
            for (_, control), tries in self.tries.items()
            if sum(tries.values()) >= MOST and self._likeliest(control.name, tries) is None
        }

    def _likeliest(self, control: str, tries: Counter[State]) -> State | None:
        """The outcome that is the likeliest one; None as long as another one may be."""
        if not tries:
            return None
        (state, first), *others = tries.most_common(2)
        best, of = self._of_control[control]
        rare = min(RAREST, (1 + of - best) / (4 + of))
        lead = first - (others[0][1] if others else 0)
        return state if lead * log((1 - rare) / rare) >= -log(DOUBT) else None


@dataclass(frozen=True)
class Share:
    """How often something comes of a control, where its likeliest outcome changes something."""

    what: str
    """In words, as "does what left does"; empty for the likeliest outcome."""
    hits: int
    tries: int
    low: float
    """With ``high``, the limits of its probability: those of one control hold together with 95%."""
    high: float

    @property
    def text(self) -> str:
        """In how many of a hundred tries it comes."""
        return f"{100 * self.hits / self.tries:.0f}% ({100 * self.low:.0f}-{100 * self.high:.0f}%)"

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "what": self.what or None,
            "hits": self.hits,
            "tries": self.tries,
            "interval": [round(self.low, 4), round(self.high, 4)],
        }


Shares = dict[str, tuple[Share, ...]]
"""By control what comes of it, the likeliest outcome first; nothing where no outcome is clearly the likeliest."""


def shares(agent: LikeliestAgent, controls: Sequence[ActionHeader], model: ControlModel) -> Shares:
    """How often the likeliest outcome of each control comes, and what comes instead, as the model tells."""
    counts: dict[str, Counter[str]] = {}
    for (state, control), tries in agent.tries.items():
        (likeliest, _), *others = tries.most_common()
        if likeliest == state:
            continue  # what did nothing may have been kept from doing it
        own = counts.setdefault(control.name, Counter())
        own[""] += tries[likeliest]
        for outcome, times in others:
            own[_instead(state, control, outcome, controls, model)] += times
    unclear = agent.unclear
    return {
        name: () if name in unclear else _with_limits(counts[name]) for name in sorted({*counts, *unclear})
    }


def _instead(
    state: State,
    control: GroundAction,
    outcome: State,
    controls: Sequence[ActionHeader],
    model: ControlModel,
) -> str:
    """What an outcome is that is not the likeliest one, in words."""
    if outcome == state:
        return NOTHING
    names = [
        other.name
        for other in ground(controls, state)
        if other != control and model.next_states(state, other) == {outcome}
    ]
    return f"it does what {names[0]} does" if len({*names}) == 1 else OTHERWISE


def _most_often(tries: Counter[State]) -> State:
    return tries.most_common(1)[0][0]


def _with_limits(own: Counter[str]) -> tuple[Share, ...]:
    tries = sum(own.values())
    ordered = sorted(own.items(), key=lambda item: (item[0] != "", -item[1], item[0]))
    return tuple(Share(what, hits, tries, *_limits(hits, tries, len(ordered))) for what, hits in ordered)


def _limits(hits: int, tries: int, outcomes: int) -> tuple[float, float]:
    """The limits of a probability, one of so many that hold together."""
    return interval(hits, tries, ALPHA / max(1, outcomes), concentration(WITHIN))


def told(found: Shares) -> str:
    """What is random, in sentences."""
    sentences, always = list[str](), list[str]()
    for name, own in found.items():
        if not own:
            sentences.append(
                f"No outcome of {name} is clearly the likeliest: how often any comes is not said."
            )
            continue
        likeliest, *others = own
        if not others:
            always.append(f"{name} (in all of {counted(likeliest.tries, 'try')})")
            continue
        instead = "; ".join(f"{one.what} {one.text}" for one in others)
        sentences.append(
            f"{name} works as the model says {likeliest.text} of the time where that changes something; else {instead}."
        )
    if always:
        sentences.append(f"What never went another way: {listed(always)}.")
    return " ".join(sentences)


def likeliest(given: Sequence[Given]) -> list[Given]:
    """Of what was given those with the outcome that came most often in their situation."""
    tries: dict[tuple[State, GroundAction], Counter[State]] = {}
    for one in given:
        made = one.transition
        tries.setdefault((made.before, made.control), Counter())[made.after] += 1
    best = {where: _most_often(outcomes) for where, outcomes in tries.items()}
    return [
        one for one in given if best[one.transition.before, one.transition.control] == one.transition.after
    ]
