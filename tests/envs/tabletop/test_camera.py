"""The page about a real camera is followed from the first picture to the report: MuJoCo stands for the world, and tells nothing.

What the pictures show is said through the labelling page's server alone, by somebody who looks at the scene. By night the labels are
learned from as on the page; else so little is learned that it takes no time, and the run reads with the weights of the package.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from signal import SIGINT, pthread_kill
from threading import Thread, main_thread
from time import sleep
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image

from aam_vision.classifiers.store import paths
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.registry import image_domain
from aam_vision.support.pictures import encode
from aam_vision.training.labelling import rounds, scenes, session
from aam_vision.training.labelling.server import TOKEN, served
from aam_vision.training.labelling.settings import Way
from experiments.page_labels import spot, taken, wrong
from tests.commands import called
from tests.documentation import ROOT, Command, blocks
from tests.finished import result_of
from tests.profiles import NIGHTLY
from tests.test_docs import Reader

PAGE = ROOT / "docs" / "how-to" / "camera.md"
NOISE = 2.0
HARDWARE = """
import numpy as np
from aam_vision.envs.tabletop.environment import TabletopEnv
from aam_vision.envs.tabletop.layouts import Layout, Pile, named

RNG = np.random.default_rng(1)
TABLE = TabletopEnv("rgb_array")
THINGS = named(("block", "block", "ball", "steel"), ("red", "blue", "ball", "steel"))
NAMES = {thing.look: thing.name for thing in THINGS}


def put_back():
    piles = [Pile((number,), (-0.144 + 0.096 * number, 0.0), (0.0,)) for number in range(4)]
    TABLE.set_up(Layout(THINGS, tuple(piles)))


def carry_out(skill, *things):
    return TABLE.carry_out(skill, *(NAMES[thing] for thing in things)) is None


def photo():
    picture = TABLE.picture()
    return (picture + RNG.normal(0, 2.0, picture.shape)).clip(0, 255).round().astype(np.uint8)


put_back()
"""


class Asked:
    """Somebody at the page, by HTTP alone; ``true`` says what each picture shows."""

    def __init__(self, address: str, true: dict[bytes, Labelled]) -> None:
        parts = urlsplit(address)
        self._host, self._token = parts.netloc, parse_qs(parts.query)["token"][0]
        self._true = true
        self.labelled = self.confirmed = 0

    def work(self) -> None:
        """Label until all is done."""
        while (view := json.loads(self._ask("GET", "/view")))["kind"] != "done":
            if view["kind"] == "busy":
                sleep(0.02)
                continue
            content = self._ask("GET", f"/picture/{view['question']}")
            frame = np.array(Image.open(BytesIO(content), formats=["PNG"]))
            self._label(view, self._true[frame.tobytes()])
            self.labelled += not view["missing"]
            self.confirmed += bool(view["missing"])

    def _label(self, view: dict[str, Any], true: Labelled) -> None:
        shows = {atom.objects[0] for atom in true.true if atom.predicate == "seen"}
        for place, facts in enumerate(view["places"]):
            if facts["name"] in shows:  # also where it is filled in: little was learned so far
                view = self._act("point", view, places=[place], **spot(true.masks[facts["name"]]))
            elif facts["there"] and not facts["whole"]:
                view = self._act("clear", view, places=[place])
        while mistake := next(wrong(view, true), None):
            view = self._act("toggle", view, places=[mistake[0]], head=mistake[1])
        self._act("next", view)

    def _act(self, what: str, view: dict[str, Any], **facts: Any) -> dict[str, Any]:
        told = json.loads(self._ask("POST", f"/act/{what}", {"question": view["question"], **facts}))
        assert "wrong" not in told, told
        found: dict[str, Any] = told["view"]
        return found

    def _ask(self, method: str, path: str, facts: dict[str, Any] | None = None) -> bytes:
        with closing(HTTPConnection(self._host)) as connection:
            body = None if facts is None else json.dumps(facts)
            connection.request(method, path, body, {TOKEN: self._token})
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status == 200, content
        return content


class Follower(Reader):
    """Follows the page; at its labelling page sits somebody who looks at the scene."""

    person: Asked | None = None
    failed: BaseException | None = None

    def _command(self, command: Command, module: str, arguments: list[str], where: str) -> None:
        if module == "aam_vision.run" and not NIGHTLY:  # too little was learned to read anything
            lend(self.folder / "runs" / "eyes")
            arguments = [*arguments, "--max-queries", "2", "--max-steps", "12"]
        done = called(module, *arguments, cwd=self.folder)
        if self.failed is not None:
            raise self.failed
        assert done.returncode in (0, None), f"{where}\n{done.stdout}{done.stderr}"

    def sit_down(self, true: dict[bytes, Labelled], patch: pytest.MonkeyPatch) -> None:
        """Have somebody answer at every page that is served."""

        @contextmanager
        def attended(front: Any, port: int = 0) -> Iterator[str]:
            with served(front, port) as address:
                person = self.person = Asked(address, true)

                def work() -> None:
                    try:
                        person.work()
                    except BaseException as error:
                        self.failed = error
                        pthread_kill(main_thread().ident or 0, SIGINT)  # who asks would wait for ever

                Thread(target=work, daemon=True).start()
                yield address

        patch.setattr(session, "served", attended)


def lend(folder: Path) -> None:
    """The weights of the package, under the name of the page's vocabulary."""
    ours, theirs = paths("tabletop"), paths("table", folder)
    card = json.loads(ours.card.read_text())
    card["name"] = card["vocabulary"]["name"] = "table"
    theirs.card.write_text(json.dumps(card))
    theirs.weights.write_bytes(ours.weights.read_bytes())


@pytest.mark.usefixtures("drawable")
def test_the_page_leads_from_the_first_picture_to_the_report(tmp_path: Path, monkeypatch: Any) -> None:
    rng, number = np.random.default_rng(5), 320 if NIGHTLY else 14
    if not NIGHTLY:
        monkeypatch.setattr(scenes, "WAITED_FOR", scenes.Effort(6, 3, 8, 2, 3, 2))
        monkeypatch.setattr(session.Session, "way", lambda self, **_: Way(most=8, waits=True))
        monkeypatch.setattr(rounds, "MISREAD", 0.8)
    true = {}
    (tmp_path / "recorded").mkdir()
    for place, one in enumerate(taken(image_domain("tabletop"), number, 3)):
        noise = rng.normal(0, NOISE, one.frame.shape)
        frame = (one.frame + noise).clip(0, 255).round().astype(np.uint8)
        true[frame.tobytes()] = one
        (tmp_path / "recorded" / f"{place:04d}.png").write_bytes(encode(frame))
    (tmp_path / "hardware.py").write_text(HARDWARE)
    reader = Follower(tmp_path)
    reader.sit_down(true, monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for block in blocks(PAGE):
        reader.follow(block)
    assert len(list((tmp_path / "pics").iterdir())) == number
    note = json.loads((tmp_path / "runs" / "eyes" / "labelling.json").read_text())
    assert reader.person is not None
    answered = reader.person.labelled + reader.person.confirmed
    assert answered >= note["labelled_pictures"] + note["test"]["pictures"]
    assert reader.person.confirmed >= note["test"]["pictures"] > 0
    told = result_of(tmp_path / "runs" / "robot")
    assert told["env"] == "table"
    assert "not-strips" not in told["status"]
    assert (tmp_path / "runs" / "robot" / "report.html").stat().st_size > 10_000
    if NIGHTLY:
        assert told["status"] == "complete"
        assert "misread none of" in told["seen"]
