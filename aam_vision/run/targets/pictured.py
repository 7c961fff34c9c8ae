"""Traces whose states are images: a folder with ``actions.txt`` and ``0.png``, ``1.png`` and so on, one more than executed steps.

Each line of ``actions.txt`` is a step, written as in a plan: ``(move room1 room2)``; ``refused (move room1 room2)`` has no image.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aam_vision.interrogation.evidence.anomalies import changed_untouched
from aam_vision.interrogation.task.traced import transcript_of
from aam_vision.model.pddl.traces import Trace, TraceStep
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, Objects, State
from aam_vision.run.targets.images import PerceptionSettings, perception_of
from aam_vision.support.errors import AamWarning, UnusableInput
from aam_vision.support.files import read_limited
from aam_vision.support.pictures import NoPicture, read_picture
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.agents.perception import Frame, Percept, Perception, Scene, VisualVocabulary
    from aam_vision.envs.image_domain import ImageDomain
    from aam_vision.interrogation.evidence.transcript import Transcript

ACTIONS: Final = "actions.txt"
MAX_BYTES: Final = 10_000_000
_STEP: Final = re.compile(r"(refused\s+)?\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)")


def read_pictured(
    env: str, classifiers: Path | None, folders: Sequence[Path], problems: Sequence[str]
) -> Transcript:
    """Traces, a folder each, as one transcript, as ``read_traces`` has it; ``problems`` in which they begin: one for all, one each, or the first.

    Warns:
        AamWarning: images are not read in full, or one is misread.

    Raises:
        UnusableInput: there is no such environment or problem, or a folder cannot be used.
    """
    from aam_vision.envs.registry import image_domain

    domain, perception = image_domain(env), perception_of(env, PerceptionSettings(classifiers))
    split, number = domain.interrogated[0]
    names = list(problems) or [f"{split}/{number}"]
    if len(names) not in (1, len(folders)):
        raise UnusableInput(f"give one for all {len(folders)} traces, or one for each", "problem", names[-1])
    names *= len(folders) // len(names)
    traces = []
    for folder, name in zip(folders, names, strict=True):
        scene = domain.scene_of(name)
        traces.append(_read(folder, domain, scene, perception, _nothing(domain.visual, scene)))
    return transcript_of(domain.visual.vocabulary(), domain.headers, traces)


def _read(folder: Path, domain: ImageDomain, scene: Scene, perception: Perception, nothing: State) -> Trace:
    """A trace in which ``nothing`` is known where an image is not read in full, or disagrees with the one beside it."""
    attempted = list(_attempted(folder / ACTIONS, domain.headers, scene.objects))
    executed = [action for action, done, _ in attempted if done]
    last = len(executed)
    if (folder / f"{last + 1}.png").exists():
        raise UnusableInput(
            f"{folder}: after {counted(last, 'executed step')} {last}.png is the last image; add the missing steps to {ACTIONS}, or "
            "remove the other images"
        )
    percepts: list[Percept] = []
    for number in range(last + 1):
        frame = _image(folder / f"{number}.png")
        percepts.append(
            perception.follow(percepts[-1], frame, scene) if percepts else perception.look(frame, scene)
        )
    states = [percept.state for percept in percepts]
    refused = {number for number, percept in enumerate(percepts) if percept.refused}
    misread = set[int]()  # one of two, in which something differs that the step between them does not name
    for number, action in enumerate(executed):
        if changed_untouched(states[number], [action], states[number + 1], ()):
            misread |= {number, number + 1}
    if refused or misread:
        warnings.warn(
            f"{folder}: of {counted(len(states), 'image')} {len(refused)} are not read in full, {len(misread - refused)} disagree with the "
            "one before or after: what they show is unknown",
            AamWarning,
            stacklevel=2,
        )
    known = [nothing if n in refused | misread else state for n, state in enumerate(states)]
    after = iter(known[1:])
    steps = tuple(TraceStep(action, next(after) if done else None, line) for action, done, line in attempted)
    return Trace(folder / ACTIONS, known[0], steps)


def _nothing(visual: VisualVocabulary, scene: Scene) -> State:
    """A state of which nothing is known but what the user has said."""
    given = {entry.predicate.name for entry in visual.given}
    unknown = (
        Atom(predicate.name, objects)
        for predicate in visual.vocabulary().predicates
        if predicate.name not in given
        for objects in product(*map(scene.objects.of_type, predicate.types))
    )
    facts = frozenset(atom for atom in scene.facts if atom.predicate in given)
    return State(facts, scene.objects, frozenset(unknown))


def _attempted(
    path: Path, headers: Sequence[ActionHeader], objects: Objects
) -> Iterator[tuple[GroundAction, bool, int]]:
    """The steps of a file: whether each was executed, and its line."""
    types = {header.name: header.types for header in headers}
    try:
        lines = read_limited(path, MAX_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    for number, line in enumerate(lines, 1):
        if not (text := line.partition(";")[0].strip()):
            continue
        if (found := _STEP.fullmatch(text)) is None:
            raise UnusableInput(
                f"{path}:{number}: write a step as (NAME OBJECT...) or refused (NAME OBJECT...)"
            )
        action = GroundAction(found[2], tuple(found[3].split()))
        kinds = types.get(action.name)
        if kinds is None:
            raise UnusableInput(
                f"{path}:{number}: no instruction {action.name}; use one of {', '.join(types)}"
            )
        if not objects.fit(action.objects, kinds):
            raise UnusableInput(
                f"{path}:{number}: {action} does not name objects of the types {', '.join(kinds)}"
            )
        yield action, found[1] is None, number


def _image(path: Path) -> Frame:
    try:
        return read_picture(path)
    except (OSError, NoPicture) as error:
        why = getattr(error, "strerror", None) or error
        raise UnusableInput(f"{path}: {why}; a trace has an RGB image of every state") from None
