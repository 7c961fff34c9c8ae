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


def test_where_a_thing_may_stand_it_may_hide_a_mark() -> None:
    """The image refuses the pawn, and with it the mark of the cell where the pawn may be."""
    percept = _read({**CLEAR, "pawn": "1..0", "mark": "1111"})
    assert percept.state.unknown == _atoms("marked c0, marked c1, marked c2")
    assert not percept.refused
    assert percept.state.value(Atom("marked", ("c3",))) is True


def test_things_that_are_not_told_apart_may_be_in_any_of_the_places() -> None:
    before = {"p": "c0", "q": None, "r": None}
    percept = _read(CLEAR, before, visual=vocabulary(may_vanish={"rock": True}))
    assert percept.places == {"p": "c0"}
    assert percept.refused
    assert percept.state.unknown == _atoms("at q c1, at q c2, at r c1, at r c2, glows q, glows r, marked c0")


def test_a_number_that_cannot_be_leaves_every_place_of_the_look_unknown() -> None:
    percept = _read({**CLEAR, "rock": "0111"}, {"p": "c0", "q": "c1", "r": "c2"})
    everywhere = {Atom("at", (thing, f"c{cell}")) for thing in "qr" for cell in range(4)}
    assert {atom for atom in percept.state.unknown if atom.predicate == "at"} == everywhere
    assert percept.places == {"p": "c0"}
    assert percept.refused


def test_what_vanished_is_nowhere_and_nothing_is_known_of_its_glow() -> None:
    visual = vocabulary(may_vanish={"rock": True})
    before = {"p": "c0", "q": "c1", "r": "c2"}
    percept = _read({**CLEAR, "rock": "0100"}, before, visual=visual)
    assert percept.places == {"p": "c0", "q": "c1", "r": None}
    assert percept.state.unknown == _atoms("marked c0, glows r")
    assert not percept.refused, "no other image could show it"
    assert _read({**CLEAR, "rock": "0100"}, before).refused, "rocks that cannot vanish were misread"


def test_things_that_may_vanish_may_be_missing_from_the_first_image() -> None:
    stage = replace(STAGE, anchors={"p": "c0"})
    percept = _read({**CLEAR, "rock": "0100"}, None, stage, vocabulary(may_vanish={"rock": True}))
    at = {atom for atom in percept.state.unknown if atom.predicate == "at"}
    assert at == _atoms("at q c1, at r c1"), "one of them is there"


@pytest.mark.parametrize(("boards", "moved"), [((0, 1, 2, 3), True), ((0, 2, 1, 3), False)])
def test_things_are_followed_to_cells_that_lie_side_by_side(boards: tuple[int, ...], moved: bool) -> None:
    """Both rocks moved; cells in a row make only one way short."""
    stage = replace(
        scene(6, LOOKS, anchors={}),
        cells={f"c{n}": ((0, place),) for n, place in enumerate((*boards, 4, 5))},
    )
    given = {"pawn": "000001", "rock": "010010"}
    before = {"p": "c5", "q": "c0", "r": "c3"}
    percept = _read(given, before, stage)
    assert percept.places == ({"p": "c5", "q": "c1", "r": "c4"} if moved else {"p": "c5"})


def test_cells_in_a_column_are_side_by_side_too_and_corners_are_not() -> None:
    def places(*cells: tuple[int, int]) -> Mapping[str, str | None]:
        stage = replace(
            scene(4, {"q": "rock", "r": "rock"}),
            rows=9,
            columns=9,
            cells={f"c{n}": (cell,) for n, cell in enumerate(cells)},
        )
        return _read({"rock": "0011"}, {"q": "c0", "r": "c1"}, stage).places

    assert places((0, 0), (5, 5), (1, 0), (5, 6)) == {"q": "c2", "r": "c3"}
    assert places((1, 0), (5, 6), (0, 0), (5, 5)) == {"q": "c2", "r": "c3"}
    assert places((0, 0), (5, 5), (1, 1), (6, 6)) == {}
    assert places((0, 0), (5, 5), (2, 0), (5, 7)) == {}


