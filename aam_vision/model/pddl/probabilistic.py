"""PPDDL in and out: domains in which an effect may be ``(probabilistic 0.8 EFFECT 0.2 EFFECT)`` or ``(when CONDITION EFFECT)``.

Read over the checks that every PDDL file passes.
The language is that of Younes and Littman, "PPDDL1.0" (2004), without quantifiers and rewards; conditions are conjunctions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import NamedTuple, NoReturn

from aam_vision.model.outcomes import (
    MAX_OUTCOMES,
    Assignment,
    Case,
    ChanceModel,
    ChanceSchema,
    Effects,
    Outcome,
    cases,
)
from aam_vision.model.pddl.problem import Problem
from aam_vision.model.pddl.reading import ActionText, DomainReader, read_problem
from aam_vision.model.pddl.syntax import (
    EFFECTS_ONLY,
    Definition,
    Expression,
    Group,
    Literal,
    LiteralReader,
    Word,
    show,
)
from aam_vision.model.pddl.writing import action_of, conjunction, domain_of, literals_text
from aam_vision.model.strips import ActionHeader, Model, Vocabulary

_DIGITS = 6, 18
"""Decimal places of a probability that is written: so many, and at most so many where else an outcome would get none."""


def read_chance_domain(path: Path | str) -> ChanceModel:
    """The model with outcomes that a PPDDL domain file states; a domain without chance has one outcome per action.

    A predicate that has an action's name and stands in no other place than that action's precondition is how PDDLGym writes
    the instruction itself; it is left out, and so is what PDDLGym's ``(:actions ...)`` names.

    Raises:
        UnusableInput: the file cannot be read, uses another feature, the probabilities of an effect add up to more than
            one, an action has more than ten outcomes, or its effect depends on more than six atoms.
    """
    domain = DomainReader(Path(path), EFFECTS_ONLY)
    schemas = [_schema(domain, action) for action in domain.actions()]
    domain.check_size([one.header for one in schemas])
    instructions = _instructions(schemas)
    vocabulary = replace(
        domain.vocabulary,
        predicates=tuple(one for one in domain.vocabulary.predicates if one.name not in instructions),
        left_out=(*domain.left_out, *sorted(instructions)),
    )
    return ChanceModel(vocabulary, tuple(_without(schema, instructions) for schema in schemas))


def _schema(domain: DomainReader, action: ActionText) -> ChanceSchema:
    """An action with the cases of its effect."""
    positive, negative = action.split(action.precondition)
    known = dict.fromkeys(negative, False) | dict.fromkeys(positive, True)
    found = EffectReader(domain.definition, domain.literals, action).read(action.effect, known)
    several = len(found) > 1
    return ChanceSchema(
        action.header, positive, negative, () if several else found[0].outcomes, found if several else ()
    )


def read_chance_problem(model: ChanceModel, path: Path | str) -> Problem:
    """A problem of a domain with chance.

    Raises:
        UnusableInput: as for ``read_problem``.
    """
    return read_problem(Model(model.vocabulary, ()), path)


def chance_domain_text(model: ChanceModel) -> str:
    """The model as a PPDDL domain; an action of one outcome is plain PDDL. What all outcomes share stands before the chance."""
    vocabulary = model.vocabulary
    branches = [case for schema in model.actions for case in schema.branches]
    negative = any(schema.negative for schema in model.actions) or any(case.negative for case in branches)
    wanted = (
        ":strips :typing"
        + " :negative-preconditions" * negative
        + " :conditional-effects" * any(schema.cases for schema in model.actions)
        + " :probabilistic-effects" * any(len(case.outcomes) > 1 for case in branches)
    )
    actions = [_action_text(schema, vocabulary) for schema in model.actions]
    return domain_of(vocabulary, model.headers, wanted, actions)


def written_probabilities(outcomes: Sequence[Outcome]) -> list[str]:
    """The probabilities as decimal numbers that add up to one, if they do: else there would be a further outcome when they are read.

    What is rounded off goes to those of which most was (the method of largest remainders).
    """
    least = min((one.probability for one in outcomes if one.probability > 0), default=1.0)
    digits = next((few for few in range(*_DIGITS) if least >= 10.0**-few), _DIGITS[1])
    scale: int = 10**digits
    exact = [Fraction(one.probability) for one in outcomes]
    whole = sum(exact, Fraction(0))
    if abs(whole - 1) >= 1e-6:
        whole = Fraction(1)
    shares = [share / whole * scale for share in exact]
    parts = [floor(share) for share in shares]
    by_remainder = sorted(range(len(parts)), key=lambda number: parts[number] - shares[number])
    for number in by_remainder[: round(sum(shares)) - sum(parts)]:
        parts[number] += 1
    return [_decimal(part, digits) for part in parts]


def _decimal(part: int, digits: int) -> str:
    """A part of ``10**digits`` parts as a decimal number: ``0.25``."""
    whole, rest = divmod(part, 10**digits)
    return f"{whole}.{f'{rest:0{digits}d}'.rstrip('0') or '0'}"


def _action_text(schema: ChanceSchema, vocabulary: Vocabulary) -> str:
    header = schema.header
    every = [one.effects for case in schema.branches for one in case.outcomes]
    shared = Effects(
        frozenset.intersection(*(one.add for one in every)),
        frozenset.intersection(*(one.delete for one in every)),
    )
    effect = literals_text(shared.add, shared.delete, header, vocabulary)
    for case in schema.branches:
        parts = _parts(case, shared, header, vocabulary, indent=14 if schema.cases else 10)
        if not schema.cases:
            effect += parts
        elif parts:
            condition = literals_text(case.positive, case.negative, header, vocabulary)
            effect.append(f"(when (and {' '.join(condition)})\n          {conjunction(parts, 12)})")
    precondition = literals_text(schema.positive, schema.negative, header, vocabulary)
    return action_of(header, conjunction(precondition), conjunction(effect))


def _parts(
    case: Case, shared: Effects, header: ActionHeader, vocabulary: Vocabulary, indent: int
) -> list[str]:
    """The effects of a case, without those that all cases share; ``indent``: of its outcomes, in spaces."""

    def own(one: Outcome) -> list[str]:
        add, delete = one.effects.add - shared.add, one.effects.delete - shared.delete
        return literals_text(add, delete, header, vocabulary)

    if len(case.outcomes) == 1:
        return own(case.outcomes[0])
    chances = [
        f"\n{' ' * indent}{number} {conjunction(own(one), indent + 2)}"
        for number, one in zip(written_probabilities(case.outcomes), case.outcomes, strict=True)
    ]
    return [f"(probabilistic{''.join(chances)})"]


def _instructions(actions: Sequence[ChanceSchema]) -> frozenset[str]:
    """Predicates that only say that their action was the instruction: see ``read_chance_domain``."""
    own = {schema.header.name for schema in actions}
    elsewhere: set[str] = set()
    for schema in actions:
        elsewhere |= {atom.predicate for atom in schema.positive} - {schema.header.name}
        elsewhere |= {atom.predicate for atom in schema.negative}
        for case in schema.branches:
            elsewhere |= {atom.predicate for atom in case.positive | case.negative}
            for one in case.outcomes:
                elsewhere |= {atom.predicate for atom in one.effects.add | one.effects.delete}
    required = {atom.predicate for schema in actions for atom in schema.positive}
    return frozenset(own & required - elsewhere)


def _without(schema: ChanceSchema, instructions: frozenset[str]) -> ChanceSchema:
    left = frozenset(atom for atom in schema.positive if atom.predicate not in instructions)
    return replace(schema, positive=left)


# Effects with chance and conditions: ``(probabilistic 0.8 EFFECT 0.2 EFFECT)`` and ``(when CONDITION EFFECT)``.
#
# Whatever way the two are put together, an action comes out as cases (which values of atoms make which outcomes).


MAX_CONDITIONS = 6
"""Atoms on which the effect of one action may depend."""
_NUMBER = re.compile(r"\d{0,18}(\.\d{1,18})?(e-\d{1,2})?|\d{1,18}/\d{1,18}", re.ASCII)


class _Branch(NamedTuple):
    """One way in which the parts of an effect may come out."""

    probability: Fraction
    literals: tuple[Literal, ...] = ()


class EffectReader:
    """Reads the effect of one action.

    Args:
        definition: the file.
        literals: reads its literals.
        action: whose effect it is.
    """

    def __init__(self, definition: Definition, literals: LiteralReader, action: ActionText) -> None:
        self._definition = definition
        self._literals = literals
        self._kinds = action.marked
        self._name = action.name
        self._lifted = action.lifted
        self._where = f"the effect of {show(action.name)}"

    def read(self, effect: Expression, known: Assignment) -> tuple[Case, ...]:
        """The cases of an effect.

        Args:
            effect: as the file has it.
            known: values that the precondition gives atoms.

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
