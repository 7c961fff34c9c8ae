"""The page's server answers to this machine's own page with the token, and to nobody else."""

import http.client
import json
import socket
import sys
from urllib.parse import urlsplit

import pytest

from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling.desk import Stale
from aam_vision.training.labelling.server import MOST_BYTES, TOKEN, check_installed, served

pytest.importorskip("uvicorn")


class _Noted:
    """Shows what it was asked to do."""

    def __init__(self):
        self.done = []

    def view(self):
        return {"kind": "busy", "told": "nothing"}

    def picture(self, serial):
        if serial != 1:
            raise Stale("another one")
        return b"\x89PNG"

    def act(self, what, facts):
        if what == "fail":
            raise UnusableInput("cannot be")
        if what == "nonsense":
            raise ValueError("places")
        self.done.append((what, facts))
        return "done"


@pytest.fixture(scope="module")
def server():
    shown = _Noted()
    with served(shown) as address:
        yield shown, urlsplit(address)


def _asked(address, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=10)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def _token(address):
    return address.query.removeprefix("token=")


def test_the_page_and_its_requests(server):
    shown, address = server
    status, html, headers = _asked(address, "GET", f"/?{address.query}")
    assert status == 200
    assert b"<title>Label pictures</title>" in html
    policy = {part.split()[0]: part for part in headers["content-security-policy"].split("; ")}
    assert policy["default-src"] == "default-src 'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert not any(name.startswith("access-control") or name == "set-cookie" for name in headers)
    own = {TOKEN: _token(address)}
    assert json.loads(_asked(address, "GET", "/view", **own)[1]) == shown.view()
    assert _asked(address, "GET", "/picture/1", **own)[:2] == (200, b"\x89PNG")
    assert _asked(address, "GET", "/picture/2", **own)[0] == 409
    status, body, _ = _asked(address, "POST", "/act/next", '{"question": 1}', **own)
    assert (status, json.loads(body)["said"]) == (200, "done")
    assert shown.done[-1] == ("next", {"question": 1})
    assert json.loads(_asked(address, "POST", "/act/fail", "{}", **own)[1])["wrong"] == "cannot be"


STRANGE = (
    {},
    {TOKEN: ""},
    {TOKEN: "wrong"},
    {"Cookie": "token={token}"},
    *(
        {TOKEN: "{token}", "Host": host}
        for host in ("rebound.example:{port}", "127.0.0.1", "127.0.0.1.example:{port}")
    ),
    *({TOKEN: "{token}", "Origin": origin} for origin in ("http://127.0.0.1:1", "null")),
    *({TOKEN: "{token}", "Sec-Fetch-Site": site} for site in ("cross-site", "same-site")),
)


@pytest.mark.parametrize("headers", STRANGE)
def test_strangers_are_refused(server, headers):
    shown, address = server
    before, about = len(shown.done), {"token": _token(address), "port": address.port}
    given = {name: value.format(**about) for name, value in headers.items()}
    for method, path, sent in (
        ("GET", "/view", None),
        ("GET", "/picture/1", None),
        ("POST", "/act/next", "{}"),
    ):
        status, body, answered = _asked(address, method, path, sent, **given)
        assert status == 403
        assert b"nothing" not in body
        assert about["token"].encode() not in body
        assert not any(name.startswith("access-control") for name in answered)
    assert len(shown.done) == before


def test_no_page_without_the_token_or_with_two_hosts_or_on_another_address(server):
    _, address = server
    token = _token(address)
    for query in ("", "?token=", "?token=x", f"?token={token}x", f"?token={token}&token={token}"):
        status, body, _ = _asked(address, "GET", f"/{query}")
        assert status == 403
        assert token.encode() not in body
    lines = ["GET /view HTTP/1.1", f"Host: 127.0.0.1:{address.port}", "Host: a.example", f"{TOKEN}: {token}"]
    with socket.create_connection(("127.0.0.1", address.port), 10) as raw:
        raw.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        assert raw.recv(12).split()[1] in (b"400", b"403")
    assert address.hostname == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", address.port), 2).close()


def test_nonsense_is_refused(server):
    shown, address = server
    before, own = len(shown.done), {TOKEN: _token(address)}
    for body in ("{", "[]", "[" * 9000, "NaN", ""):
        assert _asked(address, "POST", "/act/next", body, **own)[0] == 400
    assert _asked(address, "POST", "/act/next", "x" * (MOST_BYTES + 1), **own)[0] == 413
    assert _asked(address, "POST", "/act/nonsense", "{}", **own)[0] == 400
    assert _asked(address, "GET", "/act/next", **own)[0] == 405
    assert _asked(address, "GET", "/../labels.jsonl", **own)[0] == 404
    assert len(shown.done) == before


def test_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UnusableInput, match=f"port {port}"), served(_Noted(), port):
            pass


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_a_missing_extra_is_one_line(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UnusableInput, match=rf"needs {missing}: pip install 'aam-vision\[label\]'"):
        check_installed()
