"""The mapping of operators to controls: ``controls.json``, which may be anybody's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aam_vision.agents.encoding import Malformed, field, loads
from aam_vision.model.strips import ActionHeader, GroundAction, Model
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited

NAME = "controls.json"
CONDITIONAL = "model-when.pddl"
"""The file of the model in which cases that are one action are written as one, in the folder of a run; not of every run."""
MAX_BYTES = 10_000_000
"""Bytes of the file, at most."""


@dataclass(frozen=True)
class Carrier:
    """The control that carries out an operator."""

    control: str
    given: int
    """How many of the operator's parameters, the first ones, are the control's arguments."""

    def instructed(self, objects: Sequence[str]) -> GroundAction:
        """The control to give, where these objects stand for the operator's parameters."""
        return GroundAction(self.control, tuple(objects[: self.given]))


Carriers = Mapping[str, Carrier]
"""By operator, the control that carries it out."""


def read_carriers(folder: Path, model: Model, controls: Sequence[ActionHeader] | None = None) -> Carriers:
    """The mapping in the folder of a run; ``controls`` are the agent's, where they are known.

    Raises:
        UnusableInput: there is none, it is damaged, or about other operators or controls.
    """
    path = folder / NAME
    if path.is_symlink() or not path.is_file():
        raise UnusableInput(
            f"{folder}: holds no {NAME}; give the folder of a finished run with --controls or --bare"
        )
    try:
        return carriers(loads(read_limited(path, MAX_BYTES)), model, controls)
    except (Malformed, OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"{path}: damaged, or of another run ({error})") from None


def carriers(told: Any, model: Model, controls: Sequence[ActionHeader] | None = None) -> Carriers:
    """The mapping that the contents of ``controls.json`` state.

    Raises:
        Malformed: they are not as a run writes them, or about other operators or controls.
    """
    if not isinstance(told, list):
        raise Malformed("it is no list")
    offered = None if controls is None else {control.name: control for control in controls}
    headers = {header.name: header for header in model.headers}
    found: dict[str, Carrier] = {}
    for one in told:
        name, control = field(one, "operator", str), field(one, "control", str)
        arguments = field(one, "arguments", list)
        if name not in headers or name in found:
            raise Malformed(f"the model has no operator {name[:40]!r}, or it comes twice")
        if offered is not None and control not in offered:
            raise Malformed(f"the agent has no control {control[:40]!r}")
        parameters = headers[name].parameters
        if tuple(arguments) != parameters[: len(arguments)]:
            raise Malformed(f"the arguments of {control} are not the first parameters of {name}")
        if offered is not None and len(arguments) != offered[control].arity:
            raise Malformed(f"{control} takes {offered[control].arity} arguments")
        found[name] = Carrier(control, len(arguments))
    given = {(carrier.control, carrier.given) for carrier in found.values()}
    if len(given) > len({control for control, _ in given}):
        raise Malformed("the operators of one control have different numbers of its arguments")
    missing = [name for name in headers if name not in found]
    if missing:
        raise Malformed(f"no control is given for {missing[0]}")
    return found
