"""Objects that instructions mean without naming them: where steps change facts of the same few again and again, they become constants.

A lamp that every step switches, a ball that follows the only robot: with a constant the model can say it.
"""

from __future__ import annotations

from collections.abc import Mapping

from aam_vision.interrogation.evidence.anomalies import unexplained_changes
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further
from aam_vision.interrogation.task.forgotten_constants import WithConstants, extended
from aam_vision.model.strips import lifted_atoms
from aam_vision.support.wording import listed

MOST = 6
"""Constants that are added, at most: with each, every action has more atoms on which it may depend."""
ATOMS, TIMES = 200, 2
"""Atoms of all actions with constants, at most; or so many times as many as without them, if that is more. With 170 an interrogation takes
a minute."""
Constants = Mapping[str, str]
"""Names of objects with their types."""


def meant(transcript: Transcript) -> dict[str, str]:
    """The objects of which steps change facts without naming them; empty if there are none, too many, or not the same in all problems."""
    known, named = transcript.vocabulary.constants, dict[str, None]()
    for entry in transcript.in_single_steps().entries:
        given = {name for step in entry.actions for name in step.objects}
        for atom in unexplained_changes(entry, transcript.vocabulary):
            named |= dict.fromkeys(one for one in atom.objects if one not in given and one not in known)
    kinds = {name: {one.state.objects.get(name) for one in transcript.initial} for name in named}
    everywhere = {
        name: kind for name, own in kinds.items() if len(own) == 1 and (kind := next(iter(own))) is not None
    }
    if not len(everywhere) == len(named) <= MOST:
        return {}
    before, with_them = (
        sum(len(lifted_atoms(vocabulary, header)) for header in transcript.headers)
        for vocabulary in (transcript.vocabulary, extended(transcript.vocabulary, everywhere))
    )
    return everywhere if with_them <= max(ATOMS, TIMES * before) else {}


def as_constants(constants: Constants) -> str:
    """``rex as a constant``, ``lamp1 and lamp2 as constants``."""
    return f"{listed(list(constants))} as {'a constant' if len(constants) == 1 else 'constants'}"


def told(constants: Constants) -> str:
    """What was added to the vocabulary, as a sentence."""
    one = len(constants) == 1
    what = f"{'is a constant' if one else 'are constants'} of the model"
    return f"{listed(list(constants))} {what}: steps change facts of {'it' if one else 'them'} without naming {'it' if one else 'them'}."


def with_constants(diagnosed: Diagnosed, constants: Constants) -> Further:
    """Interrogate an agent as a deterministic one with constants (``meant``); or why no such model fits it, in a line. Raises AgentFailed."""
    agent, how = WithConstants(diagnosed.recorded, constants), f"deterministic with {as_constants(constants)}"
    return Further.of(diagnosed.as_deterministic(agent, how, told(constants)), constants=constants)
