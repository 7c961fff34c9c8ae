"""Labels, batches, augmentation, calibration: the parts of training."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import NO_LABEL, Perceived
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Atom
from aam_vision.training.assessment import expected
from aam_vision.training.augmentation import augment
from aam_vision.training.cells import BoardBatches, CellTask, loss_of
from aam_vision.training.trainer import calibrate

from .toys import toy_boards


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_perfect_labels_read_back_are_the_state(name):
    domain = board_domain(name)
    for layout in board_domain(name).layouts(board_domain(name).trained_on):
        index = SceneIndex(domain.visual, domain.scene(layout))
        for state in islice(board_domain(layout.domain).states(layout, np.random.default_rng(0)), 5):
            percept = expected(domain.visual, index, state)
            assert not (percept.state.true ^ state.true) - percept.state.unknown
            perceived = {e.predicate.name for e in domain.visual.entries if isinstance(e, Perceived)}
            unknown = {atom.predicate for atom in percept.state.unknown} & perceived
            assert unknown == ({"is-goal"} if name == "sokoban" else {"unlocked"})


def test_what_is_hidden_has_no_label():
    domain = board_domain("sokoban")
    layout = board_domain("sokoban").layouts(board_domain("sokoban").trained_on)[0]
    index = SceneIndex(domain.visual, domain.scene(layout))
    state = next(board_domain(layout.domain).states(layout, np.random.default_rng(0)))
    labels = label(domain.visual, index.scene, index.places, state)
    player = next(a.objects[1] for a in state.true if a.predicate == "at" and a.objects[0] == "player-01")
    goal = domain.visual.cell_heads().index("goal")
    assert [index.places[i] for i in np.flatnonzero(labels[goal] == NO_LABEL)] == [player]


def test_rooms_without_cells_have_no_label():
    domain = board_domain("doors")
    for layout in board_domain("doors").layouts(board_domain("doors").trained_on):
        scene = domain.scene(layout)
        index = SceneIndex(domain.visual, scene)
        state = next(board_domain(layout.domain).states(layout, np.random.default_rng(0)))
        labels = label(domain.visual, scene, index.places, state)[
            domain.visual.cell_heads().index("unlocked")
        ]
        labelled = {index.places[i]: bool(labels[i]) for i in np.flatnonzero(labels != NO_LABEL)}
        rooms = set(layout.objects.of_type("room")) & set(scene.cells)
        assert labelled == {room: Atom("unlocked", (room,)) in state.true for room in rooms}
        assert len(rooms) < len(layout.objects.of_type("room"))


def test_batches_repeat_with_the_seed_and_hold_one_shape():
    data = toy_boards(20) + toy_boards(20, (48, 32))

    def stream(seed):
        batches = BoardBatches(data, 4, seed)
        return [batches.batch() for _ in range(6)]

    one, again, other = stream(1), stream(1), stream(2)
    assert all(torch.equal(x, y) for a, b in zip(one, again, strict=True) for x, y in zip(a, b, strict=True))
    assert not all(
        a[0].shape == b[0].shape and torch.equal(a[0], b[0]) for a, b in zip(one, other, strict=True)
    )
    assert {tuple(boards.shape[2:]) for boards, _, _ in stream(0)} == {(32, 48), (48, 32)}


def test_augmentation_changes_boards_within_bounds_and_repeats():
    boards = torch.rand(16, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    first = augment(boards, torch.Generator().manual_seed(1))
    assert torch.equal(first, augment(boards, torch.Generator().manual_seed(1)))
    assert first.shape == boards.shape
    assert float(first.min()) >= 0
    assert float(first.max()) <= 1
    kept = [
        torch.equal(a.flatten().sort()[0], b.flatten().sort()[0]) for a, b in zip(first, boards, strict=True)
    ]
    assert 0 < sum(kept) < 16, "some are moved only"


def test_loss_ignores_what_has_no_label():
    logits = torch.zeros(1, 2, 3)
    labels = torch.tensor([[[1, 0, NO_LABEL], [1, 0, 0]]], dtype=torch.int8)
    wild = logits.clone()
    wild[0, 0, 2] = 1e4
    assert torch.equal(loss_of(logits, labels), loss_of(wild, labels))
    assert float(loss_of(logits, labels)) == pytest.approx(2 * np.log(2))


def test_calibration_stays_in_its_range():
    task = CellTask("ab")
    found = calibrate(task, task.network(0).eval(), toy_boards(4), 0)
    assert set(found.temperatures) == set(found.thresholds) == set(found.offsets) == {"a", "b"}
    assert all(0.25 <= t <= 4 for t in found.temperatures.values())
    assert all(0.01 <= low <= 0.1 and 0.9 <= high <= 0.99 for low, high in found.thresholds.values())


def test_offsets_become_part_of_the_weights():
    network = CellTask("ab").network(0).eval()
    boards = torch.rand(1, 3, 32, 48, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        before = network(boards)
        network.shift({"a": 1.5, "b": -2.0})
        after = network(boards)
    assert torch.allclose(after - before, torch.tensor([1.5, -2.0])[:, None, None], atol=1e-5)


def test_light_tint_and_contrast_hardly_matter_to_the_network():
    network = CellTask("a").network(0).eval()
    boards = torch.rand(2, 3, 32, 48, generator=torch.Generator().manual_seed(0)) * 0.5
    tinted = boards * 0.8 + torch.tensor([0.1, 0.0, 0.3])[:, None, None]
    with torch.inference_mode():
        assert torch.allclose(network(boards), network(tinted), atol=0.1)


def test_an_unlabelled_domain_part_is_told_from_a_false_one():
    domain = board_domain("sokoban")
    layout = board_domain("sokoban").layouts(board_domain("sokoban").trained_on)[0]
    scene = replace(domain.scene(layout), looks={})
    index = SceneIndex(domain.visual, scene)
    percept = index.read(*(np.zeros((5, len(index.places)), bool),) * 2, before=None)
    assert Atom("at", ("player-01", index.places[0])) in percept.state.unknown
