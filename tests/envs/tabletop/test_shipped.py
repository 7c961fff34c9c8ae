"""The classifiers that are shipped: small, as good as their page says, and enough for the model from pictures alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.image import ImageAgent
from aam_vision.classifiers.store import paths
from aam_vision.envs.tabletop.environment import NAME, TabletopEnv, world
from aam_vision.model.query import Access
from aam_vision.model.strips import Model, State
from aam_vision.report import evaluation
from aam_vision.run.targets import from_environment
from aam_vision.support.errors import UnusableInput
from tests.profiles import first

from .scenes import TRUTH, assert_physics

pytest.importorskip("torch")


def test_shipped_weights_are_small_and_read_unseen_scenes() -> None:
    files = paths(NAME)
    assert files.weights.stat().st_size + files.card.stat().st_size < 250_000
    figures = json.loads(files.card.read_text())["figures"]["unseen"]
    assert figures["states"] >= 390
    assert figures["exact"] >= 0.97 * figures["states"]
    assert figures["wrong"] == 0


def _assert_intended(result: Any, truth: Model, held_out: Sequence[State]) -> None:
    states = evaluation.sample_states(truth, held_out, 300, np.random.default_rng(0))
    assert evaluation.equivalent(result.model, truth, states)
    assert result.proven
    assert result.counts.queries <= 25
    assert result.counts.steps <= 300


@pytest.mark.usefixtures("drawable")
@pytest.mark.parametrize("name", first(1, [NAME, f"{NAME}:alike"]))
def test_the_model_is_the_intended_one_from_pictures_alone(name: str) -> None:
    target = from_environment(name)
    assert target.truth is not None
    result = aam_vision.interrogate(target.agent, seed=2, exam=0)
    _assert_intended(result, target.truth(), target.held_out())
    if name == NAME:
        assert_physics(result.model)


def test_the_exported_file_is_a_model_with_its_card(tmp_path) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from aam_vision.training.export import export

    file = tmp_path / "tabletop.onnx"
    export(NAME, file)
    onnx.checker.check_model(str(file))
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    logits, positions, maps = session.run(None, {"pictures": np.zeros((2, 3, 128, 128), np.float32)})
    assert positions.shape == (2, 10, 2)
    assert maps.shape == (2, 10, 32, 32)
    assert logits.shape == (2, 10 + 1 + 3 * 10 + 10 * 10)
    assert '"thresholds"' in session.get_modelmeta().custom_metadata_map["card"]


@pytest.mark.parametrize("given", [{"workers": 2}, {"cache": "kept"}, {"trunk": "separate"}])
def test_what_only_boards_have_is_refused_before_anything_is_drawn(given, tmp_path) -> None:
    from aam_vision.training.train import Training, train

    if "cache" in given:
        given = {"cache": tmp_path / given["cache"]}
    with pytest.raises(UnusableInput, match=r"for boards, and these are pictures without cells: leave"):
        train(NAME, Training(out=tmp_path / "out", no_cache="cache" not in given, **given))
    assert not (tmp_path / "out" / "tabletop.json").exists()


SMALL = 32
"""Pixels of a picture that nothing is read from."""


@pytest.mark.nightly
@pytest.mark.usefixtures("drawable")
@pytest.mark.parametrize("seed", [0, 1])
def test_the_intended_model_is_found_in_few_queries(seed: int) -> None:
    table = replace(world(), make=lambda: TabletopEnv("rgb_array", size=SMALL))
    told, simulators = table.told(), [table.simulator(problem) for problem in table.interrogated]
    words, seen = table.visual.vocabulary(), [told.of(one) for one in simulators]
    agent = ImageAgent(seen, told, words, table.headers, Access.SNAPSHOT, refuses_surely=True)
    result = aam_vision.interrogate(agent, seed=seed, exam=12)
    held_out = []
    for number in table.held_out or ():
        other = table.simulator(("seed", number))
        held_out.append(table.true_state(other.present, other.scene))
    _assert_intended(result, TRUTH, held_out)
    assert_physics(result.model)
