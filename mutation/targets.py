"""The modules that are mutated, and the tests that must notice: those of their own package alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Target:
    """Modules that the same tests speak for. Paths are relative to the repository, with ``/``."""

    name: str
    modules: tuple[str, ...]
    """Files to mutate, or folders whose files are all mutated."""
    tests: tuple[str, ...]

    def files(self) -> list[str]:
        """The files to mutate, in alphabetical order."""
        return sorted(
            str(file.relative_to(ROOT)) for module in self.modules for file in _files_of(ROOT / module)
        )


def _files_of(path: Path) -> list[Path]:
    return [file for file in path.glob("*.py") if file.name != "__init__.py"] if path.is_dir() else [path]


TARGETS = (
    Target(
        "hypotheses",
        ("aam_vision/interrogation/hypotheses",),
        ("tests/interrogation/hypotheses",),
    ),
    Target(
        "evidence",
        ("aam_vision/interrogation/evidence",),
        ("tests/interrogation/evidence",),
    ),
    Target(
        "completeness",
        ("aam_vision/interrogation/completeness",),
        ("tests/interrogation/completeness",),
    ),
    Target(
        "examination",
        ("aam_vision/interrogation/examination",),
        ("tests/interrogation/examination",),
    ),
    Target(
        "classifiers",
        (
            "aam_vision/classifiers/legality.py",
            "aam_vision/classifiers/reading.py",
            "aam_vision/classifiers/tracking.py",
        ),
        (
            "tests/classifiers/test_legal_boards.py",
            "tests/classifiers/test_legality.py",
            "tests/classifiers/test_perception.py",
            "tests/classifiers/test_reading.py",
            "tests/classifiers/test_tracking.py",
        ),
    ),
    Target(
        "image",
        ("aam_vision/agents/image.py", "aam_vision/agents/seen.py"),
        (
            "tests/agents/test_image.py",
            "tests/agents/test_image_expecting.py",
            "tests/agents/test_image_resuming.py",
            "tests/agents/test_image_situations.py",
        ),
    ),
    Target("evaluation", ("aam_vision/evaluation.py",), ("tests/evaluation",)),
    Target("pddl", ("aam_vision/pddl",), ("tests/pddl",)),
    Target(
        "journal",
        ("aam_vision/agents/encoding.py", "aam_vision/agents/journal.py", "aam_vision/agents/journalled.py"),
        (
            "tests/agents/test_encoding.py",
            "tests/agents/test_journal.py",
            "tests/agents/test_journalled.py",
            "tests/agents/test_strange_journals.py",
        ),
    ),
)
