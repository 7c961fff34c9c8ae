"""The page: one file that fetches nothing, in which every line of the model leads to its proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aam_vision.report.account import account_of
from aam_vision.report.album import FOLDER
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from tests.elements import Elements
from tests.finished import copied
from tests.report.conftest import KINDS
from tests.report.shown import in_terminal


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, run_of_kind: Callable[[str], Path]) -> Path:
    return run_of_kind(request.param)


@pytest.fixture(scope="module")
def account(run):
    return account_of(read_run(run))


def test_the_page_of_a_run_is_complete_and_fetches_nothing(run):
    found = Elements((run / "report.html").read_text(encoding="utf-8"))
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links if link.startswith("#")} <= set(found.ids)
    assert all(target == "" or target.startswith("data:") for target in found.fetched)
    assert (run / "report.html").stat().st_size < 5_000_000


def test_the_same_page_is_made_again_from_the_folder_alone(run, account):
    assert page(account) == (run / "report.html").read_text(encoding="utf-8")


def test_every_line_of_the_model_is_on_the_page_and_its_pddl_leads_there(run, account):
    assert any(action.needs for action in account.actions)
    found = Elements((run / "report.html").read_text(encoding="utf-8"))
    for action in account.actions:
        for line in (*action.needs, *action.changes):
            assert line.anchor in found.ids
            assert f"#{line.anchor}" in found.links
            assert account.why(line)


def test_the_images_of_an_image_agent_are_on_the_page_once_each(run_of):
    folder = run_of("doors")
    kept = {f"frame-{path.stem}" for path in (folder / FOLDER).glob("*.png")}
    ids = Elements((folder / "report.html").read_text()).ids
    shown = {name for name in ids if name.startswith("frame-")}
    assert shown
    assert shown <= kept


def test_a_folder_without_images_still_makes_a_page(run_of, tmp_path):
    text = page(account_of(read_run(copied(run_of("doors"), tmp_path, FOLDER))))
    assert "frame-" not in text
    assert "is at ?" in text or "at(" in text


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, None])
def test_files_that_are_not_images_and_links_are_not_shown(run_of, tmp_path, content):
    copy = copied(run_of("doors"), tmp_path)
    for path in (copy / FOLDER).glob("*.png"):
        if content is None:
            path.symlink_to(path.rename(tmp_path / path.name))
        else:
            path.write_bytes(content)
    assert "data:image" not in page(account_of(read_run(copy)))


def test_a_model_that_is_not_the_true_one_is_marked_where_it_differs(run_of, tmp_path):
    copy = copied(run_of("gripper"), tmp_path)
    truth = (copy / "truth.pddl").read_text()
    (copy / "truth.pddl").write_text(truth.replace("(at_robby ?to)\n", "", 1))
    account = account_of(read_run(copy))
    (difference,) = account.differences
    assert str(difference) == "at_robby(?to) in eff of move: + and ∅"
    (marked,) = [line for action in account.actions for line in action.changes if line.differs is not None]
    assert marked.text == "at_robby(?to)"
    assert "ground truth: absent" in page(account)


def test_a_model_that_does_not_follow_from_the_answers_is_called_an_estimate(run_of, tmp_path):
    copy = copied(run_of("gripper"), tmp_path)
    model = (copy / "model.pddl").read_text()
    other = model.replace("(at_robby ?from)\n", "", 1).replace("(at_robby ?from))\n", ")\n", 1)
    (copy / "model.pddl").write_text(other)
    account = account_of(read_run(copy))
    lines = [line for one in account.actions for line in (*one.needs, *one.open, *one.changes)]
    assert any(line.status == "estimated" for line in lines) or account.differences
    page(account)


def test_what_differs_from_the_model_learned_earlier_is_on_the_page_and_in_the_terminal(run, tmp_path):
    differences = [{"text": "something needs <b>\x1b[2J else"}, 7, {"text": None}]
    account = account_of(read_run(copied(run, tmp_path, differences=differences)))
    assert "something needs <b>?[2J else" in in_terminal(account)
    assert "something needs &lt;b&gt;?[2J else" in page(account)
