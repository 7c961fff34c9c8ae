"""The image domains by name.

A further board domain costs one file with a `BoardDomain`, and its name in the package's ``DOMAINS``. The file says which
problems are interrogated, on which the learned model is evaluated, and on which layouts classifiers may be trained: never on
a test layout.

Environments of the user's own (``own``) come by entry points, after these.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from aam_vision.agents.perception import VisualVocabulary
from aam_vision.envs import DOMAINS, TOLD_WITH_CHANCE, WITH_CHANCE, own, worlds
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.support.errors import UnusableInput


def names() -> tuple[str, ...]:
    """All image domains, those of installed packages last; ``minigrid:TASK`` stands for every task."""
    ours = (*DOMAINS, *WITH_CHANCE, *worlds.NAMES, *worlds.WITH_CHANCE)
    return (*ours, *(name for name in own.names() if name not in ours))


def known(name: str) -> bool:
    """Whether there is an image domain of that name; a task of a ready-made world may turn out not to exist."""
    return name in names() or worlds.known(name) or own.is_reference(name)


def image_domain(name: str) -> ImageDomain:
    """The image domain of that name; ours come before those of other packages.

    Raises:
        UnusableInput: if there is none, or it cannot be imported.
    """
    if name in DOMAINS or name in WITH_CHANCE:
        return board_domain(name)
    if worlds.known(name):
        return worlds.load(name)
    found = own.load(name)
    if found is None:
        raise UnusableInput(f"no environment {name!r}: use one of {', '.join(names())}")
    return found


@dataclass(frozen=True)
class Words:
    """A vocabulary alone, with nothing that draws: it says how images of others are read."""

    visual: VisualVocabulary

    @property
    def name(self) -> str:
        """Of its weights."""
        return self.visual.name

    def classifiers(self, given: Path | None) -> Path:
        """The folder of the weights; UnusableInput if none is given."""
        if given is None:
            raise UnusableInput(f"{self.name}: no classifiers belong to it; name a folder, --classifiers DIR")
        return given


def words_of(name: str) -> ImageDomain | Words:
    """What images are read by: a vocabulary that ``MODULE:NAME`` leads to, or an image domain, as ``image_domain`` has it."""
    found = own.imported(name) if own.is_reference(name) and not worlds.known(name) else None
    return Words(found) if isinstance(found, VisualVocabulary) else image_domain(name)


def board_domain(name: str) -> BoardDomain:
    """The domain of that name; UnusableInput if there is none."""
    if name not in DOMAINS + WITH_CHANCE:
        raise UnusableInput(f"no environment {name!r}: use one of {', '.join(DOMAINS + WITH_CHANCE)}")
    found: BoardDomain = getattr(import_module(f"aam_vision.envs.{name}"), name.upper())
    return found


def asked(name: str, *, controls: bool = False, chance: bool = False) -> ImageDomain:
    """The image domain of that name, to be asked by its controls, or with chance.

    Raises:
        UnusableInput: it cannot be, or there is none.
    """
    ours = name in DOMAINS or worlds.known(name)
    if controls and not (ours or own.load(name) is not None):
        usable = ", ".join((*DOMAINS, *worlds.NAMES))
        raise UnusableInput(
            f"the controls of {name} are not known; use one of {usable}, an environment of yours, or --domain with --bare",
            "controls",
        )
    if chance and not (name in WITH_CHANCE or name in worlds.WITH_CHANCE):
        if ours:
            with_chance = ", ".join((*WITH_CHANCE, *TOLD_WITH_CHANCE, *worlds.WITH_CHANCE))
            raise UnusableInput(f"{name} has no chance; leave it out, or use one of {with_chance}", "chance")
        if own.load(name) is None:
            raise UnusableInput(f"there is no environment {name}", "chance")
    return image_domain(name)
