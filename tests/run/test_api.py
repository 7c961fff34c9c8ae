"""The toolkit from Python: what the command does, in a line, and a result that a notebook can show."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import aam_vision
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent
from aam_vision.support.errors import UnusableInput
from tests import documentation
from tests.elements import Elements
from tests.finished import result_of
from tests.policies.tower import CLUMSY
from tests.processes import fresh
from tests.refusals import told_by

ROOT = Path(__file__).parents[2]
OF_THE_AGENT = {"access", "seed", "repeated_arguments"}


@pytest.mark.parametrize("module", ["aam_vision", "aam_vision.run.api"])
def test_the_examples_do_what_they_show(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands on a page, too, is run with that (``tests/test_docs.py``)."""
    documentation.provide(tmp_path)
    monkeypatch.chdir(tmp_path)
    pages = [page.read_text(encoding="utf-8") for page in documentation.pages()]
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(importlib.import_module(module)):
        shown = "".join(f">>> {one.source}{one.want}" for one in test.examples)
        if not any(shown in page for page in pages):
            runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize(
    ("env", "options"),
    [
        ("gripper", {"policy": "aia", "max_queries": 5}),
        ("gripper", {"access": "snapshot", "seed": 2}),
        ("gripper", {"repeated_arguments": True}),
        ("blocksworld", {"access": "trajectory", "max_steps": 15}),
    ],
)
def test_the_function_does_what_the_command_does(env: str, options: dict[str, Any], tmp_path: Path) -> None:
    assert interrogate_agent(Arguments(env, out=tmp_path, quiet=True, **options)) == 0
    figures = result_of(tmp_path)
    agent = aam_vision.agent_for(env, **{one: options[one] for one in OF_THE_AGENT & options.keys()})
    options = {name: value for name, value in options.items() if name != "access"}
    result = aam_vision.interrogate(agent, **options)
    assert result.pddl == (tmp_path / "model.pddl").read_text()
    found = (result.status, result.counts.queries, result.counts.steps)
    assert found == tuple(figures[name] for name in ("status", "queries", "steps"))


def test_a_model_learned_earlier_is_verified_with_fewer_walks() -> None:
    agent = aam_vision.agent_for("blocksworld")
    learned = aam_vision.interrogate(agent)
    again = aam_vision.interrogate(agent, prior=learned.model)
    assert again.model == learned.model
    assert again.counts.walk_steps < learned.counts.walk_steps
    with pytest.raises(UnusableInput, match="blocks"):
        aam_vision.interrogate(aam_vision.agent_for("gripper"), prior=learned.model)


def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sed'"):
        aam_vision.interrogate(aam_vision.agent_for("gripper"), sed=1)  # type: ignore[call-arg]


def test_pddl_files_and_accesses_that_cannot_be_used_are_refused() -> None:
    files = ROOT / "aam_vision" / "model" / "domains" / "pddl"
    with pytest.raises(UnusableInput, match="no problem"):
        aam_vision.symbolic_agent(files / "gripper.pddl", [])
    with pytest.raises(UnusableInput, match=r"^access anything: cannot be used"):
        aam_vision.agent_for("gripper", access="anything")


def test_a_notebook_shows_the_model_and_its_gaps_with_all_text_escaped() -> None:
    result = aam_vision.interrogate(aam_vision.agent_for("gripper"), max_queries=3)
    hostile = replace(result, why="<script>alert('now')</script> & more")
    page = Elements(hostile._repr_html_())
    assert page.open == []
    assert page.names == {"table", "tr", "th", "td", "details", "summary", "pre", "ul", "li", "code"}
    assert hostile.why in page.text
    assert result.pddl in page.text
    for entry in result.undetermined:
        assert entry.group[0] in page.text
    assert len(repr(result)) < 200


def test_what_controls_do_is_shown_as_other_results_are() -> None:
    from aam_vision.interrogation.controls.result import figures

    result = aam_vision.interrogate_controls(aam_vision.agent_for("blocks", controls=True), max_steps=60)
    assert (result.complete, result.pddl.split()[:3]) == (False, ["(define", "(domain", "blocks)"])
    told, page = str(result), Elements(replace(result, why="<b>why</b>")._repr_html_())
    assert page.open == []
    assert page.names == {"table", "tr", "th", "td", "details", "summary", "pre"}
    assert "<b>why</b>" in page.text
    for operator in result.operators:
        assert str(operator.header) in told
        assert str(operator.header) in page.text
    assert [name for name, _ in figures(result) if name][:3] == ["status", "controls", "operators"]
    assert repr(result) == "<ControlsResult: budget; 4 controls, 4 operators; 60 controls given>"


