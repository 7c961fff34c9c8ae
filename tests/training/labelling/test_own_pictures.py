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
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from aam_vision.training.described import described, read_description
from aam_vision.training.folder import read_labels
from aam_vision.training.label import label as command
from aam_vision.training.labelling import boards, own_pictures
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.own_pictures import chosen, label_pictures, pictures_of, vocabulary_named
from aam_vision.training.labelling.pool import walk
from aam_vision.training.labelling.settings import Session
from tests.report.test_browser import CHROMIUM
from tests.training.labelling.person import Person, Told

DOMAIN = board_domain("sokoban")
SOUND = {
    "rows": 7,
    "columns": 7,
    "box": [0.01, 0.99, 0.01, 1],
    "place": "location",
    "things": {"player": 1, "stone": 2},
}


@pytest.fixture(scope="module")
def walked():
    return walk(DOMAIN, [("train", 0)], np.random.default_rng(0), 12)


@pytest.fixture
def folder(tmp_path, walked):
    (tmp_path / "mine").mkdir()
    for number, one in enumerate(walked):
        Image.fromarray(one.frame).save(tmp_path / "mine" / f"{number}.png")
    return tmp_path / "mine"


class _Truth:
    def __init__(self, walked):
        oracle, self.answers = SimulatorLabels(DOMAIN), {}
        for one in walked:
            places = tuple(one.scene.cells)
            yes = label(DOMAIN.visual, one.scene, places, oracle.label(one)) == 1
            order = [places.index(f"pos-{column}-{row}") for row in range(1, 8) for column in range(1, 8)]
            self.answers["pictures", sha256(one.frame.tobytes()).digest()] = yes[:, order]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_describe_and_label_at_the_page(folder, walked, tmp_path, monkeypatch):
    playwright = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    pytest.importorskip("uvicorn")
    monkeypatch.setattr(boards, "STEPS", 10)
    monkeypatch.setattr(boards, "MOST_STEPS", 10)
    monkeypatch.setattr(boards, "FREE", 6)
    told, found, out = Told(), [], tmp_path / "out"
    out.mkdir()
    about = vocabulary_named("sokoban"), folder, out, Session(pictures=2)
    thread = Thread(target=lambda: found.append(label_pictures(*about, told)), daemon=True)
    thread.start()
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page, wrong = browser.new_page(viewport={"width": 400, "height": 800}), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(told.address())
        page.wait_for_function("() => view && view.kind === 'describe' && document.getElementById('rows')")
        page.evaluate("waiting")
        # the corners by the keyboard, one pixel at a time, the numbers by the keyboard, too
        height, width = walked[0].frame.shape[:2]
        top, bottom, left, right = board_box(height, width, 7, 7)
        for name, across, down in (
            ("Upper left", left, top),
            ("Lower right", width - right, height - bottom),
        ):
            page.get_by_role("button", name=name).focus()
            way = ("ArrowRight", "ArrowDown") if name == "Upper left" else ("ArrowLeft", "ArrowUp")
            for key, times in zip(way, (across, down), strict=True):
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
        found_by_axe = axe.Axe().run(page)
        assert [violation["id"] for violation in found_by_axe.response["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_label("stone").press("Enter")
        person = Person(page, _Truth(walked))
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
        assert wrong == []
        browser.close()
    assert found[0]["labelled_pictures"] == 2
    description = read_description(out, DOMAIN.visual)
    assert (description.rows, description.columns, dict(description.things)) == (
        7,
        7,
        {"player": 1, "stone": 2},
    )
    assert (
        np.abs(np.array(description.box) * [height, height, width, width] - [top, bottom, left, right]).max()
        < 0.1
    )
    labels = read_labels(DOMAIN, out)  # as train --images reads them
    assert [one.problem for one in labels] == ["pictures"] * 2
    assert (out / "sokoban.safetensors").exists()
    # the same again asks for nothing, and pictures of another folder are not mixed with these
    assert label_pictures(*about, Told())["labelled_pictures"] == 2
    next(iter(folder.iterdir())).unlink()
    with pytest.raises(UnusableInput, match="one was added, removed or changed"):
        label_pictures(*about, Told())


def test_all_is_skipped(folder, tmp_path):
    """The page and the command say that nothing can be learned."""
    pytest.importorskip("uvicorn")
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
        asked("act/skip", question=view["question"])
    while (view := asked("view"))["kind"] != "done":
        sleep(0.01)
    assert view["told"].startswith("The command has ended: all was skipped")
    assert "begin anew in another --out" in str(ended.get(timeout=60))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rows": 0}, "rows 0"),
        ({"columns": 65}, "columns 65"),
        ({"rows": True}, "rows True"),
        ({"box": [0, 1, 0]}, "box"),
        ({"box": [0, 1, 0, 2]}, "box"),
        ({"box": [0, 1, 0, float("nan")]}, "box"),
        ({"box": [0.5, 0.5, 0, 1]}, "empty"),
        ({"place": "planet"}, "no type 'planet'"),
        ({"things": {"dragon": 1}}, "player, stone"),
        ({"things": {"stone": -1}}, "stone -1"),
        ({"more": 1}, "has box, columns"),
    ],
)
def test_descriptions_that_cannot_be(changed, told):
    assert described(SOUND, DOMAIN.visual).scene(DOMAIN.visual).rows == 7
    with pytest.raises(UnusableInput, match=told):
        described({**SOUND, **changed}, DOMAIN.visual)


