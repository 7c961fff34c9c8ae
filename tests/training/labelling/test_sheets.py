"""What a person says about a picture, and what follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling.sheets import Draft, Guess
from tests.profiles import thorough

CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)
DOMAIN = board_domain("sokoban")
LAYOUT = DOMAIN.load("train", 0)
INDEX = SceneIndex(DOMAIN.visual, DOMAIN.scene(LAYOUT))
TRUE = label(DOMAIN.visual, INDEX.scene, INDEX.places, State(LAYOUT.initial, LAYOUT.objects))


def _draft(yes=None, alike=None, index=INDEX, domain=DOMAIN):
    shape = len(domain.visual.cell_heads()), len(index.places)
    guess = Guess(np.zeros(shape, bool) if yes is None else yes, np.ones(shape[1], bool))
    return Draft(domain.visual, index, guess, np.zeros((shape[1],) * 2, bool) if alike is None else alike)


def _yes(draft, place):
    return np.flatnonzero(draft.yes[:, place]).tolist()


def test_a_place_takes_the_nearest_combination_that_constraints_allow():
    draft = _draft()
    for head, wanted in (
        (STONE_ON_GOAL, [STONE, STONE_ON_GOAL, GOAL]),
        (GOAL, [STONE]),
        (GOAL, [STONE, STONE_ON_GOAL, GOAL]),
        (CLEAR, [CLEAR, GOAL]),
        (STONE, [STONE, STONE_ON_GOAL, GOAL]),
        (PLAYER, [PLAYER]),
        (PLAYER, []),
    ):
        draft.toggle(head, [3])
        assert _yes(draft, 3) == wanted
    draft = _draft()
    draft.toggle(CLEAR, [1])
    for wanted in ([CLEAR], []):  # several places are made the same first
        draft.toggle(CLEAR, [1, 2])
        assert _yes(draft, 1) == _yes(draft, 2) == wanted


def test_places_that_look_alike_take_the_same_unless_somebody_spoke_of_them():
    alike = np.zeros((len(INDEX.places),) * 2, bool)
    alike[np.ix_([1, 2, 3, 4], [1, 2, 3, 4])] = True
    draft = _draft(alike=alike)
    draft.clear([2])
    draft.toggle(CLEAR, [1])
    assert [_yes(draft, place) for place in range(6)] == [[], [CLEAR], [], [CLEAR], [CLEAR], []]
    assert draft.unsure[[0, 1, 2, 3, 4, 5]].tolist() == [True, False, False, False, False, True]
    draft.toggle(PLAYER, [3])  # there is one player only: no other place becomes one
    assert [_yes(draft, place) for place in (1, 3, 4)] == [[CLEAR], [PLAYER], [CLEAR]]


def test_what_cannot_be_is_told_with_its_places():
    yes = TRUE == 1
    assert _draft(yes).problems() == []
    wrong = yes.copy()
    place = int(np.flatnonzero(yes[STONE])[0])
    wrong[CLEAR, place] = True
    (problem,) = _draft(wrong).problems()
    assert problem.places == (place,)
    assert "clear with stone" in problem.why
    draft = _draft(yes)
    draft.toggle(CLEAR, np.flatnonzero(yes[PLAYER]).tolist())
    (problem,) = draft.problems()
    assert problem.why == "player is in 0 places instead of 1"
    draft.toggle(STONE, list(range(len(INDEX.places))))
    with pytest.raises(UnusableInput, match="stone is in"):
        draft.state()


@pytest.mark.parametrize("name", ["sokoban", "doors", "maze", "slidetile", "hanoi", "blocks"])
def test_the_atoms_say_what_was_said(name):
    """A right answer becomes atoms that are labelled as the simulator labels its own state."""
    domain = board_domain(name)
    layout = domain.load(*domain.interrogated[0])
    index = SceneIndex(domain.visual, domain.scene(layout))
    wanted = label(domain.visual, index.scene, index.places, State(layout.initial, layout.objects))
    draft = _draft(wanted == 1, index=index, domain=domain)
    assert draft.problems() == []
    found = label(domain.visual, index.scene, index.places, draft.state())
    assert (found == wanted).all()


PLACES = st.sets(st.integers(0, len(INDEX.places) - 1), min_size=1, max_size=3)


@thorough(40)
@given(st.lists(st.tuples(st.integers(-1, 4), PLACES), max_size=8))
def test_whatever_is_said_undo_leads_back_and_sound_answers_are_labels(said):
    draft, history = _draft(TRUE == 1), []
    for head, places in said:
        history.append(draft.yes.copy())
        if head < 0:
            draft.clear(sorted(places))
        else:
            draft.toggle(head, sorted(places))
    if not draft.problems():
        found = label(DOMAIN.visual, INDEX.scene, INDEX.places, draft.state())
        assert ((found == 1) == draft.yes)[found != NO_LABEL].all()
        assert not draft.yes[found == NO_LABEL].any()
    for before in reversed(history):
        assert draft.take_back()
        assert (draft.yes == before).all()
    assert not draft.take_back()
