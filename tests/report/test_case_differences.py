"""Two runs that knew only controls are compared by the cases that each has found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aam_vision.compare import compare_models
from aam_vision.report.differences import compared
from aam_vision.support.errors import UnusableInput


@pytest.fixture
def run(lamps_run: Path) -> Path:
    """``press`` lights a lamp that is off, and quenches one that is on."""
    return lamps_run


def _renamed(run: Path, to: Path) -> Path:
    """The same run, with other names of operators and parameters."""
    copy = shutil.copytree(run, to)
    for name in ("model.pddl", "controls.json"):
        text = (copy / name).read_text(encoding="utf-8").replace("press-o", "case-o")
        (copy / name).write_text(text.replace("?l", "?lamp").replace('"l"', '"lamp"'), encoding="utf-8")
    return copy


def test_names_make_no_difference(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _renamed(run, tmp_path / "other")
    compare_models(run, other)
    assert capsys.readouterr().out == f"A: {run}\nB: {other}\n2 cases of controls in both runs\n"


def test_a_case_that_one_run_lacks_is_named_with_what_it_does(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = _renamed(run, tmp_path / "other")
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
    assert told["only_b"] == [
        {
            "operator": "press-off",
            "control": "press",
            "precondition": ["on(?l)"],
            "effects": ["not on(?l)", "off(?l)"],
        }
    ]
    assert told["both"][0]["required_by_a"] == told["both"][0]["required_by_b"] == []


def test_a_case_that_begins_elsewhere_is_one_of_both(run: Path, tmp_path: Path) -> None:
    other = _renamed(run, tmp_path / "other")
    domain = (other / "model.pddl").read_text(encoding="utf-8")
    (other / "model.pddl").write_text(
        domain.replace("(on ?lamp))", "(on ?lamp)\n (broken ?lamp))", 1), encoding="utf-8"
    )
    found = compared(run, other)
    assert (found.only_one, found.only_other) == ([], [])
    assert next(found.lines()) == "both: press-off (press, called case-off by B): only B requires broken(?l)"


def test_runs_in_other_words_are_refused(run: Path, tmp_path: Path) -> None:
    other = _renamed(run, tmp_path / "other")
    domain = (other / "model.pddl").read_text(encoding="utf-8")
    (other / "model.pddl").write_text(domain.replace("(broken ?", "(bent ?"), encoding="utf-8")
    with pytest.raises(UnusableInput, match="have other predicates"):
        compare_models(run, other)
    with pytest.raises(UnusableInput, match="leave out --problem"):
        compare_models(run, other, problem=[tmp_path / "p.pddl"])
