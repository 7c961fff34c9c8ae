"""The labelling page itself: one HTML file with its style and script, which fetches nothing but from its own server."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

import jinja2
from markupsafe import Markup


@dataclass(frozen=True)
class Page:
    """The page and the headers that go with every answer of its server."""

    html: str
    headers: dict[str, str]

    @classmethod
    def of(cls, token: str) -> Page:
        """The page that sends this token along."""
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("aam_vision.training.labelling"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        style, script = _resource("label.css"), _resource("label.js") + _resource("describe.js")
        html = environment.get_template("label.html.jinja").render(
            css=Markup(style), script=Markup(script), token=token
        )
        policy = (
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src blob: data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return cls(
            html,
            {
                "Content-Security-Policy": policy,
                "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY",
                "Referrer-Policy": "no-referrer",
                "Cache-Control": "no-store",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
            },
        )


def _resource(name: str) -> str:
    return (files("aam_vision.training.labelling") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
