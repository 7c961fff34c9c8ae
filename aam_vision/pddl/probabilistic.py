"""PPDDL in and out: domains in which an effect may be ``(probabilistic 0.8 EFFECT 0.2 EFFECT)`` or ``(when CONDITION EFFECT)``.

Read by us, over the checks that every PDDL file passes: of the libraries that read PDDL, those that read this are no longer kept up.
The language is that of Younes and Littman, "PPDDL1.0" (2004), without quantifiers and rewards; conditions are conjunctions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path

from aam_vision.outcomes import Case, ChanceModel, ChanceSchema, Effects, Outcome
from aam_vision.pddl.declarations import fields, objects, parameters, predicates, sections, types_of
from aam_vision.pddl.effects import EffectReader
from aam_vision.pddl.instructions import read_without_instructions
from aam_vision.pddl.literals import EFFECTS_ONLY, LiteralReader, Names, name_of, new_name
from aam_vision.pddl.problem import Problem
from aam_vision.pddl.reading import DOMAIN_SECTIONS, read_problem
from aam_vision.pddl.syntax import Definition, Group, show
from aam_vision.pddl.writing import action_of, conjunction, domain_of, literals_text
from aam_vision.strips import ActionHeader, Model, Predicate, Vocabulary

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
    definition, left_out = read_without_instructions(Path(path))
    found = sections(definition, DOMAIN_SECTIONS)
    types = types_of(definition, found[":types"])
    constants = objects(definition, found[":constants"], types, {})
    names = Names(types, predicates(definition, found[":predicates"], types), constants)
    name = name_of(definition, definition.name, "the name of the domain")
    reader = _ActionReader(definition, names)
    actions: dict[str, ChanceSchema] = {}
    for section in found[":action"]:
        schema = reader.action(section)
        if schema.header.name in actions:
            definition.refuse(section.line, f"action {show(schema.header.name)} is defined twice; remove one")
        actions[schema.header.name] = schema
    instructions = _instructions(list(actions.values()))
    vocabulary = Vocabulary(
        name,
        tuple(Predicate(one, kinds) for one, kinds in names.predicates.items() if one not in instructions),
        types,
        constants,
        (*left_out, *sorted(instructions)),
    )
    return ChanceModel(vocabulary, tuple(_without(schema, instructions) for schema in actions.values()))


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


class _ActionReader:
    """Reads the actions of one file."""

    def __init__(self, definition: Definition, names: Names) -> None:
        self._definition = definition
        self._names = names
        self._literals = LiteralReader(definition, names, told=EFFECTS_ONLY)

    def action(self, section: Group) -> ChanceSchema:
        """The schema that an action's section states."""
        if len(section.parts) < 2:
            self._definition.refuse(section.line, "expected the name of an action after ':action'")
        name = new_name(self._definition, section.parts[1], "the name of an action")
        empty = Group([], section.line)
        field = fields(self._definition, section, name)
        kinds = parameters(self._definition, field.get(":parameters", empty), self._names.types, name)
        marked = {f"?{parameter}": kind for parameter, kind in kinds.items()}
        effects = EffectReader(self._definition, self._literals, marked, name)
        wanted = field.get(":precondition", empty)
        precondition = [
            (effects.lifted(one), one.positive)
            for one in self._literals.literals(wanted, marked, f"the precondition of {show(name)}")
        ]
        found = effects.read(field.get(":effect", empty), dict(precondition))
        return ChanceSchema(
            ActionHeader(name, tuple(kinds), tuple(kinds.values())),
            frozenset(atom for atom, positive in precondition if positive),
            frozenset(atom for atom, positive in precondition if not positive),
            found[0].outcomes if len(found) == 1 else (),
            found if len(found) > 1 else (),
        )


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
