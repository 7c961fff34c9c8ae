"""A conversation with a program: questions and answers in the agent protocol, each checked.

A program that crashes, hangs or gives an invalid answer is started afresh and asked again, a few times; then the agent
has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aam_vision.agents.encoding import Malformed, dumps
from aam_vision.agents.program import Program, ProgramFailed, ProgramLimits
from aam_vision.agents.protocol import Answer, Hello, answer, complaint, hello_question, line, read_hello
from aam_vision.errors import AgentFailed, UnusableInput


class Conversation:
    """Questions to a program and its answers, each checked; the program is the same after every restart.

    Raises:
        UnusableInput: there is no such program, or it does not say who it is.
    """

    def __init__(self, command: str, limits: ProgramLimits | None = None) -> None:
        self._program = Program(command, limits or ProgramLimits())
        self._number = 0
        self._introduced: dict[str, Any] | None = None
        self.hello: Hello
        self.on_restart: list[Callable[[], None]] = []
        """Called after a restart: the new process knows nothing of earlier questions."""
        try:
            self.again(self._introduce)
        except AgentFailed as error:
            raise UnusableInput(str(error), "agent") from None

    @property
    def command(self) -> str:
        """The command line of the program."""
        return self._program.command

    @property
    def identity(self) -> str:
        """The command, and everything that the program says of itself, including its version."""
        return f"program {dumps([self._program.command, self._introduced])}"

    def close(self) -> None:
        """End the program."""
        self._program.stop()

    def again(self, attempt: Callable[[], Answer]) -> Answer:
        """The answer to one or more questions; after a failure all of them are asked again.

        Raises:
            AgentFailed: the last attempt failed, too.
        """
        allowed = self._program.limits.retries + 1
        for number in range(1, allowed + 1):
            try:
                if not self._program.running:
                    self._program.start()
                    for forget in self.on_restart:
                        forget()
                    if self._introduced is not None:
                        self._introduce()
                return attempt()
            except (ProgramFailed, Malformed) as error:
                self._program.stop()
                if number == allowed:
                    how_often = f", in each of {allowed} processes" if allowed > 1 else ""
                    raise AgentFailed(f"{self._program.command}: {error}{how_often}") from None
        raise AssertionError("the last attempt returns or raises")

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question, with contents still unchecked.

        Raises:
            AgentFailed: the program says that it cannot answer.
            Malformed: the line does not answer this question.
            ProgramFailed: there is no answer.
        """
        self._number += 1
        try:
            found = answer(self._program.exchange(line(question, self._number)), self._number)
            if (text := complaint(found)) is not None:
                raise AgentFailed(f"{self._program.command}: cannot answer a {question['ask']}: {text}")
        except Malformed as error:
            raise Malformed(f"has answered a {question['ask']} with {error}") from None
        return found

    def _introduce(self) -> None:
        """Let the program introduce itself, always in the same way.

        Raises:
            AgentFailed: it introduces itself differently after a restart.
        """
        found = {name: value for name, value in self.ask(hello_question()).items() if name != "id"}
        if self._introduced is None:
            try:
                self.hello = read_hello(found)
            except Malformed as error:
                raise Malformed(f"has answered a hello wrongly: {error}") from None
            self._introduced = found
        elif found != self._introduced:
            raise AgentFailed(f"{self._program.command}: says something else of itself after a restart")