def test_a_description_in_a_file_is_checked(tmp_path):
    assert read_description(tmp_path, DOMAIN.visual) is None
    (tmp_path / "scene.json").write_text(json.dumps({**SOUND, "rows": 10**9}))
    with pytest.raises(UnusableInput, match=r"scene.json: rows"):
        read_description(tmp_path, DOMAIN.visual)


def test_noisy_pictures_are_no_more_than_can_be_compared(monkeypatch, walked):
    scene = described(SOUND, DOMAIN.visual).scene(DOMAIN.visual)
    frames = [one.frame for one in walked]
    assert len(chosen(frames, scene, np.random.default_rng(0))) == len(frames)
    noisy = [np.random.default_rng(number).integers(0, 256, frames[0].shape, np.uint8) for number in range(9)]
    monkeypatch.setattr(own_pictures, "MOST_LOOKS", 4 * 49)
    some = chosen(noisy, scene, np.random.default_rng(0))
    assert [one.tobytes() for one in noisy if any(one is other for other in some)] == [
        one.tobytes() for one in some
    ]
    assert len(some) == 4


@pytest.mark.parametrize("name", ["sokoban", "doors", "maze", "slidetile", "hanoi", "blocks", "taxi"])
def test_every_boards_vocabulary_can_be_described(name):
    from aam_vision.classifiers.reading import SceneIndex
    from aam_vision.training.described import looks, place_types

    _, visual = vocabulary_named(name)
    facts = {**SOUND, "place": place_types(visual)[0], "things": dict.fromkeys(looks(visual), 1)}
    index = SceneIndex(visual, described(facts, visual).scene(visual))
    assert len(index.places) == 49
    assert index.legality.asked.any(0).all()


def test_pictures_that_cannot_be_used(folder, tmp_path, monkeypatch, capsys, walked):
    def refused(*arguments):
        monkeypatch.setattr("sys.argv", ["label", "--out", str(tmp_path / "out"), *map(str, arguments)])
        assert run_command(command) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    (tmp_path / "empty").mkdir()
    assert "holds no picture" in refused("--env", "sokoban", "--images", tmp_path / "empty")
    assert "no such folder" in refused("--env", "sokoban", "--images", tmp_path / "none")
    assert "no cells to ask about" in refused("--env", "tabletop", "--images", folder, "--ask", "atoms")
    assert "no simulator knows" in refused("--env", "sokoban", "--images", folder, "--labels", "simulator")
    Image.fromarray(walked[0].frame).save(folder / "99.png")
    assert len(pictures_of(folder)) == len(walked)  # the same picture again says nothing
    Image.fromarray(walked[0].frame[:-1]).save(folder / "a.png")
    assert "a.png has 337x336 pixels, 0.png 337x337; give pictures of one size" in refused(
        "--env", "sokoban", "--images", folder
    )
    (folder / "a.png").write_bytes(b"GIF89a")
    assert "not a PNG" in refused("--env", "sokoban", "--images", folder)
