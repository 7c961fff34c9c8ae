"""The first screen of a policy: how often it achieves what it is told, where, what else comes of it, and what it claims."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from aam_vision.model.query import CLIP_IMAGES, objective
from aam_vision.model.strips import ActionHeader, LiftedAtom, Predicate, Vocabulary
from aam_vision.report.abilities import Deed
from aam_vision.report.account import account_of
from aam_vision.report.page import page
from aam_vision.report.recorded import read_run
from tests.commands import called
from tests.finished import copied, cut_short

CLAIM = re.compile(r"claims to be done (\d+)% of the time, (\d+)% falsely \((\d+)-(\d+)%\)")


Ran = Callable[[str], Path]


def told(run: Path) -> tuple[Deed, ...]:
    """The rows of the first screen."""
    return account_of(read_run(run)).screen.abilities.deeds


def test_each_condition_has_a_row_with_a_bar_and_its_rates_are_those_of_the_policy(ran: Ran) -> None:
    account = account_of(read_run(ran("CLUMSY")))
    rows = account.screen.abilities.deeds
    assert {row.action for row in rows} == {"achieve-on"}
    shares = [row.found.probability for row in rows if row.found]
    first = page(account).split("<nav")[0]
    assert len(shares) == len(rows) == first.count('<svg class="bar"') > 1
    assert shares == sorted(shares, reverse=True), "what it can do stands first"
    for row in rows:
        assert row.found is not None
        true = 0.0 if "?block2 is not clear" in row.words else 0.9
        assert row.found.low <= true <= row.found.high, row.words
        claim = CLAIM.search(row.words)
        assert claim is not None
        assert claim[1] == "100"
        assert int(claim[3]) <= 100 * (1 - true) <= int(claim[4]), "what it did not achieve it claims falsely"
        assert ("%), in 1 step; it" in row.words) is (row.found.hits > 0)


def test_only_pursuits_of_what_did_not_hold_count_and_changes_elsewhere_are_told_first(ran: Ran) -> None:
    run, rows = read_run(ran("SHY")), told(ran("SHY"))
    begun = [
        LiftedAtom("on", (0, 1)).ground(entry.query.plan[0].objects) in entry.query.initial.state.true
        for entry in run.transcript.entries
        if hasattr(entry, "query")
    ]
    assert any(begun), "such pursuits were made, too"
    made = sum(row.found.trials for row in rows if row.found)
    walked = sum(len(entry.actions) for entry in run.transcript.entries if not hasattr(entry, "query"))
    assert len(begun) - sum(begun) <= made <= len(begun) - sum(begun) + walked
    for row in rows:
        claim = CLAIM.search(row.words)
        assert claim is not None
        assert (claim[2], claim[3]) == ("0", "0")
        assert "%), in 1 to 2 steps; it" in row.words, "first it takes away what lies on the place"
        elsewhere = r"besides, [^;%]*\b(another block is|is (no longer )?on another block) [^;%]*\("
        assert re.search(elsewhere, row.words), "what changes elsewhere stands first, in words"


def test_each_row_shows_a_pursuit_that_achieved_it_and_one_that_did_not(ran: Ran) -> None:
    rows, plain = told(ran("SEEN")), told(ran("CLUMSY"))
    assert [row.words for row in rows] == [row.words for row in plain]
    assert not any(row.clips for row in plain), "this one renders nothing"
    html = page(account_of(read_run(ran("SEEN"))))
    for row in rows:
        assert row.found is not None
        ends = [clip.words.partition(": ")[2] for clip in row.clips]
        wanted = {"achieved": row.found.hits, "claimed, not achieved": row.found.trials - row.found.hits}
        assert ends == [end for end, times in wanted.items() if times]
        for clip in row.clips:
            assert 1 < len(clip.images) <= CLIP_IMAGES
            assert all(f'<symbol id="frame-{name}"' in html for name in clip.images)
    assert len(html) < len(page(account_of(read_run(ran("CLUMSY"))))) + 20_000


def test_what_a_policy_undoes_that_held_already_is_told_and_claimed_falsely(ran: Ran) -> None:
    (row,) = [row for row in told(ran("TOSSES")) if "holds already" in row.words]
    assert row.found is not None
    kept = 0.3 + 0.7 * 0.7  # it is not taken, or put back
    assert row.found.low <= kept <= row.found.high
    claim = CLAIM.search(row.words)
    assert claim is not None
    assert int(claim[3]) <= 100 * (1 - kept) <= int(claim[4])
    assert not [row for row in told(ran("SHY")) if "holds" in row.words]


def test_a_run_that_is_taken_up_again_shows_the_same_clips(ran: Ran, tmp_path: Path) -> None:
    run = copied(ran("SEEN"), tmp_path)
    cut_short(run, 40)
    asked = ("--resume", "run", "--env", "tests.policies.tower:SEEN", "--quiet")
    called("aam_vision.run", *asked, cwd=tmp_path, code=0)
    assert told(run) == told(ran("SEEN"))


@pytest.mark.parametrize(
    ("name", "arity", "meant"),
    [
        ("achieve-on", 2, (LiftedAtom("on", (0, 1)), True)),
        ("undo-on", 2, (LiftedAtom("on", (0, 1)), False)),
        ("achieve-on", 1, None),
        ("achieve-above", 2, None),
        ("on", 2, None),
    ],
)
def test_an_action_is_an_objective_if_it_is_called_so_and_the_agent_claims(name, arity, meant):
    on, claimed = Predicate("on", ("block", "block")), Predicate("claimed", ())
    header = ActionHeader(name, ("x", "y")[:arity], ("block",) * arity)
    assert objective(header, Vocabulary("tower", (on, claimed))) == meant
    assert objective(header, Vocabulary("tower", (on,))) is None
