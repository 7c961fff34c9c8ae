"""Policies that are told an objective, as agents: what a pursuit brings about, and what it claims, is what an instruction does.

A policy acts in a Gymnasium environment. It is told what is to be true or false, ``on(a, b)``, acts as long as it likes, and says whether
it is done. To the engine a pursuit is one step of an action ``achieve-on(?x, ?y)``; its outcome is the state in which it ends, with two
facts more: whether the policy claims that it is done (``claimed``), and whether the episode is over (``ended``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box

from aam_vision.agents.perception import Frame
from aam_vision.envs.filming import Clips, Film, renders
from aam_vision.envs.restoring import redraw_chance
from aam_vision.envs.success import successes
from aam_vision.model.query import (
    ACHIEVE,
    CLAIMED,
    ENDED,
    UNDO,
    Access,
    Agent,
    Query,
    Response,
    Situation,
    WalkStep,
)
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, Objects, Predicate, State, Vocabulary
from aam_vision.support.errors import AamError, AccessViolation, AgentFailed, UnusableInput, reason
from aam_vision.support.files import checkpoints
from aam_vision.support.resources import ANSWER_SECONDS, returning

LIMIT = 200
"""Steps of one pursuit, at most, unless something else is said."""


class Objective(NamedTuple):
    """What a policy is to bring about: that a fact is true, or that it is false."""

    atom: Atom
    value: bool = True

    def __str__(self) -> str:
        return f"{'' if self.value else 'not '}{self.atom}"

    def text(self, templates: Mapping[str, str]) -> str:
        """The objective in the user's words: ``put the {0} on the {1}`` for ``on``; its name and objects where there are none.

        Raises:
            UnusableInput: the words do not fit the objects.
        """
        name = f"{'' if self.value else 'not '}{self.atom.predicate}"
        if (template := templates.get(name)) is None:
            return str(self)
        try:
            return template.format(*self.atom.objects)
        except (LookupError, ValueError) as error:
            raise UnusableInput(
                f"{template!r} does not say {self} ({reason(error)})", "templates", name
            ) from None


class Ended(NamedTuple):
    """How a pursuit ended."""

    achieved: bool
    """Whether the objective holds."""
    claimed: bool
    """Whether the policy says so."""
    spent: bool
    """Whether it still acted when its steps were spent, or the episode over."""
    steps: int
    """Of the environment."""
    after: State
    """With ``claimed`` and ``ended``."""

    def __str__(self) -> str:
        if self.achieved:
            return "achieved" if self.claimed else "achieved, not claimed"
        return "claimed, not achieved" if self.claimed else "timed out" if self.spent else "given up"


class Spent(Exception):
    """Raised in a policy that acts after its last step; whoever catches it may not act any more."""


Pursue = Callable[[Any, Any, Objective, int], bool]
"""A policy: it acts in an environment (``step``) after its last observation, for an objective, within so many steps. True: it is done."""


def by_actions(act: Callable[[Any, Objective], Any]) -> Pursue:
    """A policy that is a function of observation and objective; it gives None once it is done."""

    def pursue(environment: Any, observation: Any, objective: Objective, limit: int) -> bool:
        while (action := act(observation, objective)) is not None:
            observation, _, terminated, truncated, _ = environment.step(action)
            if terminated or truncated:
                return False
        return True

    return pursue


@dataclass
class Pursuit:
    """A pursuit that is under way."""

    environment: Any
    observation: Any
    objective: Objective
    limit: int
    claimed: bool = False
    """What the policy says."""
    ended: Ended = field(init=False)
    """How it ended; there once it has."""


class Told(Agent):
    """An agent whose instructions are objectives."""

    access: Access
    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    seeds: tuple[int, ...]
    """Of the resets at which pursuits begin, or their numbers."""
    checkpoint: Mapping[str, str] = {}
    """By name the SHA-256 of the files that say which version it is."""
    _objectives: dict[str, tuple[Predicate, bool]]
    """By instruction what is to be true, or false."""
    objects: Objects
    """What an objective may name."""

    @abstractmethod
    def pursue_from(self, start: int, step: GroundAction, luck: int) -> Ended:
        """How a pursuit ends that begins at the reset of that number, with this seed of what is random in the environment after it.

        Raises:
            AgentFailed: as ``ask``.
        """

    def filmed(self, start: int, step: GroundAction, luck: int, end: str) -> list[Frame]:
        """Images of that pursuit, which is made once more; none where nothing renders it, or it does not end like this again."""
        return []

    def objective(self, step: GroundAction) -> Objective:
        """What an instruction tells the policy to bring about."""
        predicate, value = self._objectives[step.name]
        return Objective(Atom(predicate.name, tuple(step.objects)), value)

    def kind(self, name: str) -> str:
        """What an instruction of that name makes true, ``on``, or false, ``not on``."""
        predicate, value = self._objectives[name]
        return f"{'' if value else 'not '}{predicate.name}"

    def drawn(self, header: ActionHeader, rng: np.random.Generator) -> GroundAction | None:
        """An instruction with different objects at random; None if they were drawn alike, or there are none."""
        names = [self.objects.of_type(kind) for kind in header.types]
        chosen = tuple(one[int(rng.integers(len(one)))] for one in names if one)
        return None if len(set(chosen)) < header.arity else GroundAction(header.name, chosen)


class PolicyAgent(Told):
    """A policy in a Gymnasium environment, as an agent with an action for each kind of objective.

    Args:
        make: makes the environment.
        pursue: the policy.
        vocabulary: the user's words.
        facts: gives the facts that are true, of ``env.unwrapped``.
        objects: by name the types of the things that are in the environment.
        success: what else it is told to bring about, by its name, and when that is so: ``{"pick(?b)": "holding(?b) and not wet(?b)"}``.
        objectives: predicates that the policy is told to make true, ``not NAME`` those it is told to make false; default what ``success``
            names, else all that have parameters, made true.
        seeds: of the resets at which pursuits begin.
        limit: steps of a pursuit, at most; then it has not claimed anything.
        access: ``reset``, or ``snapshot`` where the environment can be copied (``copy.deepcopy``).
        seed: of what is random in the environment: its generators (``np_random``, and those that it or its wrappers hold) are seeded
            anew for each question.
        checkpoint: the file or folder that holds this version: its SHA-256 stands in results.
        seconds: wall time that the policy may take until it acts or ends (in the main thread).

    Raises:
        UnusableInput: there is no such predicate, or one is named ``claimed`` or ``ended``; success is not said in the vocabulary; there is
            no seed, no step, no time, or no such file.
    """

    refuses_surely = True

    def __init__(
        self,
        make: Callable[[], Any],
        pursue: Pursue,
        *,
        vocabulary: Vocabulary,
        facts: Callable[[Any], Iterable[Atom]],
        objects: Mapping[str, str],
        success: Mapping[str, str] | None = None,
        objectives: Collection[str] | None = None,
        seeds: Sequence[int] = (0,),
        limit: int = LIMIT,
        access: Access | str = Access.RESET,
        seed: int = 0,
        checkpoint: PathLike[str] | str | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        if seconds <= 0:
            raise UnusableInput("give a number above 0", "seconds", f"{seconds:g}")
        self.checkpoint = checkpoints(checkpoint)
        self.objects = Objects({**vocabulary.constants, **objects}, vocabulary.types)
        self._known = {predicate.name: predicate for predicate in vocabulary.predicates}
        self._successes = successes(success or {}, vocabulary, self.objects)
        declared = {one.predicate.name: one.predicate for one in self._successes}
        known = self._known | declared
        for name in (CLAIMED, ENDED):
            if name in known:
                raise UnusableInput(
                    "says how a pursuit ends; give the predicate another name", "vocabulary", name
                )
        if not seeds or limit < 1:
            raise UnusableInput("give one seed at least, and one step", "seeds" if not seeds else "limit")
        self.access = Access(access)
        if self.access not in (Access.RESET, Access.SNAPSHOT):
            raise UnusableInput(
                "a policy is asked under reset or snapshot access", "access", self.access.value
            )
        wanted = [*declared] or [one.name for one in known.values() if one.types]
        wanted = wanted if objectives is None else list(objectives)
        if not wanted:
            raise UnusableInput("name a predicate that the policy is told to make true", "objectives")
        told = *known.values(), Predicate(CLAIMED), Predicate(ENDED)
        self.vocabulary = replace(vocabulary, predicates=told, defined=(*vocabulary.defined, *declared))
        self._objectives = {}
        for text in wanted:
            name = text.removeprefix("not ")
            if name not in known:
                raise UnusableInput("the vocabulary has no such predicate", "objectives", text)
            value = name == text
            self._objectives[f"{ACHIEVE if value else UNDO}{name}"] = known[name], value
        named = {one.predicate: one.parameters for one in self._successes}
        self.headers = tuple(
            ActionHeader(name, named.get(one, _parameters(one)), one.types)
            for name, (one, _) in self._objectives.items()
        )
        self.seeds = tuple(seeds)
        self.policy, self._facts, self._limit, self._seconds = pursue, facts, limit, seconds
        self._rng = np.random.default_rng(seed)
        self._make = make
        self._here = self._made()
        self._kept: dict[int, tuple[_Episode, State]] = {}
        self._first: dict[int, State] = {}
        """By number the states after resets."""
        self._number = len(self.seeds)
        """Of the last situation; the first ones are those of the seeds."""
        self.clips: Clips | None = None
        """Kept of its pursuits, if they are to be and the environment renders images."""
        self._lasted: dict[Hashable, int] = {}
        """By the handle of the situation in which a pursuit ended its steps."""
        self.steps = 0
        """Steps of the environment that all pursuits took together."""

    def initial(self) -> Sequence[Situation]:
        """Where pursuits begin."""
        return [Situation(number, self.begin(number)) for number in range(len(self.seeds))]

    def ask(self, query: Query) -> Response:
        """Have the policy pursue one objective after the other, until the episode is over.

        Raises:
            AgentFailed: the policy or the environment failed, which says nothing of what it can do.
        """
        state = self._restored(query.initial)
        if query.plan and not self._here.ended:  # what is drawn follows from what is executed
            self._redraw(int(self._rng.integers(2**63)))
        executed = lasted = 0
        for step in query.plan:
            if self._here.ended:
                break
            objective, film, before = self.objective(step), None, state
            held = (objective.atom in state.true) is objective.value
            if self.clips is not None and not held and self.clips.wanted(step, state):
                film = self._here.film = Film(self._here.environment)
            with self._pursuit(objective) as pursuit:
                self._pursue(pursuit)
            executed, state, self._here.film = executed + 1, pursuit.ended.after, None
            lasted = pursuit.ended.steps
            if film is not None and self.clips is not None and len(query.plan) == 1:
                end = self._number + 1
                self.clips.keep(step, before, film.images, end, achieved=pursuit.ended.achieved)
        if not executed:  # it still stands where it was
            return Response(0, Situation(query.initial.handle, state))
        self._number += 1
        self._lasted[self._number] = lasted
        if self.access.returns:
            self._kept[self._number] = deepcopy(self._here), state
        return Response(executed, Situation(self._number, state))

    def begin(self, number: int) -> State:
        """Reset the environment with the seed of that number.

        Raises:
            AgentFailed: it fails, or shows other facts than before.
        """
        try:
            self._here.begin(self.seeds[number])
        except Exception as error:  # of any kind: it is foreign code
            raise AgentFailed(f"the environment failed at its reset ({reason(error)})") from error
        self._number += 1
        state = self._seen(claims=False)
        if self._first.setdefault(number, state) != state:
            raise AgentFailed(
                f"a reset with seed {self.seeds[number]} showed other facts than before: make it deterministic"
            )
        return state

    def carry_out(self, plan: Sequence[GroundAction], luck: int) -> list[Ended]:
        """How pursuits end, one after the other from where the environment stands, until the episode is over.

        Args:
            plan: what the policy is told.
            luck: the seed of what is random in the environment meanwhile.

        Raises:
            AgentFailed: as ``ask``.
        """
        self._redraw(luck)
        found = list[Ended]()
        for step in plan:
            if not self._here.ended:
                with self._pursuit(self.objective(step)) as pursuit:
                    self._pursue(pursuit)
                found.append(pursuit.ended)
        return found

    def pursue_from(self, start: int, step: GroundAction, luck: int) -> Ended:
        with self.pursuit(start, step, luck) as pursuit:
            self._pursue(pursuit)
        return pursuit.ended

    def pursuit(self, start: int, step: GroundAction, luck: int) -> AbstractContextManager[Pursuit]:
        """As ``pursue_from``, for one who acts in the pursuit's environment, and says in it what is claimed.

        Raises:
            AgentFailed: as ``ask``.
        """
        self.begin(start)
        self._redraw(luck)
        return self._pursuit(self.objective(step))

    def filmed(self, start: int, step: GroundAction, luck: int, end: str) -> list[Frame]:
        try:  # what was found does not depend on images
            other = self.another()  # one that has rendered may be like this for good
            with other.pursuit(start, step, luck) as pursuit:
                if not renders(other._here.environment, copied=False):
                    return []
                film = other._here.film = Film(other._here.environment)
                other._pursue(pursuit)
        except AamError:
            return []
        return film.images() if str(pursuit.ended) == end else []

    def another(self, seed: int | None = None) -> PolicyAgent:
        """The same policy in an environment of its own; ``seed``: of what is random in it, if that is to be another.

        Raises:
            UnusableInput: the environment cannot be made, or is always the same one.
        """
        other = copy(self)
        other._here, other._kept, other._lasted = self._made(), {}, {}
        if other._here.environment is self._here.environment:
            raise UnusableInput("gives the same environment each time; make a new one", "make")
        if seed is not None:
            other._rng = np.random.default_rng([seed, 4])
        return other

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Objectives at random, as nobody tells the policy which to pursue."""
        found: list[WalkStep] = []
        for _ in range(steps):
            header = self.headers[int(rng.integers(len(self.headers)))]
            if (step := self.drawn(header, rng)) is None:
                continue
            response = self.ask(Query(start, (step,)))
            if not response.executed:
                break
            found.append(WalkStep(start, step, response.final))
            start = response.final
        return found

    def keep_clips(self, keep: Callable[[Frame], str]) -> None:
        """Keep clips of some pursuits from now on, if the environment renders images."""
        trial = self._made().environment  # another one, as one that has rendered may be like this for good
        try:
            trial.reset(seed=self.seeds[0])
        except Exception:  # of any kind: it is foreign code, and whoever asks is told
            return
        if renders(trial, copied=self.access.returns):
            self.clips = Clips(keep, self.vocabulary.constants)

    def memo(self, situation: Situation) -> Any:
        """How many steps the pursuit took that ended there, and the names of its images, if they are kept."""
        if (lasted := self._lasted.get(situation.handle)) is None:
            return None
        clip = None if self.clips is None else self.clips.of.get(situation.handle)
        return {"steps": lasted} | ({} if clip is None else {"clip": clip})

    def _made(self) -> _Episode:
        try:
            return _Episode(self._make(), self._facts)
        except Exception as error:  # of any kind: it is foreign code
            raise UnusableInput(f"the environment cannot be made ({reason(error)})", "make") from error

    def _restored(self, start: Situation) -> State:
        """Bring the environment back to where a question begins."""
        number = start.handle
        assert isinstance(number, int), "a situation of this agent"
        if number < len(self.seeds):
            return self.begin(number)
        if number == self._number:
            return start.state
        if number not in self._kept:
            raise AccessViolation(f"{self.access.value} access: nothing leads back to that situation")
        episode, state = self._kept[number]
        self._here = deepcopy(episode)
        return state

    def _redraw(self, luck: int) -> None:
        """Draw all chance from here on anew: a reset with the same seed would repeat the same luck."""
        _ = self._here.environment.unwrapped.np_random  # there is one from now on
        redraw_chance(self._here.environment, luck)

    def _pursue(self, pursuit: Pursuit) -> None:
        """Have the policy act."""
        what = f"the policy, which pursued {pursuit.objective},"
        with returning(what, self._seconds) as renew:
            pursuit.environment.acted = renew
            pursuit.claimed = bool(
                self.policy(pursuit.environment, pursuit.observation, pursuit.objective, pursuit.limit)
            )

    @contextmanager
    def _pursuit(self, objective: Objective) -> Iterator[Pursuit]:
        """A pursuit from where the environment stands."""
        here, spent = self._here, False
        here.left = self._limit
        pursuit = Pursuit(here, here.observation, objective, self._limit)
        try:
            yield pursuit
        except Spent:
            spent = True
        except AamError:
            raise
        except (Exception, SystemExit) as error:  # of any kind: it is foreign code
            raise AgentFailed(f"the policy failed while it pursued {objective} ({reason(error)})") from error
        finally:
            taken = self._limit - here.left
            self.steps += taken
        after = self._seen(claims=pursuit.claimed)
        achieved = (objective.atom in after.true) is objective.value
        pursuit.ended = Ended(achieved, pursuit.claimed, spent, taken, after)

    def _seen(self, *, claims: bool) -> State:
        """The present state."""
        true = self._here.true()
        for atom in true:
            if not self._sayable(atom):
                raise AgentFailed(f"{atom!r}: a fact that the vocabulary and the objects do not have")
        true |= {atom for one in self._successes for atom in one.atoms(true, self.objects)}
        true |= {Atom(CLAIMED, ())} if claims else set()
        return State(frozenset(true | ({Atom(ENDED, ())} if self._here.ended else set())), self.objects)

    def _sayable(self, fact: object) -> bool:
        """Whether it is an atom of the vocabulary and the objects: ``Atom("lit", "a")``, which lacks a comma, is another one."""
        if not isinstance(fact, Atom) or not isinstance(fact.objects, tuple):
            return False
        known = self._known.get(fact.predicate)
        return known is not None and self.objects.fit(fact.objects, known.types)


