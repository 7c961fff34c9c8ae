"""Models behind Inspect AI's interface as policies, and what policies can do as tasks of Inspect.

>>> from aam_vision.integrations.inspect import ModelPolicy, assessment

A model acts by tools, is told in text what is true, and claims by a tool ``submit``. Any agent that is told objectives is assessed.
"""

from __future__ import annotations

import asyncio
import atexit
import re
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from inspect import iscoroutinefunction
from typing import Any

import numpy as np
from anyio import get_cancelled_exc_class
from gymnasium.spaces import Discrete

from aam_vision.envs.matched import Draws, rate
from aam_vision.envs.policies import Objective, PolicyAgent, Spent, Told
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import UnusableInput, reason
from aam_vision.support.wording import counted

try:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessage, ChatMessageUser, Model, execute_tools, get_model
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import ToolDef, ToolError
    from inspect_ai.util import LimitExceededError
except ImportError as error:
    raise UnusableInput(f"needs Inspect AI: pip install 'aam-vision[inspect]' ({reason(error)})") from None

SUBMIT = "submit"
PROMPT = f"Act by calling tools until the objective holds. Then, or if you cannot achieve it, call {SUBMIT}."
SILENT = f"Go on by calling a tool; if you are done, or cannot go on, call {SUBMIT}."
MOST_SILENT = 2
"""Answers in a row without a call of a tool, after which a model has given up."""
ENDS = ("claimed, not achieved", "achieved, not claimed", "timed out", "given up")
"""How pursuits end that are not as they should be."""


class ModelPolicy:
    """A policy that is a model behind Inspect's interface.

    What it calls with arguments that no action fits is told to it as an error, and is no step. It gives one answer more than it has steps,
    at most; after two in a row that call nothing it has given up.

    Args:
        model: its name, as ``openai/gpt-5``, or the model itself; default the one that is evaluated.
        actions: functions that give an action of the environment. Their names, parameters and docstrings are the model's tools; default
            one that takes the number of an action.
        tell: tells an environment (``env.unwrapped``) and its last observation in text; default all facts that are true.
        templates: by predicate, how facts and objectives are said: ``{0} is on {1}``.
        prompt: what comes before the objective.

    Raises:
        UnusableInput: two actions have one name, or one has none, is called ``submit``, or is async.
    """

    def __init__(
        self,
        model: str | Model | None = None,
        *,
        actions: Collection[Callable[..., Any]] = (),
        tell: Callable[[Any, Any], str] | None = None,
        templates: Mapping[str, str] | None = None,
        prompt: str = PROMPT,
    ) -> None:
        names = [getattr(one, "__name__", "") for one in actions]
        if not all(map(str.isidentifier, names)) or any(map(iscoroutinefunction, actions)):
            raise UnusableInput("give functions that have names, and are not async", "actions")
        if SUBMIT in names or len(set(names)) < len(names):
            raise UnusableInput(
                f"give each a name of its own, and none {SUBMIT}", "actions", ", ".join(names)
            )
        self._model, self._actions, self._tell = model, tuple(actions), tell
        self._templates, self._prompt = templates or {}, prompt

    def __call__(self, environment: Any, observation: Any, objective: Objective, limit: int) -> bool:
        """Pursue an objective outside of a task of Inspect."""
        return _awaited(self.pursue(environment, objective, limit, []))

    def said(self, objective: Objective) -> str:
        """An objective in the user's words."""
        return objective.text(self._templates)

    async def pursue(
        self, environment: Any, objective: Objective, limit: int, messages: list[ChatMessage]
    ) -> bool:
        """Whether the model claims to be done; what is said is added to ``messages``."""
        try:
            model = get_model(self._model)
        except Exception as error:  # a provider that is not installed, a key that is not set: of any kind
            why = re.sub(r"\[/?\w+\]", "", reason(error))  # their markup
            raise UnusableInput(f"cannot be used ({why})", "model", self._model) from error
        claims: list[bool] = []
        failed: list[Exception] = []

        async def submit(achieved: bool) -> str:
            """Submit, and end.

            Args:
                achieved: Whether the objective holds now.
            """
            claims.append(achieved)
            return "Submitted."

        tools = [ToolDef(submit), *(self._tool(act, environment, failed) for act in self._acts(environment))]
        told = f"{self._prompt}\n\nThe objective: {self.said(objective)}\n\n{self._told(environment)}"
        messages.append(ChatMessageUser(content=told))
        silent = 0
        for _ in range(limit + 1):  # the last one may submit
            output = await model.generate(messages, tools)
            messages.append(output.message)
            if output.message.tool_calls:
                silent = 0
                messages.extend((await execute_tools(messages, tools)).messages)
                if failed:
                    raise failed[0]
                if claims:
                    return claims[-1]
            elif (silent := silent + 1) == MOST_SILENT:
                return False
            else:
                messages.append(ChatMessageUser(content=SILENT))
        raise Spent

    def _acts(self, environment: Any) -> tuple[Callable[..., Any], ...]:
        """The user's actions; else the numbers of those of the environment."""
        space = environment.action_space
        if self._actions:
            return self._actions
        if not isinstance(space, Discrete):
            raise UnusableInput(
                f"are numbers by default, and the environment's are {space}: give some", "actions"
            )

        def act(action: int) -> int:
            return action

        act.__doc__ = f"Act in the environment.\n\nArgs:\n    action: Which, {space.start} to {space.start + space.n - 1}."
        return (act,)

    def _tool(self, act: Callable[..., Any], environment: Any, failed: list[Exception]) -> ToolDef:
        """A tool that acts in the environment, and tells what is true then; an error of the environment is added to ``failed``.

        Raised in a tool, some kinds of errors would be told to the model.
        """

        async def step(**kwargs: Any) -> str:
            try:
                action = act(**kwargs)
            except (LookupError, ValueError) as error:
                raise ToolError(f"There is no such action: {reason(error)}") from error
            if not environment.action_space.contains(action):
                raise ToolError(f"There is no such action: {action!r} is not in {environment.action_space}")
            try:
                environment.step(action)
                return self._told(environment)
            except Exception as error:  # of any kind: it is foreign code
                failed.append(error)
                return ""

        known = ToolDef(act)
        return ToolDef(step, known.name, known.description or known.name, known.parameters)

    def _told(self, environment: Any) -> str:
        """What a model is told of the present."""
        if self._tell is not None:
            told = self._tell(environment.unwrapped, environment.observation)
        else:
            true = sorted(Objective(atom).text(self._templates) for atom in environment.true())
            told = "\n".join(["True now, and nothing else:", *true]) if true else "Nothing is true now."
        return f"{told}\nThe episode is over." if environment.ended else told