def test_a_large_place_is_beside_whatever_one_of_its_cells_is_beside() -> None:
    stage = replace(
        scene(4, {"q": "rock", "r": "rock"}),
        columns=9,
        cells={"c0": ((0, 0), (0, 1)), "c1": ((0, 8),), "c2": ((0, 2),), "c3": ((0, 7),)},
    )
    assert _read({"rock": "0011"}, {"q": "c0", "r": "c1"}, stage).places == {"q": "c2", "r": "c3"}


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
    stage = replace(
        STAGE, cells={**STAGE.cells, "c3": ()}, looks={"p": "pawn", "q": "rock"}, anchors={"p": "c0"}
    )
    index = SceneIndex(vocabulary(may_vanish={"rock": True}), stage)
    assert index.places == ("c0", "c1", "c2")
    assert index.cells == ((0,), (1,), (2,))
    percept = _read({"pawn": "100", "rock": "010", "free": "001"}, None, stage, vocabulary())
    assert percept.places == {"p": "c0", "q": "c1"}
    assert percept.state.true == _atoms("at p c0, at q c1, free c2")
    anywhere = {Atom("at", ("r", f"c{cell}")) for cell in range(4)}
    assert percept.state.unknown == anywhere | _atoms("glows r, free c3, marked c3, marked c0")
    assert not percept.refused


def test_a_place_is_read_from_all_of_its_cells_row_by_row() -> None:
    stage = replace(scene(2, {}), rows=3, columns=5, cells={"c0": ((0, 0), (1, 2)), "c1": ((2, 4),)})
    assert SceneIndex(vocabulary(), stage).cells == ((0, 7), (14,))


@pytest.mark.parametrize("cell", [(-1, 0), (1, 0), (0, -1), (0, 4)])
def test_a_cell_outside_of_the_board_is_refused(cell: tuple[int, int]) -> None:
    with pytest.raises(UnusableInput, match=r"place c1 has cell .* outside of the 1x4 board"):
        SceneIndex(vocabulary(), replace(STAGE, cells={**STAGE.cells, "c1": (cell,)}))


def test_an_anchor_that_is_no_place_is_refused() -> None:
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


def test_what_the_user_states_and_defines_is_part_of_the_state() -> None:
    stage = replace(STAGE, facts=_atoms("next c0 c1, owns q c1"))
    visual = replace(vocabulary(), entries=(FREE, AT, MARKED, GLOWS, FINE, NEXT))
    state = _read(CLEAR, stage=stage, visual=visual).state
    plain = _read(CLEAR).state
    assert state.true - plain.true == _atoms("next c0 c1, fine c1, fine c3")
    assert state.unknown - plain.unknown == _atoms("fine c0")


def test_auxiliary_predicates_are_only_there_for_others_to_be_defined_over() -> None:
    spots = Objects({**STAGE.objects}, TYPES)
    hidden = replace(MARKED, auxiliary=True)
    visual = replace(vocabulary(), entries=(FREE, AT, hidden, GLOWS, FINE))
    state = _read(CLEAR, stage=replace(STAGE, spots=spots), visual=visual).state
    assert not any(atom.predicate == "marked" for atom in state.true | state.unknown)
    assert _atoms("fine c1, fine c3") <= state.true
    assert state.unknown == _atoms("fine c0")


def test_the_places_of_auxiliary_predicates_need_not_be_objects_of_the_problem() -> None:
    levels = Objects({"p": "thing", "low": "cell", "high": "cell"}, TYPES)
    stage = Scene(
        Objects({"p": "thing"}, TYPES),
        2,
        1,
        {"high": ((0, 0),), "low": ((1, 0),)},
        {"p": "pawn"},
        spots=levels,
    )
    entries = tuple(replace(entry, auxiliary=True) for entry in (FREE, AT, MARKED, GLOWS))

    def raised(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
        return ([Atom("raised", ("p",))] if Atom("at", ("p", "high")) in seen.true else []), []

    visual = replace(
        vocabulary(), entries=(*entries, Defined(Predicate("raised", ("thing",)), raised, "on top"))
    )
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
