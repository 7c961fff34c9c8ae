"""``python -m aam_vision.training.export``: the classifiers of an environment as one ONNX file.

Input ``boards``: float32 (images, 3, 16 * rows, 16 * columns) between 0 and 1, the board cut out of the image
and resampled to 16 pixels a cell (64 for ``--backbone resnet18``). Output ``logits``: float32 (images, heads, rows, columns). The file holds
the card (vocabulary, temperatures, thresholds) as its metadata ``card``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput


def export(
    env: Annotated[str, typer.Option(help="Environment, e.g. sokoban.")],
    out: Annotated[Path, typer.Option(help="The ONNX file to write.")],
    weights: Annotated[
        Path | None, typer.Option(help="Folder with weights and card; default: shipped.")
    ] = None,
) -> None:
    """Write the classifiers of an environment as an ONNX model (needs the extra onnx).

    Examples:
        python -m aam_vision.training.export --env doors --out doors.onnx
    """
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    weights = domain.classifiers(weights)
    if not out.resolve().parent.is_dir() or out.is_dir():
        raise UnusableInput(f"cannot write {out}: name a file in a folder that exists")
    from aam_vision.classifiers.store import load, paths
    from aam_vision.classifiers.torch_backends import onnx_graph

    network, _ = load(domain.visual, domain.name, weights)
    content = onnx_graph(network)
    import onnx

    model = onnx.load_from_string(content)
    model.metadata_props.add(key="card", value=paths(domain.name, weights).card.read_text("utf-8"))
    partial = out.with_name(out.name + ".partial")
    try:
        partial.write_bytes(model.SerializeToString())
        partial.replace(out)
    except OSError as error:
        raise UnusableInput(f"cannot write {out} ({error.strerror or error}): name another file") from None
    print(f"{out}: {out.stat().st_size} bytes, heads {', '.join(network.heads)}")


if __name__ == "__main__":
    sys.exit(run_command(export))
