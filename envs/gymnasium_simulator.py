"""Any deterministic Gymnasium environment as a ``Simulator``: instructions in the user's words, images out.

What is not understood, or turns out not to have been carried out (``meaning``), is refused, and a step that was made in vain
is taken back (``restoring``). That the environment is deterministic and comes back is tried first, on images. A sensor's noise in them is found
out then: from there on, images that differ by no more than that are alike, and every look is a new one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

from aam_vision.agents.bare import with_objects
from aam_vision.agents.image import digest
from aam_vision.agents.perception import Frame, Scene, cell_edges
from aam_vision.envs.meaning import Instruction, Policies, differ, result_of
from aam_vision.envs.restoring import Actions, Env, Restore, difference, in_order, redraw_chance, way_back
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import RAISED, AamWarning, AgentFailed, HasChance, UnusableInput, reason
from aam_vision.support.noise import only_noise
from aam_vision.support.pictures import fault
from aam_vision.support.resources import returning
from aam_vision.support.wording import counted

RESETS = 2
"""Pairs of resets with one seed: more of them notice more surely that it forgets the seed."""
CHECKED_STEPS = 16
"""Random steps that are made twice, to see that an environment is deterministic and can be restored."""


@dataclass(frozen=True)
class _Snapshot:
    """Where the simulator stood: the way back, the actions since the reset, what was seen and observed, whether it was over."""

    token: object
    done: Actions | None
    frame: Frame
    over: bool
    observation: Any


class GymnasiumSimulator:
    """One problem of an environment; implements ``aam_vision.agents.perception.Simulator``.

    Args:
        env: with ``render_mode="rgb_array"``; nothing else may step it.
        instructions: all that the agent can be told.
        scene: what the user points out about the problem; or a function of ``env.unwrapped``, just reset.
        restore: how the environment is brought back, see ``restoring``.
        seed: of every reset: it makes the problem.
        stops: whether nothing can be done once the environment has said ``terminated``. (``truncated`` is never
            heeded: how long an episode may take says nothing about what the agent can do.) The end is a variable of
            the agent's world like any other: where no predicate shows it, no model explains what is refused then.
        checked: whether it is tried that the environment does the same again, and can be restored; else it is believed.

    Warns:
        AamWarning: a step is refused for the first time because of ``stops``.

    Raises:
        UnusableInput: the environment shows no images, is not deterministic or cannot be restored; or a
            function of the user's raises.
    """

    _halts = "refuses steps"
    """What happens after the end, in words."""

    def __init__(
        self,
        env: Env,
        instructions: Sequence[Instruction],
        scene: Scene | Callable[[Any], Scene],
        restore: Restore = "copy",
        seed: int = 0,
        *,
        stops: bool = True,
        checked: bool = True,
    ) -> None:
        self._env = env
        self._name = str(env.unwrapped)
        self._instructions = {instruction.header.name: instruction for instruction in instructions}
        self._seed = seed
        self._stops = stops
        self._warned = False
        self._back = way_back(restore, self._reset)
        self._restore = restore
        self._done: Actions | None = None
        self.over = False
        """Whether the environment has said ``terminated``."""
        self._seen: Frame | None = None
        self._frames: WeakValueDictionary[str, Frame] = WeakValueDictionary()
        """By digest, the images that snapshots keep: equal ones are kept once."""
        self._size: tuple[int, ...] | None = None
        self._observed: Any = None
        """What the environment gave last, which policies act on."""
        self._policies = Policies(self._name)
        self._noisy = False
        """Whether images of one state differ, by a sensor's noise alone."""
        self.start()
        self.scene = self._users(scene, "scene", self._env.unwrapped) if callable(scene) else scene
        if not isinstance(self.scene, Scene):
            raise UnusableInput(
                f"{self._name}: scene gave {type(self.scene).__name__}; it has to give a Scene, as "
                "aam_vision.envs.grids.board_scene does"
            )
        cell_edges(self.frame(), self.scene, f"{self._name}: render() gave")
        if checked:
            self._check()
            self.start()
        for instruction in instructions:
            self._arguments(instruction)

    @property
    def present(self) -> Any:
        """``env.unwrapped``, as it stands."""
        return self._env.unwrapped

    def start(self) -> None:
        self._reset(self._env)
        self._done, self.over, self._seen = None, False, None

    def snapshot(self) -> object:
        token = self._back.snapshot(self._env, self._done)
        return _Snapshot(token, self._done, self.frame(), self.over, deepcopy(self._observed))

    def restore(self, snapshot: object) -> None:
        """Go back to a state from which ``snapshot`` was taken.

        Raises:
            AgentFailed: the environment shows another image there than it did.
        """
        assert isinstance(snapshot, _Snapshot), "a snapshot of this simulator"
        self._env = self._back.restore(self._env, snapshot.token)
        self._done, self.over, self._seen = snapshot.done, snapshot.over, None
        self._observed = deepcopy(snapshot.observation)
        if self._restore != "copy" and self._apart(snapshot.frame, self.frame()):
            raise AgentFailed(
                f"{self._name}: shows another image where it was brought back to; make it deterministic, or "
                f"give another restore than {self._restore!r}"
            )
        self._seen = snapshot.frame

    def frame(self) -> Frame:
        """The present image, uint8 (H, W, 3); another one at every look, where there is noise.

        Raises:
            UnusableInput: the environment gives no such image, or one of another size than before.
        """
        if self._seen is None or self._noisy:
            frame = rendered(self._env, self._size)
            self._seen, self._size = self._frames.setdefault(digest(frame), frame), frame.shape
        return self._seen

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Execute one ground instruction; False, and no change, when the agent cannot.

        Raises:
            UnusableInput: there is no such instruction, or a function of the user's raises.
        """
        instruction = self._instruction(name)
        return objects in self._arguments(instruction) and self._attempt(instruction, objects)

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """The agent's own next choice: any instruction that it can carry out now."""
        instructions = list(self._instructions.values())
        for number in rng.permutation(len(instructions)):
            instruction = instructions[number]
            meant = self._arguments(instruction)
            for choice in rng.permutation(len(meant)):
                here = self.snapshot()
                if self._attempt(instruction, meant[choice]):
                    self.restore(here)
                    return instruction.header.name, meant[choice]
        return None

    def _attempt(self, instruction: Instruction, objects: tuple[str, ...]) -> bool:
        """Make the steps, and take them back if they turn out not to be what was meant."""
        if self.over and self._stops:
            self._warn()
            return False
        told = str(GroundAction(instruction.header.name, objects))
        if instruction.policy is not None:
            return self._follow(instruction, objects, told)
        actions = self._actions(instruction, objects)
        here, before = self.snapshot(), self._watched(instruction, told)
        for action in actions:
            self._step(action, told)
        after = self._watched(instruction, told)
        executed = self._apart if instruction.refuses_by_sight else instruction.executed
        if self._users(executed, f"executed of {told}", before, after):
            return True
        self.restore(here)
        return False

    def _follow(self, instruction: Instruction, objects: tuple[str, ...], told: str) -> bool:
        """Let a policy act until it is done, its limit, or the episode's end; False if it does not begin."""
        if not self._policies.begins(instruction, told, self.present, objects):
            return False
        for _ in range(instruction.limit or 0):
            if self.over and self._stops:
                break
            chosen = self._policies.action(instruction, told, self.present, self._observed, objects)
            if chosen is None:
                break
            self._step(*chosen, told)
        return True

    def _instruction(self, name: str) -> Instruction:
        if name not in self._instructions:
            raise UnusableInput(f"no instruction {name!r}: use one of {', '.join(self._instructions)}")
        return self._instructions[name]

    def _actions(self, instruction: Instruction, objects: tuple[str, ...]) -> list[Any]:
        """The environment's actions that an instruction stands for."""
        told = GroundAction(instruction.header.name, objects)
        found: list[Any] = self._users(instruction.steps, f"actions of {told}", *objects)
        return found

    def _warn(self) -> None:
        """Say once that the end of the episode decides what can be done."""
        if not self._warned:
            self._warned = True
            line = (
                f"{self._name}: {self._halts} after an episode's end; give stops=False, or a predicate for it"
            )
            warnings.warn(line, AamWarning, stacklevel=2)

    def _watched(self, instruction: Instruction, told: str) -> Any:
        if instruction.watch is None:
            return self.frame()
        return self._users(instruction.watch, f"watch of {told}", self._env.unwrapped)

    def _arguments(self, instruction: Instruction) -> list[tuple[str, ...]]:
        """All that the parameters can stand for at present."""
        about = f"arguments of {instruction.header.name}", self.present, self.scene.objects
        return list(self._users(instruction.understood, *about))

    def _users(self, function: Callable[..., Any], what: str, *arguments: Any) -> Any:
        """Return the result of a user's function; one that raises is named."""
        return result_of(self._name, what, function, *arguments)

    def _step(self, action: Any, told: str) -> None:
        try:
            with returning(f"{self._name}: {told}: action {action!r}"):
                self._observed, _, terminated, _, _ = self._env.step(action)
        except AgentFailed:
            raise
        except RAISED as error:
            space = self._env.action_space
            cure = "correct the environment" if space.contains(action) else f"give an action of {space}"
            raise UnusableInput(
                f"{self._name}: {told}: action {action!r} raised {reason(error)}; {cure}"
            ) from error
        self._done = Actions(self._done, action)
        self.over = self.over or bool(terminated)
        self._seen = None

    def _reset(self, env: Env) -> None:
        try:
            found: Any = env.reset(seed=self._seed)
        except RAISED as error:
            raise UnusableInput(
                f"{self._name}: reset(seed={self._seed}) raised {reason(error)}; correct the environment"
            ) from error
        self._observed = found[0] if isinstance(found, tuple) else found

    # --- is it deterministic, and does it come back? ---------------------------------------------------

    def _check(self) -> None:
        """Make random steps, and the same again; UnusableInput if the images are others."""
        advice = (
            "reset forgets its seed: call super().reset(seed=seed), and draw all chance from self.np_random"
        )
        for _ in range(RESETS):
            self._compare(self._show(()), self._show(()), "after each reset with the same seed", advice)
        actions = self._random_actions(CHECKED_STEPS)
        seen = self._show(actions)
        self._compare(seen, self._show(actions), "with the same seed and actions", "make it deterministic")
        advice = "switch its chance off (slippery floors, sticky actions), it is no part of a STRIPS agent"
        self._compare(
            seen, self._show(actions, other_chance=True), "with the same actions", advice, HasChance
        )
        self.start()
        half = len(seen) // 2
        for action in actions[:half]:
            self._step(action, "a random step")
        there, advice = self.snapshot(), f"give another restore than {self._restore!r}"
        for _ in range(2):
            try:
                self.restore(there)
            except AgentFailed as error:
                raise UnusableInput(str(error)) from error
            again = [*seen[:half], *self._course(actions[half : len(seen) - 1], ends=False)]
            self._compare(seen, again, "after it was brought back", advice)

    def _random_actions(self, count: int) -> list[Any]:
        self._env.action_space.seed(self._seed)
        return [self._env.action_space.sample() for _ in range(count)]

    def _show(self, actions: Sequence[Any], *, other_chance: bool = False) -> list[Frame]:
        """The images of a seeded reset and of steps from there, until the episode ends."""
        self.start()
        if other_chance:
            self._env.unwrapped.np_random = np.random.default_rng([self._seed, 1])
        return self._course(actions, ends=True)

    def _course(self, actions: Sequence[Any], *, ends: bool) -> list[Frame]:
        """The present image and those of steps from here, where it ``ends`` until the episode does."""
        frames = [self.frame()]
        for action in actions:
            self._step(action, "a random step")
            frames.append(self.frame())
            if ends and self.over:
                break
        return frames

    def _apart(self, one: Frame, other: Frame) -> bool:
        """Whether two images show two states."""
        return differ(one, other) and not (self._noisy and only_noise(one, other))

    def _compare(
        self,
        one: Sequence[Frame],
        other: Sequence[Frame],
        when: str,
        advice: str,
        error: type[UnusableInput] = UnusableInput,
    ) -> None:
        for number, (first, second) in enumerate(zip(one, other, strict=False)):
            if differ(first, second) and only_noise(first, second):
                self._noisy = True
            elif differ(first, second):
                raise error(
                    f"{self._name}: shows another image {when} (seed {self._seed}, after {counted(number, 'step')}); {advice}"
                )


