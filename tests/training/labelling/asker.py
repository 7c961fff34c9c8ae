"""Rounds that ask a desk about the same things, and begin again where they are told to."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic, sleep

from aam_vision.training.labelling.desk import Corrected


class Asker:
    """Asks in a thread of its own.

    Args:
        desk: where a person answers.
        ask: what is asked of it from begin to end; returns what was answered.
        kind: of the view that a question has.
    """

    def __init__(self, desk, ask, kind):
        self.desk, self._ask, self._kind = desk, ask, kind
        self.begun, self.found, self.ended = 0, None, Event()
        Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            self.begun += 1
            try:
                found = self._ask()
                self.desk.settle()
            except Corrected:
                continue
            self.found = found
            self.ended.set()
            return

    def question(self):
        """What the page shows, once something is asked."""
        until = monotonic() + 10
        while (view := self.desk.view())["kind"] != self._kind:
            assert monotonic() < until
            sleep(0.002)
        return view
