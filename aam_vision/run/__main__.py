"""``python -m aam_vision.run``: see ``command``."""

import sys

from aam_vision.run.command import interrogate_agent
from aam_vision.support.commandline import run_command

if __name__ == "__main__":
    sys.exit(run_command(interrogate_agent))
