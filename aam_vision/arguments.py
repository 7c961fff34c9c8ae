"""What a run was asked to do, as its journal keeps it, so that the same run can be gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, get_type_hints

from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited

MAX_BYTES = 500_000_000
"""Of a file that a run's options name at most."""
MAX_PROBLEM_SIZE = 100
"""Of a packaged domain: up to 10,000 objects."""


@dataclass(frozen=True)
class Arguments:
    """The options of ``aam_vision.run`` that decide what is asked and answered."""

    env: str | None = None
    agent: str | None = None
    agent_seconds: float = 60.0
    agent_memory: int = 4096
    domain: str | None = None
    problem: list[str] | None = None
    problem_size: int = 2
    access: str | None = None
    policy: str = "economical"
    planner: str = "pyperplan"
    repeated_arguments: bool = False
    classifiers: str | None = None
    seed: int = 0
    max_queries: int | None = None
    max_steps: int | None = None
    image_noise: float = 0.0
    flip_rate: float = 0.0
    refusal_rate: float = 0.0
    confidence: float = 0.999
    confirm: bool = False
    prior: str | None = None
    backend: str = "torch"

    def json(self) -> dict[str, Any]:
        """All of them as JSON, paths absolute: a run may be gone on with from another folder."""
        given = asdict(self)
        given["domain"] = absolute(self.domain)
        given["classifiers"] = absolute(self.classifiers)
        given["prior"] = absolute(self.prior)
        if self.domain is not None:
            given["problem"] = [absolute(path) for path in self.problem or ()]
        return given

    @classmethod
    def from_json(cls, given: object, source: Path) -> Arguments:
        """What ``json`` has given, from a file that may be anybody's.

        Raises:
            UnusableInput: there are others, or a value is of another kind.
        """
        names = [field.name for field in fields(cls)]
        if not isinstance(given, Mapping) or sorted(given) != sorted(names):
            raise UnusableInput(f"{source}: has no arguments of a run of this version; start a new run")
        for name, kind in get_type_hints(cls).items():
            if not _fits(given[name], kind):
                raise UnusableInput(f"{source}: --{name.replace('_', '-')} has a value that cannot be used")
        return cls(**given)

    def inputs(self) -> dict[str, str]:
        """The SHA-256 of every file that was named: a run cannot be gone on with other ones.

        Raises:
            UnusableInput: a file cannot be read.
        """
        paths = [Path(path) for path in (self.domain, *(self.problem or ())) if path and self.domain]
        if self.prior is not None:
            paths.append(Path(self.prior))
        if self.classifiers is not None:
            paths += sorted(Path(self.classifiers).glob("*.safetensors"))[:100]
        return {str(path.absolute()): _digest(path) for path in paths}


def absolute(path: str | None) -> str | None:
    """A path that means the same in every working directory."""
    return None if path is None else str(Path(path).absolute())


def _digest(path: Path) -> str:
    try:
        return sha256(read_limited(path, MAX_BYTES)).hexdigest()
    except OSError as error:
        raise UnusableInput(f"cannot read {path} ({error.strerror or error})") from None


def _fits(value: object, kind: Any) -> bool:
    """Whether a value is of the kind of an option; whole numbers are never negative here."""
    if isinstance(value, list):
        return "list" in str(kind) and len(value) <= 1000 and all(isinstance(item, str) for item in value)
    if isinstance(value, bool):
        return kind is bool
    if isinstance(value, int) and not 0 <= value < 2**63:
        return False
    return any(isinstance(value, one) for one in getattr(kind, "__args__", (kind,)) if isinstance(one, type))
