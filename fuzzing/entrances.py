"""The entrances for strangers' bytes, each as one function: it returns, or an error of the project is raised within.

Whatever else happens (another exception, more than one line, a hang) is a finding. Hypothesis calls them in the tests,
atheris in ``fuzzing.fuzz``.
"""

from __future__ import annotations

import json
import struct
import tempfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from aam_vision.agents.encoding import Malformed, loads, read_executed, read_vocabulary
from aam_vision.agents.protocol import Hello, answer, complaint, read_hello, read_reached, read_steps
from aam_vision.agents.reference_agent import HELLO, Robot
from aam_vision.model.pddl import domain_text, problem_text, read_domain, read_problem
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import SIGNATURE, NoPicture, decode, pixels_only

SEPARATOR = b"\n;;\n"  # bytes between a domain and a problem


class Complaint(AssertionError):
    """Raised when an error of the project is not as it should be."""


def pddl(data: bytes) -> None:
    """A domain and, after ``SEPARATOR``, a problem; what is read is written, and read again."""
    first, _, second = data.partition(SEPARATOR)
    with tempfile.TemporaryDirectory() as name:
        domain, problem = Path(name, "domain.pddl"), Path(name, "problem.pddl")
        domain.write_bytes(first)
        problem.write_bytes(second)
        try:
            model = read_domain(domain)
            domain.write_text(domain_text(model), encoding="utf-8")
            again = read_domain(domain)
            if domain_text(again) != domain_text(model):
                raise Complaint("what is written is not what was read")
            found = read_problem(model, problem)
            problem.write_text(problem_text("p", model.vocabulary, found), encoding="utf-8")
            if read_problem(model, problem).initial != found.initial:
                raise Complaint("what is written is not what was read")
        except UnusableInput as error:
            _one_line(error)


def lines(data: bytes) -> None:
    """The lines of a program: its hello (also read as a vocabulary), then answers to a run and a walk."""
    said = data.split(b"\n")
    hello: Hello | None = None
    for number, line in enumerate(said[:20]):
        try:
            found = answer(line, number)
            complaint(found)
            if hello is None:
                hello = read_hello(found)
            objects, headers = hello.problems[0], {header.name: header for header in hello.headers}
            plan = [GroundAction(header.name, tuple(objects)[: header.arity]) for header in hello.headers[:3]]
            with suppress(Malformed):
                read_executed(found, plan)
                read_reached(found, hello.vocabulary, objects)
            for _, step in read_steps(found, 3, headers, objects):
                read_reached(step, hello.vocabulary, objects)
        except Malformed as error:
            _one_line(error)
    try:
        read_vocabulary(loads(said[0]))
    except Malformed as error:
        _one_line(error)


def image(data: bytes) -> None:
    """A PNG file: as it is, and with the check sums that belong to its parts."""
    for file in (data, resealed(data)):
        try:
            pixels_only(file)
            height, width, colours = decode(file).shape
            if colours != 3 or height * width > len(file) * 2000:
                raise Complaint(f"{len(file)} bytes unpack to {height} x {width} x {colours}")
        except NoPicture as error:
            _one_line(error)


ENTRANCES: Mapping[str, Callable[[bytes], None]] = {"pddl": pddl, "lines": lines, "image": image}


def _one_line(error: Exception) -> None:
    text = str(error)
    if not text or "\n" in text or len(text) > 2000:
        raise Complaint(f"an error that is not one line: {text[:200]!r}") from error


def resealed(png: bytes) -> bytes:
    """The parts of a PNG file with new check sums; without them every change would be refused at once."""
    found, place = [SIGNATURE], len(SIGNATURE)
    while place + 8 <= len(png):
        (length,) = struct.unpack_from(">I", png, place)
        part = png[place + 4 : place + 8 + length]
        found.append(struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)))
        place += 12 + length
    return b"".join(found)


# Sound inputs for fuzzers to begin from, and the words that they are made of.

DOMAIN, PROBLEM = (
    Path(__file__).with_name(name).read_bytes().strip() for name in ("robot.pddl", "robot-problem.pddl")
)


def _spoken() -> bytes:
    robot = Robot()
    plan = [["go", "hall", "kitchen"], ["take", "red", "kitchen"]]
    said = [
        HELLO,
        robot.run({"from": "start", "plan": plan}),
        robot.walk({"from": "here", "steps": 2, "seed": 1}),
        {"error": "the battery is empty"},
    ]
    return "\n".join(json.dumps({"id": number, **one}) for number, one in enumerate(said)).encode()


def _shown() -> bytes:
    """The first line of a program that shows images."""
    return json.dumps(json.loads(Path(__file__).with_name("shown.json").read_bytes())).encode()


def _pictures() -> list[bytes]:
    frame = np.random.default_rng(0).integers(0, 256, (5, 6, 3), dtype=np.uint8)
    found = []
    for mode, options in (("RGB", {}), ("P", {}), ("RGB", {"compress_level": 0}), ("L", {}), ("RGBA", {})):
        file = BytesIO()
        Image.fromarray(frame).convert(mode).save(file, "PNG", **options)
        found.append(file.getvalue())
    return found


SEEDS: Mapping[str, list[bytes]] = {
    "pddl": [DOMAIN + SEPARATOR + PROBLEM, DOMAIN, b"(define (domain d))"],
    "lines": [_spoken(), _shown()],
    "image": _pictures(),
}
