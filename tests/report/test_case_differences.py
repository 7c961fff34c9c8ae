"""Two runs that knew only controls are compared by the cases that each has found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aam_vision.compare import compare_models
from aam_vision.report.differences import compared
from aam_vision.support.errors import UnusableInput
from tests.finished import copied


@pytest.fixture
def run(lamps_run: Path) -> Path:
    """``press`` lights a lamp that is off, and quenches one that is on."""
    return lamps_run


@pytest.fixture
def other(run: Path, tmp_path: Path) -> Path:
    """The same run, with other names of operators and parameters."""
    copy = copied(run, tmp_path)
    for name in ("model.pddl", "controls.json"):
        _replace(copy / name, ("press-o", "case-o"), ("?l", "?lamp"), ('"l"', '"lamp"'))
    return copy


def _replace(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def test_names_make_no_difference(run: Path, other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare_models(run, other)
    assert capsys.readouterr().out == f"A: {run}\nB: {other}\n2 cases of controls in both runs\n"


def test_a_case_that_one_run_lacks_is_named(run: Path, other: Path, capsys: pytest.CaptureFixture) -> None:
    domain = (other / "model.pddl").read_text(encoding="utf-8")
    first, rest = domain.split("  (:action case-off", 1)
    (other / "model.pddl").write_text(first + "  (:action" + rest.split("  (:action", 1)[1], encoding="utf-8")
    mapping = json.loads((other / "controls.json").read_text(encoding="utf-8"))
    kept = [one for one in mapping if one["operator"] != "case-off"]
    (other / "controls.json").write_text(json.dumps(kept), encoding="utf-8")
    compare_models(run, other)
    said = capsys.readouterr().out.splitlines()
    assert said[2:] == [
        "only A: press-off (press, where it is on ?l: off is true of ?l and it is no longer on ?l)",
        "1 case of controls in both runs",
    ]
    compare_models(other, run, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["different"], told["only_a"]) == (True, [])
    changes = {"precondition": ["on(?l)"], "effects": ["not on(?l)", "off(?l)"]}
    assert told["only_b"] == [{"operator": "press-off", "control": "press", **changes}]
    assert told["both"][0]["required_by_a"] == told["both"][0]["required_by_b"] == []


def test_a_case_that_begins_elsewhere_is_one_of_both(run: Path, other: Path) -> None:
    domain = (other / "model.pddl").read_text(encoding="utf-8")
    domain = domain.replace("(on ?lamp))", "(on ?lamp)\n (broken ?lamp))", 1)
    (other / "model.pddl").write_text(domain, encoding="utf-8")
    found = compared(run, other)
    assert (found.only_one, found.only_other) == ([], [])
    assert next(found.lines()) == "both: press-off (press, called case-off by B): only B requires broken(?l)"


def test_runs_in_other_words_are_refused(run: Path, other: Path, tmp_path: Path) -> None:
    _replace(other / "model.pddl", ("(broken ?", "(bent ?"))
    with pytest.raises(UnusableInput, match="have other predicates"):
        compare_models(run, other)
    with pytest.raises(UnusableInput, match="leave out --problem"):
        compare_models(run, other, problem=[tmp_path / "p.pddl"])
