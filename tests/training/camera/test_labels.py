"""Labels, data and assessment: what a perfect network would say is what the labels say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import NO_LABEL, Percept
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs.image_domain import Pictures
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.assessment import PerceptionScores, assess, samples
from aam_vision.training.augmentation import retaken
from aam_vision.training.pictures import UNKNOWN, answers, lessons, places, row
from tests.classifiers.camera.piles import LOOKS, VOCABULARY, random_state, scene

from .drawn import SIZE, DrawnDomain

PLAN = plan_of(describe(VOCABULARY))


def test_every_answer_of_the_network_has_its_place() -> None:
    places = PLAN.places
    assert sorted(place for own in places.values() for place in own) == list(range(PLAN.size))
    for number, look in enumerate(LOOKS):
        assert PLAN.place("clear", look) in places["clear"]
        assert places[PLAN.found[number]] == [number]
        for other in LOOKS:
            assert PLAN.place("on", look, other) in places["on"]


def test_masks_become_shares_of_the_places_of_the_maps() -> None:
    one = scene("red", "green", "ball")
    masks = {name: np.zeros(SIZE, bool) for name in ("thing-0", "thing-1")}
    masks["thing-0"][8:24, 16:32] = True
    found = places(PLAN, one, masks, SIZE).float()
    red, green, blue, ball = (found[LOOKS.index(look)] for look in ("red", "green", "blue", "ball"))
    down, across = np.indices(red.shape)
    share = red.numpy() / red.sum().item()
    assert red.sum() / (UNKNOWN - 1) / red.numel() == pytest.approx(16 * 16 / (SIZE[0] * SIZE[1]), rel=0.05)
    assert ((down + 0.5) * share).sum() / red.shape[0] == pytest.approx(16 / SIZE[0], abs=0.01)
    assert ((across + 0.5) * share).sum() / red.shape[1] == pytest.approx(24 / SIZE[1], abs=0.01)
    assert (green == 0).all()
    assert (blue == 0).all(), "nothing in the scene has that look"
    assert (ball == UNKNOWN).all(), "no mask says where it is"
    assert (places(PLAN, one, {}, SIZE) == UNKNOWN).all()
    with pytest.raises(UnusableInput, match="mask of thing-1 has shape"):
        places(PLAN, one, {**masks, "thing-1": masks["thing-1"].T}, SIZE)


def test_a_row_of_labels_says_the_same_as_the_state() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        one = scene(*rng.permutation(LOOKS)[:3].tolist())
        atoms, state = SceneAtoms(VOCABULARY, PLAN, one), random_state(one, rng)
        labels = row(atoms, state)
        assert (labels[: len(LOOKS)] == [look in one.looks.values() for look in LOOKS]).all()
        for atom, place in zip(atoms.atoms, atoms.answers, strict=True):
            assert labels[place] == (atom in state.true or atom.predicate == "seen")
        assert (labels != NO_LABEL).sum() == len(LOOKS) + len(atoms.atoms) - len(atoms.things)


def test_about_a_thing_that_does_not_show_there_are_no_labels() -> None:
    one = scene("red", "green", "ball")
    atoms, state = SceneAtoms(VOCABULARY, PLAN, one), random_state(one, np.random.default_rng(0))
    seen = frozenset({Atom("seen", ("thing-1",))})
    hardly = frozenset({Atom("seen", ("thing-2",))})
    labels = answers(atoms, State(state.true | seen, one.objects, hardly))
    known = {str(atom): value for atom, value in zip(atoms.atoms, labels, strict=True) if value != NO_LABEL}
    assert known.keys() == {
        *("seen(thing-0)", "seen(thing-1)", "dark()", "on(thing-1, thing-2)", "on(thing-2, thing-1)"),
        *(f"{name}(thing-{number})" for name in ("held", "on-table", "clear") for number in (1, 2)),
    }  # if thing-2 is taken to show, the rest must be right, too
    assert (known["seen(thing-0)"], known["seen(thing-1)"]) == (0, 1)


def test_things_of_one_look_are_found_together_and_nothing_else_is_asked() -> None:
    one = scene("red", "red", "ball")
    atoms, state = SceneAtoms(VOCABULARY, PLAN, one), random_state(one, np.random.default_rng(0))
    labels = row(atoms, state)
    asked = {name for name, places in PLAN.places.items() if (labels[places] != NO_LABEL).any()}
    assert asked == {*PLAN.found, "dark", "held", "on-table", "clear"}
    assert labels[PLAN.looks.index("red")] == 1
    assert labels[PLAN.place("held", "red")] == NO_LABEL


class _Perfect:
    """Reads a picture as if it were the state that it knows, less what it leaves unknown or turns round."""

    vocabulary = VOCABULARY

    def __init__(self, percept):
        self._percept = percept

    def answers(self, frames, scene):
        number = len(SceneAtoms(VOCABULARY, PLAN, scene).atoms)
        return [(np.full(number, 0.5, np.float32), np.zeros((4, 2), np.float32)) for _ in frames]

    def read(self, answers, scene):
        return self._percept


def _judged(true, read):
    pictures = Pictures(scene("red", "green", "ball"), [true], lambda _: np.zeros((*SIZE, 3), np.uint8))
    (sample,) = samples(VOCABULARY, pictures, pictures.states)
    scores = PerceptionScores()
    assess(_Perfect(Percept(read, {})), pictures.scene, [sample], [sample.frame], scores)
    assert scores.states == 1 == scores.exact + scores.refused + scores.wrong
    return "exact" if scores.exact else "refused" if scores.refused else "wrong"


def test_a_percept_is_exact_refused_or_wrong() -> None:
    one, rng = scene("red", "green", "ball"), np.random.default_rng(0)
    shows = frozenset(Atom("seen", (f"thing-{number}",)) for number in (1, 2))
    for _ in range(30):
        state = random_state(one, rng)
        some = frozenset(sorted(state.true)[:1])
        assert _judged(state, state) == "exact"
        assert _judged(state, State(state.true - some, one.objects, some)) == "refused"
        assert _judged(state, State(state.true - some, one.objects)) == "wrong"
        about = frozenset(atom for atom in state.true if "thing-0" in atom.objects)
        hidden = State(state.true | shows, one.objects)
        assert _judged(hidden, State(state.true - about, one.objects, about)) == "exact"
        assert _judged(hidden, state) == "exact"  # rightly decided all the same
        assert _judged(hidden, State(state.true - about, one.objects)) == "wrong"


def test_pictures_to_learn_from_have_one_size() -> None:
    domain, rng = DrawnDomain(), np.random.default_rng(0)
    data = lessons(domain, PLAN, rng, 10)
    assert data.taken == SIZE
    assert len(data) == len(data.pictures) == len(data.labels) == 20
    assert data.fingerprint() == lessons(domain, PLAN, np.random.default_rng(0), 10).fingerprint()

    class Odd(DrawnDomain):
        def lessons(self, rng, fewer=1):
            for number, one in enumerate(super().lessons(rng, fewer)):
                draw = one.draw
                yield Pictures(one.scene, one.states, lambda s, d=draw, n=number: d(s)[n % 2 :])

    with pytest.raises(UnusableInput, match="let all have one size"):
        lessons(Odd(), PLAN, rng, 10)


def test_augmentation_repeats_from_a_seed_and_keeps_the_form() -> None:
    pictures = torch.rand(6, 3, 32, 40)
    one, again = (retaken(pictures, pictures[:, :0], torch.Generator().manual_seed(3))[0] for _ in range(2))
    assert torch.equal(one, again)
    assert one.shape == pictures.shape
    assert 0 <= float(one.min()) <= float(one.max()) <= 1
