"""Labels that the classifiers contradict are named, and only these."""

import json

from PIL import Image

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import State
from aam_vision.training.folder import MOST, doubts, perceived_atoms, read_labels
from aam_vision.training.folder import told as told_by


def test_a_forgotten_atom_is_named(tmp_path):
    domain = board_domain("sokoban")
    layout = domain.load("train", 0)
    (tmp_path / "images").mkdir()
    Image.fromarray(domain.drawing(layout).frame(layout.initial)).save(tmp_path / "images" / "1.png")
    atoms = perceived_atoms(domain, domain.scene(layout), State(layout.initial, layout.objects))
    goal = next(atom for atom in atoms if atom.startswith("is-goal"))
    floor = [atom for atom in atoms if atom.startswith("clear")]
    perception = BoardPerception.load(domain.visual, "sokoban")

    def told(true):
        line = {"image": "1.png", "problem": "train/0", "true": true}
        (tmp_path / "labels.jsonl").write_text(json.dumps(line))
        heads = domain.visual.cell_heads()
        return doubts(perception, [told_by(heads, one) for one in read_labels(domain, tmp_path)])

    assert told(atoms) == []
    (message,) = told([atom for atom in atoms if atom != goal])
    place = goal.split("(")[1].rstrip(")")
    assert message.startswith(f"line 1 of the labels (1.png) says no to goal at {place}")
    many = [atom for atom in atoms if atom not in floor and not atom.startswith("is-goal")]
    lines = told(many)
    assert len(lines) == MOST + 1
    assert "further labels are contradicted" in lines[-1]
