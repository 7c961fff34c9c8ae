"""Data sets are the same whoever draws them, and kept, checked and thrown away on disk."""

import os
from dataclasses import replace

import numpy as np
import pytest

from aam_vision.envs import board
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sources import there
from aam_vision.training import boards
from aam_vision.training.boards import fingerprint

from .toys import toy_boards


@pytest.fixture
def doors(monkeypatch):
    monkeypatch.setattr(board, "SYNTHETIC", 6)
    monkeypatch.setattr(board, "STATES_PER_LAYOUT", 2)
    return replace(board_domain("doors"), shapes=((6, 7), (9, 6)))


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


def test_a_data_set_is_drawn_once(tmp_path):
    drawn = []

    def draw():
        drawn.append(1)
        return toy_boards(5)

    folder = tmp_path / "cache"
    first, again = (boards.remembered(folder, "k", draw) for _ in range(2))
    assert drawn == [1]
    assert _same(first, again)
    assert [path.name for path in folder.iterdir()] == ["k.boards"]
    boards.remembered(folder, "other", draw)
    assert drawn == [1, 1]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "folder"])
def test_a_damaged_entry_is_made_anew(damage, tmp_path):
    wanted = toy_boards(5)
    boards.remembered(tmp_path, "k", lambda: wanted)
    file = tmp_path / "k.boards"
    content = bytearray(file.read_bytes())
    file.unlink()
    if damage == "folder":
        file.mkdir()
    else:
        content[-7] ^= damage == "flipped"
        file.write_bytes({"cut": content[:-100], "flipped": content, "empty": b""}[damage])
    drawn = []
    found = boards.remembered(tmp_path, "k", lambda: drawn.append(1) or toy_boards(5))
    assert drawn == [1]
    assert _same(found, wanted)
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


def test_a_folder_that_cannot_be_used_costs_time_only(tmp_path):
    (tmp_path / "file").touch()
    assert _same(boards.remembered(tmp_path / "file" / "inside", "k", lambda: toy_boards(2)), toy_boards(2))


def test_the_key_tells_apart_all_that_makes_a_difference(doors, monkeypatch):
    class Darker:
        def __init__(self, layout):
            self._drawing = board_domain("doors").drawing(layout)
            self.shape = self._drawing.shape

        def frame(self, atoms):
            return self._drawing.frame(atoms) // 2

    plain = boards.key(doors, 0, 16, 1)
    assert plain == boards.key(replace(doors), 0, 16, 1)
    others = [
        boards.key(doors, 1, 16, 1),
        boards.key(doors, 0, 64, 1),
        boards.key(doors, 0, 16, 10),
        boards.key(replace(doors, drawing=Darker), 0, 16, 1),
        boards.key(replace(doors, shapes=((6, 7),)), 0, 16, 1),
        boards.key(
            replace(doors, auxiliary={"lit ?l - location": there("lit", "lit", auxiliary=True)}), 0, 16, 1
        ),
    ]
    monkeypatch.setattr(board, "SYNTHETIC", 7)
    others.append(boards.key(doors, 0, 16, 1))
    assert len({plain, *others}) == len(others) + 1
