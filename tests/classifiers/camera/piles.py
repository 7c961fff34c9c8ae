"""Piles of things without cells, with every kind of predicate that is read off pictures."""

from __future__ import annotations

import numpy as np

from aam_vision.agents.perception import Defined, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.model.constraints import Acyclic, Number
from aam_vision.model.strips import Atom, Objects, Predicate, State, Types

TYPES = Types({"thing": "object"})
LOOKS = ("red", "green", "blue", "ball")


def _shown(name: str, *kinds: str) -> Perceived:
    return Perceived(Predicate(name, kinds), Reading.SHOWN, {"": name}, f"{name} is seen")


def _free(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
    """A hand is free if nothing is held."""
    values = [seen.value(Atom("held", (thing,))) for thing in scene.objects]
    free = Atom("free", ())
    return ([free], []) if all(v is False for v in values) else ([], [] if True in values else [free])


VOCABULARY = VisualVocabulary(
    "piles",
    (
        Perceived(
            Predicate("seen", ("thing",)),
            Reading.FOUND,
            {look: f"sees-{look}" for look in LOOKS},
            "it shows",
            auxiliary=True,
        ),
        _shown("dark"),
        _shown("held", "thing"),
        _shown("on-table", "thing"),
        _shown("clear", "thing"),
        _shown("on", "thing", "thing"),
        Defined(Predicate("free", ()), _free, "nothing is held"),
    ),
    TYPES,
    constraints=(
        Number(("held(x)", "on-table(x)", "on(x, _)")),
        Number(("held(x)", "clear(x)", "on(_, x)")),
        Number(("held(_)",), least=0, most=1),
        Acyclic("on"),
    ),
)


def scene(*looks: str) -> Scene:
    """Things with these looks, named thing-0 and so on."""
    names = [f"thing-{number}" for number in range(len(looks))]
    return Scene.of_things(
        Objects(dict.fromkeys(names, "thing"), TYPES), dict(zip(names, looks, strict=True))
    )


def random_state(one: Scene, rng: np.random.Generator) -> State:
    """A legal state of a scene, drawn at random: the atoms of its predicates, auxiliary ones left out."""
    things = [str(thing) for thing in rng.permutation(list(one.objects))]
    held = things.pop() if rng.random() < 0.5 else None
    true = {Atom("held", (held,))} if held else {Atom("free", ())}
    if rng.random() < 0.5:
        true.add(Atom("dark", ()))
    tops: list[str] = []
    for thing in things:
        below = tops.pop(int(rng.integers(len(tops)))) if tops and rng.random() < 0.5 else None
        true.add(Atom("on", (thing, below)) if below else Atom("on-table", (thing,)))
        tops.append(thing)
    true.update(Atom("clear", (top,)) for top in tops)
    return State(frozenset(true), one.objects)
