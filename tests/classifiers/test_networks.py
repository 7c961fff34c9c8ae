"""Every kind of network and every backend: the same questions, answered per cell, one classifier independent of the other."""

import numpy as np
import pytest
import torch

from aam_vision.classifiers.backends import BACKENDS, backend
from aam_vision.classifiers.networks import (
    KINDS,
    RESNET18,
    SEPARATE,
    SHARED,
    make_network,
    normalised_pixels,
    weights_of,
)
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput

HEADS = ("a", "b", "c")


def _network(kind, heads=HEADS, seed=0):
    torch.manual_seed(seed)
    network = make_network(kind, heads)
    with torch.no_grad():  # statistics that are not those of fresh layers
        for name, tensor in network.state_dict().items():
            if "running_var" in name:
                tensor.uniform_(0.2, 0.4)
    return network.eval()


def _boards(network, number=2, rows=2, columns=3):
    shape = (number, 3, network.cell_pixels * rows, network.cell_pixels * columns)
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _own_chance():
    with torch.random.fork_rng(devices=[]):
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_one_logit_per_classifier_and_cell_from_every_backend(kind):
    pytest.importorskip("onnxruntime")
    network = _network(kind)
    assert network.kind == kind
    backends = [backend(name, weights_of(network)) for name in BACKENDS]
    for number, rows, columns in ((2, 2, 3), (1, 3, 2)):
        boards = _boards(network, number, rows, columns)
        with torch.inference_mode():
            logits = network(boards / 255)
        assert tuple(logits.shape) == (number, len(HEADS), rows, columns)
        for found in backends:
            assert np.allclose(found(boards.numpy()), logits, atol=1e-3, rtol=1e-3)


def test_an_unknown_network_or_backend_is_refused():
    with pytest.raises(UnusableInput, match="use one of shared, separate, resnet18"):
        make_network("oracle", HEADS)
    with pytest.raises(UnusableInput, match="use one of numpy, torch, onnx"):
        backend("abacus", weights_of(_network(SHARED)))


def test_separate_classifiers_share_nothing():
    network = _network(SEPARATE).train()
    logits = network(_boards(network) / 255)
    logits[:, 1].sum().backward()
    for name, parameter in network.named_parameters():
        parts = parameter.grad.unflatten(0, (len(HEADS), -1))
        assert not parts[[0, 2]].any(), name
        assert parts[1].any() or "0.weight" not in name, name


def test_a_cell_of_resnet18_is_judged_by_itself():
    network = _network(RESNET18, HEADS[:1])
    boards = _boards(network, 1, 1, 3) / 128 - 1
    with torch.inference_mode():
        before = network.judge(boards)
        boards[..., : network.cell_pixels] = 0
        after = network.judge(boards)
    assert torch.allclose(before[..., 1:], after[..., 1:], atol=1e-4)
    assert not torch.allclose(before[..., 0], after[..., 0], atol=1e-4)


@pytest.mark.parametrize("kind", [SHARED, SEPARATE])
def test_classifiers_are_taken_over_bit_by_bit_whatever_their_order(kind):
    old, new = _network(kind, ("c", "x", "a"), 1), _network(kind, HEADS, 2)
    fresh = _network(kind, HEADS, 2)
    new.adopt(old, ("a", "c"))
    boards = _boards(new) / 255
    with torch.inference_mode():
        theirs, ours, own = old(boards), new(boards), fresh(boards)
    assert torch.allclose(ours[:, [0, 2]], theirs[:, [2, 0]], atol=1e-5)
    assert torch.equal(new.head.weight[1], fresh.head.weight[1])
    assert torch.allclose(ours[:, 1], own[:, 1], atol=1e-5) == (kind == SEPARATE)


def test_blank_boards_have_no_contrast_to_be_blown_up():
    for value in (0, 128, 255):
        boards = torch.full((2, 3, 32, 48), value, dtype=torch.uint8)
        assert torch.allclose(normalised_pixels(boards), torch.zeros(()), atol=1e-2)


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_all_backends_see_the_same_with_the_shipped_weights(name):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    domain = board_domain(name)
    layout = domain.load(*domain.held_out[0])
    frame, scene = domain.drawing(layout).frame(layout.initial), domain.scene(layout)
    percepts = [
        BoardPerception.load(domain.visual, name, backend=kind).look(frame, scene)
        for kind in ("torch", "numpy", "onnx")
    ]
    assert percepts[0] == percepts[1] == percepts[2]


def test_the_exported_file_is_a_model_with_its_card(tmp_path):
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
