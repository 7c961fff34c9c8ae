"""Labels, batches, augmentation, calibration, data sets on disk: the parts of training."""

import os
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import NO_LABEL, Perceived
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs import board
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sources import there
from aam_vision.model.strips import Atom
from aam_vision.training import boards
from aam_vision.training.assessment import expected
from aam_vision.training.augmentation import augment
from aam_vision.training.boards import fingerprint
from aam_vision.training.tasks import BoardBatches, CellTask, balanced_loss
from aam_vision.training.trainer import OFFSETS, calibrated

from .toys import toy_boards

SOKOBAN, DOORS = board_domain("sokoban"), board_domain("doors")
ROOM = SOKOBAN.layouts(SOKOBAN.trained_on)[0]


def _states(domain, layout, number):
    return [*islice(domain.states(layout, np.random.default_rng(0)), number)]


@pytest.mark.parametrize(
    ("domain", "hidden"), [(SOKOBAN, {"is-goal"}), (DOORS, {"unlocked"})], ids=["sokoban", "doors"]
)
def test_perfect_labels_read_back_are_the_state(domain, hidden):
    perceived = {e.predicate.name for e in domain.visual.entries if isinstance(e, Perceived)}
    for layout in domain.layouts(domain.trained_on):
        index = SceneIndex(domain.visual, domain.scene(layout))
        for state in _states(domain, layout, 5):
            percept = expected(domain.visual, index, state)
            assert not (percept.state.true ^ state.true) - percept.state.unknown
            assert {atom.predicate for atom in percept.state.unknown} & perceived == hidden


def test_what_is_hidden_and_rooms_without_cells_have_no_label():
    index, (state,) = SceneIndex(SOKOBAN.visual, SOKOBAN.scene(ROOM)), _states(SOKOBAN, ROOM, 1)
    labels = label(SOKOBAN.visual, index.scene, index.places, state)[
        SOKOBAN.visual.cell_heads().index("goal")
    ]
    player = next(a.objects[1] for a in state.true if a.predicate == "at" and a.objects[0] == "player-01")
    assert [index.places[i] for i in np.flatnonzero(labels == NO_LABEL)] == [player]
    unlocked = DOORS.visual.cell_heads().index("unlocked")
    for layout in DOORS.layouts(DOORS.trained_on):
        index, (state,) = SceneIndex(DOORS.visual, DOORS.scene(layout)), _states(DOORS, layout, 1)
        labels = label(DOORS.visual, index.scene, index.places, state)[unlocked]
        labelled = {index.places[i]: bool(labels[i]) for i in np.flatnonzero(labels != NO_LABEL)}
        rooms = set(layout.objects.of_type("room"))
        shown = rooms & set(index.scene.cells)
        assert labelled == {room: Atom("unlocked", (room,)) in state.true for room in shown}
        assert len(shown) < len(rooms)


def test_an_unlabelled_domain_part_is_told_from_a_false_one():
    index = SceneIndex(SOKOBAN.visual, replace(SOKOBAN.scene(ROOM), looks={}))
    percept = index.read(*(np.zeros((5, len(index.places)), bool),) * 2, before=None)
    assert Atom("at", ("player-01", index.places[0])) in percept.state.unknown


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
    moved = zip(first, boards, strict=True)
    kept = [torch.equal(a.flatten().sort()[0], b.flatten().sort()[0]) for a, b in moved]
    assert 0 < sum(kept) < 16, "some are moved only"


def test_loss_ignores_what_has_no_label():
    logits = torch.zeros(1, 2, 3)
    labels = torch.tensor([[[1, 0, NO_LABEL], [1, 0, 0]]], dtype=torch.int8)
    wild = logits.clone()
    wild[0, 0, 2] = 1e4
    assert torch.equal(balanced_loss(logits, labels), balanced_loss(wild, labels))
    assert float(balanced_loss(logits, labels)) == pytest.approx(2 * np.log(2))


def test_calibration_stays_in_its_range():
    task = CellTask("ab")
    network, fresh = (task.network(0).eval() for _ in range(2))
    found = calibrated(task, network, toy_boards(4), DOORS, 0, "")
    assert set(found.temperatures) == set(found.thresholds) == {"a", "b"}
    assert ((network.head.bias - fresh.head.bias).abs() <= max(OFFSETS)).all()
    assert all(0.25 <= t <= 4 for t in found.temperatures.values())
    assert all(0.01 <= low <= 0.1 and 0.9 <= high <= 0.99 for low, high in found.thresholds.values())


