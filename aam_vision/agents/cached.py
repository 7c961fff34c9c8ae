"""Answers kept across runs: a decorator around a deterministic agent, and the file that it keeps them in.

Only for agents whose situations are states: there the state and the plan are all that an answer depends on, together
with the agent itself, which its *identity* names. Walks are not kept: they differ on purpose.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import (
    dumps,
    field,
    loads,
    plan_json,
    read_executed,
    read_state,
    state_json,
)
from aam_vision.agents.journal import Format, create, guarded, open_checked, refuse_links
from aam_vision.model.query import Agent, Query, Response, Situation
from aam_vision.support.errors import UnusableInput

FORMAT = Format(
    "cache",
    application=0x41414D43,  # "AAMC"
    version=1,
    tables={
        "answers": "CREATE TABLE answers (question TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
    },
)


class Cache:
    """A file of answers. Several runs may have it open.

    Raises:
        UnusableInput: it is something else, damaged, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        refuse_links(path)
        with self.guarded():
            connection = open_checked(path, FORMAT, exclusive=False)
            if connection is None:
                connection = create(path, FORMAT, exclusive=False)
                connection.execute("COMMIT")
        self._connection: sqlite3.Connection = connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def guarded(self) -> AbstractContextManager[None]:
        """Raise failures of the file as ``UnusableInput``."""
        return guarded(self.path, FORMAT)

    def get(self, question: str) -> str | None:
        """The answer, if it is known."""
        found = self._connection.execute(
            "SELECT answer FROM answers WHERE question = ?", (question,)
        ).fetchone()
        return None if found is None else str(found[0])

    def put(self, question: str, answer: str) -> None:
        """Keep an answer, unless one is known already."""
        self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (question, answer))


class CachedAgent(AgentDecorator):
    """An agent that is asked only what no run has asked it before.

    ``agent``: deterministic, with states for handles. ``identity``: text that differs for every agent, and for the same agent after
    a change.
    """

    def __init__(self, agent: Agent, cache: Cache, identity: str) -> None:
        super().__init__(agent)
        self._cache = cache
        self._identity = identity
        self.found = 0
        """How many answers were known."""

    def ask(self, query: Query) -> Response:
        """The known answer, or the agent's.

        Raises:
            UnusableInput: the file is damaged.
        """
        state = query.initial.state
        if query.initial.handle != state:
            raise UnusableInput("needs an agent whose situations are states; leave it out", "cache")
        about = [self._identity, dict(state.objects), state_json(state), plan_json(query.plan)]
        question = sha256(dumps(about).encode()).hexdigest()
        with self._cache.guarded():
            known = self._cache.get(question)
            if known is not None:
                response = self._read(loads(known), query)
                self.found += 1
                return response
        response = self.agent.ask(query)
        answer = {"executed": response.executed, "state": state_json(response.final.state)}
        with self._cache.guarded():
            self._cache.put(question, dumps(answer))
        return response

    def _read(self, answer: object, query: Query) -> Response:
        executed = read_executed(answer, query.plan)
        final = read_state(field(answer, "state", dict), self.vocabulary, query.initial.state.objects)
        return Response(executed, Situation(final, final))
