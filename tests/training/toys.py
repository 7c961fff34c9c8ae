"""Boards of random pixels with random labels: enough to see that training does what it says."""

import torch

from aam_vision.training.boards import Example


def toy_boards(number, shape=(32, 48)):
    generator = torch.Generator().manual_seed(0)
    pooling = torch.eye(6)
    return [
        Example(
            torch.randint(0, 256, (3, *shape), dtype=torch.uint8, generator=generator),
            pooling,
            torch.randint(0, 2, (2, 6), generator=generator).to(torch.int8),
        )
        for _ in range(number)
    ]
