"""Pictures without cells at the labelling page: things by a click, what is true of them by another one, and all of it undone again."""

from contextlib import contextmanager
from hashlib import sha256
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs.labelled import Labelled
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import encode
from aam_vision.training.described import pictured_scene
from aam_vision.training.labelling import scenes
from aam_vision.training.labelling.own_pictures import label_pictures
from aam_vision.training.labelling.pool import LabelQuestion, Walked
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.settings import Session
from aam_vision.training.labelling.things import WHOLE, ThingSheets
from aam_vision.training.pictures import labelled, read_pictures
from aam_vision.training.regions import middle
from tests.profiles import thorough
from tests.training.labelling import table
from tests.training.labelling.person import Told, opened, shown
from tests.training.labelling.table import VOCABULARY

PLAN = plan_of(describe(VOCABULARY))
SCENE = pictured_scene(None, VOCABULARY)


def _true(number):
    """A picture of the scene with all that a label says of it."""
    one = table.labelled(np.random.default_rng(number))
    names = one.scene.looks
    true = {Atom(atom.predicate, tuple(names[thing] for thing in atom.objects)) for atom in one.true}
    masks = {names[thing]: mask for thing, mask in one.masks.items()}
    return Labelled(SCENE, frozenset(true), one.frame, masks)


TRUE = [_true(number) for number in range(9)]
SHOWS = [{atom.objects[0] for atom in one.true if atom.predicate == "seen"} for one in TRUE]


def _sheets():
    return ThingSheets(VOCABULARY, [Walked("pictures", SCENE, one.frame, None) for one in TRUE])


def _wrong(view, true):
    """Place, head and whether it is too much, of everything that a view says wrongly."""
    for place, one in enumerate(view["places"]):
        for head in one["asked"]:
            predicate, *other = view["heads"][head]["name"].split()
            atom = Atom(predicate, (*([] if one["whole"] else [one["name"]]), *other))
            if (atom in true) != (head in one["yes"]):
                yield place, head, atom not in true


def _spot(mask):
    row, column = middle(mask)
    return {"x": (column + 0.5) / mask.shape[1], "y": (row + 0.5) / mask.shape[0]}


def _said(sheet, number):
    """Say all that is true of a picture: every thing by a click."""
    one = TRUE[number]
    for place, facts in enumerate(sheet.view(one.frame)["places"]):
        if facts["name"] in SHOWS[number]:
            sheet.change("point", {"places": [place], **_spot(one.masks[facts["name"]])})
    for _ in range(30):
        if (wrong := next(_wrong(sheet.view(one.frame), one.true), None)) is None:
            return sheet.answer("next")
        sheet.change("toggle", {"places": [wrong[0]], "head": wrong[1]})
    raise AssertionError("it cannot be said")


@pytest.mark.parametrize("number", range(4))
def test_what_is_said_is_the_label_and_comes_again_as_it_was_when_it_is_withdrawn(number):
    sheets, one = _sheets(), TRUE[number]
    found = _said(sheets.sheet(LabelQuestion(number), None), number)
    again = sheets.sheet(LabelQuestion(number), found).answer("next")
    shown = {atom for atom in one.true if set(atom.objects) <= SHOWS[number]}
    assert again.true == found.true == shown
    for thing in SHOWS[number]:
        mask, true = found.masks[thing], one.masks[thing]
        assert (mask & true).sum() > 0.8 * (mask | true).sum()
    assert all((again.masks[thing] == mask).all() for thing, mask in found.masks.items())


CHANGES = st.tuples(st.sampled_from(["point", "toggle", "clear"]), st.integers(0, 4), st.integers(0, 8))


@given(st.lists(CHANGES, max_size=8))
@thorough(100)
def test_every_change_can_be_undone(changes):
    sheet = _sheets().sheet(LabelQuestion(0), None)
    views = [sheet.view(TRUE[0].frame)]
    for what, place, number in changes:
        head = min(number, len(views[0]["heads"]) - 1)
        facts = {"places": [place], "head": head, "x": number / 8, "y": 0.6}
        now = views[-1]["places"][place]
        if (what == "point" and now["whole"]) or (what == "toggle" and facts["head"] not in now["asked"]):
            continue
        sheet.change(what, facts)
        views.append(sheet.view(TRUE[0].frame))
    while views:
        assert sheet.view(TRUE[0].frame) == views.pop()
        assert sheet.take_back() == bool(views)


