"""Pictures of any origin: the scene is described at the page, and no simulator is asked."""

import json
from hashlib import sha256
from queue import Queue
from threading import Thread
from time import sleep
from urllib.request import Request, urlopen

import numpy as np
import pytest
from PIL import Image

from aam_vision.agents.perception import board_box
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput
from aam_vision.training.described import described, read_description
from aam_vision.training.folder import read_labels
from aam_vision.training.labelling import boards, own_pictures, session
from aam_vision.training.labelling.own_pictures import chosen, label_pictures, pictures_of, vocabulary_named
from aam_vision.training.labelling.settings import Session
from tests.training.labelling import truths
from tests.training.labelling.person import Person, Told, opened

from .test_described import SOUND

DOMAIN = board_domain("sokoban")


@pytest.fixture(scope="module")
def walked():
    return truths.walked("sokoban", 12, 0)


@pytest.fixture
def folder(tmp_path, walked):
    (tmp_path / "mine").mkdir()
    for number, one in enumerate(walked[1].walked):
        Image.fromarray(one.frame).save(tmp_path / "mine" / f"{number}.png")
    return tmp_path / "mine"


class _Truth:
    """What the pictures show, at the places of the description."""

    def __init__(self, pool, truth):
        self.answers = {}
        for one, labels in zip(pool.walked, truth, strict=True):
            places = tuple(one.scene.cells)
            order = [places.index(f"pos-{column}-{row}") for row in range(1, 8) for column in range(1, 8)]
            self.answers["pictures", sha256(one.frame.tobytes()).digest()] = (labels == 1)[:, order]


def test_describe_and_label_at_the_page(browser, folder, walked, tmp_path, monkeypatch):
    pytest.importorskip("uvicorn")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for name, value in (("STEPS", 4), ("MOST_STEPS", 4), ("FREE", 6)):
        monkeypatch.setattr(boards, name, value)
    told, found, out = Told(), [], tmp_path / "out"
    out.mkdir()
    about = vocabulary_named("sokoban"), folder, out, Session(pictures=2)
    thread = Thread(target=lambda: found.append(label_pictures(*about, told)), daemon=True)
    thread.start()
    with opened(browser, told.address(), width=400) as page:
        page.wait_for_function("() => view && view.kind === 'describe' && document.getElementById('rows')")
        page.evaluate("waiting")
        # the corners by the keyboard, one pixel at a time, the numbers by the keyboard, too
        height, width = walked[1].walked[0].frame.shape[:2]
        top, bottom, left, right = board_box(height, width, 7, 7)
        for name, ways in (
            ("Upper left", {"ArrowRight": left, "ArrowDown": top}),
            ("Lower right", {"ArrowLeft": width - right, "ArrowUp": height - bottom}),
        ):
            page.get_by_role("button", name=name).focus()
            for key, times in ways.items():
                for _ in range(times):
                    page.keyboard.press(key)
        page.get_by_label("Rows").fill("7")
        page.get_by_label("Bottom").fill("0")
        page.get_by_role("button", name="Begin").click()
        page.get_by_text("the grid is empty: put its bottom below its top").wait_for()
        page.get_by_label("Bottom").fill(str(100 * bottom / height))
        assert page.inner_text("#said") == ""
        page.get_by_label("Columns").fill("7")
        page.get_by_label("stone").fill("2")
        assert [violation["id"] for violation in axe.Axe().run(page).response["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_label("stone").press("Enter")
        person = Person(page, _Truth(*walked[1:]))
        person.ready()
        assert page.inner_text("#progress") == "0 labelled, 2 at most"
        person.press("3")  # more stones may have been seen than there were said to be
        assert page.get_by_text("correct the number in scene.json").is_visible()
        person.press("u")
        for _ in range(2):
            person.ready()
            person.answer()
            assert not page.get_by_text("correct the number in scene.json").is_visible()
            person.next()
        person.ready("done")
        thread.join(30)
    assert found[0]["labelled_pictures"] == 2
    description = read_description(out, DOMAIN.visual)
    assert (description.rows, description.columns) == (7, 7)
    assert dict(description.things) == {"player": 1, "stone": 2}
    box = np.array(description.box) * [height, height, width, width]
    assert np.abs(box - [top, bottom, left, right]).max() < 0.1
    labels = read_labels(DOMAIN, out)  # as train --images reads them
    assert [one.problem for one in labels] == ["pictures"] * 2
    assert (out / "sokoban.safetensors").exists()
    # the same again asks for nothing, and pictures of another folder are not mixed with these
    monkeypatch.setattr(session, "LINGER", 0.0)  # no page is open
    assert label_pictures(*about, Told())["labelled_pictures"] == 2
    next(iter(folder.iterdir())).unlink()
    with pytest.raises(UnusableInput, match="one was added, removed or changed"):
        label_pictures(*about, Told())


def test_all_is_skipped(folder, tmp_path, monkeypatch):
    """The page and the command say that nothing can be learned."""
    pytest.importorskip("uvicorn")
    monkeypatch.setattr(session, "LINGER", 60.0)  # until the end is seen, however busy the machine is
    for path in sorted(folder.iterdir())[2:]:
        path.unlink()
    told, ended, out = Told(), Queue(), tmp_path / "out"
    out.mkdir()

    def label_all():
        try:
            label_pictures(vocabulary_named("sokoban"), folder, out, Session(), told)
        except UnusableInput as error:
            ended.put(error)

    Thread(target=label_all, daemon=True).start()
    address, token = told.address().split("?token=")

    def asked(path, **facts):
        body = json.dumps(facts).encode() if facts else None
        with urlopen(Request(address + path, body, {"x-aam-token": token}), timeout=60) as answer:
            return json.load(answer)

    asked("act/describe", question=0, **SOUND)
    for _ in range(2):
        while (view := asked("view"))["kind"] == "busy":
            sleep(0.01)
        view = asked("act/skip", question=view["question"])["view"]
    while view["kind"] != "done":  # once that was shown, the server ends
        sleep(0.01)
        view = asked("view")
    assert view["told"].startswith("The command has ended: all was skipped")
    assert "begin anew in another --out" in str(ended.get(timeout=60))


def test_noisy_pictures_are_no_more_than_can_be_compared(monkeypatch, walked, folder):
    scene = described(SOUND, DOMAIN.visual).scene(DOMAIN.visual)
    frames, rng = [one.frame for one in walked[1].walked], np.random.default_rng(0)
    assert len(chosen(frames, scene, rng)) == len(frames)
    noisy = [rng.integers(0, 256, frames[0].shape, np.uint8) for _ in range(9)]
    monkeypatch.setattr(own_pictures, "MOST_LOOKS", 4 * 49)
    numbers = [next(n for n, other in enumerate(noisy) if one is other) for one in chosen(noisy, scene, rng)]
    assert numbers == sorted(numbers)
    assert len(numbers) == 4
    Image.fromarray(frames[0]).save(folder / "99.png")
    assert len(pictures_of(folder)) == len(frames)  # the same picture again says nothing
