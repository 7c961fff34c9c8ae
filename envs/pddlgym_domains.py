"""PDDLGym's domains and problem files, in the toolkit's own terms."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_files import action_predicates, domain_file, pddl_folder, problem_files
from aam_vision.model.strips import ROOT_TYPE, Atom
from aam_vision.support.errors import UnusableInput

UNTYPED = "default"
"""PDDLGym's type of all objects of a domain without types; ours is the root type."""


@cache
def parsed(name: str) -> Any:
    """PDDLGym's parsed domain; read-only, so every world of the domain shares it."""
    operators = not action_predicates(name)
    with without_its_warnings():
        return pddlgym().parser.PDDLDomainParser(
            str(domain_file(name)),
            expect_action_preds=not operators,
            operators_as_actions=operators,
        )


def load_layout(domain: str, split: str, index: int) -> Layout:
    """Problem ``index`` (from 0) of a split, without PDDLGym's action literals.

    Raises:
        UnusableInput: if there is no such split or no such problem.
    """
    files = problem_files(domain, split)
    if index not in range(len(files)):
        raise UnusableInput(
            f"{domain} has no {split} problem {index!r}: use a number from 0 to {len(files) - 1}"
        )
    spec = parsed(domain)
    with without_its_warnings():
        problem = pddlgym().parser.PDDLProblemParser(
            str(files[index]), spec.domain_name, spec.types, spec.predicates, spec.actions, spec.constants
        )
    kinds = {str(item.name): str(item.var_type) for item in sorted(problem.objects)}
    kinds = {name: ROOT_TYPE if kind == UNTYPED else kind for name, kind in kinds.items()}
    initial, goal = problem.initial_state, getattr(problem.goal, "literals", [problem.goal])
    return Layout.of(domain, f"{domain}/{split}/{index}", kinds, map(atom_of, initial), map(atom_of, goal))


def atom_of(literal: Any) -> Atom:
    """The atom that a literal of PDDLGym speaks of, whatever its sign."""
    return Atom(literal.predicate.name, tuple([str(item.name) for item in literal.variables]))


class Literals:
    """PDDLGym's literals for the atoms of one problem, each made once."""

    def __init__(self, layout: Layout) -> None:
        kinds, entity = parsed(layout.domain).types, pddlgym().structs.TypedEntity
        self.entities: dict[str, Any] = {
            name: entity(name, kinds[UNTYPED if kind == ROOT_TYPE else kind])
            for name, kind in layout.objects.items()
        }
        self._predicates = parsed(layout.domain).predicates
        self._made: dict[Atom, Any] = {}
        self._changing = changing_predicates(layout.domain)
        self._static = static_atoms(layout)

    def of(self, atom: Atom) -> Any:
        """The literal that says an atom is true."""
        known = self._made.get(atom)
        if known is None:
            entities = [self.entities[name] for name in atom.objects]
            known = self._made[atom] = self._predicates[atom.predicate](*entities)
        return known

    def of_state(self, atoms: Iterable[Atom]) -> list[Any]:
        """The literals of a state, whose unchangeable atoms may be left out."""
        changing = [atom for atom in atoms if atom.predicate in self._changing]
        return [self.of(atom) for atom in (*self._static, *changing)]


def static_atoms(layout: Layout) -> frozenset[Atom]:
    """The atoms of a problem that no operator can change."""
    changing = changing_predicates(layout.domain)
    return frozenset(atom for atom in layout.initial if atom.predicate not in changing)


@cache
def changing_predicates(domain: str) -> frozenset[str]:
    """The predicates that some operator of a domain can change: how to draw a state depends on no other."""
    return frozenset(
        effect.predicate.name
        for operator in parsed(domain).operators.values()
        for _, effects in cases(operator)
        for effect in effects
    )


def cases(operator: Any) -> list[tuple[float, list[Any]]]:
    """What may come of an operator of PDDLGym's: each case with its probability, and its effects' literals."""
    nothing = pddlgym().structs.NoChange()
    found: list[tuple[float, list[Any]]] = [(1.0, [])]
    for effect in operator.effects.literals:
        several = (
            zip(effect.literals, effect.probabilities, strict=True)
            if isinstance(effect, pddlgym().structs.ProbabilisticEffect)
            else [(effect, 1.0)]
        )
        found = [
            (share * chance, [*before, *(one for one in getattr(then, "literals", [then]) if one != nothing)])
            for then, chance in several
            if chance > 0
            for share, before in found
        ]
    return found


# PDDLGym, imported when it is first needed, without what it brings along and does not need here.
#
# PDDLGym 0.0.7 was written for the legacy ``gym`` package: ``gymnasium`` stands in for it, but only while PDDLGym is imported.
# Its packages import all of its renderers and with them matplotlib, scikit-image and networkx, more than a second's work: here
# only those of its modules are imported that are used, and stand-ins import what draws when it is first called.


_GYM = ("gym", "gym.spaces", "gym.envs", "gym.envs.registration")
_LATER = ("imageio", "matplotlib", "matplotlib.offsetbox", "matplotlib.patches", "matplotlib.pyplot", "skimage",
          "skimage.transform")  # fmt: skip
"""Modules of which PDDLGym calls nothing but functions and classes, and those only to draw."""


class _Later(ModuleType):
    """A stand-in for a module: each of its names is a function that imports the module when it is called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        module = self.__name__
        if name.startswith("__"):
            raise AttributeError(name)
        if (module, name) == ("matplotlib.pyplot", "imread"):
            return _pixels

        def called(*arguments: Any, **options: Any) -> Any:
            return getattr(import_module(module), name)(*arguments, **options)

        return called


def _pixels(path: str) -> Any:
    """A PNG file as pyplot reads it: float32 from 0 to 1."""
    import numpy as np
    from PIL import Image

    with Image.open(path, formats=["PNG"]) as image:
        return np.divide(np.asarray(image), 255, dtype=np.float32)


class _Package(ModuleType):
    """A package of PDDLGym without the imports of its own: its modules are imported when they are asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.__path__ = [str(folder)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _imported(self):
            return import_module(f"{self.__name__}.{name}")


@contextmanager
def _imported(package: _Package) -> Iterator[None]:
    """Let modules of a package be imported with stand-ins, then put ``sys.modules`` back as it was.

    The modules stay there, but not their package: whoever imports PDDLGym for themselves gets all of it.
    """
    import gymnasium.envs.registration
    import gymnasium.spaces  # noqa: F401

    lent: dict[str, ModuleType] = {name: sys.modules["gymnasium" + name.removeprefix("gym")] for name in _GYM}
    for name in _LATER:
        lent[name] = _Later(name)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(lent[parent], own, lent[name])
    whole = pddlgym()
    lent |= {"pddlgym": whole, package.__name__: package}
    before = {name: sys.modules.get(name) for name in lent}
    sys.modules.update(lent)
    try:
        with without_its_warnings():
            yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextmanager
def without_its_warnings() -> Iterator[None]:
    """Keep quiet about PDDLGym's dated use of regular expressions, which users cannot change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@cache
def pddlgym() -> Any:
    """PDDLGym's package, whose modules are attributes that are imported on first use; UnusableInput if it is not installed."""
    folder = pddl_folder().parent
    whole = _Package("pddlgym", folder)
    vars(whole)["rendering"] = _Package("pddlgym.rendering", folder / "rendering")
    return whole
