"""``python -m mutation.mutate``: what ``make mutants`` runs. Prints how many mutants of each module the tests kill.

Each target's tests run once, to see which of them reach which function. Each mutant of the sample then gets a forked
process with the tests that reach it, the fastest first, until one of them fails.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

# mutmut copies the code and puts every mutant beside the original function; an environment variable chooses one. It leaves
# alone constants of a module, functions with a decorator other than ``staticmethod`` and ``classmethod``, and texts of messages.

ROOT = Path(__file__).resolve().parents[1]
SURVIVORS = "survivors.diff"


@dataclass(frozen=True)
class Target:
    """Modules that the same tests speak for. Paths are relative to the repository, with ``/``."""

    name: str
    modules: tuple[str, ...]  # files to mutate, or folders whose files are all mutated
    tests: tuple[str, ...]

    def files(self) -> list[str]:
        return sorted(
            str(file.relative_to(ROOT)) for module in self.modules for file in _files_of(ROOT / module)
        )


def _files_of(path: Path) -> list[Path]:
    return [file for file in path.glob("*.py") if file.name != "__init__.py"] if path.is_dir() else [path]


TARGETS = tuple(
    Target(name, tuple(facts["modules"]), tuple(facts["tests"]))
    for name, facts in tomllib.loads((ROOT / "mutation" / "targets.toml").read_text("utf-8")).items()
)
"""The modules that are mutated, and the tests that must notice."""


EQUIVALENT = ROOT / "mutation" / "equivalent.toml"
KILLED = {1, 3}  # the exit codes of pytest for a failed test and for a crash
TIMEOUT = {-24, 24, 36, 152, 255}
"""The exit codes that mutmut gives when the tests take too long. Such a mutant counts as killed."""
CRASHED = {-11, -9, -6}
_GUARD = re.compile(r",\s*(strict=\w+)?\s*\)")
MESSAGES = [r"\w \w.*\"[,)]*$"]  # lines that end in a text of more than one word: they are messages


@dataclass(frozen=True)
class Sample:
    """Which mutants of a module are tested."""

    size: int | None  # all of them, if None
    seed: int

    def of(self, mutants: list[str]) -> list[str]:
        """A sample of these mutants, the same one each time."""
        if self.size is None or self.size >= len(mutants):
            return mutants
        return sorted(random.Random(self.seed).sample(mutants, self.size))


@dataclass(frozen=True)
class Verdict:
    """The outcome for one mutant."""

    file: str
    mutant: str
    state: str  # ``killed``, ``equivalent`` or ``survived``
    diff: str


def run_target(target: Target, files: list[str], sample: Sample, place: Path, jobs: int) -> list[Verdict]:
    """Test a sample of the mutants of each of these files of the target, in the folder ``place``, which is made anew.

    Raises:
        SystemExit: The tests fail without any mutant, or mutmut fails; its log is named.
    """
    _prepare(target, files, place)
    chosen = {file: sample.of(_mutants(file, place)) for file in files}
    names = [mutant for mutants in chosen.values() for mutant in mutants]
    log = place.with_suffix(".log")
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(
            [sys.executable, "-m", "mutmut", "run", f"--max-children={jobs}", *names],
            cwd=place,
            env=os.environ | {"AAM_PROFILE": "mutants", "OMP_NUM_THREADS": "1", "PYTHONPATH": ""},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"mutmut failed on {target.name}: see {log}")
    return [verdict for file, mutants in chosen.items() for verdict in _verdicts(file, mutants, place)]


def _prepare(target: Target, files: list[str], place: Path) -> None:
    """Make the folder: links to the repository's folders, and a configuration for this target alone."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in {"pyproject.toml", "build", "runs"} and not entry.name.startswith("."):
            (place / entry.name).symlink_to(entry)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    mutmut = {
        # links within aam_vision are not followed unless they are named
        "source_paths": ["aam_vision", "aam_vision/classifiers", "aam_vision/envs", "aam_vision/training"],
        "also_copy": ["experiments", "fuzzing"],
        "only_mutate": files,
        "do_not_mutate_patterns": MESSAGES,
        "pytest_add_cli_args_test_selection": list(target.tests),
        "timeout_multiplier": 5.0,
        "timeout_constant": 2.0,
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    tables = {"pytest.ini_options": project["tool"]["pytest"]["ini_options"], "mutmut": mutmut}
    lines = [
        line
        for name, table in tables.items()
        # what JSON says of texts, numbers, truth and lists of them is TOML, too
        for line in (f"[tool.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items()))
    ]
    (place / "pyproject.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _mutants(file: str, place: Path) -> list[str]:
    from mutmut.configuration import reset_config
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    with chdir(place):
        reset_config()
        mutated = mutate_file_contents(file, Path(file).read_text(encoding="utf-8"))
    return [get_mutant_name(Path(file), name) for name in mutated.mutant_names]


def _verdicts(file: str, mutants: list[str], place: Path) -> list[Verdict]:
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    equivalent = equivalent_changes()
    codes = json.loads((place / "mutants" / f"{file}.meta").read_text(encoding="utf-8"))["exit_code_by_key"]
    verdicts = []
    with chdir(place):
        for mutant in mutants:
            diff = get_diff_for_mutant(mutant, path=file)
            if codes[mutant] in KILLED | TIMEOUT | CRASHED:
                state = "killed"
            elif change_of(file, diff) in equivalent or _is_guard(diff):
                state = "equivalent"
            else:
                state = "survived"
            verdicts.append(Verdict(file, mutant, state, diff))
    return verdicts


def _is_guard(diff: str) -> bool:
    """Whether the mutant only leaves out that ``zip`` checks the lengths, which are equal."""
    _, taken, put = (_GUARD.sub(")", text) for text in change_of("", diff))
    return taken == put


def change_of(file: str, diff: str) -> tuple[str, str, str]:
    """The file, the lines that a mutant takes out, and those that it puts in their place, without indentation."""
    lines = diff.splitlines()[2:]
    taken, put = ("\n".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return file, taken, put


def equivalent_changes() -> set[tuple[str, str, str]]:
    """The changes that are known to change no behaviour: file, line and mutant. The file has the reason of each."""
    found = set()
    for entry in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", []):
        if not entry.get("reason"):
            raise ValueError(f"{EQUIVALENT}: {entry['mutant']!r} has no reason")
        found.add((entry["file"], entry["line"].strip(), entry["mutant"].strip()))
    return found


def main() -> None:
    """Run the targets that were asked for, print a line per module, and keep the diffs of the survivors."""
    options = _options()
    out = Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    sample = Sample(None if options.sample == "all" else int(options.sample), options.seed)
    print(f"{'module':55} {'mutants':>8} {'killed':>8} {'equivalent':>11} {'survived':>9}", flush=True)
    total: Counter[str] = Counter()
    survivors: list[Verdict] = []
    for target in TARGETS:
        files = [file for file in target.files() if options.module in ("", target.name, file)]
        verdicts = run_target(target, files, sample, out / target.name, options.jobs) if files else []
        for file in files:
            states = Counter(verdict.state for verdict in verdicts if verdict.file == file)
            _show(file, states)
            total += states
        survivors += [verdict for verdict in verdicts if verdict.state == "survived"]
        diffs = "\n".join(f"# {verdict.mutant}\n{verdict.diff}\n" for verdict in survivors)
        (out / SURVIVORS).write_text(diffs, encoding="utf-8")
    _show("all", total)
    print(f"The survivors' diffs are in {out / SURVIVORS}.")


def _show(name: str, states: Counter[str]) -> None:
    killed, equivalent, survived = (states[state] for state in ("killed", "equivalent", "survived"))
    count = killed + survived
    share = f"{killed / count:6.0%} killed of those that are not equivalent" if count else ""
    print(f"{name:55} {count + equivalent:8} {killed:8} {equivalent:11} {survived:9} {share}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", default="", help="a file or the name of a target; everything if left out")
    parser.add_argument("--sample", default="40", help="how many mutants of each module, or 'all'")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants are tested at a time")
    parser.add_argument("--out", default="build/mutants", help="folder for the survivors' diffs and the logs")
    options = parser.parse_args()
    known = [name for target in TARGETS for name in (target.name, *target.files())]
    if options.module and options.module not in known:
        parser.error(f"--module {options.module}: choose from {', '.join(known)}")
    if options.sample != "all" and not options.sample.isdecimal():
        parser.error(f"--sample {options.sample}: give a number or 'all'")
    return options


if __name__ == "__main__":
    main()
