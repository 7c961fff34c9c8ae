"""The documentation site: it is whole, tells all that there is, and fetches nothing from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.commands import ROOT, commands
from tests.profiles import NIGHTLY

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
ELSEWHERE = re.compile(r"^(?:https?:)?//")
TEXT = re.compile(r"</?(?:span|code|td|tr|li|p|nav)\b[^<>]*>")
"""Tags that fetch nothing: most there are."""
LONG = ("reference/python", "reference/perception")
"""Pages with thousands of elements, made as ``reference/agents`` is: to look through one takes six seconds."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class _Fetched(HTMLParser):
    """The addresses that a browser fetches when it opens a page."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next", "alternate"):
            self.urls.append(given.get("href") or "")
        elif tag != "a":
            self.urls += [value for name in ("src", "srcset", "data", "poster") if (value := given.get(name))]


def test_no_page_refers_to_a_script_style_font_or_image_of_another_site(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        fetched = _Fetched()
        fetched.feed(TEXT.sub("", page.read_text(encoding="utf-8")))
        assert fetched.urls
        assert [url for url in fetched.urls if ELSEWHERE.match(url)] == [], page
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//|@import", text), style


def test_a_browser_makes_no_foreign_request_and_reports_no_error(site, browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with _served(site) as address:
        ours = (address, "data:")
        for number, (scheme, width) in enumerate((("light", 1200), ("dark", 360))):
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
            page, wrong = context.new_page(), []
            page.on("console", lambda told, wrong=wrong: wrong.append(told.text))
            page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
            page.on("request", lambda got, wrong=wrong: got.url.startswith(ours) or wrong.append(got.url))
            page.on("response", lambda got, wrong=wrong: got.status < 400 or wrong.append(got.url))
            pages = ["index", "reference/agents", "concepts/interrogation", "architecture", "measurements"]
            for name in [*pages, *LONG] if NIGHTLY else pages[number::2]:
                page.goto(f"{address}/{name}.html", wait_until="networkidle")
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{name} is wider than a screen of {width}"
                found = axe.Axe().run(page).response["violations"]
                assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == [], name
            if width > 1000:
                page.locator("[data-md-component=search-query]").click()
                page.keyboard.type("lower bound")
                page.locator(".md-search-result__item").first.wait_for()
            assert wrong == []
            context.close()


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The site behind an address of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *told: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_reference_has_every_command_and_the_architecture_every_layer(site):
    told = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for module in commands():
        assert f"Usage: python -m {module}" in told
    page = (site / "architecture.html").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        for name in re.split(r" \| ", " | ".join(contract.get("layers", []))):
            assert not name or f"<code>{name}</code>" in page


def test_every_page_is_in_the_navigation(site):
    first, docs = (site / "index.html").read_text(encoding="utf-8"), ROOT / "docs"
    for path in docs.rglob("*.md"):
        page = path.relative_to(docs).with_suffix(".html").as_posix().replace("README.html", "index.html")
        assert f'href="{page}"' in first or page == "index.html", f"{page}: put it into the nav of mkdocs.yml"
