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
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np

from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Frame, Percept, Perception, Scene, VisualVocabulary
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.image_domain import Pictures, Problem
from aam_vision.envs.labelled import Depiction, Labelled, LabelledImages, distinct, labelled_images
from aam_vision.envs.meaning import Instruction, becomes, headers, instruction
from aam_vision.envs.references import imported, is_reference
from aam_vision.envs.restoring import Env, Restore
from aam_vision.envs.shown import Shown, Told, watched
from aam_vision.model.query import Access
from aam_vision.model.strips import ActionHeader, Atom, Model, State
from aam_vision.support.errors import UnusableInput, reason

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

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions."""
        return headers(self.instructions)

    @property
    def interrogated(self) -> tuple[Problem, ...]:
        """The problems that are interrogated together."""
        return tuple((SPLIT, seed) for seed in self.seeds)

    def classifiers(self, given: Path | None) -> Path:
        """The folder of the weights: the given one, or the package's own.

        Raises:
            UnusableInput: there is neither.
        """
        folder = given or self.weights
        if folder is None:
            raise UnusableInput(
                f"{self.name}: its package brings no classifiers; run python -m aam_vision.training.train "
                f"--env {self.name} --out DIR, and name DIR"
            )
        return folder

    def simulator(self, problem: Problem) -> GymnasiumSimulator:
        """A problem, ready to be instructed.

        Raises:
            UnusableInput: the environment cannot be made or used.
        """
        _, seed = problem
        return GymnasiumSimulator(
            self.made(), self.instructions, self.scene, self.restore, seed, stops=self.stops
        )

    def made(self) -> Env:
        """The Gymnasium environment.

        Raises:
            UnusableInput: ``make`` raises.
        """
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
        chosen = self.seeds if seeds is None else seeds
        simulators = watched([self.simulator((SPLIT, seed)) for seed in chosen], perception)
        about = self.visual.vocabulary(), self.headers, access
        return ImageAgent(simulators, perception, *about, refuses_surely=True)

    def held_out_states(self, look: Callable[[Frame, Scene], Percept]) -> list[State]:
        """The initial states of the problems of ``held_out``, as they are seen.

        A problem is left out if it cannot be made, or if not every atom can be read from its first image.

        Args:
            look: reads the first image of a problem.
        """
        first = max(self.seeds) + 1
        seeds = range(first, first + HELD_OUT) if self.held_out is None else self.held_out
        found = []
        for seed in seeds:
            try:
                simulator = self.simulator((SPLIT, seed))
                state = look(simulator.frame(), simulator.scene).state
            except UnusableInput:
                continue
            if not state.unknown:
                found.append(state)
        return found

    def scene_of(self, problem: str) -> Scene:
        """The scene of a problem that is named ``seed/N``.

        Raises:
            UnusableInput: the name is another one.
        """
        split, _, number = problem.partition("/")
        if split != SPLIT or not number.isdecimal():
            raise UnusableInput(f"problem {problem!r}: write seed/N, with the seed of the reset")
        return self.simulator((SPLIT, int(number))).scene

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
        return pictures_of(self.name, self.visual, source, number, rng)


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


def load(name: str) -> OwnEnvironment | None:
    """The environment that an installed package announces under this name; None if there is none.

    ``MODULE:NAME`` is an environment of a module that Python finds, such as one in the present folder.

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
    try:
        found = point.load()
    except Exception as error:  # a foreign package fails in any way
        raise UnusableInput(
            f"environment {name}: {point.value} of {_origin(point)} cannot be imported ({reason(error)}); correct "
            f"or uninstall that package"
        ) from error
    if not isinstance(found, OwnEnvironment):
        raise UnusableInput(
            f"environment {name}: {point.value} of {_origin(point)} is not an OwnEnvironment (but "
            f"{type(found).__name__}); announce an aam_vision.envs.own.OwnEnvironment"
        )
    if found.name != name:
        raise UnusableInput(
            f"environment {name}: {point.value} of {_origin(point)} calls itself {found.name!r}; use one name for both"
        )
    return found


def _origin(point: EntryPoint) -> str:
    """The package that announces an entry point."""
    return f"package {point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"


# Labelled images of a user's own as pictures to learn from, or to be examined on.


T = TypeVar("T")


def pictures_of(
    name: str,
    visual: VisualVocabulary,
    source: LabelledImages | None,
    number: int,
    rng: np.random.Generator,
) -> Iterator[Pictures]:
    """Different images of a source, at most so many.

    Args:
        name: of the environment, for messages.
        visual: its vocabulary.
        source: labelled images at random.
        number: of images.
        rng: what the source draws from.

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
            state = State(one.true, one.scene.objects, one.unknown)
            yield Pictures(
                one.scene,
                (state,),
                _Always(one.frame),
                complete=False,
                checked=False,
                masks=_Always(one.masks),
            )
    except UnusableInput as error:
        raise error if name in str(error) else UnusableInput(f"environment {name}: {error}") from error
    except Exception as error:
        raise UnusableInput(
            f"environment {name}: its labelled images raised {reason(error)}; correct them"
        ) from error
    if not found:
        raise UnusableInput(f"environment {name}: gives no labelled images; yield some")
    depiction.warn()


class _Always(Generic[T]):
    """What belongs to the only state of a labelled image."""

    def __init__(self, kept: T) -> None:
        self._kept = kept

    def __call__(self, state: State) -> T:
        return self._kept
