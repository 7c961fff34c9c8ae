"""What was seen of operators tells them apart, without asking anything more."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.interrogation.controls.exploring import Near, explore
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.rules import ControlModel, Rules
from aam_vision.interrogation.hypotheses.models import Hypotheses
from tests.games.boards import ENVIRONMENTS
from tests.profiles import first


@pytest.mark.parametrize("game", first(1, ["trap", "warehouse"]))
def test_a_model_of_what_was_seen_alone_agrees_with_all_of_it(game: str) -> None:
    """Else a run that may ask little says that a player who carries something also walks without it."""
    giving = Giving(ENVIRONMENTS[game].bare_agent())
    discovery = explore(giving, Near(giving), np.random.default_rng(0))
    rules, hypotheses = Rules(discovery, giving), Hypotheses(discovery.vocabulary, discovery.headers)
    for operator in discovery.operators:
        action = hypotheses[operator.header.name]
        for transition, objects in rules.examples(operator.header.name):
            before, after = (
                action.index.values(state, objects) for state in (transition.before, transition.after)
            )
            action.succeeded(*before)
            action.changed(before, after)

    def mispredicted() -> list[Transition]:
        model = ControlModel(hypotheses.model(), discovery.operators)
        given = [one.transition for one in giving.given]
        return [one for one in given if not model.agrees(one.before, one.control, one.after)]

    assert mispredicted()
    assert not discovery.unexplained
    rules.take_for_refusals(hypotheses)
    assert not mispredicted()
