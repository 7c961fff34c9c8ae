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


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {TOKEN: ""},
        {TOKEN: "wrong"},
        {"Cookie": "token={token}"},
        {TOKEN: "{token}", "Host": "rebound.example:{port}"},
        {TOKEN: "{token}", "Host": "127.0.0.1"},
        {TOKEN: "{token}", "Host": "127.0.0.1.example:{port}"},
        {TOKEN: "{token}", "Origin": "http://127.0.0.1:1"},
        {TOKEN: "{token}", "Origin": "null"},
        {TOKEN: "{token}", "Sec-Fetch-Site": "cross-site"},
        {TOKEN: "{token}", "Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/view"), ("GET", "/picture/1"), ("POST", "/act/next")])
def test_strangers_are_refused(server, method, path, headers):
    shown, address = server
    before = len(shown.done)
    given = {name: value.format(token=_token(address), port=address.port) for name, value in headers.items()}
    status, body, answered = _asked(address, method, path, "{}" if method == "POST" else None, **given)
    assert status == 403
    assert b"nothing" not in body
    assert _token(address).encode() not in body
    assert not any(name.startswith("access-control") for name in answered)
    assert len(shown.done) == before


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=x", "?token={token}x", "?token={token}&token={token}"]
)
def test_no_page_without_the_token(server, query):
    _, address = server
    status, body, _ = _asked(address, "GET", "/" + query.format(token=_token(address)))
    assert status == 403
    assert _token(address).encode() not in body


def test_two_host_headers_are_refused(server):
    _, address = server
    with socket.create_connection(("127.0.0.1", address.port), 10) as raw:
        raw.sendall(
            f"GET /view HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\nHost: a.example\r\n{TOKEN}: {_token(address)}\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        assert raw.recv(12).split()[1] in (b"400", b"403")


@pytest.mark.parametrize(
    ("body", "status"),
    [("{", 400), ("[]", 400), ("[" * 9000, 400), ("NaN", 400), ("x" * (MOST_BYTES + 1), 413), ("", 400)],
)
def test_nonsense_is_refused(server, body, status):
    shown, address = server
    before = len(shown.done)
    assert _asked(address, "POST", "/act/next", body, **{TOKEN: _token(address)})[0] == status
    assert _asked(address, "POST", "/act/nonsense", "{}", **{TOKEN: _token(address)})[0] == 400
    assert _asked(address, "GET", "/act/next", **{TOKEN: _token(address)})[0] == 405
    assert _asked(address, "GET", "/../labels.jsonl", **{TOKEN: _token(address)})[0] == 404
    assert len(shown.done) == before


def test_only_this_machine_is_served(server):
    _, address = server
    assert address.hostname == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", address.port), 2).close()


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
