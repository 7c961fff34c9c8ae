"""Every backend says what torch says, for boards of every shape."""

import numpy as np
import pytest
import torch

from aam_vision.classifiers.backends import backend
from aam_vision.classifiers.networks import normalised_pixels
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import read
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput


def test_an_unknown_backend_is_refused():
    weights, _ = read(board_domain("doors").visual, "doors")
    with pytest.raises(UnusableInput, match="use one of numpy, torch, onnx"):
        backend("abacus", weights)


def _boards(number, rows, columns):
    shape = (number, 3, 16 * rows, 16 * columns)
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_blank_boards_have_no_contrast_to_be_blown_up():
    for value in (0, 128, 255):
        boards = torch.full((2, 3, 32, 48), value, dtype=torch.uint8)
        assert torch.allclose(normalised_pixels(boards), torch.zeros(()), atol=1e-2)


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_all_backends_say_the_same(name):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    domain = board_domain(name)
    weights, _ = read(domain.visual, name)
    ours, *others = (backend(kind, weights) for kind in ("torch", "numpy", "onnx"))
    for number, rows, columns in ((1, 7, 7), (3, 6, 12), (2, 5, 5)):
        boards = _boards(number, rows, columns).numpy()
        for theirs in others:
            assert np.allclose(ours(boards), theirs(boards), atol=1e-3)
    layout = domain.load(*domain.held_out[0])
    frame, scene = domain.drawing(layout).frame(layout.initial), domain.scene(layout)
    percepts = [
        BoardPerception.load(domain.visual, name, backend=kind).look(frame, scene)
        for kind in ("torch", "numpy", "onnx")
    ]
    assert percepts[0] == percepts[1] == percepts[2]


def test_the_exported_file_is_a_model_with_its_card(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from aam_vision.training.export import export

    file = tmp_path / "doors.onnx"
    export("doors", file)
    onnx.checker.check_model(str(file))
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, {"boards": np.zeros((2, 3, 96, 112), np.float32)})
    assert logits.shape == (2, 3, 6, 7)
    assert '"thresholds"' in session.get_modelmeta().custom_metadata_map["card"]
    assert [path.name for path in tmp_path.iterdir()] == ["doors.onnx"]
    with pytest.raises(UnusableInput, match="name a file in a folder that exists"):
        export("doors", tmp_path / "nowhere" / "x.onnx")
