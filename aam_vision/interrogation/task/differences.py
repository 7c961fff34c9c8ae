"""Differences between an agent and a model learned earlier."""

from __future__ import annotations

from typing import NamedTuple

from aam_vision.errors import UnusableInput
from aam_vision.strips import ActionHeader, LiftedAtom, Location, Mode, Model, Vocabulary, lifted_atoms


class ModelDifference(NamedTuple):
    """A pal tuple whose mode is another one now."""

    action: str
    location: Location
    atom: str
    before: Mode
    now: Mode

    def __str__(self) -> str:
        where = "requires" if self.location is Location.PRE else "changes"
        return f"{self.action} {where} {self.atom}: {self.before.value} before, {self.now.value} now"


def differences(before: Model, now: Model, *, repeated: bool = False) -> list[ModelDifference]:
    """All of them, in the order of the model; an effect that restates a precondition does not count."""
    found = []
    for schema in now.actions:
        header = schema.header
        for atom in lifted_atoms(now.vocabulary, header, repeated=repeated):
            for location in Location:
                modes = [_read(model, header.name, atom, location) for model in (before, now)]
                if modes[0] is not modes[1]:
                    found.append(ModelDifference(header.name, location, atom.text(header.parameters), *modes))
    return found


def check_prior(
    prior: Model, vocabulary: Vocabulary, headers: tuple[ActionHeader, ...], source: object = None
) -> None:
    """Refuse a model of another agent; ``source`` names the model in the message.

    Raises:
        UnusableInput: its predicates or actions are not those of the agent.
    """
    for what, own, given in (
        (
            "predicates",
            {p.name: p.types for p in vocabulary.predicates},
            {p.name: p.types for p in prior.vocabulary.predicates},
        ),
        ("actions", {h.name: h.types for h in headers}, {h.name: h.types for h in prior.headers}),
    ):
        if own != given:
            other = sorted(own.keys() ^ given.keys()) or sorted(n for n in own if own[n] != given[n])
            raise UnusableInput(
                f"is a model of another agent (its {what} differ: {', '.join(other[:3])}); give one with the agent's "
                "vocabulary and instructions",
                argument="prior",
                value=source or prior.vocabulary.name,
            )


def _read(model: Model, action: str, atom: LiftedAtom, location: Location) -> Mode:
    schema = model.schema(action)
    mode = schema.mode(atom, location)
    restated = location is Location.EFF and mode is schema.mode(atom, Location.PRE)
    return Mode.ABSENT if restated else mode
