"""Real problems, real images, and what should be seen in them."""

from functools import cache

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Atom, State

NUMBERS = {("sokoban", "train"): 5, ("sokoban", "test"): 4, ("doors", "train"): 3, ("doors", "test"): 10}
ALL = [(*problems, index) for problems, number in NUMBERS.items() for index in range(number)]


@cache
def shipped(name):
    return BoardPerception.load(board_domain(name).visual, name, remembered=0)


def seen(scene, state):
    """The part of a true state that its image shows, written down by hand for the two domains."""
    hidden = {
        Atom(predicate, (place,))
        for thing, place in places(scene, state).items()
        if scene.looks[thing] == "player"
        for predicate in ("is-goal", "is-nongoal")
    }
    if "room" in scene.objects.values():
        hidden = {Atom("unlocked", (r,)) for r in scene.objects.of_type("room") if r not in scene.cells}
    return State(state.true - hidden, state.objects, frozenset(hidden))


def places(scene, state):
    """Where every thing is, None for those that are nowhere."""
    where = {
        a.objects[0]: a.objects[1]
        for a in state.true
        if a.predicate in ("at", "keyat") and len(a.objects) == 2
    }
    return {thing: where.get(thing) for thing in scene.looks}
