"""Command-line options as the fields of a dataclass.

A command may take such a dataclass as a parameter; every field of it becomes an option:

>>> @dataclass(frozen=True)
... class Drawing:
...     size: int = option("Pixels of a side.", 64, min=1)
...     plain: bool = flag("Leave out the colours.")
>>> def draw(drawing: Drawing) -> None:
...     print(drawing)
>>> with_options(draw)(size=8, plain=True)
Drawing(size=8, plain=True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer


@dataclass(frozen=True)
class _Option:
    """How a field is shown and checked as an option."""

    help: str
    min: float | None = None
    max: float | None = None
    flag: bool = False
    heading: str | None = None

    def typer(self, name: str, heading: str | None) -> Any:
        names = [f"--{name.replace('_', '-')}"] if self.flag else []
        return typer.Option(*names, help=self.help, min=self.min, max=self.max, rich_help_panel=heading)


def option(
    help: str,  # noqa: A002
    default: Any = None,
    *,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    heading: str | None = None,
    **metadata: object,
) -> Any:
    """A field that is an option; ``metadata`` is kept with the field.

    ``heading``: under which the help shows it and the fields after it, up to the next heading.
    """
    return field(default=default, metadata={"option": _Option(help, min, max, heading=heading), **metadata})


def flag(help: str, *, heading: str | None = None, **metadata: object) -> Any:  # noqa: A002
    """A field that is an option without a value: False unless it is given."""
    return field(default=False, metadata={"option": _Option(help, flag=True, heading=heading), **metadata})


def with_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The command with a parameter for each field of the dataclasses that it takes.

    The default of a parameter that is a dataclass holds the defaults of its options.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, type] = {}
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind) and isinstance(kind, type):
            groups[parameter.name] = kind
            parameters += _options(kind, parameter.default)
        else:
            parameters.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def flat(**given: Any) -> int | None:
        made = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in groups.items()
        }
        return command(**given, **made)

    flat.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _options(kind: type, defaults: object) -> Iterator[Parameter]:
    """A parameter for every field of a dataclass."""
    hints, heading = get_type_hints(kind), None
    for one in fields(kind):
        shown: _Option = one.metadata["option"]
        heading = shown.heading or heading
        default = one.default if defaults is Parameter.empty else getattr(defaults, one.name)
        yield Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is MISSING else default,
            annotation=Annotated[hints[one.name], shown.typer(one.name, heading)],
        )
