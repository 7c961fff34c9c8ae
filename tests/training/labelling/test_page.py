"""The labelling page in a real browser: label pictures, make a mistake, undo, be killed, go on, train."""

import json
import re
import signal
from contextlib import suppress
from hashlib import sha256
from threading import Thread

import numpy as np
import pytest

from aam_vision.training.folder import read_labels
from aam_vision.training.labelling.desk import Corrected, Desk
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.server import served
from aam_vision.training.labelling.session import label_walks
from aam_vision.training.labelling.settings import Session
from aam_vision.training.labelling.sheets import AtomSheets, PictureSheets
from tests.profiles import crossed
from tests.training.labelling.person import SETTINGS, STEPS, Person, Told, Truth, command, opened
from tests.training.labelling.truths import walked

PICTURES = 6
CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)

pytest.importorskip("uvicorn")


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


def test_pictures_a_mistake_undo_a_kill_and_training(browser, tmp_path):
    folder, truth = tmp_path / "few", Truth()
    options = f"--env sokoban --steps {STEPS} --pictures {PICTURES} --out {folder}".split()
    with command(*options) as (process, address), opened(browser, address) as page:
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
        with opened(browser, told.address()) as page:
            person, refused = Person(page, truth), False
            for _ in range(PICTURES - 3):
                person.ready()
                person.answer()
                if person.view()["problem"] in labelled and not refused:
                    _mistaken(person)
                    refused = True
                person.next()
            assert refused
            person.ready("done")
            assert "You can close this page" in page.inner_text("main")
            thread.join(60)
    assert _labels(folder)[: len(kept)] == kept
    found = read_labels(truth.domain, folder)
    assert len(found) == PICTURES
    for one in found:
        yes = one.example.labels.numpy() == 1
        assert (yes == truth.answers[one.problem, sha256(one.frame.tobytes()).digest()]).all()
    assert json.loads((folder / "labelling.json").read_text())["labelled_pictures"] == PICTURES


def _serving(folder, ask, sheets, *, atoms):
    """A page that asks one question after the other, and its address; nothing is trained."""
    domain, pool, _ = walked("doors", 12, 0)
    record = LabelRecord(domain, folder, pool.walked, atoms=atoms)
    desk = Desk(pool.walked, record, sheets(domain.visual, pool, *([record] if atoms else [])), 60)

    def answer():
        while True:
            with suppress(Corrected):
                return [desk.answer(one, tested=True) for one in ask]

    Thread(target=answer, daemon=True).start()
    with served(desk) as address:
        yield address, folder
    record.close()


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """About pictures."""
    questions = [LabelQuestion(number) for number in range(len(walked("doors", 12, 0)[1].pictures))]
    yield from _serving(tmp_path_factory.mktemp("asked"), questions, PictureSheets, atoms=False)


@pytest.fixture(scope="module")
def asked_atoms(tmp_path_factory):
    """About single atoms, of a room first."""
    pool = walked("doors", 12, 0)[1]
    looks, questions = len(pool.looks), []
    for site in (looks, *range(looks)):
        number, place = pool.members[site][0]
        head = int(np.argmax(pool.pictures[number].index.legality.asked[:, place]))
        questions.append(AskedAtom(number, place, head))
    yield from _serving(tmp_path_factory.mktemp("atoms"), questions, AtomSheets, atoms=True)


ATOM_ASKED = "() => view && view.kind === 'atom' && document.querySelector('#lines rect')"
PICTURE_ASKED = "() => view && view.kind === 'ask' && chosen.length"


def test_single_atoms_by_keyboard_and_mouse(browser, asked_atoms):
    address, folder = asked_atoms
    with opened(browser, address, 400) as page:
        page.wait_for_function(ATOM_ASKED)
        first = page.inner_text("#asked")
        assert first == "unlocked(room-0)?"
        assert page.locator("#lines rect.inner").count() == len(page.evaluate("view.boxes")) > 1
        no = page.get_by_role("button", name="No", exact=False)
        for press in (lambda: page.keyboard.press("s"), no.click):
            before = page.inner_text("#asked")
            press()
            page.evaluate("waiting")
            page.wait_for_function("now => document.getElementById('asked').textContent !== now", arg=before)
        assert [list(one)[-1] for one in _labels(folder)] == ["skipped", "no"]
        assert page.inner_text("#said") == f"{before} no"
        for wanted in (before, first):  # back over the skip, too
            page.keyboard.press("u")
            page.evaluate("waiting")
            assert page.inner_text("#asked") == wanted
        withdrawn = [one["withdrawn"] for one in _labels(folder)[2:]]
        assert withdrawn == [_labels(folder)[1]["no"], ["unlocked at room-0"]]
        page.keyboard.press("y")
        page.evaluate("waiting")
        assert _labels(folder)[-1]["yes"] == ["unlocked at room-0"]


@pytest.mark.parametrize(("kind", "screen"), crossed(["ask", "atom"], [("light", 1280), ("dark", 400)]))
def test_everybody_can_use_it(browser, asked, asked_atoms, kind, screen):
    scheme, width = screen
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    address, _ = asked if kind == "ask" else asked_atoms
    with opened(browser, address, width, color_scheme=scheme) as page:
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.wait_for_function(PICTURE_ASKED if kind == "ask" else ATOM_ASKED)
        if kind == "ask":
            page.keyboard.press("1")
            page.get_by_role("button", name="room-0").click()
            page.get_by_text("How it works").click()
        page.evaluate("waiting")
        found = axe.Axe().run(page)
        assert len(found.response["passes"]) > 10
        assert [violation["id"] for violation in found.response["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        box = page.locator("#picture").bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        for name in ("Next" if kind == "ask" else "Yes", "Skip"):
            assert page.get_by_role("button", name=name).is_visible()
        assert told == []


def test_mouse_and_keyboard_say_the_same(browser, asked):
    with opened(browser, asked[0], 400) as page:

        def press(*keys):
            for key in keys:
                page.keyboard.press(key)
            page.evaluate("waiting")
            return page.inner_text("#chosen")

        page.wait_for_function(PICTURE_ASKED)
        place = page.get_by_role("button", name="loc-1-1:")
        place.click()
        page.get_by_role("button", name="key", exact=True).click()
        page.wait_for_function("() => view.places.find((one) => one.name === 'loc-1-1').yes.length")
        page.evaluate("waiting")
        # so Enter does not press the button again
        assert place.evaluate("one => one === document.activeElement")
        assert place.get_attribute("aria-label") == page.inner_text("#said") == "loc-1-1: key"
        press("u")
        assert place.get_attribute("aria-label").startswith("loc-1-1: nothing")
        press("Tab")
        assert page.evaluate("view.places[chosen.at(-1)].large")
        assert press("ArrowRight") == "room-1"
        assert press("Shift+Tab") == "loc-1-1"
        assert press("Shift+ArrowRight", "Shift+ArrowDown") == "4 places"
        press("3")
        names = [one.get_attribute("aria-label") or "" for one in page.locator("#places > button").all()]
        assert sum("key" in one for one in names) == 4
        press(*"uuuu")
