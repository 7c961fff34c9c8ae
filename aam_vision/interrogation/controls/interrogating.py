"""The whole interrogation of an agent of which only the controls are known.

Walks, discovery, the interrogation that stands, with the discovered operators as instructions; and, whenever a transition
refutes these, discovery and interrogation anew: nothing that was proven of operators that are none stays proven. What was
given before is not given again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.interrogation.controls.agent import OperatorAgent, Overlaps
from aam_vision.interrogation.controls.chance import LikeliestAgent, Random, check_chance, shares
from aam_vision.interrogation.controls.discovery import Discovery, apart
from aam_vision.interrogation.controls.exploring import Near, cover, discovered, explore, found, found_so_far
from aam_vision.interrogation.controls.giving import Given, Giving, StepsSpent, TwoWays
from aam_vision.interrogation.controls.late import NotLate, PunctualAgent, delays
from aam_vision.interrogation.controls.lookalikes import diagnosed
from aam_vision.interrogation.controls.memory import Memories
from aam_vision.interrogation.controls.misreading import Misread, doubted, two_ways
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.prior import Prior, try_earlier
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.controls.rules import ControlModel, Refuted, Rules
from aam_vision.interrogation.controls.watching import (
    HISTORY,
    LEAST,
    Watched,
    give_the_rest,
    repeat,
    retrace,
    watch,
)
from aam_vision.interrogation.examination.findings import Diagnosis
from aam_vision.interrogation.examination.looking import pixels_differ
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.model.query import Agent
from aam_vision.model.remembered import LateControls
from aam_vision.planning.planner import Planner
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import AgentFailed
from aam_vision.support.resources import ENDING_SECONDS, Resources, ResourcesSpent
from aam_vision.support.wording import some

MAX_ROUNDS = 40
"""Discoveries of one interrogation."""
UNTRIED = 20
"""Circumstances in which a control was not given that are named."""
NAMED = 5
"""Operators that a line of progress names."""
REST = 400
"""Controls that are given where they were not, at most, if nothing can happen then that was not seen."""
REFUTED, MULTIPLIED = 3, 1.3
"""After so many refutations, and with so many times as many operators as at first, what did something is given again: what was
done before may matter, and cases only multiply then."""
QUERIES, DOUBTED, GIVEN_UP = 16, 3, 1
"""Queries for each operator, at most, if no other number is given: of one interrogation; of all in which operators leave something
unexplained, so that nothing of them can be certain; and of these where it was given up to look for better ones. Few ask more than
six; where cases are missing they may ask for hours."""
MEMORIES = 8
"""Memories with which controls are interrogated, at most, where what was done before matters."""
SAME, WAITING = 3, 6
"""Times that the same operators may be found again after they were refuted; and rounds in which they are the same since the search
for others was given up, and is taken up only once more was seen."""


@dataclass(frozen=True)
class Options:
    """How controls are interrogated."""

    max_steps: int | None = None
    """Controls that may be given in all."""
    max_queries: int | None = None
    """Queries of the interrogation of the operators; None for what ``QUERIES`` and ``DOUBTED`` say."""
    exam: int | None = None
    """Steps in which operators are examined, as those of other agents are; None for none: the last walk examines controls."""
    tell: Callable[[str], None] = lambda text: None
    """Called with a line when operators were discovered."""
    resources: Resources = field(default_factory=Resources)
    """Time and memory that may be taken."""
    copies: int = 1
    """How many copies of the agent answer at a time; with several the same controls are given."""
    prior: Prior | None = None
    """What an earlier run has found out."""
    remembers: bool = True
    """Whether it goes on, where what was done before matters, with what the agent may remember of it."""
    chance: bool = True
    """Whether it goes on, where chance decides, with the likeliest outcome of each control."""


def interrogate(
    agent: Agent,
    seed: int = 0,
    options: Options | None = None,
    planner: Planner | None = None,
) -> ControlsResult:
    """Find out what the controls of an agent do.

    Args:
        agent: every one of its instructions is a control and always carried out; its access is ``snapshot``.
        seed: of every random choice.
        options: how.
        planner: finds ways to situations in which there is something to ask.

    Raises:
        AgentFailed: the agent does not even show where it begins; if it fails later, the status says so.
    """
    options, planner = options or Options(), planner or PyperplanPlanner()
    giving = Giving(agent, options.max_steps, options.resources, options.copies)
    try:
        result = _Rounds(giving, seed, options, planner).run()
    except Random as error:
        return _likeliest(giving, error, seed, options, planner)
    if (
        result.status == NOT_STRIPS
        and options.remembers
        and (giving.image_test is None or giving.image_test.passed)
    ):
        late = _late(giving, result, seed, options, planner)
        return late or _remembering(giving, result, seed, options, planner)
    return result


def _likeliest(
    giving: Giving, error: Random, seed: int, options: Options, planner: Planner
) -> ControlsResult:
    """What is found out of the likeliest outcome of each control, and how often it comes."""
    options.tell(f"{error}: each control is given until its likeliest outcome is known")
    left = None if options.max_steps is None else max(0, options.max_steps - giving.given_in_all)
    agent = LikeliestAgent(giving.agent.agent, giving.initial(), left)
    settled = replace(options, max_steps=None, copies=1, remembers=False, chance=False)
    found = interrogate(agent, seed, settled, planner)
    with suppress(AgentFailed):  # as narrow as they are by then
        agent.narrow()
    given = giving.given_in_all + agent.given
    return replace(found, steps=given, chance=shares(agent, giving.controls, found.predictions))


def _late(
    giving: Giving, result: ControlsResult, seed: int, options: Options, planner: Planner
) -> ControlsResult | None:
    """What is found out if all controls are carried out late; None if no delay explains what they do."""
    rounds = result.rounds
    for late in delays(giving.initial(), giving.plain):
        memory = LateControls(late)
        agent = PunctualAgent(giving, memory)
        options.tell(f"tried next: {memory.text}")
        settled = replace(options, max_steps=None, copies=1, remembers=False, chance=False)
        try:
            found = interrogate(agent, seed, settled, planner)
            rounds += found.rounds
            wanted = max(LEAST, len(giving.controls) ** 2)
            in_a_row = agent.walk_on(found.predictions, wanted, HISTORY, np.random.default_rng([seed, 5]))
        except (NotLate, AgentFailed, ResourcesSpent):
            in_a_row = None
        if in_a_row is not None and found.two_ways is None and not found.unexplained:
            return replace(found, memory=memory, rounds=rounds, steps=giving.steps, in_a_row=in_a_row)
    return None


def _remembering(
    giving: Giving, result: ControlsResult, seed: int, options: Options, planner: Planner
) -> ControlsResult:
    """What comes of taking the agent to remember the controls that it was given before; the result itself if nothing better does."""
    memories, rounds = Memories(giving), result.rounds
    memories.take_in(giving.plain)
    for number in range(MEMORIES):
        try:
            with options.resources.interrupting():
                memory = memories.told_apart(np.random.default_rng([seed, 4, number]))
                again = None if memory is None else giving.again(memory, memories.steps)
        except (AgentFailed, ResourcesSpent, TwoWays):
            again = None
        if again is None:
            break
        assert memory is not None, "it is given again with one"
        options.tell(memory.text)
        found = _Rounds(again, seed, options, planner).run()
        rounds += found.rounds
        if found.two_ways is None and not found.unexplained:
            return replace(found, memory=memory, rounds=rounds)
        memories.take_in(again.plain)
        memories.rule_out(memory)
    return replace(result, steps=giving.steps)


class _Rounds:
    def __init__(self, giving: Giving, seed: int, options: Options, planner: Planner) -> None:
        self._giving = giving
        self._near = Near(self._giving)
        self._options = options
        self._planner = planner
        self._seed = seed
        self._rounds = 0
        self._doubted = 0
        """Queries about operators that left something unexplained."""
        self._covers = False

    def run(self) -> ControlsResult:
        """The result of the first round that nothing refutes.

        Operators that are refuted again and again, or found again although they were refuted, are kept: then the result
        says so, and nothing is certain.
        """
        giving, result = self._giving, None
        discovery: Discovery | None = None
        known: Counter[Hashable] = Counter()
        first = waiting = 0
        try:
            with self._options.resources.interrupting():
                if self._options.prior is not None:
                    try_earlier(giving, self._options.prior)
                discovery = explore(giving, self._near, np.random.default_rng([self._seed, 1]))
                if discovery.unexplained and self._options.chance:
                    check_chance(giving, discovery.unexplained)
                while True:
                    self._rounds += 1
                    waiting += discovery.waiting
                    kept = known[discovery.signature] >= SAME or self._rounds >= MAX_ROUNDS
                    known[discovery.signature] += not discovery.waiting or waiting > WAITING
                    rules = Rules(discovery, giving, lasting=kept)
                    self._tell(discovery)
                    certain = kept or self._lasts(rules, known)
                    if certain:  # what refutes operators at once saves an interrogation of them
                        result = self._interrogated(rules)
                        certain = result is not None and (kept or self._lasts(rules, known))
                    if result is not None and certain:
                        rng = np.random.default_rng([self._seed, 2, self._rounds])
                        predicted = ControlModel(result.model, discovery.operators)
                        seen = watch(giving, rules, predicted, rng)
                        # a small world can be seen completely
                        if seen.surprise is None and not result.proven:
                            seen = replace(seen, surprise=give_the_rest(giving, rules, predicted, REST))
                        if kept or (seen.surprise is None and self._covered(rules)):  # the walk has seen more
                            strange = discovery.unexplained
                            pair = self._repeated(rng, strange) if kept or strange else None
                            if kept or self._explains_all(rules):  # what was given again, too
                                if self._options.chance:
                                    check_chance(giving, discovery.unexplained)
                                ended = self._result(discovery, rules, result, seen, pair=pair)
                                return replace(ended, misread=doubted(giving, discovery, ended.unexplained))
                    first = first or len(discovery.operators)
                    if self._rounds % REFUTED == 0 and len(discovery.operators) > MULTIPLIED * first:
                        self._repeated(np.random.default_rng([self._seed, 3, self._rounds]))
                    discovery = found(giving)
        except ResourcesSpent as error:
            return self._cut_short(error, discovery, result)
        except (TwoWays, Misread, AgentFailed) as error:
            if not giving.given and not isinstance(error, StepsSpent):
                raise
            if not isinstance(error, AgentFailed) and self._options.chance:
                with suppress(AgentFailed):
                    check_chance(giving)
            if isinstance(error, TwoWays) and giving.image_test is not None and not giving.image_test.passed:
                error = two_ways(error, giving.image_test)
            stopped = isinstance(error, AgentFailed)
            if stopped:
                giving.stop()
            if stopped or discovery is None:
                discovery = discovered(giving)
            rules = Rules(discovery, giving, lasting=True)
            if stopped and self._rounds:  # what was given says something of these operators, too
                result = self._interrogated(rules)
            elif result is not None and result.model.headers != discovery.headers:
                result = None  # it was of others
            ended = self._result(discovery, rules, result, Watched(0, None), error)
            if isinstance(error, Misread):
                return replace(ended, misread=error)
            if isinstance(error, AgentFailed):
                return ended
            pair = self._situations(error)
            # images that differ show that a predicate is missing
            differ = pair is not None and pixels_differ(giving.agent, pair[0].before, pair[1].before)
            return replace(
                ended,
                two_ways=None if differ else error.transitions,
                diagnose=lambda unexplained: diagnosed(giving, unexplained, pair),
            )

    def _cut_short(
        self, error: ResourcesSpent, discovery: Discovery | None, result: Result | None
    ) -> ControlsResult:
        """The result where no more time or memory may be taken: what is known, or can be worked out in little time."""
        self._giving.stop()
        if discovery is None or result is None or result.model.headers != discovery.headers:
            discovery, result = found_so_far(self._giving), None
        rules = Rules(discovery, self._giving, lasting=True)
        result = result or self._interrogated(rules, Resources(ENDING_SECONDS))
        ended = self._result(discovery, rules, result, Watched(0, None), error)
        try:
            with Resources(ENDING_SECONDS).interrupting():
                _ = ended.unexplained  # worked out once; all else that is asked of a result takes little time
        except ResourcesSpent:  # operators of which hardly anything is known apply to too many objects
            return replace(ended, interrogation=None)
        return ended

    def _repeated(
        self, rng: np.random.Generator, unexplained: Sequence[Transition] = ()
    ) -> tuple[Given, Given] | None:
        """Give again what did something before; two situations that look alike, though images tell them apart, if it went two ways.

        Raises:
            TwoWays: the same with images that do not tell them apart: it depends on something that is not seen.
        """
        try:
            repeat(self._giving, rng)
            retrace(self._giving, unexplained)
        except TwoWays as error:
            pair = self._situations(error)
            if pair is None or not pixels_differ(self._giving.agent, pair[0].before, pair[1].before):
                raise
            return pair  # a predicate is missing: what is unexplained says more of that than these two do
        return None

    def _situations(self, error: TwoWays) -> tuple[Given, Given] | None:
        """The two situations that look alike, with what came of the control in each."""
        first = [one for one in self._giving.given if one.transition is error.transitions[0]]
        return None if error.latest is None or not first else (first[0], error.latest)

    def _interrogated(self, rules: Rules, resources: Resources | None = None) -> Result | None:
        """The result of one round, also where no more controls may be given; None if something refuted the operators."""
        resources = resources or self._options.resources
        agent, doubted = OperatorAgent(self._giving, rules), bool(rules.discovery.unexplained)
        queries = self._options.max_queries
        if queries is None:
            each, asked = QUERIES, 0
            if doubted:
                each, asked = GIVEN_UP if rules.discovery.spent else DOUBTED, self._doubted
            queries = max(0, each * len(rules.discovery.operators) - asked)
        interrogation = Interrogation(
            agent,
            planner=self._planner,
            budget=Budget(queries, resources=resources),
            exam=self._options.exam or 0,
            untellable=Overlaps(rules.discovery.operators, rules.discovery.vocabulary.types),
        )
        try:
            with resources.undisturbed():
                result = interrogation.run(np.random.default_rng(self._seed))
            if doubted:
                rules.take_for_refusals(result.hypotheses)
                result = replace(result, model=result.hypotheses.model())
            return result
        except Refuted as error:
            self._options.tell(str(error))
            return None
        except Interrupted as error:
            if isinstance(error.__cause__, StepsSpent) or error.contradicted:
                return error.result
            raise AgentFailed(str(error.__cause__ or error)) from error
        finally:
            self._doubted += agent.asked if doubted else 0

    def _lasts(self, rules: Rules, known: Mapping[Hashable, int]) -> bool:
        """Whether nothing near refutes the operators, and all that was seen still amounts to such as are known."""
        return self._covered(rules) and (
            self._giving.steps == rules.began or found(self._giving).signature in known
        )

    def _covered(self, rules: Rules) -> bool:
        """Give the controls that never did anything in all kinds of situations; False if that asks for a new discovery."""
        try:
            ended = cover(self._giving, self._near, rules)
        except Refuted as error:
            self._options.tell(str(error))
            return False
        self._covers = ended.covered
        return not ended.woken

    def _explains_all(self, rules: Rules) -> bool:
        """Whether nothing that was given so far refutes the operators."""
        try:
            for transitions in self._giving.transitions.values():
                for one in transitions:
                    rules.owner(one)
        except Refuted as error:
            self._options.tell(str(error))
            return False
        return True

    def _tell(self, discovery: Discovery) -> None:
        names = some([operator.header.name for operator in discovery.operators], NAMED)
        self._options.tell(f"{self._giving.steps} controls given; operators: {names or 'none'}")

    def _result(
        self,
        discovery: Discovery,
        rules: Rules,
        result: Result | None,
        seen: Watched,
        error: AgentFailed | TwoWays | Misread | ResourcesSpent | None = None,
        *,
        pair: tuple[Given, Given] | None = None,
    ) -> ControlsResult:
        cut_short = isinstance(error, ResourcesSpent)

        def diagnose(unexplained: Sequence[Transition]) -> Diagnosis | None:
            if cut_short:
                return None
            found = diagnosed(self._giving, unexplained, None)
            return found if found or pair is None else diagnosed(self._giving, unexplained, pair)

        return ControlsResult(
            discovery,
            result,
            self._giving.controls,
            {name: tuple(some) for name, some in self._giving.transitions.items()},
            self._giving.steps,
            self._rounds,
            0 if seen.surprise is not None else seen.steps,
            tuple(sorted(rules.guessed)),
            str(error or rules.refuted or ""),
            diagnose=diagnose,
            exhausted=self._giving.exhausted,
            covered=self._covers,
            untried=()
            if cut_short or self._giving.exhausted
            else self._near.coverage.untried(rules, UNTRIED),
            spent=isinstance(error, StepsSpent | ResourcesSpent),
            failed=isinstance(error, AgentFailed) and not isinstance(error, StepsSpent),
            in_a_row=seen.in_a_row,
            at_once=self._at_once(discovery) if error is None else (),
        )

    def _at_once(self, discovery: Discovery) -> tuple[tuple[str, str], ...]:
        """The controls that are not explained, and do two things at once: each with a predicate that it changes on its own."""
        giving, names = self._giving, {one.control.name for one in discovery.unexplained}
        vocabulary, transitions = giving.vocabulary, giving.transitions
        return tuple(
            (control.name, predicate)
            for control in giving.controls
            if control.name in names
            and (predicate := apart(vocabulary, control, transitions[control.name], giving.indices))
        )
