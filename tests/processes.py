"""Python in a process of its own, as nothing else has imported anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

ROOT = Path(__file__).parent.parent


def fresh(code: str, *arguments: str | Path, cwd: Path = ROOT, **variables: str) -> CompletedProcess[str]:
    """What the code prints and tells, with these variables set besides those of this process."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **variables},
        check=False,
    )
