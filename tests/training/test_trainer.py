"""The pace of learning."""

from __future__ import annotations

import pytest
import torch

from aam_vision.training.cells import CellTask
from aam_vision.training.trainer import Examined, Lesson

from .toys import toy_boards


@pytest.mark.parametrize("steps", [*range(1, 12), 20, 39, 40])
@pytest.mark.parametrize("warm_up", [0.1, 0.25, 0.3])
def test_the_rate_rises_and_falls_in_rounds_of_any_length(steps: int, warm_up: float) -> None:
    task = CellTask("ab")
    task.rate, task.warm_up = 0.1, warm_up
    rounds = Examined(steps, lambda network, done: False)
    lesson = Lesson(task, task.network(0), task.source(toy_boards(1), 0), (), lambda *_: None, rounds)
    chosen = lesson.configure_optimizers()
    schedule, optimiser = chosen["lr_scheduler"]["scheduler"], chosen["optimizer"]
    assert isinstance(optimiser, torch.optim.Optimizer)
    rates = []
    for _ in range(2 * steps):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    assert rates[:steps] == pytest.approx(rates[steps:])
    assert 0 < max(rates) <= 0.1
    assert rates[steps - 1] <= rates[0] or steps == 1
