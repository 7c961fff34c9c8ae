"""The labelling page in a real browser: label pictures, make a mistake, undo, be killed, go on, train."""

import json
import re
import signal
from contextlib import suppress
from hashlib import sha256
from threading import Thread

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.registry import board_domain
from aam_vision.training.folder import read_labels
from aam_vision.training.labelling.desk import AtomSheets, Corrected, Desk
from aam_vision.training.labelling.draft import PictureSheets
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion, Pool, walk
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.server import served
from aam_vision.training.labelling.session import label_walks
from aam_vision.training.labelling.settings import Session
from tests.profiles import crossed
from tests.report.test_browser import CHROMIUM
from tests.training.labelling.person import SETTINGS, STEPS, Person, Told, Truth, command

PICTURES = 6
CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def truth():
    return Truth()


def _opened(browser, address, wrong, width=1280):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: (
            asked.url.startswith((address.split("?")[0], "blob:", "data:")) or wrong.append(asked.url)
        ),
    )
    page.goto(address)
    return page


def _labels(folder):
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


def _mistaken(person):
    """Swap a stone and a free place: the number of stones, or earlier pictures of the board, contradict; then undo that."""
    yes = [one["yes"] for one in person.view()["places"]]
    for place, key in ((yes.index([STONE]), "1"), (yes.index([CLEAR]), "3")):
        person.go(place)
        person.press(key)
    before = person.view()["question"]
    person.press("Enter")
    assert person.view()["question"] == before
    assert re.search("look the same to the pixel|instead of 2", person.page.inner_text("#said"))
    while [one["yes"] for one in person.view()["places"]] != yes:
        person.press("u")
    return True


