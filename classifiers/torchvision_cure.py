"""Makes ``import torchvision`` work beside a torch of another build.

A torchvision built for CUDA next to a torch for CPUs cannot load its compiled operators, and its import
then fails with "operator torchvision::nms does not exist" (pytorch/vision issues 9077 and 9085). Nothing
here needs those operators, so their missing schemas are declared and everything in Python works
(transforms.v2, models); ``torchvision.ops.nms`` and the compiled image codecs do not. Lightning imports
torchvision through torchmetrics: call ``cure_torchvision`` before either. Where torchvision is healthy,
nothing happens.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

OPERATORS = ("nms", "qnms")
"""Operators whose absence makes the import fail."""


@cache
def cure_torchvision() -> object | None:
    """Declare the operators that torchvision's import asks for, if its own library cannot provide them.

    Returns:
        The library that holds the declarations (kept alive by the cache), or None where torchvision is
        healthy or not installed.
    """
    import torch

    spec = find_spec("torchvision")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    compiled = sorted(folder.glob("_C*.so")) + sorted(folder.glob("_C*.pyd"))
    with suppress(OSError):
        for library in compiled:
            torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]
        if compiled:
            return None
    stubs = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for name in OPERATORS:
        if not hasattr(torch.ops.torchvision, name):
            schema = f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            stubs.define(schema)  # type: ignore[no-untyped-call]
    return stubs