def test_what_an_answer_excludes_is_taken_back_and_what_is_missing_is_told():
    number = next(number for number, shows in enumerate(SHOWS) if len(shows) == 4)
    one = TRUE[number]
    sheet = _sheets().sheet(LabelQuestion(number), None)
    with pytest.raises(UnusableInput, match="no thing is pointed at"):
        sheet.answer("next")
    heads = [facts["name"] for facts in sheet.view(one.frame)["heads"]]
    assert heads == ["dark", "held", "on-table", "clear", "on red", "on green", "on blue", "on ball"]

    def place(number):
        return sheet.view(one.frame)["places"][number]

    def yes(number):
        return [heads[head] for head in place(number)["yes"]]

    for number, name in enumerate(("red", "green", "blue")):
        sheet.change("point", {"places": [number], **_spot(one.masks[name])})
    sheet.change("toggle", {"places": [0, 1, 2], "head": heads.index("on-table")})
    sheet.change("toggle", {"places": [0, 1, 2], "head": heads.index("clear")})
    assert yes(0) == yes(1) == ["on-table", "clear"]
    assert not place(0)["unsure"]
    sheet.change("toggle", {"places": [0], "head": heads.index("on green")})
    assert yes(0) == ["clear", "on green"]
    assert yes(1) == ["on-table"], "nothing is clear with something on it"
    assert heads.index("on ball") not in place(0)["asked"], "the ball does not show"
    sheet.change("toggle", {"places": [2], "head": heads.index("on-table")})
    assert sheet.problems() == []
    assert place(2)["unsure"], "it may rest on what does not show; mostly something is forgotten"
    sheet.change("point", {"places": [3], **_spot(one.masks["ball"])})
    with pytest.raises(UnusableInput, match=r"of held\(x\), on-table\(x\), on\(x, _\) 1 must be true"):
        sheet.answer("next")
    assert place(2)["wrong"]
    assert place(3)["wrong"]
    assert not place(0)["wrong"]


def test_what_is_no_part_of_a_thing_is_taken_away_from_its_outline_and_can_be_undone():
    one = TRUE[0]
    sheet = _sheets().sheet(LabelQuestion(0), None)
    names = [facts["name"] for facts in sheet.view(one.frame)["places"]]
    first, second, *_ = (name for name in names if name in one.masks and one.masks[name].any())
    place = {"places": [names.index(first)]}
    sheet.change("point", {**place, **_spot(one.masks[first])})
    sheet.change("point", {**place, **_spot(one.masks[second]), "more": True})
    both = sheet.labelled().masks[first]
    lowest = np.zeros_like(both)
    lowest[tuple(np.argwhere(one.masks[second] & both)[-1])] = True
    sheet.change("point", {**place, **_spot(lowest), "less": True})
    own = sheet.labelled().masks[first]
    assert not (own & lowest).any()
    assert not (own & ~both).any()
    assert (own & one.masks[first]).sum() == (both & one.masks[first]).sum()
    sheet.take_back()
    assert (sheet.labelled().masks[first] == both).all()


def test_what_a_page_never_sends_is_refused():
    sheet = _sheets().sheet(LabelQuestion(0), None)
    assert [one["name"] for one in sheet.view(TRUE[0].frame)["places"]][4] == WHOLE
    for what, facts in (
        ("point", {"places": [0], "x": 2, "y": 0}),
        ("point", {"places": [4], "x": 0.5, "y": 0.5}),
        ("point", {"places": [0], "x": "0", "y": 0}),
        ("toggle", {"places": [0], "head": 99}),
        ("toggle", {"places": [0], "head": True}),
        ("toggle", {"places": [9], "head": 0}),
        ("clear", {"places": []}),
        ("paint", {"places": [0]}),
    ):
        with pytest.raises(ValueError, match=r".*"):
            sheet.change(what, facts)


def test_what_is_mostly_true_is_guessed_before_anything_is_learned():
    sheets = _sheets()
    for number in range(8):
        sheets.note(LabelQuestion(number), TRUE[number])
    sheet = sheets.sheet(LabelQuestion(8), None)
    sheet.change("point", {"places": [0], **_spot(TRUE[8].masks["red"])})
    facts = sheet.view(TRUE[8].frame)
    assert facts["places"][0]["unsure"]
    guessed = {facts["heads"][head]["name"] for head in facts["places"][0]["yes"]}
    shown = [(one, thing) for one, shows in zip(TRUE[:8], SHOWS[:8], strict=True) for thing in shows]
    for predicate in ("held", "on-table", "clear"):
        said = [Atom(predicate, (thing,)) in one.true for one, thing in shown]
        assert (predicate in guessed) == (np.mean(said) > 0.5)
    sheets.forget(None)
    assert not any(one["yes"] for one in sheets.sheet(LabelQuestion(8), None).view(TRUE[8].frame)["places"])


DOMAIN = SimpleNamespace(name="piles", visual=VOCABULARY)


