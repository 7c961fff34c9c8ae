"""Bounds are exact, the test is passed only by answers since the last mistake, and how labelling ended is told."""

import io
import re
from math import comb, prod
from types import SimpleNamespace

import pytest

from aam_vision.model.strips import Objects, State, Types
from aam_vision.support.commandline import Progress
from aam_vision.training.assessment import PerceptionScores
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion
from aam_vision.training.labelling.rounds import (
    ATTEMPTS,
    CONFIDENCE,
    IN_A_ROW,
    MISREAD,
    TOLERATED,
    Examination,
    LabellingResult,
    LabellingRounds,
    Learner,
    PictureTest,
    pictures_needed,
    upper_bound,
)
from aam_vision.training.labelling.session import ended
from aam_vision.training.labelling.settings import Way


@pytest.mark.parametrize(("wrong", "number"), [(0, 1), (0, 59), (0, 299), (1, 10), (3, 40), (9, 10)])
def test_the_bound_leaves_exactly_the_chance_that_it_says(wrong, number):
    share = upper_bound(wrong, number)
    chance = sum(comb(number, k) * share**k * (1 - share) ** (number - k) for k in range(wrong + 1))
    assert chance == pytest.approx(1 - CONFIDENCE, rel=1e-6)
    assert upper_bound(0, 0) == upper_bound(5, 5) == 1.0


@pytest.mark.parametrize(
    ("answers", "passed", "bounded"),
    [
        ([(400, 0, 0)] * (IN_A_ROW - 1), False, True),
        ([(400, 0, 0)] * IN_A_ROW, True, True),
        ([(400, 0, 0)] * IN_A_ROW + [(400, 1, 0)], False, False),  # a mistake begins the test anew
        ([(400, 1, 0)] + [(400, 0, 0)] * IN_A_ROW, True, True),
        ([(400, 0, 3)] * 5, False, True),  # what is refused is no mistake and no pass
        ([(10, 0, 0)] * (IN_A_ROW + 1), False, False),  # few answers are not enough
    ],
)
def test_so_many_answers_pass(answers, passed, bounded):
    test = Examination()
    for right, wrong, refused in answers:
        test.add(right=right, wrong=wrong, refused=refused)
    assert (test.passed, test.bound <= TOLERATED) == (passed, bounded)
    assert test.mistakes == sum(wrong for _, wrong, _ in answers)
    if answers[-1][1]:
        assert test.answers == 0


# --- the last test: whole pictures that were set aside ---------------------------------------------


def test_classifiers_that_misread_too_much_hardly_ever_pass_in_all_attempts_together():
    failed = prod(1 - (1 - MISREAD) ** pictures_needed(one + 1) for one in range(ATTEMPTS))
    assert 1 - failed <= 1 - CONFIDENCE
    assert [pictures_needed(one + 1) for one in range(ATTEMPTS)] == [72, 86, 99]


class _Sets(Learner[int]):
    """Sets pictures aside, of which some are misread until they are learned from, and knows how often it was trained."""

    FIRST = EACH = 1
    WATCHED = STREAM = 0

    def __init__(self, apart, misread):
        self.domain = SimpleNamespace(name="some")
        self.way, self._apart, self._misread, self._rng = Way(most=1), apart, misread, None
        self.found = LabellingResult(test=PictureTest())
        self.learned_from, self._taken = [], []

    def questions(self, perception):
        yield LabelQuestion(0), False

    def take(self, question, answer):
        self._taken.append(question.number)

    def passed(self):
        return True

    def train(self):
        self.learned_from = list(self._taken)
        return len(self.found.seconds)

    def set_aside(self):
        done = set(self.found.done)
        return next((LabelQuestion(one) for one in self._apart if one not in done), None)

    def read(self, question, perception, scores):
        scores.states += 1
        wrong = question.number in self._misread
        scores.wrong += wrong
        scores.exact += not wrong


class _Confirms:
    def __init__(self, skipped=()):
        self.missing, self._skipped = [], skipped

    def answer(self, question, *, tested=False, missing=0):
        assert tested == (missing > 0)
        self.missing.append(missing)
        return None if question.number in self._skipped else True

    def learned(self, perception):
        pass


def _tested(apart, misread=(), skipped=()):
    learner, labeller = _Sets(apart, misread), _Confirms(skipped)
    perception, found = LabellingRounds(learner, labeller, Progress(io.StringIO())).run()
    return learner, labeller, perception, found


def test_as_many_pictures_are_confirmed_as_the_test_needs_and_none_is_learned_from():
    learner, labeller, _, found = _tested(range(1, 200))
    assert found.sure
    assert labeller.missing == [0, *range(72, 0, -1)]
    assert (found.test.scores.states, found.test.missing) == (72, 0)
    assert found.test.bound <= MISREAD
    assert learner.learned_from == [0]


def test_a_misread_picture_is_learned_from_and_others_are_read_at_the_next_attempt():
    learner, labeller, perception, found = _tested(range(1, 200), misread=[3])
    assert found.sure
    assert found.test.attempt == 2
    assert learner.learned_from == [0, 1, 2, 3]
    assert perception == 1, "the classifiers that passed are those that learned from it"
    assert labeller.missing == [0, 72, 71, 70, *range(86, 0, -1)]
    assert found.test.bound <= MISREAD


def test_too_few_pictures_or_too_many_mistakes_do_not_pass():
    few, none = (_tested(range(1, last))[3] for last in (50, 1))
    assert (few.sure, few.test.missing) == (False, 72 - 49)
    assert not none.sure
    learner, _, _, bad = _tested(range(1, 400), misread=range(400))
    assert (bad.sure, bad.test.attempt, bad.test.scores.wrong) == (False, ATTEMPTS, 1)
    assert learner.learned_from == [0, 1, 2], (
        "nothing is learned after the last attempt: it would be untested"
    )


def test_what_nobody_can_tell_is_no_part_of_the_test():
    _, labeller, _, found = _tested(range(1, 200), skipped=[5, 6])
    assert found.sure
    assert len(labeller.missing) == 1 + 72 + 2


# --- how it ended, in words -----------------------------------------------------------------------

STATE = State(frozenset(), Objects({}, Types({})))
PICTURES = [(LabelQuestion(0), STATE), (LabelQuestion(1), STATE)]
ANSWERS = [(AskedAtom(0, 0, 0), True), (AskedAtom(0, 1, 0), None)]


def _read(states, wrong=0):
    scores = PerceptionScores(states, states - wrong, wrong=wrong)
    return LabellingResult(PICTURES, test=PictureTest(1, scores))


@pytest.mark.parametrize(
    ("found", "most", "told"),
    [
        (LabellingResult(PICTURES, sure=True), 2, "stopped by its test"),
        (LabellingResult(PICTURES), 2, "2 pictures without passing its test: a larger --pictures goes on"),
        (LabellingResult([*PICTURES, (LabelQuestion(2), None)]), 10, "nothing is left to be labelled"),
        (_read(72), 2, "72 of 72 pictures of the test read without a mistake: it is passed"),
        (_read(30, 1), 2, "29 of 30 pictures .* a larger --pictures goes on"),
        (_read(30), 2, "30 of 30 pictures .*, and 42 more are needed"),
        (LabellingResult(ANSWERS), 1, "1 answer without .* a larger --answers"),
        (LabellingResult(ANSWERS), 60, "nothing is left to be labelled"),
    ],
)
def test_what_would_go_on_is_told(found, most, told):
    assert re.search(told, ended(found, most))
