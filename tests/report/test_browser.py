"""The page in a real browser: clicks lead to the proof, nothing goes wrong, everybody can use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aam_vision.report.account import account_of
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from tests.finished import Runs
from tests.profiles import crossed, first
from tests.report.diagnosed import diagnosed

STANDS = "why-moveto-pre-at-0"
"""The proof that the agent has to be at ?sloc."""
OPEN_ALL = "document.querySelectorAll('details').forEach(part => { part.open = true })"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_clips_move_unless_nothing_is_to_move_and_then_show_the_end(browser, ran, motion):
    context = browser.new_context(reduced_motion=motion)
    opened = context.new_page()
    opened.goto((ran("SEEN") / "report.html").as_uri())
    strip, seen = opened.locator("svg.film g").first, set()
    for _ in range(10):
        seen.add(strip.evaluate("strip => -new DOMMatrix(getComputedStyle(strip).transform).e"))
        if motion == "no-preference" and len(seen) > 1:
            break
        opened.wait_for_timeout(200)
    places = strip.evaluate("strip => [...strip.children].map(image => image.x.baseVal.value)")
    assert seen <= set(places), "one image at a time"
    assert len(seen) > 1 if motion == "no-preference" else seen == {places[-1]}
    context.close()


@pytest.fixture(scope="module")
def report(run_of: Runs) -> Path:
    path = run_of("doors") / "report.html"
    assert path.stat().st_size < 5_000_000
    return path


@pytest.fixture(
    params=first(2, [(("light", 1100),), (("dark", 360),), (("dark", 1100),), (("light", 360),)]), ids=str
)
def opened(request: pytest.FixtureRequest, browser: Any, report: Path) -> Iterator[Any]:
    """The opened page; no error and no request may come of whatever a test does with it."""
    scheme, width = request.param
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    found, wrong = context.new_page(), []
    found.on("console", lambda message: wrong.append(message.text))
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("request", lambda asked: asked.url.startswith(("file:", "data:")) or wrong.append(asked.url))
    found.goto(report.as_uri())
    yield found
    assert wrong == []
    context.close()


def test_every_proof_is_reached_and_everybody_can_use_the_page(opened):
    """By links from the head of the page and from the PDDL, and by the keyboard alone."""
    opened.get_by_role("banner").get_by_role("link", name="moveto").click()
    proof = opened.locator(f"#{STANDS}")
    proof.locator("summary").first.click()  # the image proof is two clicks away
    image = proof.get_by_role("img").first
    image.scroll_into_view_if_needed()
    assert image.is_visible()
    assert "?sloc" in image.get_attribute("aria-label")
    assert "could not be done" in proof.inner_text()
    closed(proof)
    opened.locator(f"pre a[href='#{STANDS}']").click()
    opened.locator(f"#{STANDS}[open]").wait_for()
    closed(proof)
    opened.locator(f"#{STANDS} > summary").focus()
    opened.keyboard.press("Enter")
    opened.locator(f"#{STANDS}[open]").wait_for()
    # one of a kind is enough: all of it open takes half a minute
    for part in ("#query-2", "#why-moveto-eff-at-1"):
        opened.locator(part).evaluate("part => { part.open = true }")
    assert violations(opened) == []
    opened.evaluate(OPEN_ALL)
    assert as_wide_as_the_screen(opened)


def closed(proof: Any) -> None:
    """Close a proof, and forget that its address was visited."""
    proof.evaluate("part => { part.open = false; history.replaceState(null, '', location.pathname) }")


def violations(opened: Any) -> list[str]:
    """What axe finds amiss."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(opened).response
    assert len(found["passes"]) > 10
    return [one["id"] for one in found["violations"]]


def as_wide_as_the_screen(opened: Any) -> bool:
    return bool(opened.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_axe_finds_no_accessibility_problem_where_answers_are_weighed(browser, run_of):
    opened = browser.new_page(viewport={"width": 360, "height": 900})
    opened.goto((run_of("blocksworld", flip_rate=0.1) / "report.html").as_uri())
    for part in ("#why-pick-up-eff-holding-0", "section > details:last-of-type"):
        opened.locator(part).first.evaluate("part => { part.open = true }")
    assert as_wide_as_the_screen(opened)
    assert violations(opened) == []
    opened.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_outcomes_have_bars(browser, chance_run_of, width, scheme):
    opened, wrong = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800}), []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.goto((chance_run_of() / "report.html").as_uri())
    _on_the_screen(opened.locator(".can"), width)
    _on_the_screen(opened.locator(".verdict"), width)
    opened.evaluate(OPEN_ALL)
    assert as_wide_as_the_screen(opened)
    assert violations(opened) == []
    texts = opened.locator("ul.outcomes .often").all()
    assert opened.locator("ul.outcomes svg.bar").count() == len(texts) == 7
    assert all("%" in text.inner_text() for text in texts)
    assert wrong == []
    opened.close()


def _on_the_screen(part: Any, width: int) -> None:
    """A part of the page is seen without scrolling."""
    box = part.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= 800


@pytest.mark.parametrize(
    ("env", "width"), crossed(["sokoban", "doors", "gripper", "diagnosed", "controls"], [1280, 400])
)
def test_paragraph_picture_and_verdict_are_on_the_first_screen(browser, run_of, tmp_path, env, width):
    options = {"controls": True} if env == "controls" else {}
    folder = run_of("doors" if env in ("diagnosed", "controls") else env, **options)
    path = folder / "report.html"
    if env == "diagnosed":
        path = tmp_path / "report.html"
        path.write_text(page(account_of(read_run(diagnosed(folder, tmp_path)))), encoding="utf-8")
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.goto(path.as_uri())
    figures = opened.locator(".pair figure").all()
    assert len(figures) == opened.locator(".pair svg").count() == (0 if env == "gripper" else 2)
    can = opened.locator(".can" if env != "diagnosed" else ".can li >> nth=0")
    for part in (opened.locator(".verdict"), *figures, can):
        _on_the_screen(part, width)
    if env in ("diagnosed", "controls"):
        assert violations(opened) == []
    opened.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_the_cases_of_a_control_are_one_click_away_in_words_and_pictures(browser, run_of, width):
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.goto((run_of("doors", controls=True) / "report.html").as_uri())
    opened.get_by_role("link", name="Controls", exact=True).click()
    section = opened.locator("section[aria-labelledby=control-moveto]")
    for image in section.get_by_role("img").all():
        image.scroll_into_view_if_needed()
        assert image.is_visible()
    assert section.get_by_role("img").count() == 2
    assert "?room is unlocked" in section.inner_text()
    section.get_by_role("link", name="moveto", exact=True).click()
    assert opened.locator("#action-moveto").bounding_box()["y"] < 800
    assert as_wide_as_the_screen(opened)
    opened.close()
