"""The base of all decorators around an agent."""

from __future__ import annotations

from collections.abc import Sequence

from aam_vision.query import Access, Agent, Expected, expect, refuses_surely
from aam_vision.strips import ActionHeader, Vocabulary


class AgentDecorator:
    """An agent around another one, with the same instructions, vocabulary and access."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @property
    def vocabulary(self) -> Vocabulary:
        return self.agent.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self.agent.headers

    @property
    def access(self) -> Access:
        return self.agent.access

    @property
    def refuses_surely(self) -> bool:
        return refuses_surely(self.agent)

    def expect(self, questions: Sequence[Expected]) -> None:
        """Pass on what will be asked next."""
        expect(self.agent, questions)
