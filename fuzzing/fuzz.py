"""``python -m fuzzing.fuzz ENTRANCE [libFuzzer's options]``: atheris at one entrance; ``make fuzz`` runs all three.

Atheris is not a requirement of the project: ``make fuzz`` keeps it in a virtual environment of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    """Fuzz until the time is over or something is found, which ends the process with another exit code than 0."""
    import atheris

    with atheris.instrument_imports(include=["aam_vision", "fuzzing"]):
        from fuzzing.entrances import ENTRANCES, SEEDS

    name, *options = sys.argv[1:]
    with TemporaryDirectory() as folder:
        for number, seed in enumerate(SEEDS[name]):
            Path(folder, str(number)).write_bytes(seed)
        words = Path(__file__).with_name(f"{name}.dict")
        atheris.Setup(
            [sys.argv[0], folder, f"-dict={words}", "-timeout=5", "-rss_limit_mb=2048", *options],
            ENTRANCES[name],
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
