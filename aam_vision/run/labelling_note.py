"""What may be misread: what ``training.label`` notes beside weights that learned from few labels, and images unlike all learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from aam_vision.agents.encoding import loads
from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.examination.findings import LEVEL, Diagnosis, Exam
from aam_vision.support.files import read_limited
from aam_vision.support.wording import counted, some

if TYPE_CHECKING:
    from aam_vision.agents.image import Unlike

FILE: Final = "labelling.json"
OTHER_CAUSE: Final = (
    "Or pictures were misread: the classifiers learned from few labels and have not passed their test, so this may be no fault "
    "of the agent; label more, and run again."
)
MISREAD: Final = "Probably pictures were misread: {test}, so this may be no fault of the agent; train longer, and run again."
SHOWN: Final = 3
"""Images that are named, and places of each."""
_MOST_BYTES = 100_000
_COUNTS = ("labelled_pictures", "labelled_atoms")


def labelled(classifiers: Path | None) -> dict[str, int | None]:
    """How many pictures and atoms were labelled for the weights of a folder; None where that is not noted."""
    told = _note(classifiers)
    found = {name: told.get(name) for name in _COUNTS}
    return {name: value if type(value) is int and value >= 0 else None for name, value in found.items()}


def doubts(classifiers: Path | None) -> list[str]:
    """A line if labelling ended before the test of the weights of a folder was passed."""
    note, counts = _note(classifiers), labelled(classifiers)
    if note.get("sure") is not False:
        return []
    pictures, atoms = (
        counted(counts[name] or 0, word) for name, word in zip(_COUNTS, ("picture", "answer"), strict=True)
    )
    what = f"{atoms} about {pictures}" if note.get("ask") == "atoms" else f"the labels of {pictures}"
    test, refused = note.get("test"), note.get("refused")
    if isinstance(test, dict) and type(test.get("pictures")) is type(test.get("misread")) is int:
        shown = counted(test["pictures"], "picture")
        how = (
            f"misread {test['misread']} of {shown} of it" if test["misread"] else f"were shown {shown} of it"
        )
    else:
        open_share = (
            f", and left something open in {100 * refused:.0f}% of them on walks"
            if _is_share(refused)
            else ""
        )
        how = f"may misread pictures{open_share}"
    return [
        f"the classifiers in {classifiers} learned from {what} and have not passed their test: they {how}; label more"
    ]


def untested(own: Path | None, test: ImageTest | None) -> str:
    """That classifiers of one's own have not passed their test, and by how much, in a line; empty if they have."""
    if own is None or seen(own, test):
        return ""
    failed = test is not None and not test.passed
    return next(iter(doubts(own)), f"{test}: they have not passed their test" if failed else "")


def seen(own: Path | None, test: ImageTest | None) -> str:
    """What the test of classifiers of one's own came to, in a line, if they have passed; of labels, nothing of it may be misread."""
    if own is None or test is None:
        return ""
    if test.passed:
        return f"{test}, {_bound(Exam(test.images).bound)}"
    if _note(own).get("sure") is not True:
        return ""
    if not test.images:
        return "the classifiers passed the test of their labels"
    if test.misread:
        return ""
    left_open = test.images - test.exact
    told = _note(own).get("test")
    bound = told.get("bound") if isinstance(told, dict) else None
    if not _is_share(bound):
        return ""
    return f"the classifiers misread none of {test.images} images of their test, and left something open in {left_open}, {_bound(bound)}"


def _bound(share: float) -> str:
    """How often images like those of a test without a mistake are misread."""
    return f"so that with {LEVEL:.0%} confidence at most {100 * share:.1f}% of such images are misread"


def _is_share(value: object) -> TypeGuard[float]:
    """Whether a note's value is a share, and not nought."""
    return type(value) in (int, float) and 0 < cast("float", value) <= 1


def with_other_cause(
    found: Diagnosis, classifiers: Path | None, test: ImageTest | None = None, strange: str = ""
) -> Diagnosis:
    """A diagnosis with what else may be behind it, if it depends on how images are read: a failed test, or images unlike all learned from."""
    if found.unread:
        return found
    if doubts(classifiers):
        return replace(found, otherwise=OTHER_CAUSE)
    if test is not None and not test.passed:
        return replace(found, otherwise=MISREAD.format(test=test))
    return replace(found, otherwise=f"Or images were misread: {strange}.") if strange else found


def told_unlike(found: Sequence[Unlike], problems: Sequence[str], env: str) -> str:
    """Which images look unlike everything learned from, where, and what to do, in a line; empty if none do."""
    if not found:
        return ""
    named = [
        f"{some(one.places, SHOWN)} in {problems[one.problem]} (frames/{one.image}.png)" for one in found
    ]
    return (
        f"{counted(len(found), 'image')} with places that look unlike everything learned from, and are read as unknown: "
        f"{some(named, SHOWN)}; take away what does not belong there, train on such images "
        f"(python -m aam_vision.training.train --env {env}), or label them (run --label)"
    )


def _note(classifiers: Path | None) -> Mapping[str, Any]:
    if classifiers is None:
        return {}
    try:
        told = loads(read_limited(classifiers / FILE, _MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
