"""An action of a PDDL file, and its effect: literals, ``(probabilistic 0.8 EFFECT 0.2 EFFECT)`` and ``(when CONDITION EFFECT)``.

Whatever way these are put together, an action comes out as cases (which values of atoms make which outcomes). The language is
that of Younes and Littman, "PPDDL1.0" (2004), without quantifiers and rewards; conditions are conjunctions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, NoReturn

from aam_vision.model.pddl.syntax import Definition, Expression, Group, Literal, LiteralReader, Word, show
from aam_vision.model.strips import (
    MAX_OUTCOMES,
    ActionHeader,
    Assignment,
    Case,
    Effects,
    LiftedAtom,
    Outcome,
    cases,
)

MAX_CONDITIONS = 6
"""Atoms on which the effect of one action may depend."""
_NUMBER = re.compile(r"\d{0,18}(\.\d{1,18})?(e-\d{1,2})?|\d{1,18}/\d{1,18}", re.ASCII)


@dataclass(frozen=True)
class ActionText:
    """An action of a file in which every name is known but those in its effect, which is as the file has it."""

    name: str
    kinds: Mapping[str, str]
    """The types of its parameters, which are named without their question mark."""
    precondition: tuple[Literal, ...]
    effect: Group

    @property
    def header(self) -> ActionHeader:
        return ActionHeader(self.name, tuple(self.kinds), tuple(self.kinds.values()))

    @cached_property
    def marked(self) -> dict[str, str]:
        """The types of its parameters, which are named as in the file."""
        return marked_types(self.kinds)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {parameter: number for number, parameter in enumerate(self.marked)}

    def lifted(self, literal: Literal) -> LiftedAtom:
        """The literal's atom over the action's parameters."""
        terms = tuple(self._place.get(term, term) for term in literal.atom.objects)
        return LiftedAtom(literal.atom.predicate, terms)

    def split(self, literals: Iterable[Literal]) -> tuple[frozenset[LiftedAtom], frozenset[LiftedAtom]]:
        """The atoms that stand plain, and those under ``not``."""
        found = [(self.lifted(one), one.positive) for one in literals]
        plain, negated = (
            frozenset(atom for atom, positive in found if positive is wanted) for wanted in (True, False)
        )
        return plain, negated


def marked_types(kinds: Mapping[str, str]) -> dict[str, str]:
    """The types of parameters, which are named as in a file."""
    return {f"?{parameter}": kind for parameter, kind in kinds.items()}


class _Branch(NamedTuple):
    """One way in which the parts of an effect may come out."""

    probability: Fraction
    literals: tuple[Literal, ...] = ()


class EffectReader:
    """Reads the effect of one action."""

    def __init__(self, definition: Definition, literals: LiteralReader, action: ActionText) -> None:
        self._definition = definition
        self._literals = literals
        self._kinds = action.marked
        self._name = action.name
        self._lifted = action.lifted
        self._where = f"the effect of {show(action.name)}"

    def read(self, effect: Expression, known: Assignment) -> tuple[Case, ...]:
        """The cases of an effect.

        ``known``: values that the precondition gives atoms.

        Raises:
            UnusableInput: it cannot be read, uses another feature, its probabilities add up to more than one, it has too many
                outcomes, or it depends on too many atoms.
        """
        conditions = {
            id(group): [(self._lifted(one), one.positive) for one in self._condition(group)]
            for group in self._whens(effect)
        }
        atoms = dict.fromkeys(atom for one in conditions.values() for atom, _ in one if atom not in known)
        if len(atoms) > MAX_CONDITIONS:
            self._refuse(
                effect.line,
                f"{self._where} depends on {len(atoms)} atoms, more than {MAX_CONDITIONS}; use several actions",
            )

        def outcomes(chosen: Assignment) -> tuple[Outcome, ...]:
            values = {**chosen, **known}

            def holds(group: Group) -> bool:
                return all(values[atom] is positive for atom, positive in conditions[id(group)])

            return self._outcomes(effect, holds)

        return cases(list(atoms), outcomes)

    def _outcomes(self, effect: Expression, holds: Callable[[Group], bool]) -> tuple[Outcome, ...]:
        """All ways in which the effect may come out where these conditions hold, equal ones joined."""
        found: dict[Effects, Fraction] = {}
        for branch in self._branches(effect, holds):
            add = frozenset(self._lifted(one) for one in branch.literals if one.positive)
            delete = frozenset(self._lifted(one) for one in branch.literals if not one.positive)
            effects = Effects(add, delete - add)
            if branch.probability:
                found[effects] = found.get(effects, Fraction(0)) + branch.probability
        if len(found) > MAX_OUTCOMES:
            self._refuse(
                effect.line,
                f"{show(self._name)} has {len(found)} outcomes, more than {MAX_OUTCOMES}; join some, or use several actions",
            )
        return tuple(Outcome(float(probability), effects) for effects, probability in found.items())

    def _branches(self, effect: Expression, holds: Callable[[Group], bool]) -> list[_Branch]:
        """All ways in which an effect may come out; chances side by side are independent."""
        match effect.head if isinstance(effect, Group) else None:
            case "and":
                assert isinstance(effect, Group)
                return self._together(effect, holds)
            case "probabilistic":
                assert isinstance(effect, Group)
                return self._chances(effect, holds)
            case "when":
                assert isinstance(effect, Group)
                return self._branches(effect.parts[2], holds) if holds(effect) else [_Branch(Fraction(1))]
        return [_Branch(Fraction(1), tuple(self._literals.literals(effect, self._kinds, self._where)))]

    def _together(self, effect: Group, holds: Callable[[Group], bool]) -> list[_Branch]:
        ways = [_Branch(Fraction(1))]
        for part in effect.parts[1:]:
            own = self._branches(part, holds)
            ways = [
                _Branch(one.probability * other.probability, one.literals + other.literals)
                for one in ways
                for other in own
            ]
            if len(ways) > MAX_OUTCOMES**2:
                self._refuse(
                    effect.line,
                    f"{self._where} has more than {MAX_OUTCOMES} outcomes; join some, or use several actions",
                )
        return ways

    def _chances(self, effect: Group, holds: Callable[[Group], bool]) -> list[_Branch]:
        parts = effect.parts[1:]
        if not parts or len(parts) % 2:
            self._refuse(
                effect.line,
                f"{self._where} has 'probabilistic' without pairs of a probability and an effect; write "
                "(probabilistic 0.8 EFFECT 0.2 EFFECT)",
            )
        ways = []
        left = Fraction(1)
        for number, part in zip(parts[::2], parts[1::2], strict=True):
            share = self._probability(number)
            left -= share
            ways += [_Branch(share * one.probability, one.literals) for one in self._branches(part, holds)]
        if left < 0:
            self._refuse(
                effect.line,
                f"the probabilities in {self._where} add up to {_above_one(1 - left)}, more than 1; make them smaller",
            )
        return [*ways, _Branch(left)] if left else ways

    def _probability(self, part: Expression) -> Fraction:
        text = part.text if isinstance(part, Word) else ""
        try:
            value = Fraction(text) if text and _NUMBER.fullmatch(text) else None
        except (ValueError, ZeroDivisionError):  # "e-3" is no number
            value = None
        if value is None or value > 1:
            self._refuse(
                part.line, f"expected a probability from 0 to 1 in {self._where}, found {show(part)}"
            )
        return value

    # --- conditions ------------------------------------------------------------------------------

    def _whens(self, effect: Expression, *, inside: bool = False) -> Iterator[Group]:
        """Every conditional part of an effect; none inside another."""
        if not isinstance(effect, Group):
            return
        if effect.head == "when":
            if inside:
                self._refuse(
                    effect.line,
                    f"{self._where} has 'when' inside 'when'; write one 'when' with both conditions in an 'and'",
                )
            if len(effect.parts) != 3:
                self._refuse(
                    effect.line,
                    f"expected a condition and an effect after 'when' in {self._where}; write (when CONDITION EFFECT)",
                )
            yield effect
            yield from self._whens(effect.parts[2], inside=True)
        elif effect.head in ("and", "probabilistic"):
            for part in effect.parts[1:]:
                yield from self._whens(part, inside=inside)

    def _condition(self, group: Group) -> Sequence[Literal]:
        """The literals of a condition."""
        return list(self._literals.literals(group.parts[1], self._kinds, f"a condition in {self._where}"))

    def _refuse(self, line: int, why: str) -> NoReturn:
        self._definition.refuse(line, why)


def _above_one(total: Fraction) -> str:
    """A number above one, with as many digits as it takes to see that."""
    texts = (f"{float(total):.{digits}g}" for digits in (6, 9, 12, 15))
    return next((text for text in texts if text != "1"), "a little over 1")
