"""An environment of the user's own, in a package of their own: what ``--env`` needs to know about it.

A package announces it as a Python entry point of the group ``aam_vision.environments``::

    [project.entry-points."aam_vision.environments"]
    doorkey = "doorkey:ENVIRONMENT"

Nothing is imported before the environment is asked for by name, so a broken package affects no other. Without a package,
``--env MODULE:NAME`` names one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Frame, Percept, Perception, Scene, VisualVocabulary
from aam_vision.envs.control_names import Controls, controls_of
from aam_vision.envs.gymnasium_simulator import (
    ChanceSimulator,
    ControlSimulator,
    GymnasiumSimulator,
    check_chance,
    random_choice,
)
from aam_vision.envs.image_domain import WALK, NativeStep, Pictures, Problem
from aam_vision.envs.labelled import (
    Depiction,
    Labelled,
    LabelledImages,
    distinct,
    explored_images,
    labelled_images,
)
from aam_vision.envs.meaning import Instruction, becomes, headers, instruction, result_of
from aam_vision.envs.restoring import Env, Restore
from aam_vision.envs.shown import Shown, Told
from aam_vision.model.query import Access
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, Model, State
from aam_vision.support.errors import RAISED, UnusableInput, reason

__all__ = [
    "Instruction",
    "Labelled",
    "OwnEnvironment",
    "becomes",
    "instruction",
    "is_reference",
    "labelled_images",
    "load",
    "names",
    "told",
]

GROUP = "aam_vision.environments"
"""The group of the entry points."""

SPLIT = "seed"
"""A problem is named after the seed of its reset: ``seed/3``."""

HELD_OUT: Final = 5
"""Problems on which a learned model is compared with the intended one, where the user names none."""
ROUND_STEPS: Final = 300
"""Training steps of a round, after which few worlds need another one: more of them are steadier, and take longer."""
PICTURES: Final = 400
"""Images to learn from, where the user says no number."""
LOOKED_AT: Final = 40
"""Pictures of every problem that are compared with what is told of them before it is interrogated by its controls."""


@dataclass(frozen=True)
class OwnEnvironment:
    """A user's environment as an ``ImageDomain``.

    Args:
        name: of the environment and of its weights.
        visual: the vocabulary, with the source of every predicate's truth.
        instructions: all that the agent can be told, and what it means.
        make: makes the Gymnasium environment, with ``render_mode="rgb_array"``.
        scene: what the user points out about a problem: a function of ``env.unwrapped``, just reset.
        seeds: the problems that are interrogated together, by the seeds of their resets.
        pictures: labelled images at random, without end, to train classifiers on; None if they are trained already.
        unseen: the same, to evaluate them on; best of layouts that ``pictures`` never shows. None: ``pictures``
            with another seed.
        number: of the images to learn from; more of them teach rarer sights, and take longer.
        round_steps: steps of training between two examinations of the classifiers; it ends when they read all rightly.
        weights: the folder of the trained classifiers that the package brings; None if it brings none.
        restore: how an environment is brought back, see ``restoring``.
        stops: whether nothing can be done once the environment has said ``terminated``. Then the end should be among
            what the vocabulary shows: else it is a hidden variable, and a warning says so when it refuses a step.
        truth: the model that the user intends, if there is one: read only after an interrogation.
        held_out: the problems on which the learned model is compared with ``truth``, by the seeds of their resets; best
            none that is interrogated. None: the five seeds after the largest of ``seeds``.
        chance_truth: the model with outcomes that the user intends, if there is one: the same for an environment with chance.
        controls: names of its actions, in order, or an ``IntEnum``; None: an ``IntEnum`` of the environment or of its module, else
            ``action-0``, ``action-1``, ... By name (``moveto ?l - location``) actions, or functions of the arguments.
        shown: a function of ``env.unwrapped``: the atoms of perceived predicates that are true. None: not known. It teaches
            classifiers, stands in for them where there are none yet, and is compared with what was learned by controls.
        shake: brings ``env.unwrapped`` into a random legal state; None: random controls do.
        labelled: a function of ``env.unwrapped``: its present picture with all that a label says of it, which pixels show each
            thing included. It answers where pictures without cells are labelled. None: not known.
    """

    name: str
    visual: VisualVocabulary
    instructions: tuple[Instruction, ...]
    make: Callable[[], Env]
    scene: Callable[[Any], Scene]
    seeds: tuple[int, ...] = (0,)
    pictures: LabelledImages | None = None
    unseen: LabelledImages | None = None
    number: int = PICTURES
    round_steps: int = ROUND_STEPS
    weights: Path | None = None
    restore: Restore = "copy"
    stops: bool = True
    truth: Callable[[], Model] | None = None
    held_out: tuple[int, ...] | None = None
    chance_truth: Callable[[], Model] | None = None
    controls: Controls | tuple[Instruction, ...] = None
    shown: Callable[[Any], Iterable[Atom]] | None = None
    shake: Callable[[Any, np.random.Generator], None] | None = None
    labelled: Callable[[Any], Labelled] | None = None

    def __post_init__(self) -> None:
        """Look at what every use needs; UnusableInput if it is of another kind."""
        if not isinstance(self.visual, VisualVocabulary):
            raise UnusableInput(
                f"environment {self.name}: its vocabulary is a {type(self.visual).__name__}; make one with "
                "aam_vision.envs.sources.vocabulary"
            )
        for what, seeds in (("seeds", self.seeds), ("held_out", self.held_out)):
            if seeds is not None and not (
                isinstance(seeds, Sequence) and all(isinstance(seed, Integral) for seed in seeds)
            ):
                raise UnusableInput(
                    f"environment {self.name}: its {what} are {seeds!r}; give numbers: (0, 1, 2)"
                )
        if not self.seeds:
            raise UnusableInput(
                f"environment {self.name}: has no problem; give at least one of its seeds: (0,)"
            )

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions; UnusableInput if there are none, only controls."""
        if not self.instructions:
            raise UnusableInput(
                f"environment {self.name}: has no instructions, only controls; give --controls"
            )
        return headers(self.instructions)

    @cached_property
    def control_instructions(self) -> tuple[Instruction, ...]:
        """The controls, as instructions that are always carried out.

        Raises:
            UnusableInput: the environment cannot be made, or its actions have no names that fit.
        """
        given = self.controls
        if isinstance(given, tuple) and all(isinstance(one, Instruction) for one in given):
            return given
        return controls_of(self.made(), given)  # type: ignore[arg-type]  # no tuple of instructions

    @property
    def control_headers(self) -> tuple[ActionHeader, ...]:
        return headers(self.control_instructions)

    @property
    def interrogated(self) -> tuple[Problem, ...]:
        return tuple((SPLIT, seed) for seed in self.seeds)

    def classifiers(self, given: Path | None) -> Path | None:
        """The folder of the weights: the given one, or the package's own; UnusableInput if there is neither."""
        folder = given or self.weights
        if folder is None:
            raise UnusableInput(
                f"{self.name}: its package brings no classifiers; run python -m aam_vision.training.train "
                f"--env {self.name} --out DIR, and name DIR"
            )
        return folder

    def simulator(
        self, problem: Problem, *, controls: bool = False, chance: np.random.Generator | None = None
    ) -> GymnasiumSimulator:
        """A problem, ready to be instructed; by its controls where that is asked for, or there are no instructions.

        ``chance``: what its chance is drawn from, whatever state is gone back to; None: it has none.

        Raises:
            UnusableInput: the environment cannot be made or used.
        """
        if chance is not None:
            check_chance(self.name, self.instructions, self.restore)
        elif controls or not self.instructions:
            return self.controlled(problem)
        about = self.made(), self.instructions, self.scene, self.restore, problem[1]
        if chance is not None:
            return ChanceSimulator(chance, *about, stops=self.stops)
        return GymnasiumSimulator(*about, stops=self.stops)

    def controlled(self, problem: Problem, *, checked: bool = True) -> ControlSimulator:
        """A problem, ready to be given controls: each is carried out, whatever comes of it.

        ``checked``: it is tried whether controls always do the same, and whether pictures show what is told of them.

        Raises:
            UnusableInput: the environment cannot be made or used.
        """
        about = self.made(), self.control_instructions, self.scene, self.restore, problem[1]
        simulator = ControlSimulator(*about, stops=self.stops, checked=checked)
        if checked and self.shown is not None:
            rng = np.random.default_rng([problem[1], 5])
            depiction = Depiction(f"environment {self.name}", self.visual)
            for _ in range(LOOKED_AT):  # the pictures of a short walk
                scene = simulator.scene
                depiction.saw(simulator.frame(), scene, self._truth.atoms(simulator.present, scene))
                chosen = simulator.choose(rng)
                if chosen is None or (simulator.over and self.stops):
                    simulator.start()
                else:
                    simulator.instruct(*chosen)
            depiction.check()
            depiction.warn()
            simulator.start()
        return simulator

    def made(self) -> Env:
        """The Gymnasium environment; UnusableInput if ``make`` raises."""
        try:
            return self.make()
        except Exception as error:
            raise UnusableInput(
                f"environment {self.name}: make() raised {reason(error)}; correct it"
            ) from error

    def agent(
        self, perception: Perception, access: Access = Access.SNAPSHOT, seeds: Sequence[int] | None = None
    ) -> ImageAgent:
        """The agent of some problems; by default of all that are interrogated.

        Args:
            perception: reads the images of the vocabulary.
            access: ``snapshot``, ``reset`` or ``trajectory``.
            seeds: of the resets, one a problem.

        Raises:
            UnusableInput: the environment shows no images, is not deterministic or cannot be restored; or a
                function of the user's raises.
        """
        if access.constructs:
            raise UnusableInput(
                "access settable: an image agent cannot be set; use snapshot, reset or trajectory"
            )
        return self._agent(perception, access, seeds)

    def bare_agent(
        self, perception: Perception | None = None, seeds: Sequence[int] | None = None
    ) -> ImageAgent:
        """The agent whose instructions are the controls, for ``aam_vision.interrogate_controls``.

        Args:
            perception: reads the images; None: ``shown`` tells the states.
            seeds: of the resets, one a problem; by default of all that are interrogated.

        Raises:
            UnusableInput: the environment shows no images, is not deterministic or cannot be brought back; or a
                function of the user's raises.
        """
        return self._agent(perception, Access.SNAPSHOT, seeds, controls=True)

    def _agent(
        self,
        perception: Perception | None,
        access: Access,
        seeds: Sequence[int] | None,
        *,
        controls: bool = False,
    ) -> ImageAgent:
        instructions = self.control_headers if controls else self.headers
        problems = [(SPLIT, seed) for seed in (self.seeds if seeds is None else seeds)]
        simulators = [self.simulator(problem, controls=controls) for problem in problems]
        perception = perception or self.told()
        seen = [perception.of(one) if isinstance(perception, Told) else one for one in simulators]
        vocabulary = self.visual.vocabulary()
        return ImageAgent(seen, perception, vocabulary, instructions, access, refuses_surely=True)

    def told(self) -> Told:
        """States as ``shown`` tells them, in place of a perception; UnusableInput if there is no such function."""
        return Told(self._truth.state)

    def stand_in(self) -> Told | None:
        """What tells the states where there are no classifiers; None where there are some, or nothing tells them."""
        return self.told() if self.shown is not None and self.weights is None else None

    def true_state(self, env: Any, scene: Scene) -> State:
        """The state of ``env.unwrapped``; ``scene`` is that of its problem.

        Raises:
            UnusableInput: there is no ``shown``, it raises, or gives anything but atoms of perceived predicates.
        """
        return self._truth.state(env, scene)

    @cached_property
    def _truth(self) -> Shown:
        """The truth as ``shown`` tells it; UnusableInput if there is no such function."""
        if self.shown is None:
            raise UnusableInput(f"environment {self.name}: has no function `shown` that tells its states")
        return Shown(self.name, self.visual, self.shown)

    @property
    def _held_out(self) -> Sequence[int]:
        first = max(self.seeds) + 1
        return range(first, first + HELD_OUT) if self.held_out is None else self.held_out

    def held_out_states(self, look: Callable[[Frame, Scene], Percept]) -> list[State]:
        """The initial states of the problems of ``held_out``, as ``look`` reads their first images.

        A problem is left out if it cannot be made, or if not every atom can be read from its first image.
        """
        # what has chance is left out by the check; of all else only the first image is asked for
        found, checked = [], self.chance_truth is not None
        for seed in self._held_out:
            try:
                about = self.made(), (), self.scene, self.restore, seed
                simulator = GymnasiumSimulator(*about, stops=self.stops, checked=checked)
                state = look(simulator.frame(), simulator.scene).state
            except UnusableInput:
                continue
            if not state.unknown:
                found.append(state)
        return found

    def held_out_steps(self, count: int, rng: np.random.Generator) -> list[NativeStep]:
        """Steps of problems that are not interrogated, for evaluation only: half from walks, half from random states.

        All from walks where there is no ``shake``, and none where there is no ``shown``.
        """
        found: list[NativeStep] = []
        for number, seed in enumerate(self._held_out if self.shown is not None else ()):
            share = count * (number + 1) // len(self._held_out) - count * number // len(self._held_out)
            simulator = self.controlled((SPLIT, seed), checked=False)
            scene = simulator.scene
            for step in range(share):
                shake = self.shake if step >= share // 2 else None
                if shake is not None or step % WALK == 0:
                    simulator.start()
                if shake is not None:
                    shake(simulator.present, rng)
                if (chosen := simulator.choose(rng)) is None:
                    continue
                before = self.true_state(simulator.present, scene)
                simulator.instruct(*chosen)
                after = self.true_state(simulator.present, scene)
                found.append(NativeStep(before, GroundAction(*chosen), after))
        return found

    def scene_of(self, problem: str) -> Scene:
        """The scene of a problem that is named ``seed/N``; UnusableInput if the name is another one."""
        split, _, number = problem.partition("/")
        if split != SPLIT or not number.isdecimal():
            raise UnusableInput(f"problem {problem!r}: write seed/N, with the seed of the reset")
        env = self._pointed
        try:
            env.reset(seed=int(number))
        except RAISED as error:
            raise UnusableInput(
                f"environment {self.name}: reset(seed={number}) raised {reason(error)}; correct it"
            ) from error
        return result_of(f"environment {self.name}", "scene", self.scene, env.unwrapped)  # type: ignore[no-any-return]

    @cached_property
    def _pointed(self) -> Env:
        """The environment in which scenes are pointed out: one for all of them, as it may take long to be made."""
        return self.made()

    @property
    def pictureless(self) -> bool:
        """Whether it has no labelled images of its own."""
        return self.pictures is None and self.shown is None

    def lessons(self, rng: np.random.Generator, fewer: int = 1) -> Iterator[Pictures]:
        """Different images of ``pictures``; UnusableInput if there are none, or the user's code raises."""
        return self._labelled(self.pictures, self.number // fewer, rng)

    def examinations(self, states: int, seed: int) -> Mapping[str, Iterator[Pictures]]:
        """``unseen``: different images of the source of that name."""
        source = self.unseen or self.pictures
        return {"unseen": self._labelled(source, states, np.random.default_rng([seed, 2]))}

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        """One image, of any shape."""
        return next(self._labelled(self.pictures, 1, rng))

    def depends_on(self) -> None:
        """Nothing that can be told: the images come from the user's code."""

    def _labelled(
        self, source: LabelledImages | None, number: int, rng: np.random.Generator
    ) -> Iterator[Pictures]:
        return pictures_of(self.name, self.visual, source or self.own_images(), number, rng)

    def own_images(self) -> LabelledImages | None:
        """Images that ``shown`` labels, if there is such a function."""
        if self.shown is None:
            return None
        if self.shake is not None:
            return labelled_images([self.made], self.scene, self.shown, self.shake)
        controls, stops = self.control_instructions, self.stops

        def act(env: Env, scene: Scene, rng: np.random.Generator) -> bool:
            terminated = False
            if (chosen := random_choice(controls, scene, rng)) is not None:
                control = next(one for one in controls if one.header.name == chosen.name)
                for action in control.steps(*chosen.objects):
                    terminated = bool(env.step(action)[2]) or terminated
            return terminated and stops

        copied = self.restore == "copy"
        return explored_images(self.made, self.scene, self._truth.atoms, act, copied=copied)


def told(
    environment: OwnEnvironment,
    labels: Callable[[Any], Iterable[Atom]],
    access: Access = Access.SNAPSHOT,
    seeds: Sequence[int] | None = None,
) -> ImageAgent:
    """The agent of an environment's skills, before any picture can be read: labels stand in for classifiers.

    Defined words and given facts are filled in, auxiliary words left out, as perception does.

    Args:
        environment: with instructions; its images are drawn, and not read.
        labels: a function of ``env.unwrapped``: the atoms of perceived predicates that are true.
        access: ``snapshot``, ``reset`` or ``trajectory``.
        seeds: of the resets, one a problem; by default of all that are interrogated.

    Raises:
        UnusableInput: as of ``OwnEnvironment.agent``; and, once it is asked, where ``labels`` raises or gives anything but
            atoms of perceived predicates.
    """
    truth = Shown(environment.name, environment.visual, labels, "labels")
    return environment.agent(Told(truth.state), access, seeds)


def names() -> tuple[str, ...]:
    """The names under which installed packages announce environments, sorted; nothing is imported."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def is_reference(name: str) -> bool:
    """Whether a name is one of the form ``MODULE:NAME``: something of a module that Python finds, such as one in the present folder."""
    module, colon, own = name.partition(":")
    return bool(colon) and own.isidentifier() and all(part.isidentifier() for part in module.split("."))


def imported(name: str) -> object:
    """What ``MODULE:NAME`` names; UnusableInput if there is no such module or name, or the module cannot be imported."""
    module, _, own = name.partition(":")
    try:
        return getattr(import_module(module), own)
    except UnusableInput:  # it says what is wrong with what the module makes
        raise
    except RAISED as error:  # the user's module fails in any way
        raise UnusableInput(
            f"{name}: {module} cannot be imported, or has no {own} ({reason(error)}); correct it, or run "
            "the command in the folder of the module"
        ) from error


def load(name: str) -> OwnEnvironment | None:
    """The environment that an installed package announces under this name, or that ``MODULE:NAME`` names; None if there is none.

    Raises:
        UnusableInput: it cannot be imported, is not an environment, or two packages announce one.
    """
    if is_reference(name):
        found = imported(name)
        if not isinstance(found, OwnEnvironment):
            raise UnusableInput(
                f"environment {name}: is not an OwnEnvironment (but {type(found).__name__}); name one, such as "
                "bare_environment(...) makes"
            )
        return found
    points = list(dict.fromkeys(entry_points(group=GROUP, name=name)))
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        both = " and ".join(f"{_origin(point)} ({point.value})" for point in points)
        raise UnusableInput(f"environment {name}: announced by {both}; uninstall one of them")
    (point, *_) = points
    whose = f"environment {name}: {point.value} of {_origin(point)}"
    try:
        found = point.load()
    except Exception as error:  # a foreign package fails in any way
        raise UnusableInput(
            f"{whose} cannot be imported ({reason(error)}); correct or uninstall that package"
        ) from error
    if not isinstance(found, OwnEnvironment):
        raise UnusableInput(
            f"{whose} is not an OwnEnvironment (but {type(found).__name__}); announce an aam_vision.envs.own.OwnEnvironment"
        )
    if found.name != name:
        raise UnusableInput(f"{whose} calls itself {found.name!r}; use one name for both")
    return found


def _origin(point: EntryPoint) -> str:
    """The package that announces an entry point."""
    return f"package {point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"


T = TypeVar("T")


def pictures_of(
    name: str,
    visual: VisualVocabulary,
    source: LabelledImages | None,
    number: int,
    rng: np.random.Generator,
) -> Iterator[Pictures]:
    """Different labelled images of a source, ``number`` at most, as pictures to learn from, or to be examined on.

    Raises:
        UnusableInput: there are none, or the source raises; or images are none, or do not show what their labels say.

    Warns:
        AamWarning: no image can show what some labels say.
    """
    found = 0
    depiction = Depiction(f"environment {name}", visual)
    try:
        for one in distinct(source, number, rng, depiction) if source else ():
            found += 1
            states = (one.state,)
            frame, masks = _always(one.frame), _always(one.masks)
            yield Pictures(one.scene, states, frame, complete=False, checked=False, masks=masks)
    except UnusableInput as error:
        raise error if name in str(error) else UnusableInput(f"environment {name}: {error}") from error
    except Exception as error:
        raise UnusableInput(
            f"environment {name}: its labelled images raised {reason(error)}; correct them"
        ) from error
    if not found:
        raise UnusableInput(f"environment {name}: gives no labelled images; yield some")
    depiction.warn()


def _always(kept: T) -> Callable[[State], T]:
    """What belongs to the only state of a labelled image."""
    return lambda state: kept