def assessment(agent: Told, *, samples: int = 50, seed: int = 0) -> Task:
    """A task of Inspect: so many pursuits of each kind of objective, with a scorer for each.

    Starts, objectives and luck are drawn as ``capability`` draws them. A failure of the harness is an error of its sample, and no score.

    Args:
        agent: a policy in its environment, or another agent that is told objectives.
        samples: pursuits of each kind.
        seed: of starts, objectives and luck.

    Raises:
        UnusableInput: there is no sample, or no start at which an objective does not hold.
        AgentFailed: the environment failed.
    """
    if samples < 1:
        raise UnusableInput("give one at least", "samples", samples)
    draws, found = Draws(agent, np.random.default_rng(seed)), []
    policy = getattr(agent, "policy", None)
    said = policy.said if isinstance(policy, ModelPolicy) else str
    for header in agent.headers:
        for number in range(samples):
            if (drawn := draws.draw(header)) is None:
                raise UnusableInput(
                    "no pursuit of it was found: it may hold at every start",
                    "objective",
                    agent.kind(header.name),
                )
            start, step, luck = drawn
            told = {"action": header.name, "objects": list(step.objects), "seed": int(agent.seeds[start])}
            found.append(
                Sample(
                    said(agent.objective(step)),
                    id=f"{header.name} {number}",
                    target="achieved",
                    metadata={**told, "start": start, "luck": luck},
                )
            )
    return Task(
        MemoryDataset(found, agent.vocabulary.name),
        solver=_pursues(agent),
        scorer=[_achieves(header.name, samples**-0.5) for header in agent.headers],
    )


def _pursues(agent: Told) -> Solver:
    """Have the objective of a sample pursued; of a model's pursuits that are under way each has an environment of its own."""
    idle = [agent] if isinstance(agent, PolicyAgent) else []

    @solver  # type: ignore[untyped-decorator]
    def pursuit() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            told, stopped = state.metadata, None
            step = GroundAction(told["action"], tuple(told["objects"]))
            begun = told["start"], step, told["luck"] + state.epoch - 1
            state.messages = []
            if isinstance(agent, PolicyAgent) and isinstance(model := agent.policy, ModelPolicy):
                here = idle.pop() if idle else agent.another()
                try:
                    with here.pursuit(*begun) as pursuit:
                        try:
                            pursuit.claimed = await model.pursue(
                                pursuit.environment, pursuit.objective, pursuit.limit, state.messages
                            )
                        except (LimitExceededError, get_cancelled_exc_class()) as limit:
                            stopped = limit
                            raise Spent from limit
                finally:
                    idle.append(here)
                end = pursuit.ended
            else:
                end = agent.pursue_from(*begun)
            state.store.set("end", str(end))
            state.store.set("steps", end.steps)
            state.store.set("true", sorted(str(atom) for atom in end.after.true if atom.predicate != CLAIMED))
            if stopped is not None:  # it is Inspect's to say which limit that was
                raise stopped
            return state

        return solve

    return pursuit()


def _achieves(action: str, within: float) -> Scorer:
    """How a pursuit of this kind ended; no score for those of others, and for failures of the harness."""

    @scorer(metrics=[_ends(within)], name=action)  # type: ignore[untyped-decorator]
    def achieves() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score | None:
            if state.metadata["action"] != action or (end := state.store.get("end")) is None:
                return None
            true = ", ".join(state.store.get("true")) or "nothing"
            steps = state.store.get("steps")
            return Score(value=end, explanation=f"After {counted(steps, 'step')} was true: {true}")

        return score

    return achieves()


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def _ends(within: float) -> Metric:
    """How often pursuits ended how; of those that achieved their objective with an interval that holds with 95%, however long one looks.

    ``within``: its half width where it is narrowest.
    """

    def computed(scores: list[SampleScore]) -> dict[str, float]:
        ended = Counter(one.score.as_str() for one in scores)
        achieved, made = ended["achieved"] + ended["achieved, not claimed"], len(scores)
        low, high = rate(achieved, made, within=within)
        found = {"achieved": achieved / max(1, made), "from": low, "to": high}
        return found | {name: ended[name] / max(1, made) for name in ENDS}

    return computed


@cache
def _loop() -> asyncio.Runner:
    """One for all pursuits outside of tasks, as the connections of a model belong to the loop in which they were made."""
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


def _awaited(pursuit: Coroutine[Any, Any, bool]) -> bool:
    """What a pursuit claims."""
    if asyncio._get_running_loop() is None:
        return _loop().run(pursuit)
    with ThreadPoolExecutor(1) as beside:  # in a notebook, which has a loop of its own
        return beside.submit(_loop().run, pursuit).result()
