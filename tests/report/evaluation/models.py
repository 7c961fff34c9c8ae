"""Models with a mode changed, and a corridor that can only be walked in one direction."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Location,
    Mode,
    Model,
    Objects,
    PalTuple,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)


def with_mode(model: Model, pal: PalTuple, mode: Mode) -> Model:
    """The model with one palm tuple changed."""
    schema = model.schema(pal.action)
    plus, minus = ("positive", "negative") if pal.location is Location.PRE else ("add", "delete")
    changed = replace(
        schema,
        **{
            plus: getattr(schema, plus) - {pal.atom} | ({pal.atom} if mode is Mode.POSITIVE else set()),
            minus: getattr(schema, minus) - {pal.atom} | ({pal.atom} if mode is Mode.NEGATIVE else set()),
        },
    )
    return Model(model.vocabulary, tuple(changed if s is schema else s for s in model.actions))


def pals_of(model: Model, *, repeated: bool = False) -> list[PalTuple]:
    return [
        PalTuple(atom, schema.header.name, location)
        for schema in model.actions
        for atom in lifted_atoms(model.vocabulary, schema.header, repeated=repeated)
        for location in Location
    ]


def one_mode_changed(data: st.DataObject, truth: Model, pals: list[PalTuple]) -> Model:
    pal = data.draw(st.sampled_from(pals))
    now = truth.schema(pal.action).mode(pal.atom, pal.location)
    return with_mode(truth, pal, data.draw(st.sampled_from([mode for mode in Mode if mode is not now])))


CORRIDOR = Vocabulary(
    "corridor",
    (
        Predicate("at", ("object",)),
        Predicate("next", ("object", "object")),
        Predicate("locked", ()),
        Predicate("bell", ("object",)),
    ),
    Types({}),
)
AT, THERE, NEXT = LiftedAtom("at", (0,)), LiftedAtom("at", (1,)), LiftedAtom("next", (0, 1))
LOCKED = LiftedAtom("locked", ())
GO = ActionSchema(
    ActionHeader("go", ("from", "to"), ("object", "object")),
    positive=frozenset({AT, NEXT}),
    add=frozenset({THERE}),
    delete=frozenset({AT}),
)
RING = ActionSchema(
    ActionHeader("ring", ("where",), ("object",)),
    positive=frozenset({AT, LiftedAtom("bell", (0,))}),
    add=frozenset({LOCKED}),
)
PLACES = Objects({f"r{number}": "object" for number in range(9)}, Types({}))


def standing(place: int, *, locked: bool = False) -> State:
    """Whoever walks here can only go on, one room at a time, to the last. The bell is in the fourth."""
    true = {
        Atom("bell", ("r3",)),
        Atom("at", (f"r{place}",)),
        *(Atom("next", (f"r{n}", f"r{n + 1}")) for n in range(8)),
    }
    return State(frozenset(true | ({Atom("locked", ())} if locked else set())), PLACES)
