"""The commands: bad input in one line, and nothing written for it."""

import json

import numpy as np
import pytest
from PIL import Image

from aam_vision.training import assessment
from tests.commands import called, refused
from tests.training.labelling.lamps import LAMPS


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("train --env chess", "no environment 'chess'"),
        ("train", "env"),
        ("train --env sokoban --steps many", "many"),
        ("train --env sokoban --seed -1", "-1"),
        ("train --env sokoban --out file/inside", "cannot write to file/inside"),
        ("train --env sokoban --ship --out x", "exclude each other"),
        ("train --env sokoban --resume nowhere.ckpt", "nowhere.ckpt: no such file"),
        ("train --env sokoban --images nowhere", "--images nowhere: no such folder"),
        ("train --env sokoban --only is-stone --out .", "not a perceived predicate of sokoban"),
        ("train --env sokoban --ship --fast-dev-run", "exclude each other"),
        ("train --env sokoban --trunk elephant", "use one of shared, separate"),
        ("train --env sokoban --trunk separate --backbone resnet18", "leave one of them out"),
        ("train --env sokoban --trunk separate --only at", "leave out --trunk"),
        ("train --env sokoban --out . --cache file/x", "give another --cache"),
        ("train --env sokoban --cache x --no-cache", "exclude each other"),
        ("train --env sokoban --base x", "--base x is for --only"),
        ("train --env sokoban --only at --base x --out .", "no classifiers at x"),
        ("export --env sokoban --out nowhere/x.onnx", "cannot write nowhere/x.onnx"),
        ("evaluate --env sokoban --backend abacus", "no backend 'abacus'"),
        ("evaluate --env chess", "no environment 'chess'"),
        ("evaluate --env sokoban --classifiers nowhere", "no classifiers at nowhere"),
        ("evaluate --env sokoban --json nowhere/x.json", "cannot write nowhere/x.json"),
        ("label --env chess", "no environment 'chess'"),
        ("label --env tabletop --ask atoms", "no cells to ask about one by one"),
        ("label --env sokoban --labels oracle", "no --labels oracle: use page or simulator"),
        ("label --env sokoban --ask them", "no --ask them: use pictures or atoms"),
        ("label --env sokoban --pictures 0", "0"),
        ("label --env sokoban --answers 9", "--answers 9: goes with --ask atoms only"),
        ("label --env sokoban --ask atoms --pictures 9", "give --answers"),
        ("label --env sokoban --images mine --steps 9", "--steps 9: is about walks"),
        ("label --env sokoban --images empty", "holds no picture"),
        ("label --env sokoban --images none", "no such folder"),
        ("label --env tabletop --images mine --ask atoms", "no cells to ask about"),
        ("label --env sokoban --images mine --labels simulator", "no simulator knows"),
        ("label --env sokoban --images mine", "2.png has 9x8 pixels, 1.png 8x8; give pictures of one size"),
        ("label --env sokoban --images gif", "not a PNG"),
        ("label", "give --env, or --domain with --images"),
        ("label --domain lamps.pddl", "give the pictures to label with --images"),
        ("label --env sokoban --cell location", "is of use with --domain only"),
        ("label --domain open.pddl --images mine", "open.pddl"),
        ("label --domain pair.pddl --images mine", "say it with --cell, one of"),
        (
            "label --domain lamps.pddl --images mine --cell moon",
            "no type 'moon': use one of colour, lamp, robot, square",
        ),
        ("label --domain lamps.pddl --images mine --cell square --env sokoban", "give --env, or --domain"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(command, told, tmp_path):
    (tmp_path / "file").write_text("precious")
    for name in ("empty", "mine", "gif"):
        (tmp_path / name).mkdir()
    for number, wide in ((1, 8), (2, 9)):
        Image.fromarray(np.zeros((8, wide, 3), np.uint8)).save(tmp_path / "mine" / f"{number}.png")
    (tmp_path / "gif" / "a.png").write_bytes(b"GIF89a")
    for name, old, new in (
        ("lamps", "", ""),
        ("open", "(:requirements", "(:requirements ("),
        ("pair", "(idle)", "(idle) (on ?x - robot ?l - lamp)"),
    ):
        (tmp_path / f"{name}.pddl").write_text(LAMPS.replace(old, new, 1))
    module, *arguments = command.split()
    before = sorted(tmp_path.iterdir())
    assert told in refused(f"aam_vision.training.{module}", *arguments, cwd=tmp_path, kept=tmp_path)
    assert sorted({*tmp_path.iterdir()} - {tmp_path / "runs"}) == before


def test_the_shipped_weights_are_evaluated(tmp_path, monkeypatch):
    monkeypatch.setattr(assessment, "ROUNDS", 1)
    monkeypatch.setattr(assessment, "TIMED", 32)
    asked = ("--env", "doors", "--states", "40", "--noise", "0.15", "--json", "figures.json")
    done = called("aam_vision.training.evaluate", *asked, cwd=tmp_path, code=0)
    assert "keyforroom" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    unseen = figures["unseen"]
    assert (unseen["states"], unseen["exact_match"], unseen["refused"], unseen["wrong"]) == (40, 1.0, 0, 0)
    assert unseen["ece"] < 0.001
    assert figures["unseen, noise 0.15"]["states"] == 40
    assert figures["speed"]["images_per_s"] > 0
