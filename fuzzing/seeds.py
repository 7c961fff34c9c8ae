"""Sound inputs for fuzzers to begin from, and the words that they are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO

import numpy as np
from PIL import Image

from aam_vision.agents.reference_agent import HELLO, Robot
from fuzzing.entrances import SEPARATOR

DOMAIN = b"""(define (domain robot) (:requirements :strips :typing :negative-preconditions)
(:types room ball - thing thing - object) (:constants hall - room)
(:predicates (in ?r - room) (at ?b - ball ?r - room) (holds ?b - ball) (free))
(:action go :parameters (?from ?to - room) :precondition (and (in ?from) (not (in ?to))) :effect (and (in ?to) (not (in ?from))))
(:action take :parameters (?b - ball ?r - room) :precondition (and (in ?r) (at ?b ?r) (free))
 :effect (and (holds ?b) (not (free)) (not (at ?b ?r)))))"""
PROBLEM = b"""(define (problem p) (:domain robot) (:objects kitchen - room red blue - ball)
(:init (in hall) (at red kitchen) (free)) (:goal (and (holds red) (not (free)))))"""


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
    scene = {
        "rows": 1,
        "columns": 2,
        "cells": {"a": [[0, 0]], "b": [[0, 1]]},
        "looks": {"k": "key"},
        "anchors": {"k": "a"},
        "facts": [["far", "a", "b"]],
        "spots": {"s": "spot"},
        "boxes": [[0, 0, 0, 0.5, 0, 1]],
    }
    hello = {
        "id": 0,
        "protocol": 1,
        "name": "d",
        "access": "reset",
        "images": True,
        "types": {"cell": "object"},
        "predicates": {"far": ["cell", "cell"]},
        "actions": {"go": [["x", "cell"]]},
        "problems": [{"objects": {"a": "cell", "b": "cell", "k": "object"}, "size": [4, 4], "scene": scene}],
    }
    return json.dumps(hello).encode()


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
WORDS: Mapping[str, list[bytes]] = {
    "pddl": [
        *(b"(define", b"(domain", b"(problem", b":requirements", b":types", b":constants", b":predicates"),
        *(b"(:action", b":parameters", b":precondition", b":effect", b":objects", b"(:init", b"(:goal"),
        *(
            b"(and",
            b"(not",
            b"(or",
            b"(when",
            b"(forall",
            b"(either",
            b"(=",
            b" - ",
            b"?",
            b")",
            b"object",
            SEPARATOR,
        ),
    ],
    "lines": [
        *(
            b'"id"',
            b'"protocol"',
            b'"name"',
            b'"access"',
            b'"predicates"',
            b'"actions"',
            b'"problems"',
            b'"types"',
        ),
        *(
            b'"constants"',
            b'"objects"',
            b'"executed"',
            b'"state"',
            b'"true"',
            b'"unknown"',
            b'"steps"',
            b'"action"',
        ),
        *(b'"snapshot"', b'"error"', b'"images"', b'"size"', b'"scene"', b'"cells"', b'"boxes"', b'"spots"'),
        *(b"null", b"true", b"-1", b"1e999", b"NaN", b"[", b"{", b"}", b"]", b"\\ud800", b'"object"', b"\n"),
    ],
    "image": [
        b"IHDR",
        b"PLTE",
        b"IDAT",
        b"IEND",
        b"tRNS",
        b"acTL",
        b"fdAT",
        b"zTXt",
        b"iCCP",
        b"eXIf",
        b"\xff\xff\xff\xff",
    ],
}
