"""Any deterministic Gymnasium environment as an agent that can be interrogated.

What the user brings: a vocabulary with the source of every predicate's truth (``perception``), instructions and what
they mean to the environment (``meaning.Instruction``), what they point out about each problem
(``Scene``), and a perception that reads its images. The tutorial ``docs/tutorials/own-environment.md`` makes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aam_vision.agents.image import ImageAgent
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.meaning import Instruction, headers
from aam_vision.envs.restoring import Env, Restore
from aam_vision.errors import UnusableInput
from aam_vision.perception import Perception, Scene, VisualVocabulary
from aam_vision.query import Access

__all__ = ["GymnasiumAgent", "Instruction"]


class GymnasiumAgent(ImageAgent):
    """An agent whose world is a Gymnasium environment; each ``seed`` of it is a problem.

    Args:
        env: with ``render_mode="rgb_array"``; a function that makes one, where there are several problems.
        vocabulary: the predicates, each with the source of its truth.
        instructions: all that the agent can be told, and what it means.
        perception: reads the images of that vocabulary.
        restore: how the environment is brought back to where it was: ``"copy"`` (deep copies), ``"replay"`` (a
            seeded reset and the same actions again), or functions ``(snapshot(env), restore(env, token))``.
        scene: what the user points out about a problem; or a function of ``env.unwrapped``, just reset.
        seeds: of the resets, one a problem.
        access: ``snapshot``, ``reset`` or ``trajectory``.
        stops: whether nothing can be done once the environment has said ``terminated``.

    Raises:
        UnusableInput: the environment shows no images, is not deterministic or cannot be restored; or a
            function of the user's raises.
    """

    def __init__(
        self,
        env: Env | Callable[[], Env],
        vocabulary: VisualVocabulary,
        instructions: Sequence[Instruction],
        perception: Perception,
        restore: Restore = "copy",
        *,
        scene: Scene | Callable[[Any], Scene],
        seeds: Sequence[int] = (0,),
        access: Access = Access.SNAPSHOT,
        stops: bool = True,
    ) -> None:
        if access is Access.SETTABLE:
            raise UnusableInput(
                "access settable: an image agent cannot be set; use snapshot, reset or trajectory"
            )
        if not callable(env) and len(seeds) > 1:
            raise UnusableInput(
                f"{env}: one environment for {len(seeds)} seeds; give a function that makes one for each"
            )
        envs = [env() if callable(env) else env for _ in seeds]
        simulators = [
            GymnasiumSimulator(one, instructions, scene, restore, seed, stops=stops)
            for one, seed in zip(envs, seeds, strict=True)
        ]
        about = vocabulary.vocabulary(), headers(instructions), access
        super().__init__(simulators, perception, *about, refuses_surely=True)
