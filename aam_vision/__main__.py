"""``aam-vision COMMAND``, or ``python -m aam_vision COMMAND``: all commands under one name.

Only light modules are imported before the command is known, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

from aam_vision.support.commandline import UNUSABLE_INPUT, run_command

COMMANDS: Final = {
    "run": ("run.command", "interrogate_agent", "Interrogate an agent and print its model."),
    "learn": ("learn", "learn_from_traces", "Learn a model from traces, where nothing can be asked."),
    "explain": ("explain", "explain_run", "Say what a run found out about its agent, and why."),
    "ask": ("ask", "ask_model", "Say step by step what a learned model predicts of a plan."),
    "compare": ("compare", "compare_models", "Print the lines in which two models, or two runs, differ."),
    "execute": ("execute", "execute_plan", "Carry out a plan, or reach a goal, by a learned model."),
    "label": ("training.label", "label", "Label pictures of walks, and train classifiers by them."),
    "train": ("training.train", "train", "Train the classifiers of an environment."),
    "evaluate": ("training.evaluate", "evaluate", "Measure how well classifiers read pictures."),
}
"""Command -> its module in ``aam_vision``, its function, and what it does."""


def main() -> int:
    """Run the command that the first argument names with the others; the exit code, see ``run_command``."""
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in ("--help", "-h"):
        print("Usage: aam-vision COMMAND [OPTIONS]\n\nCommands (each answers --help):")
        print("\n".join(f"  {command:9} {what}" for command, (_, _, what) in COMMANDS.items()))
        return 0
    if name not in COMMANDS:
        print(f"error: {name!r} is no command: use {', '.join(COMMANDS)}", file=sys.stderr)
        return UNUSABLE_INPUT
    module, function, _ = COMMANDS[name]
    del sys.argv[1]
    return run_command(getattr(import_module(f"aam_vision.{module}"), function), f"aam-vision {name}")


if __name__ == "__main__":
    sys.exit(main())
