"""The skills of an own environment can be asked before any picture is read: labels tell the states."""

from __future__ import annotations

from typing import Any

import pytest

import aam_vision
from aam_vision.agents.perception import Scene
from aam_vision.envs.own import OwnEnvironment, told
from aam_vision.envs.sources import defined, found, given, shown, vocabulary
from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import Atom, State
from tests.refusals import told_by

from .corridor import CELLS, INSTRUCTIONS, SCENE, Corridor, agent, environment, labels, next_to


def _beside(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
    """Cells that show, one right of the other."""
    (true, unknown) = next_to(scene, seen)
    return [atom for atom in true if all(seen.value(Atom("seen", (one,))) for one in atom.objects)], unknown


def in_a_picture() -> OwnEnvironment:
    """The corridor as a scene without cells, with a word that is defined over what is found, and one that is given."""
    things = Scene.of_things(SCENE.objects, dict.fromkeys(CELLS, "floor"), [Atom("last", ("cell-3",))])
    visual = vocabulary(
        "corridor",
        {"cell": "object"},
        {
            "seen ?c - cell": found(["floor"], "the cell shows"),
            "at ?c - cell": shown("agent", "the red square"),
            "lit ?c - cell": shown("lit", "green stripes"),
            "next ?a ?b - cell": defined(_beside, "from left to right"),
            "last ?c - cell": given("the end of the corridor"),
        },
    )
    return OwnEnvironment("corridor", visual, INSTRUCTIONS, Corridor, lambda env: things)


def test_what_is_told_gives_the_model_that_pictures_give() -> None:
    seen = aam_vision.interrogate(agent())
    result = aam_vision.interrogate(told(environment(), labels))
    assert result.complete
    assert result.pddl == seen.pddl
    assert result.counts.queries == seen.counts.queries


def test_words_are_defined_over_what_is_found_and_auxiliary_ones_left_out() -> None:
    asked = told(in_a_picture(), labels, seeds=(3,))
    (first,) = asked.initial()
    assert {atom.predicate for atom in first.state.true} == {"at", "next", "last"}
    assert [one.name for one in asked.vocabulary.predicates] == ["at", "lit", "next", "last"]
    result = aam_vision.interrogate(asked)
    assert result.complete
    assert "(next ?from ?to)" in domain_text(result.model)


def test_labels_may_say_which_things_show() -> None:
    (first,) = told(in_a_picture(), lambda env: [*labels(env), Atom("seen", ("cell-0",))]).initial()
    assert {atom.predicate for atom in first.state.true} == {"at", "last"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda env: 1 / 0, "labels raised ZeroDivisionError"),
        (lambda env: [Atom("next", ("cell-0", "cell-1"))], "its predicate is not perceived"),
    ],
)
def test_labels_that_cannot_be_used_are_named(wrong: Any, why: str) -> None:
    told_by(lambda: told(in_a_picture(), wrong).initial(), why)
