"""Images that change while no atom does. A line that is not still shows another image each time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Frame, Percept, Scene
from aam_vision.interrogation.evidence.moves import Walked
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.examination.looking import images_of, is_steady, pixels_differ, unseen_change
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import DOUBTED, Interrupted
from aam_vision.model.query import Access, Situation
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.errors import InconsistentAgent
from tests.agents.image_agents import agent_on
from tests.agents.line import HEADERS, VOCABULARY, Line, Reader


class Blind(Reader):
    """Reads every image as the first one."""

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        return before


def walked(agent: ImageAgent) -> Walked:
    (start,) = agent.initial()
    return Walked(tuple(agent.walk(start, 3, np.random.default_rng(0))))


def test_situations_are_compared_by_their_images() -> None:
    agent = agent_on(Line(still=True))
    first, second, *_ = walked(agent).steps
    assert pixels_differ(agent, first.before, first.after) is True
    assert pixels_differ(agent, first.before, first.before) is False
    assert not unseen_change(agent, second.before, second.action, second.after), "an atom changed as well"


def test_a_change_of_what_could_not_be_read_is_no_sign_of_a_missing_predicate() -> None:
    """Only atoms about what the step names can have changed with it."""
    agent = agent_on(Line(still=True), reader=Blind())
    first = walked(agent).steps[0]
    before, step, after = first.before, GroundAction("light", ("lamp",)), first.after
    assert unseen_change(agent, before, step, after)

    def unread(*objects: str) -> tuple[Situation, Situation]:
        state = State(before.state.true, before.state.objects, frozenset({Atom("lit", objects)}))
        return replace(before, state=state), replace(after, state=state)

    one, other = unread("lamp")
    assert not unseen_change(agent, one, step, other)
    one, other = unread("lamp", "room")
    assert unseen_change(agent, one, step, other)
    assert not unseen_change(agent, one, step, other, constants=["room"])


def test_a_change_that_no_atom_shows_ends_certainty_unless_the_camera_is_noisy() -> None:
    agent = agent_on(Line(still=True), reader=Blind())
    entry = walked(agent)
    inspection = DOUBTED.of(CountingAgent(agent))
    with pytest.raises(InconsistentAgent, match="the image changed, but no atom did"):
        inspection.check(entry, lambda: "a walk")
    agent = CountingAgent(agent_on(Line(), reader=Blind()))
    (start,) = agent.initial()
    entry = Walked(tuple(agent.walk(start, 3, np.random.default_rng(0))))
    inspection = DOUBTED.of(agent)
    inspection.check(entry, lambda: "a walk")
    assert inspection.steady is False
    assert not inspection.misread


@pytest.mark.parametrize("still", [True, False])
def test_looking_again_tells_whether_the_camera_is_steady(still: bool) -> None:
    agent = CountingAgent(agent_on(Line(still=still)))
    (start,) = agent.initial()
    assert is_steady(agent, start) is still
    images = images_of(agent, start)
    assert images is not None
    assert len(images) == (1 if still else 2)
    assert agent.counts.looks == 1


def test_the_verdict_is_that_something_was_misread() -> None:
    agent = ImageAgent([Line(still=True)], Blind(), VOCABULARY, HEADERS, Access.SNAPSHOT)
    with pytest.raises(Interrupted) as caught:
        Interrogation(agent).run(np.random.default_rng(0))
    found = caught.value.result.diagnosis
    assert (found.family, found.pixels_differ) == (Family.MISREAD, True)
    assert found.culprit in {header.name for header in HEADERS}, "no predicate was ever seen to change"
    assert found.why.startswith(f"{found.culprit}: misread")
    assert caught.value.result.certain == {}