def test_pictures_a_mistake_undo_a_kill_and_training(browser, truth, tmp_path):
    folder, wrong = tmp_path / "few", []
    options = f"--env sokoban --steps {STEPS} --pictures {PICTURES} --out {folder}".split()
    with command(*options) as (process, address):
        page = _opened(browser, address, wrong)
        person = Person(page, truth)
        person.ready()
        assert person.answer() < 20
        labelled = [person.view()["problem"]]
        goals = [n for n, one in enumerate(person.view()["places"]) if one["yes"] == [CLEAR, GOAL]]
        for place in goals:  # a mistake that nothing contradicts so far
            person.go(place)
            person.press("5")
        assert goals
        person.next()
        assert len(_labels(folder)) == 1
        person.press("u")
        person.ready()
        assert person.view()["corrected"]
        assert _labels(folder)[-1] == {"image": "0001.png", "withdrawn": True}
        person.answer()
        person.next()
        for _ in range(2):
            person.ready()
            assert person.answer() < 15
            labelled.append(person.view()["problem"])
            person.next()
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.close()
    kept = _labels(folder)
    assert len(read_labels(truth.domain, folder)) == 3
    with (folder / "labels.jsonl").open("ab") as file:
        file.write(b'{"image": "0004.png", "prob')  # killed while it wrote
    with pytest.MonkeyPatch.context() as patch:
        for setting in SETTINGS:
            patch.setattr(*setting)
        told, session = Told(), Session(steps=STEPS, pictures=PICTURES)
        thread = Thread(target=lambda: label_walks(truth.domain, folder, session, told), daemon=True)
        thread.start()
        page = _opened(browser, told.address(), wrong)
        person = Person(page, truth)
        refused = 0
        for _ in range(PICTURES - 3):
            person.ready()
            person.answer()
            if person.view()["problem"] in labelled and not refused:
                refused += _mistaken(person)
            person.next()
        assert refused
        person.ready("done")
        assert "You can close this page" in page.inner_text("main")
        thread.join(60)
        page.close()
    assert _labels(folder)[: len(kept)] == kept
    found = read_labels(truth.domain, folder)
    assert len(found) == PICTURES
    for one in found:
        yes = one.example.labels.numpy() == 1
        assert (yes == truth.answers[one.problem, sha256(one.frame.tobytes()).digest()]).all()
    assert json.loads((folder / "labelling.json").read_text())["labelled_pictures"] == PICTURES
    assert wrong == []


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A page that asks about one picture after the other, and its address; nothing is trained."""
    domain = board_domain("doors")
    walked = walk(domain, [("train", 0)], np.random.default_rng(0), 12)
    pool = Pool(domain.visual, walked, CELL_PIXELS)
    record = LabelRecord(domain, tmp_path_factory.mktemp("asked"), pool)
    desk, asked = Desk(pool.walked, record, PictureSheets(domain.visual, pool), 10), range(len(walked))
    Thread(
        target=lambda: [desk.answer(LabelQuestion(one), tested=True) for one in asked], daemon=True
    ).start()
    with served(desk) as address:
        yield address
    record.close()


@pytest.fixture(scope="module")
def asked_atoms(tmp_path_factory):
    """A page that asks about single atoms, of a room first, and its address; nothing is trained."""
    domain, folder = board_domain("doors"), tmp_path_factory.mktemp("atoms")
    walked = walk(domain, [("train", 0)], np.random.default_rng(0), 12)
    pool = Pool(domain.visual, walked, CELL_PIXELS)
    record, sites = LabelRecord(domain, folder, pool, atoms=True), pool.sites
    desk = Desk(pool.walked, record, AtomSheets(domain.visual, pool, record), 60)
    first = [sites.looks, *range(sites.looks)]
    heads = [
        int(np.argmax(pool.pictures[n].index.legality.asked[:, p]))
        for n, p in (sites.members[one][0] for one in first)
    ]
    atoms = [AskedAtom(*sites.members[site][0], head) for site, head in zip(first, heads, strict=True)]

    def ask():
        while True:
            with suppress(Corrected):
                return [desk.answer(one, tested=True) for one in atoms]

    Thread(target=ask, daemon=True).start()
    with served(desk) as address:
        yield address, folder
    record.close()


def test_single_atoms_by_keyboard_and_mouse(browser, asked_atoms):
    address, folder = asked_atoms
    wrong = []
    page = _opened(browser, address, wrong, 400)
    page.wait_for_function("() => view && view.kind === 'atom' && document.querySelector('#lines rect')")
    first = page.inner_text("#asked")
    assert first == "unlocked(room-0)?"
    assert page.locator("#lines rect.inner").count() == len(page.evaluate("view.boxes")) > 1
    for press in (lambda: page.keyboard.press("s"), page.get_by_role("button", name="No", exact=False).click):
        before = page.inner_text("#asked")
        press()
        page.evaluate("waiting")
        page.wait_for_function(
            "before => document.getElementById('asked').textContent !== before", arg=before
        )
    assert [list(one)[-1] for one in _labels(folder)] == ["skipped", "no"]
    assert page.inner_text("#said") == f"{before} no"
    for wanted in (before, first):  # back over the skip, too
        page.keyboard.press("u")
        page.evaluate("waiting")
        assert page.inner_text("#asked") == wanted
    assert [one["withdrawn"] for one in _labels(folder)[2:]] == [
        _labels(folder)[1]["no"],
        ["unlocked at room-0"],
    ]
    page.keyboard.press("y")
    page.evaluate("waiting")
    assert _labels(folder)[-1]["yes"] == ["unlocked at room-0"]
    assert wrong == []
    page.close()


@pytest.mark.parametrize(("kind", "screen"), crossed(["ask", "atom"], [("light", 1280), ("dark", 400)]))
def test_everybody_can_use_it(browser, asked, asked_atoms, kind, screen):
    scheme, width = screen
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(asked if kind == "ask" else asked_atoms[0])
    if kind == "ask":
        page.wait_for_function("() => view && view.kind === 'ask' && chosen.length")
        page.keyboard.press("1")
        page.get_by_role("button", name="room-0").click()
        page.get_by_text("How it works").click()
    else:
        page.wait_for_function("() => view && view.kind === 'atom' && document.querySelector('#lines rect')")
    page.evaluate("waiting")
    found = axe.Axe().run(page)
    assert len(found.response["passes"]) > 10
    assert [violation["id"] for violation in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#picture").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.get_by_role("button", name="Next" if kind == "ask" else "Yes").is_visible()
    assert page.get_by_role("button", name="Skip").is_visible()
    assert wrong == []
    context.close()


def test_mouse_and_keyboard_say_the_same(browser, asked):
    page, wrong = browser.new_page(viewport={"width": 400, "height": 800}), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(asked)
    page.wait_for_function("() => view && view.kind === 'ask' && chosen.length")
    place = page.get_by_role("button", name="loc-1-1:")
    place.click()
    page.get_by_role("button", name="key", exact=True).click()
    page.wait_for_function("() => view.places.find((one) => one.name === 'loc-1-1').yes.length")
    page.evaluate("waiting")
    assert place.evaluate(
        "one => one === document.activeElement"
    )  # and so Enter does not press the button again
    assert place.get_attribute("aria-label") == "loc-1-1: key"
    assert page.inner_text("#said") == "loc-1-1: key"
    page.keyboard.press("u")
    page.evaluate("waiting")
    assert place.get_attribute("aria-label").startswith("loc-1-1: nothing")
    page.keyboard.press("Tab")
    assert page.evaluate("view.places[chosen.at(-1)].large")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#chosen") == "room-1"
    page.keyboard.press("Shift+Tab")
    assert page.inner_text("#chosen") == "loc-1-1"
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert page.inner_text("#chosen") == "4 places"
    page.keyboard.press("3")
    page.evaluate("waiting")
    assert (
        sum(
            "key" in (one.get_attribute("aria-label") or "") for one in page.locator("#places > button").all()
        )
        == 4
    )
    for _ in range(4):
        page.keyboard.press("u")
    page.evaluate("waiting")
    assert wrong == []
    page.close()
