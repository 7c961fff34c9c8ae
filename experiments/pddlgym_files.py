"""How many of PDDLGym's own files are read with ``--domain`` and ``--problem``, and why others are not.

``python -m experiments.pddlgym_files`` prints a line for each domain of the installed package that is not read, or of which a problem
is not, and the sums.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from aam_vision.model.pddl import read_any_domain, read_problem
from aam_vision.model.strips import Model
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput


def pddlgym_files() -> None:
    """Read all domains and problems of the installed PDDLGym, and count.

    Examples:
        python -m experiments.pddlgym_files
    """
    from aam_vision.envs.pddlgym_files import pddl_folder

    folder, counts = pddl_folder(), Counter[str]()
    for path in sorted(folder.glob("*.pddl")):
        counts["domains"] += 1
        try:
            model = read_any_domain(path)
        except UnusableInput as error:
            print(f"{path.stem}: refused: {_without(path, error)}")
            counts["refused"] += 1
            continue
        counts["read"] += 1
        counts["with chance or conditional effects"] += not model.strips
        counts["with instructions as predicates"] += bool(model.vocabulary.left_out)
        problems = [
            one for end in ("", "_test") for one in sorted((folder / f"{path.stem}{end}").glob("*.pddl"))
        ]
        refused = [said for one in problems if (said := _problem(model, one))]
        counts["problems"] += len(problems)
        counts["problems refused"] += len(refused)
        for said in refused[:1]:
            print(f"{path.stem}: {len(refused)} of {len(problems)} problems refused: {said}")
    print(", ".join(f"{name}: {number}" for name, number in counts.items()))


def _problem(model: Model, path: Path) -> str:
    """Why a problem is refused; empty if it is not."""
    try:
        read_problem(Model(model.vocabulary, ()), path)
    except UnusableInput as error:
        return _without(path, error)
    return ""


def _without(path: Path, error: UnusableInput) -> str:
    return str(error).replace(str(path), path.name)


if __name__ == "__main__":
    sys.exit(run_command(pddlgym_files))
