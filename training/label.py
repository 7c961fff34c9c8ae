"""``python -m aam_vision.training.label``: from no label at all to classifiers, with few labelled pictures of walks.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from aam_vision.support.commandline import Progress, check_writable, run_command, told_warnings
from aam_vision.support.errors import UnusableInput
from aam_vision.support.options import option
from aam_vision.training.labelling.settings import Session


@dataclass(frozen=True)
class Origin:
    """Where the pictures come from."""

    env: str | None = option(
        "Environment whose images are to be read, e.g. sokoban; with --images it brings the vocabulary only."
    )
    domain: Path | None = option(
        "With --images, instead of --env: a PDDL domain file, whose predicates are asked about."
    )
    cell: str | None = option("With --domain: the type of the cells, where the file does not tell it.")
    images: Path | None = option(
        "Label the pictures of this folder (*.png, of one size), whatever they come from."
    )


def label(origin: Origin, session: Session) -> None:
    """Walk about, have the pictures labelled that tell most, train, and stop when unlabelled ones are read surely.

    The pictures are labelled at a page whose address is printed; it is served to this machine only. Every answer is written
    before the next picture is asked about, so that the same command goes on wherever it was ended.

    With --ask atoms every question is about one thing at one place, yes or no.

    With --images no simulator is needed: at the page you also say where the cells are, and how many things there are. The
    predicates are those of --env, or of a PDDL file (--domain).

    The folder, which run --classifiers reads, receives images/*.png and labels.jsonl, which train --images reads, the weights with their cards, and
    labelling.json: labelled_pictures, labelled_atoms, whether a test on held-out answers ended the labelling, and the
    upper bound of the share of wrong answers that it gives.

    Examples:
        python -m aam_vision.training.label --env sokoban --out runs/few
        python -m aam_vision.training.label --env doors --pictures 20
        python -m aam_vision.training.label --env sokoban --ask atoms --answers 60
        python -m aam_vision.training.label --env sokoban --images my-pictures
        python -m aam_vision.training.label --domain D.pddl --images my-pictures
        python -m aam_vision.training.label --env sokoban --labels simulator
        python -m aam_vision.training.label --env tabletop --labels simulator
    """
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.labelling.own_pictures import label_pictures, pddl_vocabulary, vocabulary_named
    from aam_vision.training.labelling.session import label_walks

    env, domain, images = origin.env, origin.domain, origin.images
    session.check()
    if (env is None) == (domain is None):
        raise UnusableInput("give --env, or --domain with --images")
    if domain is not None and images is None:
        raise UnusableInput(
            "no simulator belongs to it: give the pictures to label with --images", "domain", domain
        )
    if session.steps is not None and images is not None:
        raise UnusableInput(
            "is about walks, and --images brings the pictures; leave it out", "steps", session.steps
        )
    if origin.cell is not None and domain is None:
        raise UnusableInput("is of use with --domain only; leave it out", "cell", origin.cell)
    if images is None:
        assert env is not None
        walked, source = image_domain(env), env
    elif domain is not None:
        visual = pddl_vocabulary(domain, origin.cell)
        named, source = (visual.name, visual), domain.stem
    else:
        assert env is not None
        named, source = vocabulary_named(env), env
    folder = session.out or Path("runs") / f"label-{source.replace(':', '-')}-{datetime.now():%Y%m%d-%H%M%S}"
    check_writable(folder)
    if images is None:
        with told_warnings():
            summary = label_walks(walked, folder, session, Progress())
    else:
        summary = label_pictures(named, images, folder, session, Progress())
    for head in summary["untaught"]:  # a run with the classifiers names them, too
        Progress().stage(f"warning: classifier {head} never saw a positive example: it answers unknown")


if __name__ == "__main__":
    sys.exit(run_command(label))