# A Gymnasium environment by its controls: each can always be given, and changes something or nothing.
#
# That a control does the same whenever it is given in one situation is tried first, with chance drawn anew: in what the picture
# shows, and in what the environment remembers besides.


PLACES: Final = 4
"""Situations in which every control is given twice."""
STRIDE: Final = 5
"""Controls from one of them to the next."""


def random_choice(
    controls: Sequence[Instruction], scene: Scene, rng: np.random.Generator
) -> GroundAction | None:
    """One of these controls at random, with arguments at random; None if the scene lacks the objects for it."""
    return with_objects(controls[int(rng.integers(len(controls)))].header, scene.objects, rng)


class ControlSimulator(GymnasiumSimulator):
    """One problem of an environment, whose instructions are its controls; arguments as of ``GymnasiumSimulator``.

    After the end of an episode, controls change nothing, unless it ``stops`` not.

    Raises:
        UnusableInput: also if a control given twice in one situation does two things.
    """

    _halts = "does nothing"

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Give a control; always True.

        Raises:
            UnusableInput: there is no such control, or a function of the user's raises.
        """
        instruction = self._instruction(name)
        if self.over and self._stops:
            self._warn()
            return True
        told = str(GroundAction(name, objects))
        for action in self._actions(instruction, objects):
            self._step(action, told)
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """A control at random; None if the problem lacks the objects for it."""
        return random_choice(list(self._instructions.values()), self.scene, rng)

    # --- does a control always do the same? ------------------------------------------------------------

    def _random_actions(self, count: int) -> list[Any]:
        """Actions of controls."""
        rng = np.random.default_rng(self._seed)
        found: list[Any] = []
        while len(found) < count:
            chosen = self.choose(rng)
            if chosen is None:
                return found
            found += self._actions(self._instruction(chosen[0]), chosen[1])
        return found

    def _check(self) -> None:
        """Check what is checked of every environment, and that no control does two things in one situation."""
        super()._check()
        self.start()
        rng = np.random.default_rng(self._seed)
        for _ in range(PLACES):
            here = self.snapshot()
            for control in self._instructions.values():
                given = with_objects(control.header, self.scene.objects, rng)
                if given is not None:
                    self._check_control(here, *given)
            self.restore(here)
            for _ in range(STRIDE):
                chosen = self.choose(rng)
                if chosen is not None and not self.over:
                    self.instruct(*chosen)
            if self.over:
                self.start()

    def _check_control(self, here: object, name: str, objects: tuple[str, ...]) -> None:
        """Give a control twice where a snapshot was taken."""
        seen: list[tuple[Frame, object]] = []
        for chance in (1, 2):
            self.restore(here)
            place = len(in_order(self._done))
            redraw_chance(self._env, chance)
            self.instruct(name, objects)
            seen.append((self.frame(), self._remembered()))
        one, other = seen
        where = f"{GroundAction(name, objects)} (seed {self._seed}, after {counted(place, 'step')})"
        if self._apart(one[0], other[0]):
            raise UnusableInput(
                f"{self._name}: shows two images after the same control in the same situation: {where}; switch its "
                "chance off (slippery floors, obstacles that move), it is no part of a STRIPS agent"
            )
        if found := difference(one[1], other[1]):
            raise UnusableInput(
                f"{self._name}: remembers two things after the same control in the same situation: {where}: {found}; "
                "make it deterministic, or give restore=(snapshot, restore) that keep only what matters"
            )

    def _remembered(self) -> object:
        """All that the environment keeps, as far as it can be looked into; None where it cannot be copied."""
        if self._restore == "copy":
            return self._env.unwrapped
        return None if self._restore == "replay" else deepcopy(self._back.snapshot(self._env, self._done))


# The image that a Gymnasium environment shows, found to be one.


def rendered(env: Env, size: tuple[int, ...] | None = None) -> Frame:
    """The present image, uint8 (H, W, 3): a copy, as environments may draw into one array again and again.

    Raises:
        UnusableInput: it gives no such image, or one of another ``size`` than before in this problem.
    """
    try:
        image: object = env.render()
    except Exception as error:  # whatever a user's environment raises
        raise UnusableInput(
            f"{env.unwrapped}: render() raised {reason(error)}; correct the environment"
        ) from error
    frame = copied(image, f"{env.unwrapped}: render() gave a picture that is")
    if size is not None:
        check_size(frame, size, f"{env.unwrapped}: render() gave")
    return frame


def copied(image: object, whose: str) -> Frame:
    """A copy of an image; UnusableInput if it is none, in a message that begins with ``whose``."""
    if (why := fault(image)) is not None:
        raise UnusableInput(f"{whose} {why}")
    return np.array(image, np.uint8)


def check_size(frame: Frame, size: tuple[int, ...], whose: str) -> None:
    """Refuse an image that has another shape than those before it; the message begins with ``whose``."""
    if frame.shape != size:
        raise UnusableInput(
            f"{whose} {size_text(frame)} after {size[1]}x{size[0]} in the same problem; draw all pictures of a problem in one size"
        )


def size_text(frame: Frame) -> str:
    """Width and height of an image, in words."""
    return f"{frame.shape[1]}x{frame.shape[0]} pixels"


# An environment with chance: it is brought back to a state, and never to what chance brought.
#
# Before an environment goes on from where it was brought back to, or from a reset, its generators of random numbers are seeded
# anew from a generator of ours: ``np_random``, and those that it or its wrappers hold as attributes. So every trial is a new
# draw, and a run can be made again. Chance from elsewhere may be a copy that is brought back along with everything else: an
# environment that repeats itself is refused, as far as random steps show it.


TRIED: Final = 16
"""Random steps that are made again and again from one state."""
REPEATS: Final = 4
"""How often: chance that is drawn anew shows another image in some of them, if it shows at all."""


class ChanceSimulator(GymnasiumSimulator):
    """One problem of an environment with chance; arguments as of ``GymnasiumSimulator``.

    Raises:
        UnusableInput: also if it could not be told whether an instruction was refused, or chance repeats itself.
    """

    def __init__(self, chance: np.random.Generator, *given: Any, **more: Any) -> None:
        self._chance = chance
        super().__init__(*given, **more)

    def restore(self, snapshot: object) -> None:
        """Go back to a state from which ``snapshot`` was taken; what chance brings from there is drawn anew."""
        super().restore(snapshot)
        self._redraw(self._env)

    def _reset(self, env: Env) -> None:
        super()._reset(env)
        self._redraw(env)

    def _redraw(self, env: Env) -> None:
        _ = env.unwrapped.np_random  # there is one from now on
        redraw_chance(env, int(self._chance.integers(2**63)))

    # --- does chance repeat itself? --------------------------------------------------------------------

    def _check(self) -> None:
        """Make random steps from one state again and again.

        Raises:
            UnusableInput: they always show the same images, though one picture and action led to two of them.
        """
        self.start()
        first = self.frame()
        self.start()
        self._compare(
            [first], [self.frame()], "after a reset with the same seed", "make its start deterministic"
        )
        actions, here = self._random_actions(TRIED), self.snapshot()
        courses = []
        for _ in range(REPEATS):
            self.restore(here)
            self._compare([first], [self.frame()], "after it was brought back", "give another restore")
            courses.append(self._course(actions, ends=self._stops))
        self.start()
        if _several(courses[0], actions) and all(
            len(courses[0]) == len(other) and not any(map(self._apart, courses[0], other))
            for other in courses[1:]
        ):
            raise UnusableInput(
                f"{self._name}: the same action in the same picture led to two pictures, but brought back it does as before: "
                "draw chance from np_random, or show what it depends on"
            )


def _several(course: Sequence[Frame], actions: Sequence[Any]) -> bool:
    """Whether one picture and action was followed by two pictures."""
    then: dict[tuple[bytes, str], bytes] = {}
    for before, action, after in zip(course, actions, course[1:], strict=False):
        found = then.setdefault((before.tobytes(), str(action)), after.tobytes())
        if found != after.tobytes():
            return True
    return False


def check_chance(name: str, instructions: Sequence[Instruction], restore: Restore) -> None:
    """Refuse what cannot be used with chance: refusals that look like an outcome that changes nothing, and actions made again.

    Raises:
        UnusableInput: an instruction is taken for refused where its image stays as it was, or the way back is to repeat actions.
    """
    for one in instructions:
        if one.refuses_by_sight:
            raise UnusableInput(
                f"environment {name}: {one.header.name} counts as refused where the image stays the same, but by chance it "
                "may have been carried out; give executed (and watch), which tell it"
            )
    if restore == "replay":
        raise UnusableInput(
            f"environment {name}: restore='replay' does not bring back what has chance; give 'copy', or two functions"
        )
