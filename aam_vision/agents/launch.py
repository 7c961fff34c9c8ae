"""Becomes another program, with limits on what it may use. Run as a file: ``python launch.py MEMORY PROGRAM ...``.

The limits are set in the process that becomes the program, so there is no moment without them. Nothing of the
package is imported: this file alone runs before an untrusted program.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1
CANNOT_START = 127


def main() -> None:
    """Set the limits and become the program."""
    memory, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):  # Linux: it ends with us, however we end
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_START)


if __name__ == "__main__":
    main()
