"""Image agents on lines of cells."""

from __future__ import annotations

from aam_vision.agents.image import ImageAgent
from aam_vision.model.query import Access, Response, Situation
from aam_vision.model.strips import GroundAction

from .line import HEADERS, VOCABULARY, Line, Reader, cell_of, course, seen


def agent_on(*lines: Line, access: Access = Access.SNAPSHOT, reader: Reader | None = None) -> ImageAgent:
    return ImageAgent(lines, reader or Reader(), VOCABULARY, HEADERS, access)


def assert_true(response: Response, start: Situation, plan: tuple[GroundAction, ...]) -> None:
    """The answer is what happens on the line, seen from image to image."""
    cells = [cell_of(start), *course(cell_of(start), plan)]
    assert response.executed == len(cells) - 1
    if not plan:
        assert response.final == Situation(start.handle, seen(cells[0], cells[0]))
    elif len(cells) == 1:
        assert response.final == start
    else:
        assert response.final.state == seen(cells[-1], cells[-2])
