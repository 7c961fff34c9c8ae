"""Names of the form ``MODULE:NAME``: something of a module that Python finds, such as one in the present folder."""

from __future__ import annotations

from importlib import import_module

from aam_vision.support.errors import RAISED, UnusableInput, reason


def is_reference(name: str) -> bool:
    """Whether a name is one of the form ``MODULE:NAME``."""
    module, colon, own = name.partition(":")
    return bool(colon) and own.isidentifier() and all(part.isidentifier() for part in module.split("."))


def imported(name: str) -> object:
    """What ``MODULE:NAME`` names.

    Raises:
        UnusableInput: there is no such module or name, or the module cannot be imported.
    """
    module, _, own = name.partition(":")
    try:
        return getattr(import_module(module), own)
    except RAISED as error:  # the user's module fails in any way
        raise UnusableInput(
            f"environment {name}: {module} cannot be imported, or has no {own} ({reason(error)}); correct it, or run "
            "the command in the folder of the module"
        ) from error
