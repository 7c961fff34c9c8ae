"""The options of ``python -m aam_vision.run``, and the part of them that a journal keeps so that a run can be resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, get_type_hints

from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import checkpoints, files_named, read_limited
from aam_vision.support.options import flag, option

MAX_BYTES = 500_000_000
"""Size of a file that an option names, at most."""
MAX_PROBLEM_SIZE = 100
"""Size of a packaged domain's problems, at most: up to 10,000 objects."""
MAX_NUMBER = 2**63
"""Whole numbers stay below this: a journal keeps no larger ones."""


@dataclass(frozen=True)
class Arguments:
    """All options. Those marked ``kept=False`` do not change what is asked and answered; the journal leaves them out."""

    env: str | None = option(
        "An environment: sokoban, doors, ..., yours as MODULE:NAME, or a packaged PDDL domain; with --agent what reads its images."
    )
    domain: Path | None = option("A PDDL domain file: an agent that tells its states as symbols.")
    agent: str | None = option("A command: any program that speaks the protocol of docs/agent-protocol.md.")
    checkpoint: Path | None = option(
        "The file or folder that holds the assessed version, whose SHA-256 the results give; default the files that --agent names."
    )
    problem: list[str] | None = option(
        "A problem (repeatable): with --env a number or name (test/7; of your environment any seed), with --domain a PDDL file."
    )
    controls: bool = flag("Bring nothing but the controls (--env, --agent); find out what they do.")
    chance: bool = flag(
        "Begin with outcomes: which a step may have, how often they come, and how sure that is. Other runs go on to that."
    )
    label: bool = flag("No classifiers yet: first label pictures of walks, and learn from them.", kept=False)
    seed: int = option("Seed of every random choice.", 0, min=0)
    out: Path | None = option("Folder for results; default runs/ENV-TIME.", kept=False)
    resume: Path | None = option("Folder of a run that was ended: go on with it.", kept=False)
    access: str | None = option(
        "What the agent allows: settable (symbolic agents only), snapshot, reset, or trajectory "
        "(one problem: the first, or the one named); default the most that it can.",
        heading="What is assessed",
    )
    bare: list[str] | None = option(
        "With --domain: a control, and the operators that it may carry out: 'move(?dir)=move,push' (repeatable)."
    )
    problem_size: int = option("Size of a packaged domain's problems.", 2, min=1)
    repeated_arguments: bool = flag(
        "Also learn what happens when one object is named twice (symbolic agents only)."
    )
    prior: Path | None = option(
        "A model learned earlier (PDDL), or the folder of its run: verify it, and say what is different now."
    )
    agent_seconds: float = option("Wall time that it may take for one answer.", 60.0)
    agent_memory: int = option("Megabytes of memory that it may take.", 4096, min=1)
    max_queries: int | None = option("Stop at so many queries.", min=0, heading="What it may cost")
    max_steps: int | None = option("Stop at so many steps, walks included.", min=0)
    max_seconds: float | None = option(
        "Stop after so many CPU seconds, with what is known; with --resume they are counted anew.", kept=False
    )
    policy: str = option("How questions are chosen: economical or aia.", "economical")
    planner: str = option(
        "pyperplan, or an installed engine of unified-planning, such as fast-downward.", "pyperplan"
    )
    workers: int = option(
        "Copies of the agent that answer at a time, each in a process of its own.", 1, min=1
    )
    address: str | None = option(
        "Of a Ray cluster that runs the workers: host:port, auto, or local for one of its own.", kept=False
    )
    cache: Path | None = option(
        "File that keeps answers for other runs (deterministic symbolic agents only).", kept=False
    )
    exam: int | None = option(
        "Steps of the examination of what was learned; default a quarter of the interrogation's, 60 at least, where that is proven; "
        "none with --controls or --bare, where a walk follows anyway, nor with --chance, where intervals say how sure all is (60 where a run goes on to that).",
        min=0,
        heading="How sure it is to be",
    )
    within: float = option(
        "Where an agent proves to be random: how narrow the interval of each probability is to be (half its width).",
        0.05,
    )
    name: list[str] | None = option(
        "What is invented to explain the agent is called so: 'memory-1=fuel' (repeatable).", kept=False
    )
    confirm: bool = flag(
        "Take no answer at its word, even if none proves unreliable; with --chance or --controls: look at each situation until it is certain."
    )
    confidence: float = option("Where answers prove unreliable: how probable the model has to be.", 0.999)
    classifiers: Path | None = option(
        "Folder of classifier weights; default the shipped ones.", heading="Pictures and labels"
    )
    backend: str = option("What runs the classifiers: numpy, torch or onnx.", "numpy")
    labels: str = option(
        "With --label: who labels: page (you, in a browser) or simulator (where it knows its states).",
        "page",
        kept=False,
    )
    pictures: int | None = option(
        "With --label: pictures to label at most; default 10 of boards, 60 of pictures without cells.",
        min=1,
        kept=False,
    )
    ask: str = option(
        "With --label: what is asked about: whole pictures, or single atoms of them.", "pictures", kept=False
    )
    answers: int | None = option("With --ask atoms: answers at most; default 60.", min=1, kept=False)
    image_noise: float = option(
        "Gaussian noise put on the agent's images: its sigma, 0 to 1.",
        0.0,
        heading="Faults put between the agent and its interrogator",
    )
    flip_rate: float = option("Share of the observed atoms that are flipped, each time anew, 0 to 1.", 0.0)
    refusal_rate: float = option("Share of the executable steps that the agent refuses, 0 to 1.", 0.0)
    force: bool = flag("Overwrite the run that the folder for results holds.", kept=False, heading="Output")
    quiet: bool = flag("No progress on stderr.", kept=False)
    images: bool = option("Show the agent's images while it runs, on a terminal that can.", True, kept=False)
    record: Path | None = option("Write the images of all queries to this file, an animated GIF.", kept=False)
    write_ppo: Path | None = option(
        "Write the planning problem that each query of --policy aia solves to this folder, as PDDL.",
        kept=False,
    )

    def json(self) -> dict[str, Any]:
        """The options that are kept, as JSON; paths are absolute, since a run may be resumed from another folder."""
        given = {one.name: getattr(self, one.name) for one in _kept()}
        if self.domain is not None:
            given["problem"] = [str(Path(path).absolute()) for path in self.problem or ()]
        return {
            name: str(value.absolute()) if isinstance(value, Path) else value for name, value in given.items()
        }

    @classmethod
    def from_json(cls, given: object, source: Path) -> Arguments:
        """The options that ``json`` has written, from a file that may be anybody's. Raises UnusableInput: there are others, or a value of another kind."""
        names = [one.name for one in _kept()]
        if not isinstance(given, Mapping) or sorted(given) != sorted(names):
            raise UnusableInput(f"{source}: has no arguments of a run of this version; start a new run")
        kinds, values = get_type_hints(cls), dict(given)
        for name in names:
            if not _fits(given[name], kinds[name]):
                raise UnusableInput(f"{source}: --{name.replace('_', '-')} has a value that cannot be used")
            if given[name] is not None and kinds[name] == Path | None:
                values[name] = Path(given[name])
        return cls(**values)

    def resumed(self, command: Arguments) -> Arguments:
        """These options, which a journal has kept, with the command's own values for the others."""
        others = [one.name for one in fields(self) if one not in _kept()]
        return replace(self, **{name: getattr(command, name) for name in others})

    @property
    def prior_model(self) -> Path | None:
        """The model learned earlier, in the folder of its run if that is given."""
        return self.prior / "model.pddl" if self.prior is not None and self.prior.is_dir() else self.prior

    def inputs(self) -> dict[str, str]:
        """The SHA-256 of every file that was named: a run is resumed with the same files only. Raises UnusableInput: a file cannot be read."""
        prior = self.prior_model
        named = [prior] if self.domain is None else [self.domain, *(self.problem or ()), prior]
        paths = [Path(path) for path in named if path is not None]
        if prior is not None and (self.controls or self.bare):
            paths.append(prior.with_name("controls.json"))
        if self.classifiers is not None:
            paths += sorted(Path(self.classifiers).glob("*.safetensors"))[:100]
        found = {str(path.absolute()): _digest(path) for path in paths}
        return found | checkpoints(self.checkpoint and self.checkpoint.absolute())

    def assessed(self) -> dict[str, str]:
        """The SHA-256 of the files that say which version is assessed, by name; a mended program may go on. Raises UnusableInput: one cannot be read."""
        if self.checkpoint is not None:
            return dict.fromkeys([self.checkpoint.name], *checkpoints(self.checkpoint).values())
        return {} if self.agent is None else checkpoints(*files_named(self.agent))


def _kept() -> list[Field[Any]]:
    """The options that a journal keeps."""
    return [one for one in fields(Arguments) if one.metadata.get("kept", True)]


def _digest(path: Path) -> str:
    try:
        return sha256(read_limited(path, MAX_BYTES)).hexdigest()
    except OSError as error:
        raise UnusableInput(f"cannot read {path} ({error.strerror or error})") from None


def _fits(value: object, kind: Any) -> bool:
    """Whether a value in JSON is of an option's type; no option takes a negative whole number."""
    if isinstance(value, list):
        return "list" in str(kind) and len(value) <= 1000 and all(isinstance(item, str) for item in value)
    if isinstance(value, bool):
        return kind is bool
    if isinstance(value, int) and not 0 <= value < MAX_NUMBER:
        return False
    if isinstance(value, str) and kind == Path | None:
        return True
    return any(isinstance(value, one) for one in getattr(kind, "__args__", (kind,)) if isinstance(one, type))
