"""The labelling page's server: for this machine only, and only for who knows the token.

Every request needs the token: the page itself in its address, all others in a header, which a page of another origin cannot send.
The name in ``Host`` must be this machine's, so that no name of a stranger's that leads here (DNS rebinding) gets an answer.
There are no cookies, no cross-origin permissions, and nothing is fetched from elsewhere.
"""

from __future__ import annotations

import secrets
import socket
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import parse_qs

from markupsafe import Markup

from aam_vision.agents.encoding import Malformed, loads
from aam_vision.support.errors import UnusableInput, reason
from aam_vision.support.templates import rendered
from aam_vision.training.labelling.desk import Stale

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST: Final = "127.0.0.1"
MOST_BYTES: Final = 200_000
"""Of what a page sends at once."""
TOKEN: Final = "x-aam-token"
"""The header with the token."""
OWN: Final = frozenset({b"same-origin", b"none"})
"""What a browser calls the site from which its own page asks."""
BUSY: Final = {"kind": "busy", "labelled": 0, "most": 0, "told": "Comparing the pictures ..."}
"""What a page shows before anything is asked."""


class Shown(Protocol):
    """What a page shows, and does."""

    def view(self) -> dict[str, Any]:
        """All that the page shows, as JSON."""
        ...

    def picture(self, serial: int) -> bytes:
        """A picture as PNG; ``Stale`` if it is not shown any more."""
        ...

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Do what the page asks for, and return what it should say.

        Raises:
            Stale: the page speaks of a picture that is not shown any more.
            UnusableInput: it cannot be done; the page says why.
            ValueError: the page sent what it never sends.
        """
        ...


def check_installed() -> None:
    """Refuse to begin where the server's packages are missing.

    Raises:
        UnusableInput: they are; the message says how to install them.
    """
    for name in ("starlette", "uvicorn"):
        if find_spec(name) is None:
            raise UnusableInput(f"the labelling page needs {name}: pip install 'aam-vision[label]'")


class Guard:
    """Lets nobody in but who knows the token and calls this machine by its name."""

    def __init__(self, app: ASGIApp, token: str, port: int, headers: dict[str, str]) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in (HOST, "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        from starlette.responses import PlainTextResponse

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        if scope["type"] != "http":
            return
        why = self._refusal(scope)
        if why is None:
            await self._app(scope, receive, send_guarded)
        else:
            await PlainTextResponse(f"{why}\n", 403)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str | None:
        """Why a request is refused, if it is."""
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value)
        hosts = found.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "This server answers to its own address only."
        first, sites = scope["path"] == "/", {*found.get(b"sec-fetch-site", [])}
        if not self._origins.issuperset(found.get(b"origin", [])) or not (first or sites <= OWN):
            return "This server answers to its own page only."
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", []) if first else []
        given = [one.encode() for one in asked] if first else found.get(TOKEN.encode(), [])
        if len(given) != 1 or not secrets.compare_digest(given[0], self._token):
            return "Open the address that the command printed: it has a token that is missing or wrong here."
        return None


def application(shown: Shown, token: str, port: int) -> ASGIApp:
    """The application that serves a page."""
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
    from starlette.responses import Response as Answer
    from starlette.routing import Route

    content, headers = page(token)

    async def html(request: Request) -> Response:
        return HTMLResponse(content)

    def view(request: Request) -> Response:
        return JSONResponse(shown.view())

    def picture(request: Request) -> Response:
        try:
            return Answer(shown.picture(request.path_params["serial"]), media_type="image/png")
        except Stale as error:
            return PlainTextResponse(str(error), 409)

    async def act(request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool

        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return PlainTextResponse("too much at once", 413)
        return await run_in_threadpool(answered, request.path_params["what"], body)

    def answered(what: str, body: bytes) -> Response:
        try:
            facts = loads(body)
            if not isinstance(facts, dict):
                raise ValueError("no object")
            said = shown.act(what, facts)
        except Stale as error:
            return JSONResponse({"view": shown.view(), "said": str(error)}, 409)
        except UnusableInput as error:
            return JSONResponse({"view": shown.view(), "wrong": str(error)}, 422)
        except (Malformed, ValueError) as error:
            return PlainTextResponse(reason(error), 400)
        return JSONResponse({"view": shown.view(), "said": said})

    routes = [
        Route("/", html, methods=["GET"]),
        Route("/view", view, methods=["GET"]),
        Route("/picture/{serial:int}", picture, methods=["GET"]),
        Route("/act/{what:str}", act, methods=["POST"]),
    ]
    app: Starlette = Starlette(routes=routes)
    return Guard(app, token, port, headers)


@contextmanager
def served(shown: Shown, port: int = 0) -> Iterator[str]:
    """Serve a page for as long as the context lasts.

    Args:
        shown: what is shown.
        port: on this machine; 0 for any free one.

    Yields:
        The address to open, token included.

    Raises:
        UnusableInput: the packages are missing, or the port is taken.
    """
    check_installed()
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # who opens the page before the server runs waits a moment
    except OSError as error:
        listening.close()
        raise UnusableInput(f"cannot serve at port {port} ({error.strerror}): give another --port") from None
    number, token = listening.getsockname()[1], secrets.token_urlsafe(32)
    config = uvicorn.Config(
        application(shown, token, number),
        log_config=None,
        access_log=False,
        lifespan="off",
        limit_concurrency=64,
        server_header=False,
        ws="none",
    )
    server = uvicorn.Server(config)
    sockets: Sequence[socket.socket] = [listening]
    thread = Thread(target=server.run, args=(sockets,), name="labelling page", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{number}/?token={token}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


# The labelling page itself: one HTML file with its style and script, which fetches nothing but from its own server.


def page(token: str) -> tuple[str, dict[str, str]]:
    """The page that sends a token along, and the headers that go with every answer of its server."""
    package = "aam_vision.training.labelling"
    folder = files(package) / "templates"
    names = "label.css", "label.js", "describe.js"
    style, *scripts = ((folder / name).read_text(encoding="utf-8") for name in names)
    script = "".join(scripts)
    html = rendered(package, "label.html.jinja", css=Markup(style), script=Markup(script), token=token)
    only = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = (
        f"default-src 'none'; script-src 'sha256-{only[0]}'; style-src 'sha256-{only[1]}'; img-src blob: data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return html, {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


# What a page shows first, and what afterwards.


class Front:
    """Passes everything on to what is ``shown`` at present, None as long as nothing is asked; a ``Shown``."""

    def __init__(self) -> None:
        self.shown: Shown | None = None

    def view(self) -> dict[str, Any]:
        if self.shown is None:
            return dict(BUSY)
        return self.shown.view()

    def picture(self, serial: int) -> bytes:
        if self.shown is None:
            raise Stale("no picture is shown")
        return self.shown.picture(serial)

    def act(self, what: str, facts: dict[str, Any]) -> str:
        if self.shown is None:
            raise Stale("nothing is asked")
        return self.shown.act(what, facts)
