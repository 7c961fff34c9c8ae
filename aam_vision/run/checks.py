"""Checks of the options of ``python -m aam_vision.run``, made before anything heavy is loaded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.run import targets
from aam_vision.run.arguments import MAX_NUMBER, MAX_PROBLEM_SIZE, Arguments
from aam_vision.run.targets.copied import ALONE
from aam_vision.support.errors import UnusableInput
from aam_vision.support.resources import Resources

if TYPE_CHECKING:
    from aam_vision.agents.journal import Journal

MAX_AGENT_SECONDS = 1e6
MAX_AGENT_MEMORY = 2**40
"""Megabytes."""
TRACES = "traces"
"""The access of a run from traces (``aam_vision.learn``)."""
MIN_WITHIN, MAX_WITHIN = 0.002, 0.4
"""Half widths of intervals: narrower ones would take millions of steps."""
NOT_WITH_CONTROLS = {
    "policy": "the paper's policy is about instructions that are told",
    "write_ppo": "the paper's policy is about instructions that are told",
    "repeated_arguments": "what a control points out is found, not given",
    "refusal_rate": "a control can always be given, so none is refused",
    "name": "what is remembered keeps its name",
}
NOT_WITH_CHANCE = {
    "policy": "the paper's policy is about agents without chance",
    "write_ppo": "the paper's policy is about agents without chance",
    "repeated_arguments": "two atoms may be one fact, and which of them changed cannot be told",
    "refusal_rate": "a refusal by mistake looks like a precondition",
    "workers": ALONE,
    "name": "nothing is invented there",
    "controls": "what a control carries out is told from what it always does",
    "bare": "what a control carries out is told from what it always does",
}
"""Options for which there is no such thing, each with the reason (docs/reference/commands.md)."""
RESULTS = ("model.pddl", "model-when.pddl", "result.json", "report.html", "truth.pddl", "controls.json")
"""The files that a run writes into its folder at its end."""


def check(arguments: Arguments) -> None:
    """Say at once which options cannot be used. Raises UnusableInput: they do not fit together, are out of range, or name what is not there."""
    from aam_vision.interrogation.policies.registry import check_policy

    check_policy(arguments.policy)
    if arguments.access == TRACES:
        raise UnusableInput(
            "nothing can be asked of traces: use python -m aam_vision.learn", "access", TRACES
        )
    _check_agent(arguments)
    _check_labels(arguments)
    _check_controls(arguments)
    _check_chance(arguments)
    _check_ranges(arguments)
    names_given(arguments)


def recorded_arguments(journal: Journal, folder: Path, command: Arguments) -> Arguments:
    """The options of a recorded run, checked; those that are not recorded are the command's own.

    ``command`` names the program of the run once more, if the agent is one, or the environment of a module: a file must not be able to start
    the one, or to have the other imported. Raises UnusableInput: an option cannot be used, another program is named, or a file has changed.
    """
    kept = Arguments.from_json(journal.about("arguments"), journal.path).resumed(command)
    if kept.agent != command.agent:
        raise UnusableInput(
            f"{folder}: a run of {'--agent ' + repr(kept.agent) if kept.agent else 'no program'}; "
            f"{'give that' if kept.agent else 'leave out'} --agent, too"
        )
    imported = kept.env if kept.env is not None and targets.is_imported(kept.env) else None
    if command.env != imported:
        raise UnusableInput(
            f"{folder}: a run of {'--env ' + imported if imported else 'no environment of a module'}; "
            f"{'give that' if imported else 'leave out'} --env, too"
        )
    check(kept)
    if kept.inputs() != journal.about("inputs"):
        raise UnusableInput(f"{folder}: the files of that run have changed; start a new run")
    return kept


def is_chance_run(path: Path) -> bool:
    """Whether this folder's run learned how often: with ``--chance``, or gone on from a diagnosis. Raises UnusableInput: its journal is damaged."""
    from aam_vision.agents.journal import NAME, Journal

    if not path.is_dir() or not (path / NAME).is_file():
        return False
    with Journal.open(path) as journal:
        arguments = journal.options()
    return isinstance(arguments, dict) and bool(arguments.get("chance"))


