"""The palm tuples in which two models of the same actions differ."""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.model.strips import ActionSchema, LiftedAtom, Location, Mode, Model


@dataclass(frozen=True)
class Difference:
    """A pal tuple with another mode in another model."""

    action: str
    location: Location
    text: str
    modes: tuple[Mode, Mode]

    def __str__(self) -> str:
        ours, other = (mode.value for mode in self.modes)
        return f"{self.text} in {self.location.value} of {self.action}: {ours} and {other}"


def differences(one: Model, other: Model) -> list[Difference]:
    """The palm tuples in which two models of the same actions differ, in the order of the first."""
    found = []
    for schema in one.actions:
        rival = other.schema(schema.header.name)
        for location in Location:
            atoms = dict.fromkeys((*_atoms(schema, location), *_atoms(rival, location)))
            for atom in sorted(atoms, key=lambda atom: (atom.predicate, str(atom.arguments))):
                modes = schema.mode(atom, location), rival.mode(atom, location)
                if modes[0] is not modes[1]:
                    text = atom.text(schema.header.parameters)
                    found.append(Difference(schema.header.name, location, text, modes))
    return found


def _atoms(schema: ActionSchema, location: Location) -> list[LiftedAtom]:
    if location is Location.PRE:
        return [*schema.positive, *schema.negative]
    return [*schema.add, *schema.delete]
