"""Texts made of Jinja's templates, which lie in a package's folder ``templates``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import jinja2


def rendered(
    package: str, name: str, filters: Mapping[str, Callable[..., Any]] | None = None, **values: object
) -> str:
    """The template of that name with these values in it; of HTML, all values are escaped. A value that is missing is an error."""
    environment = _environment(package, name.endswith(".html.jinja"), tuple((filters or {}).items()))
    return environment.get_template(name).render(**values)


@cache
def _environment(
    package: str, autoescape: bool, filters: tuple[tuple[str, Callable[..., Any]], ...]
) -> jinja2.Environment:
    """Keeps the templates that it has compiled: that takes longer than to render them."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment
