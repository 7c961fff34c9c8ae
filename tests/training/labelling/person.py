"""A person at the labelling page: looks at the picture, knows the truth, and has a keyboard."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from hashlib import sha256
from io import StringIO
from time import sleep

import numpy as np

from aam_vision.support.commandline import Progress
from aam_vision.training.labelling import boards, pool, rounds
from tests.training.labelling.truths import walked

STEPS = 20
QUICK = """
from tests.training.labelling.person import SETTINGS
for module, name, value in SETTINGS:
    setattr(module, name, value)
import sys
from aam_vision.support.commandline import run_command
from aam_vision.training.label import label
sys.exit(run_command(label))
"""
SETTINGS = [
    *((boards, name, value) for name, value in (("STEPS", 4), ("MOST_STEPS", 4), ("FREE", 6))),
    (rounds, "IN_A_ROW", 1000),
    (pool, "walked_problems", lambda domain, *_: domain.walked[:2]),
]
"""Two problems, and so few training steps that they take no time; it is never found that labels are enough."""


@contextmanager
def command(*arguments):
    """The running command, which is killed in the end; yields the process and the address of its page."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", QUICK, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        told = []
        for line in process.stderr:
            told.append(line)
            if found := re.search(r"http://\S+", line):
                yield process, found[0]
                break
        else:
            raise AssertionError(told)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


class Told(Progress):
    """Keeps what a command says of its progress."""

    def __init__(self):
        super().__init__(StringIO())
        self.told = []

    def stage(self, text):
        self.told.append(text)

    def address(self):
        """Of the page, once it is served."""
        while not (found := re.search(r"http\S+", " ".join(self.told))):
            sleep(0.02)
        return found[0]


def shown(page):
    """The digest of the pixels that the page shows."""
    return bytes(
        page.evaluate(
            """async () => { const canvas = document.createElement("canvas"), image = document.getElementById("image");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            const paper = canvas.getContext("2d"); paper.drawImage(image, 0, 0);
            const pixels = paper.getImageData(0, 0, canvas.width, canvas.height).data.filter((_, i) => i % 4 < 3);
            return Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", pixels))); }"""
        )
    )


@contextmanager
def opened(browser, address, width=1280, **options):
    """An opened page, on which nothing goes wrong and which asks nobody else."""
    context, wrong = browser.new_context(viewport={"width": width, "height": 800}, **options), []
    page, own = context.new_page(), (address.split("?")[0], "blob:", "data:")
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith(own) or wrong.append(asked.url))
    page.goto(address)
    yield page
    assert wrong == []
    context.close()


class Truth:
    """What the pictures of the walks of ``--env sokoban --steps STEPS`` in two problems show."""

    def __init__(self):
        self.domain, pool, truth = walked("sokoban", STEPS, 0, 1, seed=(0, 81))
        self.answers = {
            (one.problem, sha256(one.frame.tobytes()).digest()): labels == 1
            for one, labels in zip(pool.walked, truth, strict=True)
        }


class Person:
    """Answers at an opened page, by the keyboard alone."""

    def __init__(self, page, truth):
        self.page, self.truth = page, truth

    def ready(self, kind="ask"):
        """Wait until the page asks, or is done."""
        self.page.wait_for_function("kind => view && view.kind === kind", arg=kind, timeout=60_000)
        self.settled()

    def settled(self):
        """Wait until the server has answered all that was asked."""
        self.page.evaluate("waiting")

    def view(self):
        return self.page.evaluate("view")

    def right(self):
        """What should be said about the picture: (heads, places)."""
        return self.truth.answers[self.view()["problem"], shown(self.page)]

    def press(self, key):
        self.page.keyboard.press(key)
        self.settled()

    def next(self):
        """Say that all is right; the picture after it need not be there yet."""
        before = self.view()["question"]
        self.press("Enter")
        assert self.view().get("question") != before, self.page.inner_text("#said")

    def go(self, place):
        """Move the focus to a place by arrow keys."""
        places = self.view()["places"]
        for _ in range(50):
            now = places[self.page.evaluate("chosen.at(-1)")]["boxes"][0]
            wanted = places[place]["boxes"][0]
            if abs(now[0] - wanted[0]) > 1e-3:
                self.page.keyboard.press("ArrowDown" if now[0] < wanted[0] else "ArrowUp")
            elif abs(now[2] - wanted[2]) > 1e-3:
                self.page.keyboard.press("ArrowRight" if now[2] < wanted[2] else "ArrowLeft")
            else:
                return
        raise AssertionError("the place cannot be reached by arrow keys")

    def answer(self):
        """Make all places right; returns the number of places at which something was to be said."""
        right, said = self.right(), 0
        places = self.view()["places"]
        for place in range(right.shape[1]):
            wanted = np.flatnonzero(right[:, place]).tolist()
            if places[place]["yes"] == wanted:
                continue
            self.go(place)
            said += 1
            for _ in range(5):
                wrong = sorted(set(places[place]["yes"]) ^ set(wanted))
                if not wrong:
                    break
                self.press("0" if not wanted else self.view()["heads"][wrong[-1]]["key"])
                places = self.view()["places"]
            assert places[place]["yes"] == wanted
        return said