def check_unused(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds an earlier run, or files that a run would overwrite, without ``force``: UnusableInput."""
    from aam_vision.agents.journal import Journal

    Journal.check_unused(folder, force=force)
    lost = [name for name in RESULTS if (folder / name).exists()]
    if lost and not force:
        raise UnusableInput(
            f"{folder}: holds {', '.join(lost)}; name another folder, or give --force to overwrite them"
        )


def _check_agent(arguments: Arguments) -> None:
    env = arguments.env
    given = [one for one in (env, arguments.domain, arguments.agent) if one is not None]
    if len(given) != 1 and given != [env, arguments.agent]:
        raise UnusableInput(
            "give either --env NAME, or --domain D.pddl with --problem P.pddl, or --agent COMMAND "
            "(with --env NAME if it shows images, for the concepts and classifiers that read them)"
        )
    if env is not None:
        targets.check_name(env)


def _check_labels(arguments: Arguments) -> None:
    """Refuse labels of what shows no images of its own, or has classifiers already."""
    given = given_about_labels(arguments)
    if not arguments.label and given:
        raise UnusableInput("is about labels: give --label, too", given[0])
    if not arguments.label:
        return
    if arguments.env is None or arguments.agent is not None:
        raise UnusableInput("labels pictures of an environment: give --env NAME alone", "label")
    if arguments.classifiers is not None:
        raise UnusableInput("makes classifiers, and --classifiers names some: give one of the two", "label")


def options_given(arguments: Arguments, *names: str) -> list[str]:
    """Those of these options that are not as they usually are."""
    usual = Arguments()
    return [name for name in names if getattr(arguments, name) != getattr(usual, name)]


def names_given(arguments: Arguments) -> dict[str, str]:
    """What is invented by its usual name, with the name that it is given. Raises UnusableInput: something is no name."""
    found: dict[str, str] = {}
    for text in arguments.name or ():
        told = re.fullmatch(r"(memory-\d+)=([a-z][a-z0-9_-]*)", text)
        if told is None or told[1] in found or told[2] in found.values():
            raise UnusableInput("give memory-1=NAME, each once, with a name that PDDL allows", "name", text)
        found[told[1]] = told[2]
    return found


def given_about_labels(arguments: Arguments) -> list[str]:
    """The names of options that were given about how labels are asked for."""
    return options_given(arguments, "labels", "pictures", "ask", "answers")


def _check_controls(arguments: Arguments) -> None:
    """Refuse what cannot be done where only the controls are known."""
    if arguments.bare and arguments.domain is None:
        raise UnusableInput("says what the controls of a PDDL domain do: give --domain, too", "bare")
    if arguments.controls and arguments.env is arguments.agent is None:
        raise UnusableInput(
            "asks for controls: give --env NAME, --agent COMMAND, or --domain with --bare", "controls"
        )
    if not (arguments.controls or arguments.bare):
        return
    which = "--controls" if arguments.controls else "--bare"
    for name in options_given(arguments, *NOT_WITH_CONTROLS):
        raise UnusableInput(f"cannot be used with {which}: {NOT_WITH_CONTROLS[name]}", name)
    if arguments.flip_rate and not arguments.confirm:
        raise UnusableInput(
            "one look does not tell what a control did from what was misread: give --confirm, too",
            "flip_rate",
        )


def _check_chance(arguments: Arguments) -> None:
    """Refuse what cannot be done where steps may have several outcomes."""
    if not MIN_WITHIN <= arguments.within <= MAX_WITHIN:
        raise _out_of_range("within", arguments, f"a number from {MIN_WITHIN:g} to {MAX_WITHIN:g}")
    if not arguments.chance:
        if options_given(arguments, "within") and (arguments.controls or arguments.bare):
            raise UnusableInput("says how sure probabilities are to be: a run of controls has none", "within")
        return
    if arguments.env is not None and arguments.agent is not None:
        raise UnusableInput(
            "needs an environment, or a program that tells its states: give --env or --agent", "chance"
        )
    for name in options_given(arguments, *NOT_WITH_CHANCE):
        if name == "workers" and arguments.env is not None and targets.is_imported(arguments.env):
            continue  # it may be a policy
        raise UnusableInput(f"cannot be used with --chance: {NOT_WITH_CHANCE[name]}", name)
    if options_given(arguments, "confidence") and not arguments.confirm:
        raise UnusableInput("with --chance, says how sure looks are to be: give --confirm, too", "confidence")


def _check_ranges(arguments: Arguments) -> None:
    for name, value in vars(arguments).items():
        if isinstance(value, int) and value >= MAX_NUMBER:
            raise UnusableInput("give a number below 2^63", name)
    if not 1 <= arguments.problem_size <= MAX_PROBLEM_SIZE:
        raise _out_of_range("problem_size", arguments, f"a number from 1 to {MAX_PROBLEM_SIZE}")
    if not 1 <= arguments.agent_memory < MAX_AGENT_MEMORY:
        raise _out_of_range("agent_memory", arguments, "a number of megabytes from 1")
    if not 0 < arguments.agent_seconds < MAX_AGENT_SECONDS:
        raise _out_of_range("agent_seconds", arguments, "a number above 0")
    Resources(arguments.max_seconds)
    noise = arguments.image_noise
    if not 0 <= noise <= 1 or (noise and arguments.env is None):
        raise _out_of_range(
            "image_noise", arguments, "a number from 0 to 1, for an image environment (--env) only"
        )
    for name in ("flip_rate", "refusal_rate"):
        if not 0 <= getattr(arguments, name) <= 1:
            raise _out_of_range(name, arguments, "a number from 0 to 1")
    if not 0.5 <= arguments.confidence < 1:
        raise _out_of_range("confidence", arguments, "a number from 0.5 to below 1")


def _out_of_range(name: str, arguments: Arguments, wanted: str) -> UnusableInput:
    return UnusableInput(f"give {wanted}", name, f"{getattr(arguments, name):g}")
