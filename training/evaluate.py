"""``python -m aam_vision.training.evaluate``: how well the classifiers of an environment read images."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.training.assessment import Assessment


def evaluate(
    env: Annotated[str, typer.Option(help="Environment, e.g. sokoban.")],
    weights: Annotated[
        Path | None, typer.Option(help="Folder with weights and card; default: shipped.")
    ] = None,
    states: Annotated[int, typer.Option(min=1, help="Distinct states per group of layouts.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the states.")] = 0,
    noise: Annotated[float, typer.Option(min=0, help="Sigma of noise put on the images (0 to 1).")] = 0.0,
    json: Annotated[Path | None, typer.Option(help="Also write the figures to this file.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads for torch.")] = 1,
) -> None:
    """Perceive legal states of unseen and of interrogated layouts; compare with the simulator."""
    from aam_vision.envs.registry import board_domain

    domain = board_domain(env)
    if json is not None and not json.resolve().parent.is_dir():
        raise UnusableInput(f"cannot write {json}: its folder does not exist, create it")
    import torch

    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.training.evaluation import evaluate_domain

    torch.set_num_threads(threads)
    perception = BoardPerception.load(domain.visual, domain.name, weights, remembered=0)
    groups = evaluate_domain(domain, perception, states=states, seed=seed, noise=noise)
    for group, assessment in groups.items():
        print(table(f"{env}, {group} layouts", assessment))
    if json is not None:
        figures = {group: assessment.summary() for group, assessment in groups.items()}
        try:
            json.write_text(json_format.dumps(figures, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise UnusableInput(
                f"cannot write {json} ({error.strerror or error}): name another file"
            ) from None


def table(title: str, assessment: Assessment) -> str:
    """The figures of an assessment as text."""
    lines = [
        f"{title}: {assessment.exact} of {assessment.states} states exact "
        f"({assessment.exact_match:.4f}), {assessment.ms_per_image:.1f} ms an image",
        f"  {'predicate':<16}{'atoms':>10}{'wrong':>8}{'undecided':>11}{'hidden':>8}{'accuracy':>10}",
    ]
    for name, tally in assessment.predicates.items():
        lines.append(
            f"  {name:<16}{tally.atoms:>10}{tally.wrong:>8}{tally.undecided:>11}{tally.hidden:>8}"
            f"{tally.accuracy:>10.5f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run_command(evaluate))
