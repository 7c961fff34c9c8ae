"""Hanoi: discs on pegs, seen from the side.

Pegs and discs are plain objects in PDDLGym; what is smaller than nothing is a peg. The vocabulary is
PDDLGym's. All discs have one look: which is which follows from the first image, where the user names them, and
from following each of them since. Which is smaller than which the user states.

PDDLGym's ``move`` is its action. A native action names the disc and where it goes; PDDLGym finds where from.
A state is drawn whole by PDDLGym. Problems differ in the number of discs: interrogated are the train problems with
3 to 6 discs, held out are the test problems with 9 to 13. Classifiers learn from other numbers of discs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from aam_vision.envs.board import BoardDomain, Layout
from aam_vision.envs.board_env import BoardEnv
from aam_vision.envs.piles import SEEN_AT, Piles, Truths, above, places_of, seen_at, spot
from aam_vision.envs.whole_pictures import drawn_by_pddlgym
from aam_vision.perception import Box, Cell, Defined, Given, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, GroundAction, Objects, Predicate, State, Types

WIDTH, HEIGHT, MARGIN = 4.2, 1.5, 0.05
"""PDDLGym's picture in its own units, and the margin of its axes."""

DISCS_HEIGHT = 0.9
"""Height of all discs on top of each other."""

TYPES: Final = Types({})


def pegs_and_discs(atoms: frozenset[Atom]) -> tuple[list[str], list[str]]:
    """The pegs by name, as PDDLGym draws them from the left, and the discs from the largest."""
    pairs = [atom.objects for atom in atoms if atom.predicate == "smaller"]
    discs = {smaller for _, smaller in pairs}
    pegs = sorted({larger for larger, _ in pairs} - discs)
    return pegs, sorted(discs, key=lambda disc: (sum(smaller == disc for _, smaller in pairs), disc))


def scene(layout: Layout) -> Scene:
    """The levels of the pegs, and where the discs are at the start."""
    pegs, discs = pegs_and_discs(layout.initial)
    levels = len(discs)
    spots: dict[str, Cell] = {
        spot(peg, level): (levels - 1 - level, peg) for peg in range(len(pegs)) for level in range(levels)
    }
    bare = Scene(
        objects=layout.objects,
        rows=levels,
        columns=len(pegs),
        cells={name: (cell,) for name, cell in spots.items()},
        looks=dict.fromkeys(discs, "disc"),
        facts=frozenset(a for a in layout.initial if a.predicate == "smaller"),
        spots=Objects({**dict.fromkeys(discs, "disc"), **dict.fromkeys(spots, "spot")}, TYPES),
        boxes={cell: _box(cell, levels, len(pegs)) for cell in spots.values()},
    )
    return replace(bare, anchors=places_of(sights(bare, layout.initial)))


def _box(cell: Cell, levels: int, pegs: int) -> Box:
    """A level of a peg in the picture: PDDLGym fits its axes into it and centres them."""
    fitted = min(WIDTH / (WIDTH + 2 * MARGIN), HEIGHT / (HEIGHT + 2 * MARGIN))

    def across(x: float) -> float:
        return 0.5 + (x - WIDTH / 2) * fitted / WIDTH

    def down(y: float) -> float:
        return 0.5 - (y - HEIGHT / 2) * fitted / HEIGHT

    row, column = cell
    level, high, wide = levels - 1 - row, DISCS_HEIGHT / levels, WIDTH / pegs
    return (
        down((level + 1) * high),
        down(level * high),
        across(column * wide),
        across((column + 1) * wide),
    )


# --- what the user defines ---------------------------------------------------------------------------


def on(scene: Scene, seen: State) -> Truths:
    """On the disc at the next lower level, or on the peg."""
    pegs, _ = pegs_and_discs(scene.facts)
    return Piles.of(seen).on({spot(number, 0): peg for number, peg in enumerate(pegs)})


def clear(scene: Scene, seen: State) -> Truths:
    """No disc at the next higher level; a peg without discs."""
    pegs, _ = pegs_and_discs(scene.facts)
    piles = Piles.of(seen)
    tops: dict[str, str | None] = {disc: above(place) for disc, place in piles.places.items()}
    return piles.free(tops | {peg: spot(number, 0) for number, peg in enumerate(pegs)})