class _Episode:
    """An environment as a policy acts in it: no longer than allowed, and never after the end."""

    def __init__(self, environment: Any, facts: Callable[[Any], Iterable[Atom]]) -> None:
        self.environment, self._facts = environment, facts
        self.observation: Any = None
        self.ended = False
        self.left = 0
        self.film: Film | None = None
        self.acted: Callable[[], object] = lambda: None
        """Called at each step."""

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.observation, _ = self.environment.reset(seed=seed)
        self.ended = False

    def reset(self, *_: Any, **__: Any) -> None:
        """Refused to a policy, which would pursue its objective from elsewhere.

        Raises:
            AgentFailed: always.
        """
        raise AgentFailed("the policy reset its environment: the pursuit begins where the environment is")

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        """One step of the environment.

        Raises:
            Spent: there is none left, or the episode is over.
            AgentFailed: the action is none of the environment's.
        """
        if self.left < 1 or self.ended:
            raise Spent
        space = self.environment.action_space
        if isinstance(space, Box) and isinstance(action, np.ndarray):
            # float64 is what numpy computes, float32 what most spaces have
            action = action.astype(space.dtype)
        if not space.contains(action):
            raise AgentFailed(f"the policy acted outside of its action space: {action!r} is not in {space}")
        self.left -= 1
        self.acted()
        self.observation, reward, terminated, truncated, told = self.environment.step(action)
        self.ended = bool(terminated or truncated)
        if self.film is not None:
            self.film.look()
        return self.observation, reward, bool(terminated), bool(truncated), told

    def true(self) -> set[Atom]:
        """The facts that are true."""
        try:
            return set(self._facts(self.environment.unwrapped))
        except Exception as error:  # of any kind: it is foreign code
            raise AgentFailed(f"the facts of the environment cannot be told ({reason(error)})") from error

    def __getattr__(self, name: str) -> Any:
        """What else the environment has."""
        if name == "environment":  # while it is copied
            raise AttributeError(name)
        return getattr(self.environment, name)


def _parameters(predicate: Predicate) -> tuple[str, ...]:
    """Names for the arguments of a predicate."""
    return tuple(f"{kind}{place + 1}" for place, kind in enumerate(predicate.types))
