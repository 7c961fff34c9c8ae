"""``python -m aam_vision.training.evaluate``: how well the classifiers of an environment read images.

A state is *exact*, *refused* (unknown atoms beyond those that the image hides by nature, no wrong one) or
*wrong accepted* (a decided atom is wrong); see ``assessment``. ECE, NLL and risk are those of ``Reliability`` there.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from aam_vision.support.options import flag, option
from aam_vision.support.wording import counted, some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aam_vision.training.assessment import PerceptionScores


@dataclass(frozen=True)
class Evaluation:
    """What is read with which classifiers."""

    classifiers: Path | None = option("Folder of classifier weights; default the shipped ones.")
    images: Path | None = option("Read the labelled pictures of this folder, not the environment's.")
    corruptions: bool = flag("Also under noise, blur, shifts, JPEG and so on.")
    states: int = option("Distinct states per group of layouts.", 1000, min=1)
    seed: int = option("Seed of states and corruptions.", 0, min=0)
    noise: float | None = option("Also with Gaussian noise of this sigma (0 to 1).", min=0)
    json: Path | None = option("Also write the figures to this file.")
    threads: int = option("Threads that share the images.", 1, min=1)
    backend: str = option("What runs the network: numpy, torch or onnx.", "torch")


def evaluate(env: Annotated[str, typer.Option(help="Environment, e.g. sokoban.")], asked: Evaluation) -> None:
    """Perceive legal states of unseen and of interrogated layouts; compare with the simulator.

    Examples:
        python -m aam_vision.training.evaluate --env doors --corruptions
        python -m aam_vision.training.evaluate --env doors --classifiers runs/w
        python -m aam_vision.training.evaluate --env t:V --classifiers w --images more
    """
    from aam_vision.training.pictures import domain_of, labelled_pictures

    domain = domain_of(env, asked.images)
    weights = domain.classifiers(asked.classifiers)
    if asked.json is not None and not asked.json.resolve().parent.is_dir():
        raise UnusableInput(f"cannot write {asked.json}: its folder does not exist, create it")
    import torch

    from aam_vision.classifiers.loading import load_perception
    from aam_vision.training import corruptions as known
    from aam_vision.training.assessment import evaluate_domain, speed

    torch.set_num_threads(1)
    how: dict[str, Any] = {"backend": asked.backend, "threads": asked.threads}
    noisy = asked.corruptions or asked.noise is not None
    perception = load_perception(domain.visual, domain.name, weights, remembered=0, noisy=noisy, **how)
    every = known.CAMERA_CORRUPTIONS if domain.visual.cellless else known.CORRUPTIONS
    conditions = dict(every) if asked.corruptions else {}
    if asked.noise is not None:
        noise = known.Corruption(partial(known.noise, sigma=asked.noise), 0.0)
        conditions.setdefault(f"noise {asked.noise:g}", noise)
    examined = None if asked.images is None else {"unseen": labelled_pictures(domain, asked.images)}
    drawn = {"states": asked.states, "seed": asked.seed}
    groups = evaluate_domain(domain, perception, **drawn, conditions=conditions, examined=examined)
    fast = speed(domain, perception, seed=asked.seed)
    for group in [name for name in ("unseen", "interrogated") if name in groups]:
        print(predicates_table(f"{env}, {group} layouts", groups[group]))
    least = {"unseen": 1.0} | {f"unseen, {name}": item.least_exact for name, item in conditions.items()}
    print(states_table(f"{env}, whole states", groups, least))
    for condition, scores in groups.items():
        if scores.unlike:
            many, named = counted(len(scores.unlike), "image"), some(scores.unlike, 3)
            print(f"{env}, {condition}: {many} with what looks unlike everything learned from: {named}")
    what = "pictures" if domain.visual.cellless else f"{fast.shape[0]}x{fast.shape[1]} board"
    print(
        f"{env}, {what}, {asked.backend}, {asked.threads} threads: {fast.single_ms:.2f} ms for a single image, "
        f"{fast.images_per_s:.0f} images/s in batches ({fast.batch_cpu_ms:.2f} CPU ms an image)"
    )
    if asked.json is not None:
        figures = {group: assessment.summary() for group, assessment in groups.items()}
        text = json.dumps({**figures, "speed": {**how, **asdict(fast)}}, indent=2)
        try:
            asked.json.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UnusableInput(
                f"cannot write {asked.json} ({error.strerror or error}): name another file"
            ) from None


def predicates_table(title: str, assessment: PerceptionScores) -> str:
    """The figures of an assessment per predicate, as text."""
    lines = [
        f"{title}: {assessment.exact} of {assessment.states} states exact ({assessment.exact_match:.4f})",
        f"  {'predicate':<16}{'atoms':>10}{'wrong':>8}{'undecided':>11}{'hidden':>8}{'accuracy':>10}",
    ]
    for name, tally in assessment.predicates.items():
        lines.append(
            f"  {name:<16}{tally.atoms:>10}{tally.wrong:>8}{tally.undecided:>11}{tally.hidden:>8}"
            f"{tally.accuracy:>10.5f}"
        )
    return "\n".join(lines)


def states_table(title: str, groups: Mapping[str, PerceptionScores], least: Mapping[str, float]) -> str:
    """The figures of whole states and of the probabilities, one line per group and condition."""
    lines = [
        title,
        f"  {'condition':<24}{'states':>7}{'exact':>8}{'wanted':>8}{'refused':>9}{'wrong':>7}"
        f"{'ECE':>10}{'NLL':>10}  risk at coverage 1, .99, .95",
    ]
    for name, group in groups.items():
        figures = group.reliability.summary()
        risks = " ".join(f"{risk:.4f}" for risk in figures.get("risk", {}).values())
        wanted = f"{least[name]:.3f}" if least.get(name) else "-"
        lines.append(
            f"  {name:<24}{group.states:>7}{group.exact_match:>8.4f}{wanted:>8}{group.refused:>9}"
            f"{group.wrong:>7}{figures.get('ece', 0):>10.2e}{figures.get('nll', 0):>10.2e}  {risks}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run_command(evaluate))
