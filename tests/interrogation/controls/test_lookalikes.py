"""Words that a vocabulary lacks: their meaning is that of the sources which they name, and the lines printed are ones to add.

What a vocabulary lacks: the two situations between which it lacks a predicate are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.perception import Defined, VisualVocabulary
from aam_vision.envs import sources
from aam_vision.envs.grids import board_scene
from aam_vision.envs.sources import there, vocabulary, where
from aam_vision.interrogation.controls.giving import Giving, TwoWays
from aam_vision.interrogation.controls.lookalikes import Pair, candidate_words, diagnosed, missing_words
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.examination.findings import Family
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, State
from tests.envs.corridor import LIGHT, SIDE, Corridor
from tests.envs.corridor import vocabulary as seen_corridor
from tests.envs.test_controlled import FAR, Doing, bare

TYPES = {"cell": "object", "crate": "object", "key": "object"}
THINGS = {"a": "crate", "b": "crate", "k": "key"}
SCENE = board_scene(1, 3, TYPES, THINGS, looks=THINGS)
CELLS = SCENE.objects.of_type("cell")
SOURCES = {
    "at ?c - cell": there("player", "the player"),
    "button ?c - cell": there("button", "a button"),
    "pressed ?c - cell": there("pressed", "a pressed button"),
    "lies ?x - crate ?c - cell": where(["crate"], "a crate"),
    "kept ?x - key ?c - cell": where(["key"], "a key"),
}
VISUAL = vocabulary("store", TYPES, SOURCES)
ATOMS = [
    Atom(one.predicate.name, objects)
    for one in VISUAL.entries
    for objects in product(*[SCENE.objects.of_type(kind) for kind in one.predicate.types])
]


def _state(rng: np.random.Generator) -> State:
    """Facts at random, one in six unknown; the buttons are always the same."""
    values = rng.choice(["true", "unknown", "false"], len(ATOMS), p=[0.35, 0.15, 0.5])
    fixed = {Atom("button", (cell,)) for cell in CELLS[1:]}
    free = [(atom, value) for atom, value in zip(ATOMS, values, strict=True) if atom.predicate != "button"]
    true = {atom for atom, value in free if value == "true"} | fixed
    unknown = frozenset(atom for atom, value in free if value == "unknown")
    return State(frozenset(true), SCENE.objects, unknown)


def _added(line: str) -> Defined:
    """The entry of a line, as a user adds it to a vocabulary."""
    visual: VisualVocabulary = vocabulary("more", TYPES, eval(f"{{{line}}}", vars(sources)))
    (entry,) = visual.entries
    assert isinstance(entry, Defined)
    return entry


def test_a_word_means_what_its_line_says() -> None:
    rng = np.random.default_rng(0)
    states = [_state(rng) for _ in range(200)]
    words = list(candidate_words(VISUAL.vocabulary(), states))
    kinds = {word.source.partition("(")[0] for word in words}
    assert kinds == {"nowhere", "some", "every", "at_least", "together"}
    assert len({word.predicate.name for word in words}) == len(words)
    for word in words:
        entry = _added(word.line)
        assert entry.predicate == word.predicate
        for state in states:
            true, unknown = entry.atoms(SCENE, state)
            told = {atom.objects for atom in true}, {atom.objects for atom in unknown}
            assert told == word.rows(state), word.line


def test_unknown_facts_decide_only_where_they_leave_one_possibility() -> None:
    """The three values of a word agree with its two values in all situations that the unknown facts allow."""
    rng = np.random.default_rng(1)
    few = [atom for atom in ATOMS if atom.predicate in ("lies", "pressed", "at")]
    for _ in range(20):
        state = _state(rng)
        open_ = [few[place] for place in rng.choice(len(few), 4, replace=False)]
        partly = State(state.true - set(open_), SCENE.objects, frozenset(open_))
        values = product([True, False], repeat=4)
        held = [{atom for atom, holds in zip(open_, row, strict=True) if holds} for row in values]
        worlds = [State(partly.true | one, SCENE.objects) for one in held]
        for word in candidate_words(VISUAL.vocabulary(), [_state(rng) for _ in range(5)]):
            true, unknown = word.rows(partly)
            possible = [word.rows(world)[0] for world in worlds]
            assert true == set.intersection(*map(set, possible)), word.line
            assert true | unknown == set.union(*map(set, possible)), word.line


def test_what_two_things_have_in_common_is_a_predicate_of_two_arguments() -> None:
    entry = _added('"beside ?x ?y": together("lies", "kept", "in one cell")')
    facts = {Atom("lies", ("a", CELLS[0])), Atom("lies", ("b", CELLS[1])), Atom("kept", ("k", CELLS[0]))}
    state = State(frozenset(facts), SCENE.objects)
    assert entry.atoms(SCENE, state) == ([Atom("beside", ("a", "k"))], [])
    hidden = replace(state, unknown=frozenset([Atom("kept", ("k", CELLS[1]))]))
    assert entry.atoms(SCENE, hidden)[1] == [Atom("beside", ("b", "k"))]


def test_words_may_be_defined_over_defined_ones() -> None:
    from aam_vision.envs.shown import Shown

    more = {
        "carried ?x - crate": sources.nowhere("lies", "it lies nowhere"),
        "loaded": sources.some("carried", "something is carried"),
    }
    told = Shown("store", vocabulary("store", TYPES, {**SOURCES, **more}), lambda env: env)
    lying = [Atom("lies", ("a", CELLS[0])), Atom("lies", ("b", CELLS[1]))]
    assert Atom("loaded", ()) not in told.state(lying, SCENE).true
    assert {Atom("loaded", ()), Atom("carried", ("b",))} <= told.state(lying[:1], SCENE).true


HEADER = ActionHeader("ring")
RULES: dict[str, Any] = {
    'nowhere("lies", "some crate lies nowhere", of="crate")': lambda s: (
        len({x for x, _ in s.rows.get("lies", [])}) < 2
    ),
    'some("pressed"': lambda s: bool(s.rows.get("pressed")),
    'every("pressed", "cell"': lambda s: len(s.rows.get("pressed", [])) == 3,
    "at_least(2": lambda s: len(s.rows.get("pressed", [])) >= 2,
    'together("at", "lies"': lambda s: any(
        c == (d,) for c in s.rows["at"] for _, d in s.rows.get("lies", [])
    ),
}


NAMED = vocabulary("store", TYPES, {**SOURCES, "rung": there("bell", "the bell")}).vocabulary()


def _rung(rule: Any) -> tuple[list[Transition], list[Pair]]:
    """A bell that rings where a rule holds, in situations at random, and pairs of those that went differently."""
    rng = np.random.default_rng(3)
    seen: list[Transition] = []
    for _ in range(80):
        facts = {Atom("at", (CELLS[int(rng.integers(3))],)), Atom("kept", ("k", CELLS[0]))}
        facts |= {Atom("lies", (x, CELLS[int(rng.integers(3))])) for x in "ab" if rng.random() < 0.7}
        facts |= {Atom("pressed", (cell,)) for cell in CELLS if rng.random() < 0.6}
        before = State(frozenset(facts), SCENE.objects)
        after = replace(before, true=before.true | {Atom("rung", ())}) if rule(before) else before
        seen.append(Transition(before, GroundAction("ring", ()), after))
    rings, others = ([one for one in seen if bool(one.change) == rang] for rang in (True, False))
    return seen, [Pair(one, other, (), ()) for one, other in product(rings[:5], others)]


@pytest.mark.parametrize("source", RULES)
def test_the_word_that_decides_is_found(source: str) -> None:
    seen, pairs = _rung(RULES[source])
    words = missing_words(NAMED, HEADER, seen, [pairs[0].one], pairs, lambda left: [])
    assert any(word.source.startswith(source) for word in words), words
    assert len([word for word in words if not word.counts]) <= 1
    (telling,) = (word for word in words if word.source.startswith(source))
    assert all(telling.tells(pair) for pair in pairs)


def test_no_word_is_made_to_fit_what_nothing_decides() -> None:
    rng = np.random.default_rng(5)
    seen, pairs = _rung(lambda state: rng.random() < 0.5)
    assert missing_words(NAMED, HEADER, seen, [pairs[0].one], pairs, lambda left: []) == ()


def test_what_words_leave_unexplained_is_told_by_more_of_them() -> None:
    """At the first cell the bell rings while a crate is carried, elsewhere while two buttons are pressed: pairs show one of both."""
    carried, pressed = (rule for source, rule in RULES.items() if "nowhere" in source or "at_least" in source)
    first = Atom("at", (CELLS[0],))
    seen, _ = _rung(lambda s: carried(s) if first in s.true else pressed(s))

    def pairs_of(some: Sequence[Transition]) -> list[Pair]:
        still = [one for one in seen if not one.change]
        both = [(one, other) for one in some for other in still if one.change]
        return [Pair(*pair, (), ()) for pair in both if len({first in one.before.true for one in pair}) == 1]

    here = pairs_of([one for one in seen if first in one.before.true])
    words = missing_words(NAMED, HEADER, seen, [here[0].one], here, pairs_of)
    # whoever counts counts from one on
    assert {word.source.partition("(")[0] for word in words} == {"nowhere", "at_least", "some"}
    assert missing_words(NAMED, HEADER, seen, [here[0].one], here, lambda left: []) == ()


class Drawing(Corridor):
    """A corridor of which something is hidden, and drawn into a pixel or not; no predicate speaks of it."""

    hidden = False
    pixel = (1, slice(None), 2)

    def reset(self, **given: Any) -> Any:
        self.hidden = type(self).hidden
        return super().reset(**given)

    def unlit(self) -> bool:
        """Whether an attempt to light the lamp does nothing else."""
        raise NotImplementedError

    def step(self, action: Any) -> Any:
        if int(action) == LIGHT and self.unlit():
            return self.render(), 0.0, False, False, {}
        return super().step(action)

    def render(self) -> Any:
        image = super().render()
        image[self.pixel] = 255 * self.hidden
        return image


class Broken(Drawing):
    """A lamp is broken, as its picture shows."""

    hidden, pixel = True, (slice(None), 2 * SIDE, 2)

    def unlit(self) -> bool:
        return self.at == 2


class Drawn(Drawing):
    """Only every second attempt lights a lamp; the picture shows which is next."""

    def unlit(self) -> bool:
        self.hidden = not self.hidden
        return self.hidden


class Reluctant(Drawn):
    """The picture does not show it."""

    def render(self) -> Any:
        return Corridor.render(self)


class Painted(Drawing):
    """Lighting a lamp paints a corner."""

    pixel = (2, 0, 2)

    def unlit(self) -> bool:
        self.hidden = not self.hidden
        return True


def _learned(env: type, **more: Any) -> ControlsResult:
    return aam_vision.interrogate_controls(bare(env, **{"controls": Doing, **more}).bare_agent())


def test_the_two_situations_between_which_a_predicate_is_missing_are_named() -> None:
    result = _learned(Broken, controls=FAR, visual=seen_corridor(lambda scene, seen: ([], [])))
    assert result.unexplained
    found = result.diagnosis
    assert (found.family, found.culprit) == (Family.HIDDEN, "light")
    assert "no fact about these alone tells" in found.why
    assert found.pixels_differ
    outcomes = [one.outcome for one in found.examples]
    assert outcomes[1] == "nothing changed"
    assert "became true" in outcomes[0]
    at = [one.situation.state.rows["at"][0][0] for one in found.examples]
    assert at[1] == "cell-2", "where the broken lamp is"


def test_a_control_that_only_changes_the_picture_is_named_and_else_nothing_is_missing() -> None:
    assert _learned(Corridor).diagnosis is None
    found = _learned(Painted).diagnosis
    assert found.why == "light changes the image, and no predicate shows what: add one that does"


@pytest.mark.parametrize(
    ("env", "told"),
    [(Reluctant, "their images are the same, too: draw what it depends on"), (Drawn, "their images differ")],
)
def test_one_situation_that_went_two_ways_says_whether_its_image_shows_why(env: type, told: str) -> None:
    giving = Giving(bare(env, controls=Doing).bare_agent())
    (here, *_) = giving.initial()
    light = GroundAction("light", ())
    _, after = giving.give(here, light)
    assert after.state == here.state
    with pytest.raises(TwoWays) as caught:
        giving.give(after, light)
    assert caught.value.latest is not None
    found = diagnosed(giving, (), (giving.given[0], caught.value.latest))
    assert found.why.startswith("light() went two ways in situations that look alike: ")
    assert told in found.why
