"""Values survive JSON, and whatever JSON says wrong is one error that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents import encoding
from aam_vision.agents.encoding import MAX_DEPTH, MAX_PARTS, MAX_PLACES, MAX_TYPES, Malformed, dumps, loads
from aam_vision.agents.image import points
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

TYPES = Types({"box": "thing", "thing": "object"})
OBJECTS = Objects({"a": "box", "b": "thing"}, TYPES)
PREDICATES = Predicate("p", ("box",)), Predicate("q", ("thing", "box")), Predicate("r")
VOCABULARY = Vocabulary("d", PREDICATES, TYPES)
HEADERS = {"go": ActionHeader("go", ("x", "y"), ("box", "thing")), "wait": ActionHeader("wait")}
TWICE = (GroundAction("wait", ()),) * 2


@thorough(100)
@given(domains.domains(constants=True), st.data())
def test_vocabularies_states_and_plans_survive_json(domain: Domain, data: st.DataObject) -> None:
    model, whole = domain.model, domain.problems[0]
    vocabulary, objects = model.vocabulary, whole.objects
    defined = data.draw(st.lists(st.sampled_from([one.name for one in vocabulary.predicates]), max_size=2))
    vocabulary = replace(vocabulary, defined=tuple(defined))
    told = loads(dumps(encoding.vocabulary_json(vocabulary, model.headers)))
    assert encoding.read_vocabulary(told) == (vocabulary, model.headers)
    assert encoding.read_vocabulary(told)[0].defined == vocabulary.defined
    assert encoding.typed(loads(dumps(dict(objects))), vocabulary.types) == dict(objects)
    facts = domains.ground_atoms(vocabulary, objects)
    hidden = frozenset(data.draw(st.lists(st.sampled_from(facts), max_size=3))) if facts else frozenset()
    state = State(whole.true - hidden, objects, hidden)
    told = loads(dumps(encoding.state_json(state)))
    assert encoding.read_state(told, vocabulary, objects) == state
    assert told["unknown"] == [[atom.predicate, *atom.objects] for atom in sorted(hidden)]
    headers = {header.name: header for header in model.headers}
    plan = tuple(domains.instances(model.headers, objects, 3, repeated=True))
    assert encoding.read_plan(loads(dumps(encoding.plan_json(plan))), headers, objects) == plan


def test_what_may_be_left_out() -> None:
    vocabulary, headers = encoding.read_vocabulary(
        {"name": "d", "predicates": {"p": []}, "actions": {"a": []}}
    )
    assert vocabulary == Vocabulary("d", (Predicate("p"),))
    assert headers == (ActionHeader("a"),)
    assert encoding.read_vocabulary({"name": "d", "actions": {"a": []}}, least=0)[0].predicates == ()
    assert encoding.read_state({"true": []}, VOCABULARY, OBJECTS) == State(frozenset(), OBJECTS)
    assert "defined" not in encoding.vocabulary_json(vocabulary, headers)


SOUND: dict[str, Any] = {
    "name": "d",
    "types": {"box": "object"},
    "constants": {"k": "box"},
    "predicates": {"p": ["box"]},
    "actions": {"go": [["x", "box"], ["y", "object"]]},
}
MOST = [f"n{number}" for number in range(50_000)]
MANY = MOST[:5000]


def _vocabulary(change: dict[str, Any]) -> object:
    return encoding.read_vocabulary({**SOUND, **change})


def _state(value: object) -> State:
    return encoding.read_state(value, VOCABULARY, OBJECTS)


def _plan(value: object) -> object:
    return encoding.read_plan(value, HEADERS, OBJECTS)


def _executed(value: object) -> int:
    return encoding.read_executed(value, TWICE)


def _controls(value: object) -> int:
    return encoding.read_executed(value, TWICE, controls=True)


def _positions(value: object) -> object:
    return points({"positions": value}, "positions")


REFUSED: dict[Callable[[Any], object], list[tuple[Any, str]]] = {
    _vocabulary: [
        ({"name": 3}, "'name' is 3, which is not a text"),
        ({"name": "Upper"}, '"Upper" cannot name the name of the domain'),
        ({"name": "a b"}, "use small letters"),
        ({"name": "when"}, "cannot name"),
        ({"name": "x" * 201}, "cannot name"),
        ({"types": []}, "'types' is [], which is not an object"),
        ({"types": {"Box": "object"}}, '"Box" cannot name a type'),
        ({"types": {"box": "crate"}}, 'type "crate", above box, is not declared'),
        ({"types": {"box": 3}}, "type 3, above box, is not declared"),
        ({"types": {"box": "tin", "tin": "box"}}, "is its own ancestor"),
        ({"types": {f"t{n}": "object" for n in range(MAX_TYPES + 1)}}, f"more than {MAX_TYPES}"),
        ({"constants": {"k": "crate"}}, 'object k has the type "crate", which is not declared'),
        ({"constants": {"K": "box"}}, '"K" cannot name an object'),
        ({"constants": {"and": "box"}}, '"and" cannot name an object: PDDL has a meaning of its own for it'),
        ({"constants": [1]}, "'constants' is [1], which is not an object"),
        ({"predicates": {}}, "there must be at least one predicate and one action"),
        ({"actions": {}}, "there must be at least one predicate and one action"),
        ({"predicates": {"P": []}}, '"P" cannot name a predicate'),
        *[({"defined": [one]}, "is defined, and no predicate") for one in (3, [], "q")],
        ({"predicates": {"p": "box"}}, f'predicate p has no list of at most {MAX_PLACES} types: "box"'),
        ({"predicates": {"p": ["crate"]}}, 'predicate p has the type "crate"'),
        ({"predicates": {"p": ["box"] * (MAX_PLACES + 1)}}, f"no list of at most {MAX_PLACES}"),
        ({"actions": {"Go": []}}, '"Go" cannot name an action'),
        ({"actions": {"go": {"x": "box"}}}, "the parameters of action go are not a list of [name, type]"),
        ({"actions": {"go": [["x", "box", 1]]}}, "the parameters of action go are not a list"),
        ({"actions": {"go": ["xb"]}}, "the parameters of action go are not a list"),
        ({"actions": {"go": [["X", "box"]]}}, '"X" cannot name a parameter of action go'),
        ({"actions": {"go": [["x", "crate"]]}}, 'action go has the type "crate"'),
        ({"actions": {"go": [["x", "box"], ["x", "box"]]}}, "two parameters of action go have one name"),
        ({name: {one: [] for one in MANY} for name in ("predicates", "actions")}, "too many together"),
        ({name: dict.fromkeys(MANY, "object") for name in ("types", "constants")}, "too many together"),
        ({"predicates": {"p": ["box"] * 16}, "constants": dict.fromkeys(MOST, "box")}, "more than 100000"),
    ],
    _state: [
        ([], "there is no 'true'"),
        ({"true": {}}, "'true' is {}, which is not a list"),
        ({"true": ["p"]}, '"p" is not an atom: [name, object, ...]'),
        ({"true": [[]]}, "[] is not an atom"),
        ({"true": [["p", 3]]}, '["p", 3] is not an atom'),
        ({"true": [["s"]]}, '"s" is not a predicate of the vocabulary'),
        ({"true": [["p"]]}, '["p"] has 0 arguments instead of 1'),
        ({"true": [["r", "a"]]}, '["r", "a"] has 1 argument instead of 0'),
        ({"true": [["p", "b"]]}, 'in ["p", "b"], "b" is not a box of the problem'),
        ({"true": [["q", "b", "c"]]}, '"c" is not a box of the problem'),
        ({"true": [["p", "a"]], "unknown": [["p", "a"]]}, "p(a) is true and unknown"),
        ({"true": [], "unknown": 1}, "'unknown' is 1, which is not a list"),
    ],
    _plan: [
        ({}, "{} is not a list of actions"),
        (["go"], '"go" is not an action: [name, object, ...]'),
        ([["run"]], '"run" is none of the actions'),
        ([["wait"], ["go", "a"]], '["go", "a"] has 1 argument instead of 2'),
        ([["go", "b", "a"]], '"b" is not a box of the problem'),
    ],
    _executed: [
        ({}, "there is no 'executed'"),
        ({"executed": 3}, "3 of 2 steps executed"),
        ({"executed": -1}, "-1 of 2 steps executed"),
        ({"executed": "1"}, "which is not a whole number"),
    ],
    _controls: [
        ({"executed": 1}, "1 of 2 controls executed: all can always be given"),
        ({"executed": "2"}, "which is not a whole number"),
    ],
    loads: [
        (b"\xff", "no UTF-8"),
        ("{", "no JSON"),
        ("[NaN]", "NaN is not a number of JSON"),
        ("[-Infinity]", "-Infinity is not a number of JSON"),
        ("[" * 10**6, "no JSON"),
        ('{"a":' * 10**6, "no JSON"),
        ("9" * 10**5, "no JSON"),
        ("", "no JSON"),
        ("[" + "1," * MAX_PARTS + "1]", f"JSON of more than {MAX_PARTS} parts"),
    ],
    _positions: [(wrong, "") for wrong in ([], {"red-1": 3}, {"red-1": [1]}, {"red-1": ["a", 0.5]}, None)],
}
ROWS = [(read, value, told) for read, table in REFUSED.items() for value, told in table]


@pytest.mark.parametrize(("read", "value", "told"), ROWS, ids=[told for *_, told in ROWS])
def test_what_cannot_be_is_refused(read: Callable[[Any], object], value: Any, told: str) -> None:
    with pytest.raises(Malformed) as refused:
        read(value)
    assert told in str(refused.value)
    assert str(refused.value).isprintable()


def test_what_is_sound_is_read() -> None:
    encoding.read_vocabulary(SOUND)
    assert _state({"true": [["q", "b", "a"], ["r"]]}).true == {Atom("q", ("b", "a")), Atom("r", ())}
    assert [_executed({"executed": number}) for number in range(3)] == [0, 1, 2]
    assert _controls({"executed": 2}) == _controls({}) == 2, "that of controls need not be said"
    assert _positions({"red-1": [0.25, 1]}) == {"red-1": (0.25, 1.0)}
    assert points({"places": {}}, "positions") == {}


def test_limits_are_what_they_say() -> None:
    encoding.read_vocabulary({**SOUND, "name": "x" * 200, "predicates": {"p": ["box"] * 3}})
    chain = {f"t{n}": f"t{n + 1}" for n in range(MAX_DEPTH - 1)} | {f"t{MAX_DEPTH - 1}": "object"}
    told = {**SOUND, "types": {**SOUND["types"], **chain}}
    assert len(encoding.read_vocabulary(told)[0].types.parents) == MAX_DEPTH + 1
    longer = {f"t{n}": f"t{n + 1}" for n in range(MAX_DEPTH)} | {f"t{MAX_DEPTH}": "object"}
    with pytest.raises(Malformed, match=f"has more than {MAX_DEPTH}"):
        encoding.read_vocabulary({**SOUND, "types": {**SOUND["types"], **longer}})
    many = {f"t{n}": "object" for n in range(2000)}
    with pytest.raises(Malformed, match="600 objects of 2000 types are too many together"):
        encoding.typed({f"o{n}": "object" for n in range(600)}, Types(many))
    assert len(encoding.typed({f"o{n}": "object" for n in range(500)}, Types(many))) == 500


def test_json_is_on_one_line_and_may_be_long() -> None:
    value = {"a": [1, {"b": "x\ny"}], "long": "x" * (MAX_PARTS + 1)}
    assert not {"\n", " "} & {*dumps(value)}
    assert loads(dumps(value)) == loads(dumps(value).encode()) == value
    assert encoding.parts(dumps({"a": [1, 2, {}]})) == 6


def test_a_value_is_shown_short() -> None:
    assert encoding.show(["x", 1]) == '["x", 1]'
    assert encoding.show("x" * 58) == f'"{"x" * 58}"'
    assert encoding.show("x" * 59) == f'"{"x" * 56}...'
    assert encoding.show({1, 2}) == "set"