def sights(scene: Scene, true: frozenset[Atom]) -> list[Atom]:
    """At which level of which peg every disc is."""
    pegs, _ = pegs_and_discs(scene.facts)
    lying = {under: disc for disc, under in (a.objects for a in true if a.predicate == "on")}
    found = []
    for number, under in enumerate(pegs):
        level = 0
        while under in lying:
            under = lying[under]
            found.append(Atom(SEEN_AT, (under, spot(number, level))))
            level += 1
    return found


ANY: Final = "object"

VISUAL: Final = VisualVocabulary(
    name="hanoi",
    types=TYPES,
    entries=(
        Defined(Predicate("clear", (ANY,)), clear, "no disc right above it"),
        Defined(Predicate("on", (ANY, ANY)), on, "right above the other disc, or lowest on the peg"),
        Given(Predicate("smaller", (ANY, ANY)), "the second is smaller than the first; pegs are large"),
        seen_at("disc", "disc", "a disc is seen at that level of the peg"),
    ),
    may_vanish={"disc": False},
    sights=sights,
)


# --- states and boards at random ---------------------------------------------------------------------


def sample(layout: Layout, rng: np.random.Generator) -> frozenset[Atom]:
    """Every disc on any peg: all such states are legal. Every peg is as likely to be left out as another."""
    pegs, discs = pegs_and_discs(layout.initial)
    return frozenset(a for a in layout.initial if a.predicate == "smaller") | _state(pegs, discs, rng)


def _state(pegs: list[str], discs: list[str], rng: np.random.Generator) -> frozenset[Atom]:
    shares = rng.dirichlet(np.ones(len(pegs)))  # high piles come up as well as low ones
    tops = {peg: peg for peg in pegs}
    atoms = []
    for disc, peg in zip(discs, rng.choice(len(pegs), size=len(discs), p=shares).tolist(), strict=True):
        atoms.append(Atom("on", (disc, tops[pegs[peg]])))
        tops[pegs[peg]] = disc
    return frozenset([*atoms, *[Atom("clear", (top,)) for top in tops.values()]])


def synthesize(name: str, rows: int, columns: int, rng: np.random.Generator) -> Layout:
    """As many discs as rows and as many pegs as columns."""
    pegs = [f"peg{number + 1}" for number in range(columns)]
    discs = [f"d{number + 1}" for number in range(rows)][::-1]
    smaller = [Atom("smaller", (peg, disc)) for peg in pegs for disc in discs]
    smaller += [Atom("smaller", (large, small)) for i, large in enumerate(discs) for small in discs[i + 1 :]]
    start, end = _state(pegs, discs, rng), _state(pegs, discs, rng)
    goal = frozenset(atom for atom in end if atom.predicate == "on")
    kinds = dict.fromkeys([*sorted(discs), *pegs], ANY)
    return Layout("hanoi", name, Objects(kinds, TYPES), frozenset(smaller) | start, goal)


# --- the domain --------------------------------------------------------------------------------------


def _controls(layout: Layout) -> tuple[GroundAction, ...]:
    _, discs = pegs_and_discs(layout.initial)
    return tuple(GroundAction("move", (disc, to)) for disc in discs for to in layout.objects if to != disc)


HANOI: Final = BoardDomain(
    name="hanoi",
    gym_id="aam_vision/Hanoi-v0",
    visual=VISUAL,
    headers=(ActionHeader("move", ("disc", "from", "to"), (ANY,) * 3),),
    controls=_controls,
    native={"move": ("move", (0, 2))},
    interrogated=tuple(("train", number) for number in (0, 1, 4, 5)),
    held_out=tuple(("test", number) for number in range(5)),
    trained_on=(("train", 2), ("train", 3)),
    scene=scene,
    drawing=drawn_by_pddlgym,
    sampler="aam_vision.envs.hanoi",
    shapes=((2, 3), (7, 3), (8, 4), (15, 3)),
)


class HanoiEnv(BoardEnv):
    """Hanoi; native actions are the moves of every disc to everything else."""

    domain = HANOI
