"""A hand with chance, for experiments with one action whose probability is known."""

from __future__ import annotations

from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    Case,
    Effects,
    LiftedAtom,
    Model,
    Objects,
    Outcome,
    Predicate,
    State,
    Types,
    Vocabulary,
)


def hand(dry: float, wet: float | None = None) -> tuple[Model, State]:
    """A hand that picks up a block this often, and always puts it down; where it begins.

    With ``wet`` there are two hands and blocks of two colours, one of which is wet and picked up that often.
    """
    simple, none = wet is None, frozenset[LiftedAtom]()
    arity, who = (1, ()) if simple else (2, ("hand",))
    kinds = {"holding": ("block",), "wet": ("block",), "red": ("block",), "free": who, "old": who}
    if simple:
        kinds = {"holding": ("block",), "free": who}
    things = {"a": "block", "b": "block"} | ({} if simple else {"c": "block", "h": "hand", "g": "hand"})
    types = Types(dict.fromkeys(things.values(), "object"))
    vocabulary = Vocabulary("hand", tuple(Predicate(*one) for one in kinds.items()), types)
    holding, damp, free = (
        frozenset([LiftedAtom(*one)])
        for one in (("holding", (0,)), ("wet", (0,)), ("free", () if simple else (1,)))
    )
    pick, put = (
        ActionHeader(name, ("b", "h")[:arity], ("block", "hand")[:arity]) for name in ("pick", "put")
    )

    def picked(share: float) -> tuple[Outcome, ...]:
        return Outcome(share, Effects(holding, free)), Outcome(1 - share, Effects())

    wetness = () if wet is None else (Case(damp, none, picked(wet)), Case(none, damp, picked(dry)))
    actions = (
        ActionSchema(pick, free, none, cases=wetness or (Case(outcomes=picked(dry)),)),
        ActionSchema(put, holding, none, free, holding),
    )
    true = (
        [("free",)]
        if simple
        else [("free", "h"), ("free", "g"), ("wet", "b"), ("old", "g"), ("red", "a"), ("red", "b")]
    )
    atoms = frozenset(Atom(name, tuple(objects)) for name, *objects in true)
    return Model(vocabulary, actions), State(atoms, Objects(things, types))
