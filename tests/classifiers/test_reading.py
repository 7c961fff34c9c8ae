"""From settled answers to a state: what is seen, what is hidden, and what nobody could tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from aam_vision.agents.perception import Defined, Given, Perceived, Percept, Reading, Scene, VisualVocabulary
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.model.strips import Atom, Objects, Predicate, State
from aam_vision.support.errors import UnusableInput

from .toy import AT, FREE, GLOWS, HEADS, MARKED, TYPES, scene, vocabulary

LOOKS = {"p": "pawn", "q": "rock", "r": "rock"}
STAGE = scene(4, LOOKS, anchors={"p": "c0", "q": "c1", "r": "c2"})


def _answers(given: Mapping[str, str], cells: int = 4) -> np.ndarray:
    """``"10.."`` for a head: yes, no, and doubtful twice."""
    return np.array([list(given.get(head, "0" * cells)) for head in HEADS])


def _read(
    given: Mapping[str, str],
    before: Mapping[str, str | None] | None = None,
    stage: Scene = STAGE,
    visual: VisualVocabulary | None = None,
) -> Percept:
    answers = _answers(given, len(next(iter(given.values()))))
    return SceneIndex(visual or vocabulary(), stage).read(answers == "1", answers == ".", before)


def _atoms(text: str) -> frozenset[Atom]:
    """Such as ``at p c0, free c3``."""
    parts = [part.split() for part in text.split(", ") if part]
    return frozenset(Atom(name, tuple(objects)) for name, *objects in parts)


CLEAR = {"pawn": "1000", "rock": "0110", "free": "0001", "mark": "0101", "glow": "0100"}


def test_all_that_is_seen_is_in_the_state_and_what_stands_above_a_mark_hides_it() -> None:
    percept = _read(CLEAR)
    seen = _atoms("at p c0, at q c1, at r c2, free c3, marked c1, marked c3, glows q")
    assert percept == Percept(
        State(seen, STAGE.objects, _atoms("marked c0")), {"p": "c0", "q": "c1", "r": "c2"}, refused=False
    )


@pytest.mark.parametrize(
    ("change", "unknown", "refused"),
    [
        ({"free": "000."}, "free c3", True),
        ({"free": "..01"}, "free c0, free c1", True),
        ({"mark": "010."}, "marked c3", True),
        ({"mark": ".101"}, "", False),  # it is hidden anyway
        ({"glow": "010."}, "", False),  # nothing stands there
        ({"glow": ".10."}, "glows p", True),
        ({"glow": "0.00"}, "glows q", True),
    ],
)
def test_a_doubtful_answer_is_unknown_and_refused_where_it_could_have_been_seen(
    change: dict[str, str], unknown: str, refused: bool
) -> None:
    percept, clear = _read({**CLEAR, **change}), _read(CLEAR)
    assert percept.state.unknown == clear.state.unknown | _atoms(unknown)
    assert percept.refused is refused
    doubted = percept.state.unknown - clear.state.unknown
    lost = {
        atom for atom in clear.state.true if atom.predicate in {"marked", "glows", "free"}
    } - percept.state.true
    assert lost <= doubted
    assert clear.state.true - lost == percept.state.true


VANISHING = vocabulary(may_vanish={"rock": True})
APART = {"p": "c0", "q": "c1", "r": "c2"}
UNANCHORED = replace(STAGE, anchors={"p": "c0"})


@pytest.mark.parametrize(
    ("given", "before", "more", "places", "unknown", "refused"),
    [
        # where a thing may stand it may hide a mark: the image refuses the pawn, and with it the mark of the cell
        ({"pawn": "1..0", "mark": "1111"}, None, {}, None, "marked c0, marked c1, marked c2", False),
        # things that are not told apart may be in any of the places
        (
            {},
            {"p": "c0", "q": None, "r": None},
            {"visual": VANISHING},
            {"p": "c0"},
            "at q c1, at q c2, at r c1, at r c2, glows q, glows r, marked c0",
            True,
        ),
        # what vanished is nowhere, nothing is known of its glow, and no other image could show it
        (
            {"rock": "0100"},
            APART,
            {"visual": VANISHING},
            {"p": "c0", "q": "c1", "r": None},
            "marked c0, glows r",
            False,
        ),
    ],
)
def test_where_things_may_be(given, before, more, places, unknown, refused) -> None:
    percept = _read({**CLEAR, **given}, before, **more)
    assert places is None or percept.places == places
    assert percept.state.unknown == _atoms(unknown)
    assert percept.refused is refused


def test_a_number_that_cannot_be_leaves_every_place_of_the_look_unknown() -> None:
    percept = _read({**CLEAR, "rock": "0111"}, APART)
    everywhere = {Atom("at", (thing, f"c{cell}")) for thing in "qr" for cell in range(4)}
    assert {atom for atom in percept.state.unknown if atom.predicate == "at"} == everywhere
    assert percept.places == {"p": "c0"}
    assert percept.refused
    assert _read({**CLEAR, "rock": "0100"}, APART).refused, "rocks that cannot vanish were misread"
    first = _read({**CLEAR, "rock": "0100"}, None, UNANCHORED, VANISHING)
    at = {atom for atom in first.state.unknown if atom.predicate == "at"}
    assert at == _atoms("at q c1, at r c1"), "one of them is there"


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([[(0, 0)], [(0, 3)], [(0, 1)], [(0, 4)]], True),
        ([[(0, 0)], [(0, 3)], [(0, 2)], [(0, 4)]], False),
        ([[(0, 0)], [(5, 5)], [(1, 0)], [(5, 6)]], True),  # in a column, too
        ([[(1, 0)], [(5, 6)], [(0, 0)], [(5, 5)]], True),
        ([[(0, 0)], [(5, 5)], [(1, 1)], [(6, 6)]], False),  # corners are not side by side
        ([[(0, 0)], [(5, 5)], [(2, 0)], [(5, 7)]], False),
        # beside whatever one of its cells is beside
        ([[(0, 0), (0, 1)], [(0, 8)], [(0, 2)], [(0, 7)]], True),
    ],
)
def test_things_are_followed_to_cells_that_lie_side_by_side(cells, told: bool) -> None:
    """Both rocks moved from the first two cells to the others; there is only one short way."""
    laid = {f"c{number}": tuple(own) for number, own in enumerate(cells)}
    stage = replace(scene(4, {"q": "rock", "r": "rock"}), rows=9, columns=9, cells=laid)
    found = _read({"rock": "0011"}, {"q": "c0", "r": "c1"}, stage).places
    assert found == ({"q": "c2", "r": "c3"} if told else {})


def test_things_hide_what_is_asked_of_things_too() -> None:
    visual = vocabulary(entries=(FREE, AT, MARKED, replace(GLOWS, hidden_by="pawn")))
    percept = _read({**CLEAR, "glow": "1100"}, visual=visual)
    assert percept.state.value(Atom("glows", ("p",))) is None
    assert percept.state.value(Atom("glows", ("q",))) is True
    assert not percept.refused
    doubted = _read({**CLEAR, "pawn": "1.00"}, {"p": "c0", "q": "c1", "r": "c2"}, visual=visual)
    assert doubted.state.value(Atom("glows", ("q",))) is None, "the pawn may be there"
    assert doubted.refused


def test_places_without_cells_and_things_without_looks_show_nothing() -> None:
    stage = replace(UNANCHORED, cells={**STAGE.cells, "c3": ()}, looks={"p": "pawn", "q": "rock"})
    index = SceneIndex(VANISHING, stage)
    assert index.places == ("c0", "c1", "c2")
    assert index.cells == ((0,), (1,), (2,))
    percept = _read({"pawn": "100", "rock": "010", "free": "001"}, None, stage, vocabulary())
    assert percept.places == {"p": "c0", "q": "c1"}
    assert percept.state.true == _atoms("at p c0, at q c1, free c2")
    anywhere = {Atom("at", ("r", f"c{cell}")) for cell in range(4)}
    assert percept.state.unknown == anywhere | _atoms("glows r, free c3, marked c3, marked c0")
    assert not percept.refused
    wide = replace(scene(2, {}), rows=3, columns=5, cells={"c0": ((0, 0), (1, 2)), "c1": ((2, 4),)})
    assert SceneIndex(vocabulary(), wide).cells == ((0, 7), (14,)), "row by row"


@pytest.mark.parametrize("cell", [(-1, 0), (1, 0), (0, -1), (0, 4)])
def test_a_cell_outside_of_the_board_is_refused(cell: tuple[int, int]) -> None:
    with pytest.raises(UnusableInput, match=r"place c1 has cell .* outside of the 1x4 board"):
        SceneIndex(vocabulary(), replace(STAGE, cells={**STAGE.cells, "c1": (cell,)}))
    with pytest.raises(UnusableInput, match="anchor of p: nowhere is no place with cells"):
        SceneIndex(vocabulary(), replace(STAGE, anchors={"p": "nowhere"}))


# --- what is not seen but said --------------------------------------------------------------------


def _beside_mark(scene: Scene, seen: State) -> tuple[Iterable[Atom], Iterable[Atom]]:
    """A cell is fine where it is marked; unknown where the mark is."""
    values = {cell: seen.value(Atom("marked", (cell,))) for cell in scene.objects.of_type("cell")}
    return (
        [Atom("fine", (cell,)) for cell, value in values.items() if value],
        [Atom("fine", (cell,)) for cell, value in values.items() if value is None],
    )


FINE = Defined(Predicate("fine", ("cell",)), _beside_mark, "a marked cell")
NEXT = Given(Predicate("next", ("cell", "cell")), "side by side")


def test_what_the_user_states_and_defines_is_part_of_the_state_and_auxiliary_predicates_are_not() -> None:
    stage = replace(STAGE, facts=_atoms("next c0 c1, owns q c1"))
    visual = replace(vocabulary(), entries=(FREE, AT, MARKED, GLOWS, FINE, NEXT))
    state, plain = _read(CLEAR, stage=stage, visual=visual).state, _read(CLEAR).state
    assert state.true - plain.true == _atoms("next c0 c1, fine c1, fine c3")
    assert state.unknown - plain.unknown == _atoms("fine c0")
    visual = replace(vocabulary(), entries=(FREE, AT, replace(MARKED, auxiliary=True), GLOWS, FINE))
    spots = Objects({**STAGE.objects}, TYPES)
    state = _read(CLEAR, stage=replace(STAGE, spots=spots), visual=visual).state
    assert not any(atom.predicate == "marked" for atom in state.true | state.unknown)
    assert _atoms("fine c1, fine c3") <= state.true
    assert state.unknown == _atoms("fine c0")


def test_the_places_of_auxiliary_predicates_need_not_be_objects_of_the_problem() -> None:
    levels = Objects({"p": "thing", "low": "cell", "high": "cell"}, TYPES)
    cells = {"high": ((0, 0),), "low": ((1, 0),)}
    stage = Scene(Objects({"p": "thing"}, TYPES), 2, 1, cells, {"p": "pawn"}, spots=levels)
    entries = tuple(replace(entry, auxiliary=True) for entry in (FREE, AT, MARKED, GLOWS))

    def raised(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
        return ([Atom("raised", ("p",))] if Atom("at", ("p", "high")) in seen.true else []), []

    on_top = Defined(Predicate("raised", ("thing",)), raised, "on top")
    visual = replace(vocabulary(), entries=(*entries, on_top))
    percept = _read({"pawn": "10"}, None, stage, visual)
    assert percept.places == {"p": "high"}
    assert percept.state == State(_atoms("raised p"), stage.objects)
    assert _read({"pawn": "01"}, None, stage, visual).state.true == frozenset()


def test_only_places_of_the_right_type_are_looked_at() -> None:
    """Rooms are no cells: no pawn stands in one, whatever the classifiers would say."""
    types = type(TYPES)({**TYPES.parents, "room": "object"})
    objects = Objects({"p": "thing", "c0": "cell", "r0": "room"}, types)
    stage = Scene(objects, 1, 2, {"r0": ((0, 0),), "c0": ((0, 1),)}, {"p": "pawn"}, anchors={})
    lit = Perceived(Predicate("lit", ("room",)), Reading.THERE, {"": "free"}, "a lamp")
    visual = VisualVocabulary("rooms", (replace(FREE, heads={"": "free"}), AT, MARKED, GLOWS, lit), types)
    percept = _read({"pawn": "01", "free": "10", "mark": "11"}, None, stage, visual)
    assert percept.places == {"p": "c0"}
    assert percept.state.true == _atoms("at p c0, lit r0")
    assert percept.state.unknown == _atoms("marked c0")
