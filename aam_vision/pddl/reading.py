"""PDDL files to models and problems: checked by us, built by unified-planning.

Sections may come in any order, and each name's case is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aam_vision.pddl.declarations import contents, fields, objects, parameters, predicates, sections, types_of
from aam_vision.pddl.instructions import read_without_instructions, without
from aam_vision.pddl.library import CheckedAction, parse, plain
from aam_vision.pddl.literals import LiteralReader, Names, name_of, new_name
from aam_vision.pddl.problem import Problem
from aam_vision.pddl.syntax import Definition, Group, read_definition, show
from aam_vision.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.vocabulary_size import MAX_LIFTED_ATOMS, count_lifted_atoms

DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":action")
_PROBLEM = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
"""A metric or a length does not change which plans are valid: both are skipped."""


def read_domain(path: Path | str) -> Model:
    """The model that a PDDL domain file states; all names in lower case.

    Predicates that PDDLGym's ``(:actions ...)`` names are instructions, and left out.

    Raises:
        UnusableInput: the file cannot be read, does not parse, contradicts itself, or uses a feature outside
            STRIPS with typing, constants and negative preconditions.
    """
    definition, left_out = read_without_instructions(Path(path))
    found = sections(definition, DOMAIN_SECTIONS)
    types = types_of(definition, found[":types"])
    names = Names(
        types,
        predicates(definition, found[":predicates"], types),
        objects(definition, found[":constants"], types, {}),
    )
    name = name_of(definition, definition.name, "the name of the domain")
    actions = _checked_actions(definition, found[":action"], names)
    parsed = parse(definition, name, names, actions=actions)
    vocabulary = Vocabulary(
        plain(parsed),
        tuple(Predicate(plain(fluent), _kinds(fluent.signature)) for fluent in parsed.fluents),
        _types(parsed),
        {plain(constant): plain(constant.type) for constant in parsed.all_objects},
        left_out,
    )
    model = Model(vocabulary, tuple(_schema(action) for action in parsed.actions))
    if (size := count_lifted_atoms(vocabulary, model.headers)) > MAX_LIFTED_ATOMS:
        definition.refuse(
            definition.name.line,
            f"{size} predicates with an action's parameters are more than {MAX_LIFTED_ATOMS}; "
            "use fewer parameters, or arguments",
        )
    return model


def read_problem(domain: Path | str | Model, problem: Path | str) -> Problem:
    """A problem of a domain, which is given as its file or as the model read from it.

    Raises:
        UnusableInput: as for ``read_domain``, or the problem belongs to another domain.
    """
    vocabulary = (domain if isinstance(domain, Model) else read_domain(domain)).vocabulary
    names = Names(vocabulary.types, {p.name: p.types for p in vocabulary.predicates}, vocabulary.constants)
    definition = without(read_definition(Path(problem), "problem"), vocabulary.left_out)
    found = sections(definition, _PROBLEM)
    _check_domain(definition, found[":domain"], vocabulary.name)
    name_of(definition, definition.name, "the name of the problem")
    kinds = objects(definition, found[":objects"], names.types, names.constants)
    reader = LiteralReader(definition, names)
    if not found[":init"]:
        definition.refuse(definition.name.line, "the problem has no '(:init'; state what holds at the start")
    initial = _initial(definition, found[":init"], reader, kinds)
    goal = [
        literal
        for condition in contents(found[":goal"])
        for literal in reader.literals(condition, kinds, "the goal")
    ]
    own = {name: kind for name, kind in kinds.items() if name not in names.constants}
    parsed = parse(definition, vocabulary.name, names, objects=own, goal=goal)
    wanted, unwanted = _split(parsed.goals)
    return Problem(
        plain(parsed),
        State(initial, Objects({plain(o): plain(o.type) for o in parsed.all_objects}, _types(parsed))),
        frozenset(_ground(fluent) for fluent in wanted),
        frozenset(_ground(fluent) for fluent in unwanted),
    )


# --- our check ----------------------------------------------------------------------------------


def _check_domain(definition: Definition, given: Sequence[Group], wanted: str) -> None:
    if not given:
        definition.refuse(definition.name.line, f"names no domain; add '(:domain {wanted})'")
    named = given[0].parts[1] if len(given[0].parts) == 2 else given[0]
    name = name_of(definition, named, "one name of a domain")
    if name != wanted:
        definition.refuse(
            named.line, f"is a problem of domain {show(name)}, not of {show(wanted)}; give it its own domain"
        )


def _checked_actions(definition: Definition, given: Sequence[Group], names: Names) -> list[CheckedAction]:
    reader = LiteralReader(definition, names)
    actions: dict[str, CheckedAction] = {}
    for section in given:
        if len(section.parts) < 2:
            definition.refuse(section.line, "expected the name of an action after ':action'")
        name = new_name(definition, section.parts[1], "the name of an action")
        empty = Group([], section.line)
        field = fields(definition, section, name)
        kinds = parameters(definition, field.get(":parameters", empty), names.types, name)
        marked = {f"?{parameter}": kind for parameter, kind in kinds.items()}
        precondition, effect = (
            list(reader.literals(field.get(f":{what}", empty), marked, f"the {what} of {show(name)}"))
            for what in ("precondition", "effect")
        )
        if name in actions:
            definition.refuse(section.line, f"action {show(name)} is defined twice; remove one")
        actions[name] = CheckedAction(name, kinds, precondition, effect)
    return list(actions.values())


def _initial(
    definition: Definition, given: Sequence[Group], reader: LiteralReader, kinds: dict[str, str]
) -> frozenset[Atom]:
    """The atoms of the initial state, which unified-planning does not read (see ``parse``)."""
    true: set[Atom] = set()
    false: dict[Atom, int] = {}
    for fact in contents(given):
        for literal in reader.literals(fact, kinds, "the initial state"):
            if literal.positive:
                true.add(literal.atom)
            else:
                false[literal.atom] = literal.line
    for atom, line in false.items():
        if atom in true:
            definition.refuse(
                line, f"{show(str(atom))} is both true and false in the initial state; remove one"
            )
    return frozenset(true)


# --- what unified-planning built ----------------------------------------------------------------


def _types(parsed: Any) -> Types:
    kinds = [kind for kind in parsed.user_types if plain(kind) != ROOT_TYPE]
    return Types({plain(kind): plain(kind.father) for kind in kinds})


def _kinds(parameters: Iterable[Any]) -> tuple[str, ...]:
    return tuple(plain(parameter.type) for parameter in parameters)


def _split(conditions: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The fluents of conjunctions: those that stand plain, and those under ``not``."""
    literals = [part for whole in conditions for part in (whole.args if whole.is_and() else [whole])]
    plain_ones = [literal for literal in literals if literal.is_fluent_exp()]
    return plain_ones, [literal.arg(0) for literal in literals if literal.is_not()]


def _ground(fluent: Any) -> Atom:
    return Atom(plain(fluent.fluent()), tuple(plain(argument.object()) for argument in fluent.args))


def _schema(action: Any) -> ActionSchema:
    names = tuple(plain(parameter) for parameter in action.parameters)
    place = {name: i for i, name in enumerate(names)}

    def lifted(fluents: Iterable[Any]) -> frozenset[LiftedAtom]:
        return frozenset(
            LiftedAtom(
                plain(fluent.fluent()),
                tuple(
                    place[plain(a.parameter())] if a.is_parameter_exp() else plain(a.object())
                    for a in fluent.args
                ),
            )
            for fluent in fluents
        )

    positive, negative = _split(action.preconditions)
    return ActionSchema(
        ActionHeader(plain(action), names, _kinds(action.parameters)),
        lifted(positive),
        lifted(negative),
        lifted(effect.fluent for effect in action.effects if effect.value.is_true()),
        lifted(effect.fluent for effect in action.effects if effect.value.is_false()),
    )
