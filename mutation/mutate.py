"""``python -m mutation.mutate``: what ``make mutants`` runs. Prints how many mutants of each module the tests kill.

Each target's tests run once, to see which of them reach which function. Each mutant of the sample then gets a forked
process with the tests that reach it, the fastest first, until one of them fails.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from mutation.runs import TARGETS, Sample, Verdict, run_target

SURVIVORS = "survivors.diff"


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