def test_offsets_become_part_of_the_weights_and_light_tint_and_contrast_hardly_matter():
    network = CellTask("ab").network(0).eval()
    boards = torch.rand(2, 3, 32, 48, generator=torch.Generator().manual_seed(0)) * 0.5
    tinted = boards * 0.8 + torch.tensor([0.1, 0.0, 0.3])[:, None, None]
    with torch.inference_mode():
        before = network(boards)
        assert torch.allclose(before, network(tinted), atol=0.1)
        network.shift({"a": 1.5, "b": -2.0})
        assert torch.allclose(network(boards) - before, torch.tensor([1.5, -2.0])[:, None, None], atol=1e-5)


# --- data sets are the same whoever draws them, and kept, checked and thrown away on disk ----------


@pytest.fixture
def doors(monkeypatch):
    monkeypatch.setattr(board, "SYNTHETIC", 6)
    monkeypatch.setattr(board, "STATES_PER_LAYOUT", 2)
    return replace(DOORS, shapes=((6, 7), (9, 6)))


def _same(one, other):
    return all(
        getattr(a, part).equal(getattr(b, part))
        for a, b in zip(one, other, strict=True)
        for part in ("pixels", "pooling", "labels")
    )


def test_any_number_of_processes_draws_the_same_boards(doors):
    alone, shared = (boards.lessons(doors, np.random.default_rng(3), workers=n) for n in (1, 2))
    assert len(alone) == 2 * 3 + 6 * 2
    assert _same(alone, shared)
    assert fingerprint(alone) == fingerprint(shared)


class _Drawn:
    """Draws some boards, and counts how often."""

    times = 0

    def __call__(self):
        self.times += 1
        return toy_boards(5)


def test_a_data_set_is_drawn_once(tmp_path):
    drawn, folder = _Drawn(), tmp_path / "cache"
    first, again = (boards.remembered(folder, "k", drawn) for _ in range(2))
    assert drawn.times == 1
    assert _same(first, again)
    assert [path.name for path in folder.iterdir()] == ["k.boards"]
    boards.remembered(folder, "other", drawn)
    assert drawn.times == 2
    (tmp_path / "file").touch()  # a folder that cannot be used costs time only
    assert _same(boards.remembered(tmp_path / "file" / "inside", "k", drawn), first)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "folder"])
def test_a_damaged_entry_is_made_anew(damage, tmp_path):
    wanted, drawn, file = boards.remembered(tmp_path, "k", _Drawn()), _Drawn(), tmp_path / "k.boards"
    content = file.read_bytes()
    flipped = content[:-7] + bytes([content[-7] ^ 1]) + content[-6:]
    file.unlink()
    if damage == "folder":
        file.mkdir()
    else:
        file.write_bytes({"cut": content[:-100], "flipped": flipped, "empty": b""}[damage])
    assert _same(boards.remembered(tmp_path, "k", drawn), wanted)
    assert drawn.times == 1
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".partial")]


def test_what_was_not_used_for_longest_makes_room(tmp_path, monkeypatch):
    for age, name in enumerate(("new", "middle", "old")):
        boards.remembered(tmp_path, name, lambda: toy_boards(5))
        os.utime(tmp_path / f"{name}.boards", (1e9 - age, 1e9 - age))
    size = (tmp_path / "old.boards").stat().st_size
    boards.remembered(tmp_path, "old", list)  # used just now
    monkeypatch.setattr(boards, "MOST_BYTES", 3 * size)
    boards.remembered(tmp_path, "newest", lambda: toy_boards(5))
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["new", "newest", "old"]


class _Darker:
    def __init__(self, layout):
        self._drawing = DOORS.drawing(layout)
        self.shape = self._drawing.shape

    def frame(self, atoms):
        return self._drawing.frame(atoms) // 2


def test_the_key_tells_apart_all_that_makes_a_difference(doors, monkeypatch):
    lit = {"lit ?l - location": there("lit", "lit", auxiliary=True)}
    changes = {"drawing": _Darker}, {"shapes": ((6, 7),)}, {"auxiliary": lit}
    plain = boards.key(doors, 0, 16, 1)
    assert plain == boards.key(replace(doors), 0, 16, 1)
    keys = [plain, *(boards.key(doors, *given) for given in ((1, 16, 1), (0, 64, 1), (0, 16, 10)))]
    keys += [boards.key(replace(doors, **changed), 0, 16, 1) for changed in changes]
    monkeypatch.setattr(board, "SYNTHETIC", 7)
    keys.append(boards.key(doors, 0, 16, 1))
    assert len(set(keys)) == len(keys)
