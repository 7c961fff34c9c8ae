"""An agent whose exchanges are kept in a journal, and answered from it where it has them already.

A run that was killed makes its moves again and gets their answers, without the agent and without the policy. At the end
of the journal the agent is brought to where it was (``image.Returning``), and random generators get the states that they had.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import (
    Malformed,
    field,
    plan_json,
    read_executed,
    read_plan,
    read_state,
    state_json,
    typed,
    vocabulary_json,
)
from aam_vision.agents.image import Passage, digests, returning
from aam_vision.agents.journal import Journal, Row
from aam_vision.agents.workers import Crew
from aam_vision.model.query import Agent, Expected, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, Atom, Objects, State, Vocabulary
from aam_vision.support.errors import UnusableInput


class JournalledAgent(AgentDecorator):
    """An agent whose exchanges are recorded.

    Args:
        agent: its handles must be numbers or states; if numbers, it must be ``Returning``.
        journal: with or without entries.
        generators: random generators that answers depend on, such as the noise of a camera.
        crew: the copies that answer, if there are several.

    Raises:
        UnusableInput: the journal is damaged, or about another agent.
    """

    def __init__(
        self,
        agent: Agent,
        journal: Journal,
        generators: Sequence[np.random.Generator] = (),
        crew: Crew | None = None,
    ) -> None:
        super().__init__(agent)
        self._journal = journal
        self._returning = returning(agent)
        self._generators = tuple(generators)
        self._crew = crew
        about = {"access": agent.access.value, **vocabulary_json(agent.vocabulary, agent.headers)}
        known = journal.about("agent")
        if known is None:
            journal.note("agent", about)
        elif known != about:
            raise UnusableInput(
                f"{journal.path}: is about another agent (its access, actions or vocabulary differ); "
                "start a new run instead"
            )
        self._rows = journal.rows()
        self._done = 0
        self._moves = [content for (content,) in journal.contents("moves")]
        self._moves_made = 0
        if self._rows and not self._moves and journal.version < 2:
            raise UnusableInput(
                f"{journal.path}: recorded by an older aam-vision, which kept no moves; start a new run instead"
            )
        self._caught_up = not self._rows
        self._history: list[Passage] = []
        self._pixels: dict[Hashable, frozenset[str]] = {}
        try:
            self._contents = Contents(
                journal, agent.vocabulary, agent.headers, numbered=self._returning is not None
            )
        except Malformed as error:
            raise self.damaged(error) from None
        self._object_numbers: dict[tuple[tuple[str, str], ...], int] = {}
        for number, objects in enumerate(self._contents.objects, 1):
            self._object_numbers.setdefault(tuple(objects.items()), number)
        self._state_numbers: dict[tuple[int, State], int] = {}
        for number, state in enumerate(self._contents.states, 1):
            self._state_numbers.setdefault(state, number)

    @property
    def recorded(self) -> int:
        """Exchanges in the journal."""
        return len(self._rows)

    @property
    def exchanges(self) -> int:
        """Exchanges made so far, those included that were recorded."""
        return self._done

    @property
    def live(self) -> bool:
        """Whether all that is recorded has been answered, so that the agent itself is asked next."""
        return self._done >= len(self._rows)

    def next_move(self, rng: np.random.Generator) -> tuple[Situation | None, Mapping[str, Any]] | None:
        """The next recorded move, and where it begins; None once all have been made again.

        The generator gets the state that it had when the move was made.
        """
        if self._moves_made >= len(self._moves):
            return None
        told = self._moves[self._moves_made]
        self._moves_made += 1
        try:
            start = None if told.get("from") is None else self._contents.situation(told["from"])
        except (Malformed, AttributeError) as error:
            raise self.damaged(error) from None
        self._set([told.get("random")], 0, rng)
        return start, told

    def upcoming(self) -> Mapping[str, Any] | None:
        """What was noted of the next recorded move, which stays the next one; None once all have been made again."""
        told = self._moves[self._moves_made] if self._moves_made < len(self._moves) else None
        if told is not None and not isinstance(told, dict):
            raise self.damaged("a move is none")
        return told

    def note_move(self, start: Situation | None, told: Mapping[str, Any], rng: np.random.Generator) -> None:
        """Record a move that is about to be made; it is written together with its first exchange."""
        self._moves_made += 1
        content = {
            **told,
            "from": None if start is None else self._reference(start),
            "random": _plain(rng.bit_generator.state),
        }
        self._journal.add("moves", self._moves_made, content)

    def expect(self, questions: Sequence[Expected]) -> None:
        """Pass on what will be asked next, once all that is recorded has been answered."""
        if self.live:
            self._catch_up()
            super().expect(questions)

    def image(self, situation: Situation) -> str | None:
        """The name of the image that is kept of a situation, if there is one and the agent is back where it was."""
        if self._returning is None or not self._caught_up:
            return None
        memo = self._returning.memo(situation)
        name = memo.get("image") if isinstance(memo, dict) else None
        return name if isinstance(name, str) else None

    def pixels(self, situation: Situation) -> frozenset[str] | None:
        """Digests of the images of a situation, of an agent that is seen in images; None of any other."""
        return self._pixels.get(situation.handle)

    # --- the agent -----------------------------------------------------------------------------------------------

    def initial(self) -> Sequence[Situation]:
        answer = self._recall("initial", {})
        if answer is None:
            situations = self.agent.initial()
            self._record("initial", {}, [self._written(situation) for situation in situations], None)
            return situations
        try:
            found = [self._contents.situation(item) for item in answer]
        except Malformed as error:
            raise self.damaged(error) from None
        for after, item in zip(found, answer, strict=True):
            self._remember(Passage(None, (), after, memo(item)))
        return found

    def ask(self, query: Query) -> Response:
        """The recorded answer, or the agent's, which is then recorded."""
        question = {"from": self._reference(query.initial), "plan": plan_json(query.plan)}
        answer = self._recall("query", question)
        if answer is None:
            response = self.agent.ask(query)
            answer = {"executed": response.executed, "final": self._written(response.final)}
            self._record("query", question, answer, None)
            return response
        try:
            response = self._contents.response(query, answer)
        except Malformed as error:
            raise self.damaged(error) from None
        taken = query.plan[: response.executed]
        self._remember(Passage(query.initial, taken, response.final, memo(answer["final"])))
        return response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The recorded walk, or the agent's, which is then recorded."""
        question = {"from": self._reference(start), "steps": steps}
        answer = self._recall("walk", question, rng)
        if answer is None:
            walked = self.agent.walk(start, steps, rng)
            told = [
                [*plan_json([step.action]), self._reference(step.before), self._written(step.after)]
                for step in walked
            ]
            self._record("walk", question, told, rng)
            return walked
        try:
            steps_taken = self._contents.walk(answer)
        except (Malformed, ValueError, TypeError) as error:
            raise self.damaged(error) from None
        for step, item in zip(steps_taken, answer, strict=True):
            self._remember(Passage(step.before, (step.action,), step.after, memo(item[2])))
        return steps_taken

    def _remember(self, passage: Passage) -> None:
        """Keep a recorded passage, to lead the agent back by it."""
        self._history.append(passage)
        self._note_pixels(passage.after.handle, passage.memo)

    def _note_pixels(self, handle: Hashable, memo: object) -> None:
        if found := digests(memo):
            self._pixels[handle] = found

    # --- the journal ---------------------------------------------------------------------------------------------

    def _recall(self, kind: str, question: Any, rng: np.random.Generator | None = None) -> Any:
        """The recorded answer; None, with the agent ready to be asked, if there is none."""
        if self._done >= len(self._rows):
            self._catch_up()
            self._journal.check_room()
            return None
        row = self._rows[self._done]
        self._done += 1
        if (row.kind, row.question) != (kind, question) or not _answers(kind, row.answer):
            raise self.damaged(f"entry {self._done} is not what is asked here")
        if rng is not None:
            self._set(row.random, 0, rng)
        return row.answer

    def _record(self, kind: str, question: Any, answer: Any, rng: np.random.Generator | None) -> None:
        random = [rng and _plain(rng.bit_generator.state)]
        random += [_plain(generator.bit_generator.state) for generator in self._generators]
        worker = 0 if self._crew is None else self._crew.latest
        self._journal.write(self._done + 1, Row(kind, question, answer, random), worker)
        self._rows.append(Row(kind, None, None, None))
        self._done += 1

    def _catch_up(self) -> None:
        """Bring the agent to where it was when the journal ended."""
        if self._caught_up:
            return
        self._caught_up = True
        for position, generator in enumerate(self._generators, 1):
            self._set(self._rows[-1].random, position, generator)
        if self._returning is not None:
            self._returning.resume(self._history)
        self._history.clear()

    def _set(self, random: Any, position: int, generator: np.random.Generator) -> None:
        try:
            generator.bit_generator.state = random[position]
        except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            raise self.damaged(f"the state of a random generator is none ({error})") from None

    # --- situations ----------------------------------------------------------------------------------------------

    def _reference(self, situation: Situation) -> list[Any]:
        """A situation as ``[handle, number of its state]``, the handle None where it is the state itself."""
        handle = situation.handle
        if not isinstance(handle, int) and handle != situation.state:
            raise UnusableInput(
                f"an agent whose handles are of type {type(handle).__name__} cannot be journalled: "
                "use numbers, or the states themselves"
            )
        return [handle if isinstance(handle, int) else None, self._number(situation.state)]

    def _written(self, situation: Situation) -> list[Any]:
        """The same, with the agent's memo."""
        memo = self._returning.memo(situation) if self._returning is not None else None
        self._note_pixels(situation.handle, memo)
        return [*self._reference(situation), memo]

    def _number(self, state: State) -> int:
        """The state's number in the journal, where it is written with the next entry if it is new.

        States are told apart by the order of their objects, too: choices may depend on it.
        """
        key = tuple(state.objects.items())
        objects = self._object_numbers.get(key)
        if objects is None:
            self._contents.objects.append(state.objects)
            objects = self._object_numbers[key] = len(self._contents.objects)
            self._journal.add("objects", objects, dict(state.objects))
        number = self._state_numbers.get((objects, state))
        if number is None:
            self._contents.states.append((objects, state))
            number = self._state_numbers[objects, state] = len(self._contents.states)
            self._journal.add("states", number, objects, state_json(state))
        return number

    def damaged(self, why: object) -> UnusableInput:
        """The error that says that the journal cannot be used."""
        return UnusableInput(
            f"{self._journal.path}: damaged, or of another run ({why}); start a new run instead"
        )


def _answers(kind: str, answer: object) -> bool:
    """Whether this may be an answer: there is always an initial situation."""
    return isinstance(answer, dict if kind == "query" else list) and (kind != "initial" or bool(answer))


def _plain(value: Any) -> Any:
    """A generator's state as JSON, which does not know numpy's numbers and arrays."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


# The contents of a journal's rows: states, situations, queries and walks, decoded in one place.
#
# A journal may come from an untrusted source: anything malformed raises ``Malformed``, or a standard error of Python.


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
        known: dict[int, dict[Atom, Atom]] = {}
        for number, content in journal.contents("states"):
            objects = _item(self.objects, number)
            state = read_state(content, vocabulary, objects, known.setdefault(number, {}))
            self.states.append((number, state))

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
        executed = read_executed(answer, query.plan)
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
