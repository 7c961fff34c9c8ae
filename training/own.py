"""What the training of classifiers needs of a user's own environment: its labelled images, checked.

They come from ``OwnEnvironment.pictures``, which is the user's code, so every image is seen to be one that perfect
classifiers could read before anything is learned from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.own import Labelled, OwnEnvironment
from aam_vision.errors import UnusableInput, reason
from aam_vision.perception import Frame, Percept, Scene
from aam_vision.strips import State
from aam_vision.training.assessment import Assessment, Sample, assess, expected, places_of
from aam_vision.training.boards import Example, examples
from aam_vision.training.corruptions import CLEAN, Corruption
from aam_vision.training.labels import check_legal

PICTURES = 400
"""Images to learn from."""

TRIES = 20
"""Draws per wanted image before the source is taken to have no more distinct ones."""

_Source = Callable[[np.random.Generator], Iterator[Labelled]]


def own_lessons(
    environment: OwnEnvironment, rng: np.random.Generator, side: int, *, fewer: int = 1
) -> list[Example]:
    """Labelled boards to learn from.

    Args:
        environment: the user's.
        rng: the source of all chance.
        side: of a cell, in pixels of the boards.
        fewer: divides the number of boards, to try things out.

    Raises:
        UnusableInput: the user's code raises, or a label describes no legal board.
    """
    return [
        board
        for scene, state, frame in _distinct(environment, environment.pictures, PICTURES // fewer, rng)
        for board in examples(environment.visual, scene, [(state, frame)], side)
    ]


def assess_own(
    environment: OwnEnvironment,
    perception: BoardPerception,
    states: int,
    seed: int,
    conditions: Mapping[str, Corruption],
) -> dict[str, Assessment]:
    """Read ``states`` distinct images of ``environment.unseen``, clean and under every condition.

    Raises:
        UnusableInput: the user's code raises, or a label describes no legal board.
    """
    rng, chance = (np.random.default_rng([seed, which]) for which in (2, 3))
    worse = {"unseen": CLEAN, **{f"unseen, {name}": condition for name, condition in conditions.items()}}
    found = {name: Assessment() for name in worse}
    for scene, state, frame in _distinct(
        environment, environment.unseen or environment.pictures, states, rng
    ):
        wanted = expected(environment.visual, SceneIndex(environment.visual, scene), state)
        whole = State(state.true | wanted.state.true, scene.objects)  # with what is defined and given
        nowhere = State(frozenset(), scene.objects)
        before = Percept(nowhere, places_of(environment.visual, scene, state))
        known = [Sample(whole, frame, wanted, before)]
        for name, condition in worse.items():
            assess(perception, scene, known, [condition.corrupt(frame, chance)], found[name])
    return found


def scene_of(environment: OwnEnvironment, problem: str) -> Scene:
    """The scene of a problem that is named ``seed/N``.

    Raises:
        UnusableInput: the name is another one.
    """
    split, _, number = problem.partition("/")
    if split != "seed" or not number.isdecimal():
        raise UnusableInput(f"problem {problem!r}: write seed/N, with the seed of the reset")
    return environment.simulator(int(number)).scene


def _distinct(
    environment: OwnEnvironment, source: _Source, number: int, rng: np.random.Generator
) -> Iterator[tuple[Scene, State, Frame]]:
    """Up to ``number`` different images of a source, each checked."""
    seen: set[bytes] = set()
    pictures = None
    for _ in range(TRIES * number):
        try:
            pictures = pictures or iter(source(rng))
            scene, true, frame = next(pictures)
        except StopIteration:
            break
        except Exception as error:
            raise UnusableInput(
                f"environment {environment.name}: its labelled images raised {reason(error)}; correct them"
            ) from error
        if (content := frame.tobytes()) not in seen:
            seen.add(content)
            state = State(frozenset(true), scene.objects)
            try:
                check_legal(environment.visual, SceneIndex(environment.visual, scene), state)
            except UnusableInput as error:
                raise UnusableInput(
                    f"environment {environment.name}, labelled image {len(seen)}: {error}"
                ) from error
            yield scene, state, frame
            if len(seen) == number:
                return
    if not seen:
        raise UnusableInput(f"environment {environment.name}: gives no labelled images; yield some")