def test_answers_are_on_disk_and_contradictions_are_not(tmp_path):
    walked = [Walked("pictures", SCENE, one.frame, None) for one in TRUE[:3]]
    record = LabelRecord(DOMAIN, tmp_path, walked)
    record.add(LabelQuestion(0), TRUE[0])
    record.add(LabelQuestion(1), None)
    both = [Atom("seen", ("red",)), Atom("seen", ("green",))]
    both += [Atom("on", ("red", "green")), Atom("on", ("green", "red"))]
    with pytest.raises(UnusableInput, match="no legal scene"):
        record.add(LabelQuestion(2), TRUE[2]._replace(true=frozenset(both)))
    record.close()
    again = LabelRecord(DOMAIN, tmp_path, walked)
    assert len(again) == 1
    assert again[LabelQuestion(0)].true == TRUE[0].true
    assert (again[LabelQuestion(0)].masks["red"] == TRUE[0].masks["red"]).all()
    assert again[LabelQuestion(1)] is None
    assert LabelQuestion(2) not in again
    assert again.withdraw() == (LabelQuestion(1), None)
    again.close()


class _Person:
    """Labels in the browser, with mouse and keyboard."""

    def __init__(self, page):
        self.page = page
        self.numbers = {sha256(one.frame.tobytes()).digest(): number for number, one in enumerate(TRUE)}

    def settled(self):
        self.page.evaluate("waiting")
        return self.page.evaluate("view")

    def press(self, key):
        self.page.keyboard.press(key)
        return self.settled()

    def choose(self, place):
        if self.page.evaluate("chosen.at(-1)") != place:
            self.page.locator(f"[data-place='{place}']").click()

    def point(self, place, mask):
        self.choose(place)
        box, spot = self.page.locator("#image").bounding_box(), _spot(mask)
        self.page.mouse.click(box["x"] + spot["x"] * box["width"], box["y"] + spot["y"] * box["height"])
        return self.settled()

    def number(self):
        return self.numbers[shown(self.page)]

    def answer(self):
        self.page.wait_for_function("() => view && view.kind === 'ask' && chosen.length", timeout=60_000)
        number = self.number()
        one, view = TRUE[number], self.settled()
        for place, facts in enumerate(view["places"]):
            if facts["there"] and not facts["whole"]:
                self.choose(place)
                view = self.press("0")
            if facts["name"] in SHOWS[number]:
                view = self.point(place, one.masks[facts["name"]])
        for _ in range(30):
            wrong = next(_wrong(view, one.true), None)
            if wrong is None:
                return number
            self.choose(wrong[0])
            view = self.press(view["heads"][wrong[1]]["key"])
        raise AssertionError("it cannot be said")

    def next(self):
        before = self.page.evaluate("view.question")
        self.press("Enter")
        assert self.page.evaluate("view.question") != before, self.page.inner_text("#said")


def test_from_a_folder_and_a_vocabulary_to_classifiers_in_the_browser(browser, tmp_path, monkeypatch):
    pytest.importorskip("uvicorn")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    folder, out = tmp_path / "pics", tmp_path / "out"
    for made in (folder, out):
        made.mkdir()
    for number, one in enumerate(TRUE):
        (folder / f"{number}.png").write_bytes(encode(one.frame))
    monkeypatch.setattr(scenes, "WAITED_FOR", scenes.Effort(5, 2, 8, 2, 2, 3))
    monkeypatch.setattr(scenes, "AUDITED", 1)

    @contextmanager
    def labelling(pictures, width):
        told, found = Told(), []
        about = ("piles", VOCABULARY), folder, out, Session(pictures=pictures), told
        thread = Thread(target=lambda: found.append(label_pictures(*about)), daemon=True)
        thread.start()
        with opened(browser, told.address(), width) as page:
            yield _Person(page)
            page.wait_for_function("() => view.kind === 'done'", timeout=60_000)
            thread.join(60)
        assert found[0]["labelled_pictures"] == pictures

    with labelling(5, 1280) as person:
        page, first = person.page, person.answer()
        assert page.locator("#lines path.thing").count() >= len(SHOWS[first])
        assert [one["id"] for one in axe.Axe().run(page).response["violations"]] == []
        person.next()
        second = person.answer()
        places = person.settled()["places"]
        thing = next(n for n, one in enumerate(places) if one["there"] and not one["whole"])
        person.choose(thing)
        assert not person.press("0")["places"][thing]["there"]  # a mistake
        assert person.press("u")["places"][thing]["there"]
        person.next()
        page.wait_for_function("() => view && view.kind === 'ask'")
        while not page.evaluate("view.corrected"):
            person.press("u")
        assert person.number() == second, "back to the picture before"
        assert not page.evaluate("view.problems.length")
        person.next()
        for _ in range(3):
            person.answer()
            person.next()
    with labelling(7, 400) as person:  # the same command, and it goes on
        for _ in range(2):
            person.answer()
            person.next()
    lines = read_pictures(DOMAIN, out)
    assert len(lines) == 7
    for line in lines:
        number = person.numbers[sha256(line.frame.tobytes()).digest()]
        assert line.atoms == {atom for atom in TRUE[number].true if set(atom.objects) <= SHOWS[number]}
        assert {thing for thing, mask in labelled(line).masks.items() if mask.any()} == SHOWS[number]
    perception = CameraPerception.load(VOCABULARY, "piles", out)
    assert perception.read_many([TRUE[0].frame], SCENE)[0].state.objects == SCENE.objects
