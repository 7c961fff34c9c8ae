"""A walker on four cells in a row as a program that shows images, with a fault of a kind at one of its answers.

Arguments: the access, the fault, the number of the answer from which on it comes once, at the first run (from 1, the
hello), and a file that counts the answers of all processes; with ``always`` it comes every time.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np

from aam_vision.agents.perception import Frame
from aam_vision.support.pictures import encode

CELLS = ("c0", "c1", "c2", "c3")
SIZE = (8, 32)


def hello(access: str) -> dict[str, Any]:
    cells = {name: [[0, number]] for number, name in enumerate(CELLS)}
    scene = {"rows": 1, "columns": 4, "cells": cells}
    return {
        "protocol": 1,
        "name": "walker",
        "access": access,
        "walks": True,
        "images": True,
        "types": {"cell": "object"},
        "actions": {"step": [["from", "cell"], ["to", "cell"]]},
        "problems": [{"objects": dict.fromkeys(CELLS, "cell"), "size": list(SIZE), "scene": scene}],
    }


def drawn(cell: int) -> Frame:
    frame = np.zeros((*SIZE, 3), np.uint8)
    frame[:, 8 * cell : 8 * cell + 8, 0] = 255
    return frame


def _faulty(fault: str, answer: dict[str, Any]) -> dict[str, Any]:
    plain = encode(drawn(0))
    files = {
        "truncated": plain[:-20],
        "larger": encode(np.zeros((16, 32, 3), np.uint8)),
        "bomb": plain[:16] + bytes([0x7F, 0xFF, 0xFF, 0xFF]) * 2 + plain[24:],
    }
    if fault == "crash":
        os._exit(3)
    if fault == "missing":
        return {name: value for name, value in answer.items() if name != "image"}
    text = "no base64 at all" if fault == "text" else b64encode(files[fault]).decode()
    return {**answer, "image": "é" if fault == "accent" else text}


def main() -> None:
    access, fault, at, counter, *always = sys.argv[1:]
    here = 0
    for line in sys.stdin:
        with Path(counter).open("a") as file:
            file.write(line)
        number = Path(counter).read_text().count("\n")
        question = json.loads(line)
        start = question.get("from")
        if start == "start":
            here = 0
        elif isinstance(start, dict):
            here = int(start["snapshot"])
        answer = hello(access)
        if question["ask"] == "run":
            executed = 0
            for _, one, other in question["plan"]:
                if CELLS.index(one) != here or CELLS.index(other) != here + 1:
                    break
                here, executed = here + 1, executed + 1
            answer = {"executed": executed}
        elif question["ask"] == "walk":
            answer = {"steps": []}
            for _ in range(min(question["steps"], 3 - here)):
                here += 1
                image = b64encode(encode(drawn(here))).decode()
                step = {"action": ["step", CELLS[here - 1], CELLS[here]], "image": image}
                answer["steps"].append({**step, **({"snapshot": str(here)} if access == "snapshot" else {})})
        if question["ask"] == "run":
            answer["image"] = b64encode(encode(drawn(here))).decode()
            if access == "snapshot":
                answer["snapshot"] = str(here)
            come = Path(f"{counter}-come")
            if number >= int(at) and (always or not come.exists()):
                come.touch()
                answer = _faulty(fault, answer)
        print(json.dumps({"id": question["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
