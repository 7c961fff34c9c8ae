"""Every kind of network: the same questions, answered per cell, one classifier independent of the other."""

import numpy as np
import pytest
import torch

from aam_vision.classifiers.backends import BACKENDS, backend
from aam_vision.classifiers.networks import KINDS, RESNET18, SEPARATE, SHARED, make_network, weights_of
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
    boards = _boards(network)
    with torch.inference_mode():
        logits = network(boards / 255)
    assert tuple(logits.shape) == (2, len(HEADS), 2, 3)
    assert network.kind == kind
    for name in BACKENDS:
        found = backend(name, weights_of(network))
        assert np.allclose(found(boards.numpy()), logits, atol=1e-3, rtol=1e-3)
        assert found(_boards(network, 1, 3, 2).numpy()).shape == (1, len(HEADS), 3, 2)


def test_an_unknown_network_is_refused():
    with pytest.raises(UnusableInput, match="use one of shared, separate, resnet18"):
        make_network("oracle", HEADS)


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
