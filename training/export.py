"""``python -m aam_vision.training.export``: the classifiers of an environment as one ONNX file.

Input ``boards``: float32 (images, 3, 16 * rows, 16 * columns) between 0 and 1, the board cut out of the image
and resampled to 16 pixels a cell (64 for ``--backbone resnet18``). Output ``logits``: float32 (images, heads, rows, columns). The file holds
the card (vocabulary, temperatures, thresholds) as its metadata ``card``.

Of pictures without cells: input ``pictures``, float32 (images, 3, height, width) between 0 and 1, resampled to the size in which
the network sees them; outputs ``logits``, float32 (images, answers), in the order of ``classifiers.camera.plan.CameraPlan``,
``positions``, float32 (images, looks, 2): across and down, from -1 to 1, and ``maps``, float32 (images, looks, h, w): the log odds
that each place shows a thing of each look.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.support.commandline import run_command, write_atomically
from aam_vision.support.errors import UnusableInput


def export(
    env: Annotated[str, typer.Option(help="Environment, e.g. sokoban.")],
    out: Annotated[Path, typer.Option(help="The ONNX file to write.")],
    classifiers: Annotated[
        Path | None, typer.Option(help="Folder of classifier weights; default the shipped ones.")
    ] = None,
) -> None:
    """Write the classifiers of an environment as an ONNX model (needs the extra onnx).

    Examples:
        python -m aam_vision.training.export --env doors --out doors.onnx
    """
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    weights = domain.classifiers(classifiers)
    if not out.resolve().parent.is_dir() or out.is_dir():
        raise UnusableInput(f"cannot write {out}: name a file in a folder that exists")
    from aam_vision.classifiers import store

    if domain.visual.cellless:
        from aam_vision.classifiers.camera import network as camera
        from aam_vision.classifiers.camera.perception import picture_of
        from aam_vision.classifiers.camera.plan import plan_of

        tensors, card = store.read(domain.visual, domain.name, weights)
        plan = plan_of(card.vocabulary)
        content = camera.onnx_graph(camera.network_of(plan, tensors), picture_of(card))
        heads = plan.heads
    else:
        from aam_vision.classifiers.torch_backends import onnx_graph

        network, card = store.load(domain.visual, domain.name, weights)
        store.check_alone(card, "export")
        content, heads = onnx_graph(network), network.heads
    import onnx

    model = onnx.load_from_string(content)
    model.metadata_props.add(key="card", value=store.paths(domain.name, weights).card.read_text("utf-8"))
    try:
        write_atomically(out, model.SerializeToString())
    except OSError as error:
        raise UnusableInput(f"cannot write {out} ({error.strerror or error}): name another file") from None
    print(f"{out}: {out.stat().st_size} bytes, heads {', '.join(heads)}")


if __name__ == "__main__":
    sys.exit(run_command(export))
