"""Agents and programs whose instructions are objectives, as what the gate compares.

Such an instruction is called ``achieve-on`` or ``undo-on`` after a predicate, and has its parameters. Whether it claims to be done, and
whether its time is over, an agent shows as facts without arguments: ``claimed`` and ``ended``.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from aam_vision.agents.process import process_agent
from aam_vision.agents.shown import Conversation
from aam_vision.envs.policies import Ended, Told
from aam_vision.model.query import ACHIEVE, CLAIMED, ENDED, UNDO, Access, Agent, Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import checkpoints, files_named


class ToldAgent(Told):
    """An agent, or a program, whose instructions are objectives.

    Pursuits begin at the starts of its problems. What is random is its own: two versions do not have the same luck.

    Args:
        agent: one whose instructions are called as above, or the command of a program that speaks the agent protocol.
        checkpoint: the file or folder that holds this version; default the files that the command names.

    Raises:
        UnusableInput: there is no such program, it shows images, cannot be brought back to a start, or is told something else.
    """

    def __init__(self, agent: Agent | str, checkpoint: PathLike[str] | str | None = None) -> None:
        named = files_named(agent) if isinstance(agent, str) and checkpoint is None else [checkpoint]
        self.checkpoint = checkpoints(*named)
        self._agent = asked = _program(agent) if isinstance(agent, str) else agent
        self.access, self.vocabulary, self.headers = asked.access, asked.vocabulary, asked.headers
        if self.access is Access.TRAJECTORY:
            raise UnusableInput("has to allow that it is brought back to a start", "agent")
        known = {
            f"{how}{one.name}": (one, how == ACHIEVE)
            for one in self.vocabulary.predicates
            for how in (ACHIEVE, UNDO)
        }
        self._objectives = {one.name: known[one.name] for one in self.headers if one.name in known}
        for header in self.headers:
            if header.name not in known or known[header.name][0].types != header.types:
                raise UnusableInput(
                    f"{header} is no objective: call it {ACHIEVE}NAME or {UNDO}NAME, with the parameters of that predicate",
                    "agent",
                )
        self._starts = tuple(asked.initial())
        self.seeds, self.objects = tuple(range(len(self._starts))), self._starts[0].state.objects
        if any(one.state.objects != self.objects for one in self._starts):
            raise UnusableInput("its problems have to have the same objects", "agent")

    def initial(self) -> Sequence[Situation]:
        return self._starts

    def ask(self, query: Query) -> Response:
        return self._agent.ask(query)

    def pursue_from(self, start: int, step: GroundAction, luck: int) -> Ended:
        response = self.ask(Query(self._starts[start], (step,)))
        after, (atom, value) = response.final.state, self.objective(step)
        claimed, spent = (Atom(name, ()) in after.true for name in (CLAIMED, ENDED))
        return Ended((atom in after.true) is value, claimed, spent, response.executed, after)


def _program(command: str) -> Agent:
    """The agent of a program."""
    conversation = Conversation(command)
    hello = conversation.hello
    if hello.shown or hello.controls:
        raise UnusableInput(
            "has to tell its states in facts, and to be told objectives", "agent", repr(command)
        )
    return process_agent(conversation, hello.access, range(len(hello.problems)))
