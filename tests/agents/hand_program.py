"""``python -m tests.agents.hand_program ASKED SEED MISTAKES``: a robot in a world of Doors that nobody but a person puts back.

The person is asked by the file ASKED, has a hand in the picture meanwhile, and sets up something else in a share MISTAKES of the times.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from aam_vision.envs.program import ShownEnvironment


class PutBackByHand(ShownEnvironment):
    """The answers; all of them begin where the world is."""

    def __init__(self, asked: Path, seed: int, mistakes: float) -> None:
        super().__init__("doors", "reset", 1)
        self._asked, self._rng, self._mistakes = asked, np.random.default_rng(seed), mistakes
        self._moving = False
        """Whether the hand is in the picture."""
        self._begun = False
        """Whether the problem was set up once."""
        (self._world,) = self._problems
        self._world.start()

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to any question."""
        if question["ask"] == "hello":
            return {**super().answer(question), "walks": False, "by_hand": True}
        assert question["from"] == "here"
        if self._moving:
            self._set_up()
            self._moving = False
        elif self._asked.exists():
            self._asked.unlink()
            self._moving = True
        return super().answer(question)

    def _set_up(self) -> None:
        self._world.start()
        if self._begun and self._rng.random() < self._mistakes:
            for _ in range(int(self._rng.integers(1, 4))):
                if chosen := self._world.choose(self._rng):
                    self._world.instruct(*chosen)
        self._begun = True

    def _seen(self, simulator: Any) -> dict[str, Any]:
        if not self._moving:
            return super()._seen(simulator)
        frame = simulator.frame().copy()
        frame[: len(frame) // 2] = 200, 160, 140
        hidden = type("Hidden", (), {"frame": lambda self: frame})()
        return super()._seen(hidden)


def main() -> None:
    """Answer line by line until there are no more."""
    asked, seed, mistakes = sys.argv[1:]
    shown = PutBackByHand(Path(asked), int(seed), float(mistakes))
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["id"], **shown.answer(question)}), flush=True)


if __name__ == "__main__":
    main()
