"""PPDDL in and out: domains in which an effect may be ``(probabilistic 0.8 EFFECT 0.2 EFFECT)``.

Read by us, over the checks that every PDDL file passes: of the libraries that read PDDL, those that read this are no longer kept up.
The language is that of Younes and Littman, "PPDDL1.0" (2004), without conditional effects, quantifiers and rewards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from aam_vision.outcomes import MAX_OUTCOMES, ChanceModel, ChanceSchema, Effects, Outcome
from aam_vision.pddl.declarations import fields, objects, parameters, predicates, sections, types_of
from aam_vision.pddl.literals import Literal, LiteralReader, Names, name_of, new_name
from aam_vision.pddl.problem import Problem
from aam_vision.pddl.reading import DOMAIN_SECTIONS, read_problem
from aam_vision.pddl.syntax import Definition, Expression, Group, Word, read_definition, show
from aam_vision.pddl.writing import action_of, conjunction, domain_of, literals_text
from aam_vision.strips import ActionHeader, LiftedAtom, Model, Predicate, Vocabulary

_NUMBER = re.compile(r"\d{0,18}(\.\d{1,18})?|\d{1,18}/\d{1,18}", re.ASCII)
_DIGITS = 6
"""Decimal places of a probability that is written."""


class _Branch(NamedTuple):
    """One way in which the parts of an effect may come out."""

    probability: Fraction
    literals: tuple[Literal, ...] = ()


def read_chance_domain(path: Path | str) -> ChanceModel:
    """The model with outcomes that a PPDDL domain file states; a domain without chance has one outcome per action.

    A predicate that has an action's name and stands in no other place than that action's precondition is how PDDLGym writes
    the instruction itself; it is left out.

    Raises:
        UnusableInput: the file cannot be read, uses another feature, the probabilities of an effect add up to more than
            one, or an action has more than ten outcomes.
    """
    definition = read_definition(Path(path), "domain")
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
    some = any(len(schema.outcomes) > 1 for schema in model.actions)
    negative = any(schema.negative for schema in model.actions)
    wanted = ":strips :typing" + " :negative-preconditions" * negative + " :probabilistic-effects" * some
    actions = [_action_text(schema, vocabulary) for schema in model.actions]
    return domain_of(vocabulary, model.headers, wanted, actions)


def written_probabilities(outcomes: Sequence[Outcome]) -> list[str]:
    """The probabilities as decimal numbers that add up to one, or to less by what is rounded off."""
    scale = 10**_DIGITS
    return [f"{int(one.probability * scale + 1e-6) / scale:.{_DIGITS}f}".rstrip("0") for one in outcomes]


def _action_text(schema: ChanceSchema, vocabulary: Vocabulary) -> str:
    header = schema.header
    shared = Effects(
        frozenset.intersection(*(one.effects.add for one in schema.outcomes)),
        frozenset.intersection(*(one.effects.delete for one in schema.outcomes)),
    )
    effect = literals_text(shared.add, shared.delete, header, vocabulary)
    if len(schema.outcomes) > 1:
        chances = []
        for number, one in zip(written_probabilities(schema.outcomes), schema.outcomes, strict=True):
            add, delete = one.effects.add - shared.add, one.effects.delete - shared.delete
            own = conjunction(literals_text(add, delete, header, vocabulary), 12)
            chances.append(f"\n          {number} {own}")
        effect.append(f"(probabilistic{''.join(chances)})")
    precondition = literals_text(schema.positive, schema.negative, header, vocabulary)
    return action_of(header, conjunction(precondition), conjunction(effect))


class _ActionReader:
    """Reads the actions of one file."""

    def __init__(self, definition: Definition, names: Names) -> None:
        self._definition = definition
        self._names = names
        self._literals = LiteralReader(definition, names)

    def action(self, section: Group) -> ChanceSchema:
        """The schema that an action's section states."""
        if len(section.parts) < 2:
            self._definition.refuse(section.line, "expected the name of an action after ':action'")
        name = new_name(self._definition, section.parts[1], "the name of an action")
        empty = Group([], section.line)
        field = fields(self._definition, section, name)
        kinds = parameters(self._definition, field.get(":parameters", empty), self._names.types, name)
        marked = {f"?{parameter}": kind for parameter, kind in kinds.items()}
        place = {parameter: number for number, parameter in enumerate(marked)}

        def lifted(literals: Iterable[Literal], *, sign: bool) -> frozenset[LiftedAtom]:
            return frozenset(
                LiftedAtom(one.atom.predicate, tuple(place.get(term, term) for term in one.atom.objects))
                for one in literals
                if one.positive is sign
            )

        precondition = list(
            self._literals.literals(
                field.get(":precondition", empty), marked, f"the precondition of {show(name)}"
            )
        )
        where = f"the effect of {show(name)}"
        found: dict[Effects, Fraction] = {}
        for branch in self._branches(field.get(":effect", empty), marked, where):
            add = lifted(branch.literals, sign=True)
            effects = Effects(add, lifted(branch.literals, sign=False) - add)
            if branch.probability:
                found[effects] = found.get(effects, Fraction(0)) + branch.probability
        if len(found) > MAX_OUTCOMES:
            self._definition.refuse(
                section.line,
                f"{show(name)} has {len(found)} outcomes, more than {MAX_OUTCOMES}; join some, or use several actions",
            )
        return ChanceSchema(
            ActionHeader(name, tuple(kinds), tuple(kinds.values())),
            lifted(precondition, sign=True),
            lifted(precondition, sign=False),
            tuple(Outcome(float(probability), effects) for effects, probability in found.items()),
        )

    def _branches(self, effect: Expression, kinds: dict[str, str], where: str) -> list[_Branch]:
        """All ways in which an effect may come out; chances side by side are independent."""
        if isinstance(effect, Group) and effect.head == "and":
            ways = [_Branch(Fraction(1))]
            for part in effect.parts[1:]:
                own = self._branches(part, kinds, where)
                ways = [
                    _Branch(one.probability * other.probability, one.literals + other.literals)
                    for one in ways
                    for other in own
                ]
                if len(ways) > MAX_OUTCOMES**2:
                    self._definition.refuse(
                        effect.line,
                        f"{where} has more than {MAX_OUTCOMES} outcomes; join some, or use several actions",
                    )
            return ways
        if isinstance(effect, Group) and effect.head == "probabilistic":
            return self._chances(effect, kinds, where)
        return [_Branch(Fraction(1), tuple(self._literals.literals(effect, kinds, where)))]

    def _chances(self, effect: Group, kinds: dict[str, str], where: str) -> list[_Branch]:
        parts = effect.parts[1:]
        if not parts or len(parts) % 2:
            self._definition.refuse(
                effect.line,
                f"{where} has 'probabilistic' without pairs of a probability and an effect; write "
                "(probabilistic 0.8 EFFECT 0.2 EFFECT)",
            )
        ways = []
        left = Fraction(1)
        for number, part in zip(parts[::2], parts[1::2], strict=True):
            share = self._probability(number, where)
            left -= share
            ways += [
                _Branch(share * one.probability, one.literals) for one in self._branches(part, kinds, where)
            ]
        if left < 0:
            self._definition.refuse(
                effect.line,
                f"the probabilities in {where} add up to {float(1 - left):g}, more than 1; make them smaller",
            )
        return [*ways, _Branch(left)] if left else ways

    def _probability(self, part: Expression, where: str) -> Fraction:
        text = part.text if isinstance(part, Word) else ""
        try:
            value = Fraction(text) if text and _NUMBER.fullmatch(text) else None
        except ZeroDivisionError:
            value = None
        if value is None or value > 1:
            self._definition.refuse(
                part.line, f"expected a probability from 0 to 1 in {where}, found {show(part)}"
            )
        return value


def _instructions(actions: Sequence[ChanceSchema]) -> frozenset[str]:
    """Predicates that only say that their action was the instruction: see ``read_chance_domain``."""
    own = {schema.header.name for schema in actions}
    elsewhere: set[str] = set()
    for schema in actions:
        elsewhere |= {atom.predicate for atom in schema.positive} - {schema.header.name}
        elsewhere |= {atom.predicate for atom in schema.negative}
        for one in schema.outcomes:
            elsewhere |= {atom.predicate for atom in one.effects.add | one.effects.delete}
    required = {atom.predicate for schema in actions for atom in schema.positive}
    return frozenset(own & required - elsewhere)


def _without(schema: ChanceSchema, instructions: frozenset[str]) -> ChanceSchema:
    left = frozenset(atom for atom in schema.positive if atom.predicate not in instructions)
    return ChanceSchema(schema.header, left, schema.negative, schema.outcomes)
