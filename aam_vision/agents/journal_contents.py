"""The contents of a journal's rows: states, situations, queries and walks, decoded in one place.

A journal may come from an untrusted source: anything malformed raises ``Malformed``, or a standard error of Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aam_vision.agents.encoding import Malformed, field, read_plan, read_state, typed
from aam_vision.agents.journal import Journal
from aam_vision.query import Query, Response, Situation, WalkStep
from aam_vision.strips import ActionHeader, Objects, State, Vocabulary
from aam_vision.wording import counted


class Contents:
    """The states of a journal, and what its entries say of them.

    Raises:
        Malformed: a state or a set of objects is not as we write it.
    """

    def __init__(
        self,
        journal: Journal,
        vocabulary: Vocabulary,
        headers: Sequence[ActionHeader],
        *,
        numbered: bool | None = None,
    ) -> None:
        """``numbered`` says whether handles have to be numbers, or may not be; None allows both."""
        self._headers: Mapping[str, ActionHeader] = {header.name: header for header in headers}
        self._numbered = numbered
        self.objects: list[Objects] = []
        self.states: list[tuple[int, State]] = []
        """Every state, after the number of its objects."""
        for (content,) in journal.contents("objects"):
            kinds = typed(content if isinstance(content, dict) else {}, vocabulary.types)
            self.objects.append(Objects(kinds, vocabulary.types))
        for number, content in journal.contents("states"):
            self.states.append((number, read_state(content, vocabulary, _item(self.objects, number))))

    def situation(self, reference: Any) -> Situation:
        """The situation of a reference ``[handle, number of its state]``, with or without the agent's memo."""
        if not isinstance(reference, list) or len(reference) < 2:
            raise Malformed("a situation is none")
        handle, number = reference[:2]
        wanted = {None: (int, type(None)), True: (int,), False: (type(None),)}[self._numbered]
        if isinstance(handle, bool) or not isinstance(handle, wanted):
            raise Malformed("a handle is none of this agent's")
        _, state = _item(self.states, number)
        return Situation(state if handle is None else handle, state)

    def query(self, question: Any) -> Query:
        """The query of an entry."""
        start = self.situation(field(question, "from", list))
        return Query(start, read_plan(field(question, "plan", list), self._headers, start.state.objects))

    def response(self, query: Query, answer: Any) -> Response:
        """The answer to a query."""
        executed = field(answer, "executed", int)
        if not 0 <= executed <= len(query.plan):
            raise Malformed(f"{counted(executed, 'step')} of {len(query.plan)} were executed")
        return Response(executed, self._after(query.initial, answer.get("final")))

    def walk(self, answer: Any) -> list[WalkStep]:
        """The steps of a walk."""
        steps = []
        for action, reference, after in answer:
            before = self.situation(reference)
            (step,) = read_plan([action], self._headers, before.state.objects)
            steps.append(WalkStep(before, step, self._after(before, after)))
        return steps

    def _after(self, before: Situation, reference: Any) -> Situation:
        after = self.situation(reference)
        if before.state.objects != after.state.objects:
            raise Malformed("a step leads into another problem")
        return after


def memo(reference: Sequence[Any]) -> Any:
    """Return what the agent had kept of a reference's situation; None if nothing."""
    return reference[2] if len(reference) > 2 else None


def _item(items: Sequence[Any], number: object) -> Any:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(items):
        raise Malformed(f"there is no number {number!r}")
    return items[number - 1]