def test_how_a_model_was_learned_can_be_drawn() -> None:
    from matplotlib.figure import Figure

    result = aam_vision.interrogate(aam_vision.agent_for("gripper"), max_queries=3)
    axes = result.plot(Figure().subplots())
    ((line,), labels) = axes.lines, (axes.get_xlabel(), axes.get_ylabel())
    assert labels == ("queries", "lines as in the end")
    queries, shares = line.get_data()
    assert list(queries) == [point.queries for point in result.curve]
    assert sorted(shares) == list(shares)
    assert shares[-1] == 1


def test_a_model_is_a_table() -> None:
    result = aam_vision.interrogate(aam_vision.agent_for("gripper"), max_queries=3)
    frame = result.to_frame().set_index(["action", "location", "atom"])
    schema = result.model.schema("pick")
    required = frame.sort_index().loc["pick", "pre"]
    positive = {atom.text(schema.header.parameters) for atom in schema.positive}
    assert positive == {*required[required["mode"] == "+"].index}
    left = frame[~frame["certain"]]
    assert {*left.index} == {
        (pal.action, pal.location.value, pal.atom.text(result.model.schema(pal.action).header.parameters))
        for one in result.undetermined
        for pal in one.pals
    }
    assert not left.empty


def test_outcomes_are_a_table() -> None:
    frame = aam_vision.interrogate(CLUMSY, chance=True, within=0.2, max_steps=150).to_frame()
    assert {*frame["action"]} == {"achieve-on"}
    assert ((frame["low"] <= frame["probability"]) & (frame["probability"] <= frame["high"])).all()
    blocked = frame[frame["condition"].str.contains(r"not clear\(\?block2\)")]
    assert not blocked.empty
    assert not blocked["effects"].str.startswith("on(").any()


def test_importing_the_package_loads_nothing_else_and_all_names_resolve() -> None:
    code = (
        "import sys; before = set(sys.modules); import aam_vision\n"
        "loaded = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "assert loaded <= {'aam_vision', *sys.stdlib_module_names}, loaded\n"
        "assert set(aam_vision.__all__) <= set(dir(aam_vision))\n"
        "for name in aam_vision.__all__: assert getattr(aam_vision, name) is not None\n"
    )
    done = fresh(code)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        aam_vision.nothing_of_this_name  # noqa: B018


@pytest.mark.parametrize("method", ["initial", "ask", "walk"])
def test_whatever_an_agent_raises_is_its_failure_and_leaves_what_was_learned(method, monkeypatch):
    agent = aam_vision.agent_for("gripper", access="snapshot")
    answers, told = getattr(agent, method), "the agent raised KeyError: 'gone'"

    def breaks(*question: Any) -> Any:
        asked.append(question)
        if len(asked) > (0 if method == "initial" else 2):
            raise KeyError("gone")
        return answers(*question)

    asked: list[Any] = []
    monkeypatch.setattr(agent, method, breaks)
    result = aam_vision.interrogate(agent, raises=False)
    assert (result.status, result.missing) == ("failed", told)
    assert bool(result.counts.steps) is (method != "initial")
    with pytest.raises(aam_vision.AgentFailed, match="KeyError: 'gone'") as raised:
        aam_vision.interrogate(agent)
    assert isinstance(raised.value.__cause__.__cause__, KeyError)  # type: ignore[union-attr]


@pytest.mark.parametrize("interrogate", [aam_vision.interrogate, aam_vision.interrogate_controls])
def test_a_seed_is_no_negative_number_and_an_agent_is_no_name(interrogate: Callable[..., Any]) -> None:
    agent = aam_vision.agent_for("blocks", controls=interrogate is aam_vision.interrogate_controls)
    told_by(lambda: interrogate(agent, seed=-1), "^seed -1: give a number from 0")
    told_by(lambda: interrogate("blocks"), "str is no agent")


def test_an_agent_in_python_that_does_not_answer_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = aam_vision.agent_for("gripper")
    monkeypatch.setattr(agent, "ask", lambda query: None)
    told = aam_vision.interrogate(agent, raises=False).missing
    assert told == "ask returned NoneType; it has to return a Response"
