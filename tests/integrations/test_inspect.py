"""Models behind Inspect's interface as policies, and policies as its tasks. Nothing here asks a network: the model is Inspect's mock."""

from __future__ import annotations

import asyncio
import gc
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest

import aam_vision
from aam_vision.envs.matched import capability, rate
from aam_vision.envs.policies import PolicyAgent
from aam_vision.envs.told_agents import ToldAgent
from aam_vision.model.strips import GroundAction
from tests.documentation import ROOT, blocks
from tests.policies.test_told_agents import Refusing
from tests.refusals import told_by

pytest.importorskip("inspect_ai", reason="Inspect AI is not installed (the extra `inspect`)")

from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from aam_vision.integrations.inspect import ENDS, ModelPolicy, assessment

pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]
"""Of Inspect itself: each of its tasks leaves streams to the garbage collector."""

Answer = Callable[..., Any]
WORDS = aam_vision.Vocabulary(
    "lamps", (aam_vision.Predicate("lit", ("lamp",)),), aam_vision.Types({"lamp": "object"})
)
ONTO = {name: GroundAction("achieve-lit", (name,)) for name in ("left", "right")}
PAGE = [block for block in blocks(ROOT / "docs" / "tutorials" / "policies.md") if block.language == "python"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ModuleType, ModuleType]]:
    """The two modules of the page: the world, and the task."""
    folder, world = tmp_path_factory.mktemp("lamps"), PAGE[0].body
    (task,) = (block for block in PAGE if block.title == "assess.py")
    (folder / "lamps.py").write_text(world, encoding="utf-8")
    (folder / "assess.py").write_text(task.body, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("lamps"), importlib.import_module("assess")
    finally:
        sys.path.remove(str(folder))
        for name in ("lamps", "assess"):
            sys.modules.pop(name, None)
        gc.collect()  # what Inspect leaves, where warnings of it are ignored


@pytest.fixture
def lamps(pages: tuple[ModuleType, ModuleType]) -> ModuleType:
    return pages[0]


def said(output: ModelOutput) -> ModelOutput:
    """With its tokens, which the mock would count with a table from the network."""
    output.usage = ModelUsage()
    return output


def calls(tool: str, **arguments: Any) -> ModelOutput:
    return said(ModelOutput.for_tool_call("mockllm", tool, arguments))


def mock(answer: Answer | None) -> Any:
    return answer and get_model("mockllm/model", custom_outputs=answer)


def objective(messages: Any) -> str:
    """The lamp that a model is told to light."""
    return "left" if "The objective: lit(left)" in messages[0].text else "right"


def hasty(messages: Any, *given: Any) -> ModelOutput:
    """As the hasty policy of the page: one press, and a claim."""
    if len(messages) == 1:
        return calls("press", lamp=objective(messages))
    return calls("submit", achieved=True)


async def by_turns(messages: Any, *given: Any) -> ModelOutput:
    """The same, while others act."""
    await asyncio.sleep(0.01)
    return hasty(messages)


def careful(messages: Any, *given: Any) -> ModelOutput:
    """As the careful one: it reads what is true."""
    lamp = objective(messages)
    done = f"lit({lamp})" in messages[-1].text.split("True now")[-1]
    return calls("submit", achieved=True) if done else calls("press", lamp=lamp)


def silent(*given: Any) -> ModelOutput:
    return said(ModelOutput.from_content("mockllm", "It is done!"))


def honest(*given: Any) -> ModelOutput:
    return calls("submit", achieved=False)


def restless(messages: Any, *given: Any) -> ModelOutput:
    return calls("press", lamp="left")


def stray(*given: Any) -> ModelOutput:
    return calls("press", lamp="middle")


def raising(*given: Any) -> ModelOutput:
    raise ZeroDivisionError("no such key")


async def slow(*given: Any) -> ModelOutput:
    await asyncio.sleep(60)
    return honest()


def agent(lamps: ModuleType, answer: Answer | None, **more: Any) -> PolicyAgent:
    """A model in the page's world, with a tool that takes the name of a lamp."""

    def press(lamp: str) -> int:
        """Press the switch of a lamp.

        Args:
            lamp: left or right.
        """
        index: int = lamps.LAMPS.index(lamp)
        return index

    found: PolicyAgent = lamps.agent(ModelPolicy(mock(answer), **{"actions": [press], **more}))
    found._limit = 6
    return found


def logged(task: Any, folder: Path, answer: Answer | None = None, **more: Any) -> EvalLog:
    """The log of a task, as Inspect reads it from its file."""
    (log,) = evaluate(task, model=mock(answer) or "none", log_dir=str(folder), display="none", **more)
    return read_eval_log(log.location)


def test_a_model_is_assessed_as_the_policy_that_acts_as_it_does(lamps: ModuleType) -> None:
    for answer, policy in ((hasty, lamps.hasty), (careful, lamps.careful)):
        ours, theirs = agent(lamps, answer), lamps.agent(policy)
        assert str(capability(ours, "lit", at_least=0.9)) == str(capability(theirs, "lit", at_least=0.9))
    both = agent(lamps, hasty), lamps.agent(lamps.hasty)
    ours, theirs = (str(aam_vision.interrogate(one, chance=True, within=0.25, max_steps=60)) for one in both)
    assert ours == theirs
    assert "claimed()" in ours


def test_the_task_of_the_page_scores_each_pursuit_as_it_ended(pages: Any, tmp_path: Path) -> None:
    lamps, page = pages
    log = logged(page.lamps(), tmp_path, by_turns)
    assert (log.status, log.eval.task) == ("success", "lamps")
    samples, policy = log.samples or [], lamps.agent(lamps.hasty)
    ends = []
    for sample in samples:
        told = sample.metadata
        step = GroundAction(told["action"], tuple(told["objects"]))
        ends.append(policy.pursue_from(told["start"], step, told["luck"]))
        assert sample.scores is not None
        assert sample.scores["achieve-lit"].value == str(ends[-1])
        assert [one.role for one in sample.messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert log.results is not None
    (score,) = log.results.scores
    metrics = {name: one.value for name, one in score.metrics.items()}
    achieved = sum(end.achieved for end in ends)
    assert (score.name, metrics["achieved"]) == ("achieve-lit", achieved / len(ends))
    assert (metrics["from"], metrics["to"]) == rate(achieved, len(ends), within=len(ends) ** -0.5)
    assert metrics["to"] - metrics["from"] < 0.45
    for name in ENDS:
        assert metrics[name] == sum(str(end) == name for end in ends) / len(ends)
    assert 0 < metrics["claimed, not achieved"] < 1


def test_each_kind_of_objective_has_a_scorer(lamps: ModuleType, tmp_path: Path) -> None:
    """And policies that are no models are assessed, too."""

    def facts(env: Any) -> list[aam_vision.Atom]:
        return [
            aam_vision.Atom("lit", (name,)) for name, lit in zip(lamps.LAMPS, env.lit, strict=True) if lit
        ]

    words = {"vocabulary": WORDS, "facts": facts, "objects": dict.fromkeys(lamps.LAMPS, "lamp")}
    both = PolicyAgent(
        lamps.Lamps,
        lambda environment, seen, objective, limit: not objective.value,
        **words,
        objectives=["lit", "not lit"],
        seeds=range(5),
    )
    log = logged(assessment(both, samples=3), tmp_path, epochs=2)
    assert log.results is not None
    told = {score.name: {name for name in ENDS if score.metrics[name].value} for score in log.results.scores}
    assert told == {"achieve-lit": {"given up"}, "undo-lit": {"claimed, not achieved"}}
    assert [score.scored_samples for score in log.results.scores] == [6, 6]


@pytest.mark.parametrize(
    ("answer", "end", "steps"),
    [(silent, "given up", 0), (honest, "given up", 0), (stray, "timed out", 0), (restless, "timed out", 6)],
)
def test_a_model_that_does_not_what_it_should_ends(lamps: Any, answer: Answer, end: str, steps: int) -> None:
    asked = agent(lamps, answer)
    right = asked.objective(ONTO["right"]).atom
    dark = next(number for number, one in enumerate(asked.initial()) if right not in one.state.true)
    found = asked.pursue_from(dark, ONTO["right"], 0)
    assert (str(found), found.steps) == (end, steps)


def test_an_action_that_is_none_is_told_to_the_model_and_is_no_step(lamps: ModuleType) -> None:
    seen: list[str] = []

    def pressing(number: int) -> int:
        """Press.

        Args:
            number: Of a switch.
        """
        return [0, 1, 7][number]

    def answer(messages: Any, *given: Any) -> ModelOutput:
        last, turn = messages[-1], len(messages) // 2
        seen.append(last.error.message if last.role == "tool" and last.error else last.text)
        if turn < 3:
            return calls("pressing", number=(2, 3, "x")[turn])
        return calls("jump") if turn == 3 else calls("submit", achieved=False)

    ended = agent(lamps, answer, actions=[pressing]).pursue_from(0, ONTO["left"], 0)
    assert ended.steps == 0
    wanted = "7 is not in Discrete(2)", "list index out of range", "validation error", "not found"
    assert all(words in told for words, told in zip(wanted, seen[1:], strict=True)), seen


def test_what_a_model_is_told_can_be_said_otherwise(lamps: ModuleType) -> None:
    told: list[str] = []

    def answer(messages: Any, *given: Any) -> ModelOutput:
        told.append(messages[-1].text)
        return calls("act", action=1) if len(messages) == 1 else calls("submit", achieved=False)

    words = {"lit": "the {0} lamp is lit"}
    start = next(n for n in range(5) if agent(lamps, answer).initial()[n].state.true)
    for more in ({"templates": words}, {"tell": lambda env, seen: f"lights: {list(map(int, env.lit))}"}):
        agent(lamps, answer, actions=(), **more).pursue_from(start, ONTO["left"], 0)
    assert "The objective: the left lamp is lit\n\nTrue now, and nothing else:\nthe " in told[0]
    assert "lights: [" in told[2]
    assert told[3].startswith("lights: [")


class Broken(gymnasium.Env[Any, int]):
    """Inspect tells some kinds of errors to the model."""

    action_space = gymnasium.spaces.Discrete(2)
    lit = (False, False)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.lit, {}

    def step(self, action: int) -> Any:
        raise PermissionError("the simulator is locked")


@pytest.mark.parametrize(
    ("answer", "world", "complaint"), [(raising, None, "no such key"), (hasty, Broken, "is locked")]
)
def test_a_failure_of_the_harness_is_no_loss(
    lamps: ModuleType, answer: Answer, world: Any, complaint: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(lamps, "Lamps", world or lamps.Lamps)
    with pytest.raises(aam_vision.AgentFailed, match=complaint):
        capability(agent(lamps, answer), "lit", at_least=0.9)
    log = logged(assessment(agent(lamps, answer), samples=2), tmp_path, fail_on_error=False)
    assert log.samples
    for sample in log.samples:
        assert not sample.scores
        assert complaint in getattr(sample.error, "message", "")


@pytest.mark.parametrize(("answer", "kind", "most"), [(restless, "message", 4), (slow, "time", 1)])
def test_a_pursuit_that_a_limit_of_inspect_ends_has_timed_out(
    lamps: ModuleType, answer: Answer, kind: str, most: int, tmp_path: Path
) -> None:
    log = logged(assessment(agent(lamps, answer), samples=2, seed=1), tmp_path, **{f"{kind}_limit": most})
    found: list[Any] = log.samples or []
    assert [sample.limit.type for sample in found] == [kind] * 2
    assert [sample.scores["achieve-lit"].value for sample in found] == ["timed out"] * 2


def test_a_notebook_has_a_loop_of_its_own(lamps: ModuleType) -> None:
    async def cell() -> str:
        return str(agent(lamps, hasty).pursue_from(0, ONTO["left"], 0))

    assert asyncio.run(cell()) == str(agent(lamps, hasty).pursue_from(0, ONTO["left"], 0))


def submit() -> int:
    """Act."""
    return 0


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"actions": [submit]}, "a name of its own, and none submit"),
        ({"actions": [honest, honest]}, "a name of its own"),
        ({"actions": [lambda: 0]}, "functions that have names"),
        ({"actions": [slow]}, "are not async"),
        (
            {"templates": {"lit": "light {1}"}},
            r"templates lit: 'light \{1\}' does not say lit\((left|right)\)",
        ),
        ({"templates": {"lit": "light {"}}, "does not say"),
    ],
)
def test_what_a_model_cannot_be_told_is_refused(lamps: ModuleType, more: Any, complaint: str) -> None:
    with pytest.raises(aam_vision.UnusableInput, match=complaint):
        capability(agent(lamps, hasty, **more), "lit", at_least=0.9)


def test_what_no_model_can_do_is_refused(lamps: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INSPECT_EVAL_MODEL", raising=False)
    told_by(lambda: capability(agent(lamps, None), "lit", at_least=0.9), "No model specified")
    told_by(lambda: assessment(agent(lamps, hasty), samples=0), "give one at least")
    monkeypatch.setattr(lamps.Lamps, "action_space", gymnasium.spaces.Box(-1, 1, (2,), np.float32))
    by_default = agent(lamps, hasty, actions=())
    told_by(lambda: capability(by_default, "lit", at_least=0.9), "actions: are numbers by default")


def test_samples_at_a_time_need_environments_of_their_own(
    lamps: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lamps.Lamps()
    monkeypatch.setattr(lamps, "Lamps", lambda: one)
    log = logged(assessment(agent(lamps, by_turns), samples=3), tmp_path)
    assert log.error is not None
    assert "gives the same environment each time" in log.error.message


def test_any_agent_that_is_told_objectives_is_assessed(tmp_path: Path) -> None:
    log = logged(assessment(ToldAgent(Refusing()), samples=2), tmp_path)
    assert log.results is not None
    assert log.results.scores[0].metrics["given up"].value == 1
