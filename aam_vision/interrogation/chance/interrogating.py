"""The interrogation of an agent with chance: one step at a time, always towards the trial that is worth most.

Refusals prove preconditions, as for agents without chance; executions refute what they violate and show one outcome. Whether a
step is worth trying follows from what is known of its action (``knowledge``), the way there from the situations that can be
reached (``graph``). It ends when nothing that can be reached tells any more and every interval is narrow enough, or at a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.interrogation.chance import checking
from aam_vision.interrogation.chance.constancy import LONGEST
from aam_vision.interrogation.chance.first_pursuits import FEW, FIRST, MIXED, FirstPursuits
from aam_vision.interrogation.chance.graph import (
    EQUAL,
    FEW_STATES,
    MAX_STATES,
    NEGLIGIBLE,
    Outlook,
    StateGraph,
    Step,
    StepTable,
    constructed,
    instruction,
    varied,
)
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge, compare_objectives, index_of
from aam_vision.interrogation.chance.prior import MARGIN, Verification
from aam_vision.interrogation.chance.refusals import WithRefusals
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.evidence.problems import Problems
from aam_vision.interrogation.evidence.transcript import REFUSED, RIGHT_AFTER, AttemptedStep, Course
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE, FAILED, NOT_STRIPS, OPEN
from aam_vision.model.query import Agent, Query, Situation, expect
from aam_vision.model.strips import Model, State
from aam_vision.support.errors import AgentFailed, InconsistentAgent
from aam_vision.support.resources import ResourcesSpent

_WALK = 5
"""Steps of a walk, with which an interrogation begins."""
_VAIN = 100
"""Steps since the last trial after which no more are made, where steps also change what is not named."""
_IDLE_WALKS = 2
"""Walks in a row that told nothing new, after which there are no more."""
_MOVES = 15
"""Steps on the way to a trial after which it is weighed anew: the way may be less likely than it seemed."""
_LATE, _DOUBTED = 0.1, 0.5
"""Share of the executions of actions with chance that are made late, at least; and where it is doubted that late ones are as early ones."""
_EARLY = 60
"""Executions of each action with chance, on average, before the first of these: what an action does comes before what it does late."""
_LIKELY = 0.3
"""Probability above which a step has to lead to a trial, if it is taken so that there is one right after it."""
_EQUALLY = 0.2
"""Share of the worth of the best trial from which one that can be reached without a return is made instead."""

Attempt = tuple[Situation, Step, bool]
"""Where to go on from, the step to take there, and whether it is a trial."""
Watch = Callable[[int, Callable[[], Model]], None]
"""Told after every step how many there were, with a function that gives the model of the moment."""


def interrogate(
    agent: Agent,
    rng: np.random.Generator,
    options: Options | None = None,
    watch: Watch | None = None,
    known: Iterable[AttemptedStep] = (),
    course: Course | None = None,
) -> ChanceResult:
    """Interrogate an agent whose steps may have several outcomes and whose refusals are right.

    Args:
        agent: its initial situations have no unknown atoms. Where a later one has, no step is taken, and what led there
            counts as a trial whose outcome is not known.
        rng: for the agent's own walks.
        options: precision and budget.
        watch: told after every step.
        known: steps that the agent was seen to take before, whatever came of them: what they tell is not asked again.
        course: counts the agent's steps, those included that it took before; default from now on.

    Raises:
        AgentFailed: the agent does not even show where it begins; if it fails later, the status says so.
        UnusableInput: it does not say of every atom of an initial situation whether it is true.
    """
    steps = interrogation(agent, rng, options, watch, known, course)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: ChanceResult = end.value
            return found


def interrogation(
    agent: Agent,
    rng: np.random.Generator,
    options: Options | None = None,
    watch: Watch | None = None,
    known: Iterable[AttemptedStep] = (),
    course: Course | None = None,
) -> Generator[tuple[ActionKnowledge, ...], None, ChanceResult]:
    """The same step by step: yields what is known of the actions after every step, the agent's own walks aside."""
    return _Interrogation(agent, rng, options or Options(), watch, course).run(known)


class _Interrogation:
    def __init__(
        self,
        agent: Agent,
        rng: np.random.Generator,
        options: Options,
        watch: Watch | None,
        course: Course | None,
    ) -> None:
        self._agent = CountingAgent(EnforcingAgent(agent))
        self._asked = WithRefusals(self._agent, options.refusals)
        self._rng = rng
        self._options = options
        self._watch = watch or (lambda steps, model: None)
        prior = options.prior
        within = options.within * (1 if prior is None else MARGIN)
        precision = precision_of(within, options.alpha)
        self._initial = tuple(self._agent.initial())
        checking.check_known(self._initial)
        self._actions = tuple(
            ActionKnowledge(index_of(agent.vocabulary, header, self._initial), precision)
            for header in agent.headers
        )
        for action in self._actions:
            action.leads_as_seen = action.index.header.name in options.refusals
            action.confirms = options.exam > 0
        self._verification = None if prior is None else Verification(prior, self._actions, options.within)
        self._by_name = {action.index.header.name: action for action in self._actions}
        self._table = StepTable(self._actions)
        pursues = all(action.index.goal for action in self._actions)
        self._first = FirstPursuits(self._actions, self._table) if pursues else None
        """Of a policy: it does not act on its own, as nobody else knows what it is to pursue."""
        self._turn = 0
        self._in_between = False
        """Whether the last pursuit was chosen among all, while every second one is."""
        self._blocked = False
        """Whether the agent stands where it cannot be read what is true, and cannot be brought back."""
        self._course = course or Course()
        self._seen: dict[State, Situation] = {self._table.begun(one.state): one for one in self._initial}
        """Every situation that was seen, by its state as one in which steps begin, as the agent showed it last."""
        self._problems: Problems[State] = Problems()
        """Only where it can be put back into each; only situations from which the access allows to go on are kept apart."""
        for one in self._initial if self._agent.access.restarts else ():
            self._problems.begin(one, self._table.begun(one.state))
        self._here: Situation | None = None
        self._outlook: Outlook | None = None
        self._version = -1
        self._moves = 0
        """Steps since the last trial."""
        self._staying = self._late = 0
        """Steps without a return that are left; executions of actions with chance that came late after the last one."""
        self._unlooked = False
        """Whether a situation was seen that the graph does not have, and from which the access allows to go on."""
        self._made: dict[State, None] = {}
        """States made for a question."""
        self._spread: frozenset[State] = frozenset()
        """Those among them in which what may make a difference is varied evenly."""
        self._tried: dict[State, int] = {}
        """How many trials were made in a situation."""
        self._varying: dict[int, dict[State, int]] = {}
        """The same by action, of those with chance."""
        self._inconsistent: dict[int, InconsistentAgent] = {}
        """By action, what no model with outcomes explained when it was looked at."""
        self._examined, self._examined_version = 0, -1
        """Steps of the examination, since the structure was this."""
        self._beginnings: list[int] = []
        """The numbers of the situations of the graph from which the access allows to go on, before the first step."""

    def run(
        self, known: Iterable[AttemptedStep]
    ) -> Generator[tuple[ActionKnowledge, ...], None, ChanceResult]:
        status, why, resources = COMPLETE, "", self._options.resources
        try:
            for step in known:
                self._by_name[step.action.name].was_seen(step)
            if self._agent.access.restarts and self._first is None:
                self._begin()
            while (left := self._left()) > 0:
                if self._blocked:
                    status, why = OPEN, "the last situation is not known, and the access allows no way back"
                    break
                with resources.interrupting():
                    most = min(left, self._options.at_a_time)
                    found = self._first_pursuits(most) or self._next_round(most) or self._exam_step()
                if not found or self._in_vain:
                    break
                for one in found:
                    self._try(*one)
                    yield self._actions
            else:
                status, why = BUDGET, checking.spent(self._agent.counts, self._options.max_queries)
            self._end_if_inconsistent(range(len(self._actions)))
            if status == COMPLETE:
                made = self._agent.access.constructs
                graph = None if made or self._outlook is None else self._outlook.graph
                left, why = checking.ending(self._actions, self._table, graph)
                status = OPEN if left else COMPLETE
        except ResourcesSpent as error:
            status, why = BUDGET, str(error)
            if self._inconsistent:
                status, why = NOT_STRIPS, str(next(iter(self._inconsistent.values())))
        except InconsistentAgent as error:
            status, why = NOT_STRIPS, str(error)
        except AgentFailed as error:
            status, why = FAILED, str(error)
        counts = self._agent.counts
        return ChanceResult(self._model(), self._actions, self._options, status, why, counts, self._examined)

    @property
    def _in_vain(self) -> bool:
        """Whether nothing was reached for long, where steps lead elsewhere than is expected, and nothing is to be tried at once."""
        return self._moves > _VAIN and self._strays

    @property
    def _strays(self) -> bool:
        """Whether as many steps as a way may take reached no trial, where steps lead elsewhere than is expected: they change what is not named."""
        return self._moves >= _MOVES and any(action.side_effects for action in self._actions)

    @property
    def _misled(self) -> bool:
        """Whether the ways that were found lead where they do not, and no trial was made for long."""
        return self._strays and self._outlook is not None and self._outlook.graph.misleading

    def _model(self) -> Model:
        compare_objectives(self._actions)
        return Model(self._agent.vocabulary, tuple(one.schema() for one in self._actions))

    def _left(self) -> int:
        return checking.steps_left(self._agent.counts, self._options.max_steps, self._options.max_queries)

    # --- walks -----------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Make walks from initial situations until several in a row tell nothing new."""
        idle = turn = 0
        problems = len({one.state.objects for one in self._initial})
        while idle < _IDLE_WALKS * problems and self._left() > 0:
            self._options.resources.check()
            before = self._versions()
            self._walk(self._initial[turn % len(self._initial)])
            idle, turn = 0 if self._versions() != before else idle + 1, turn + 1

    def _walk(self, start: Situation) -> None:
        """Let the agent act on its own."""
        steps = _WALK if self._options.max_steps is None else min(_WALK, self._left())
        walked = self._agent.walk(start, steps, self._rng)
        for step in walked:
            self._note(step.after)
            self._course.begin(step.before.state)
            when = self._course.step(step.action, executed=True)
            self._course.end(step.after.state)
            if not step.before.state.unknown:
                self._by_name[step.action.name].was_executed(
                    step.before.state, step.action.objects, step.after.state, when
                )
        self._stand(walked[-1].after if walked else start)  # where it can do nothing, it stands there
        if walked:
            self._watch(self._agent.counts.steps, self._model)

    def _first_pursuits(self, most: int) -> list[Attempt]:
        """What tells most of all that a policy could pursue: always at first, then every second time, and no more in the end."""
        turn, kinds = self._turn, max(FEW, len(self._actions))
        self._turn += 1
        mixed = turn >= FIRST * kinds
        self._in_between = mixed and not self._in_between
        if self._first is None or turn >= MIXED * kinds or (mixed and not self._in_between):
            return []
        places = [self._seen[state] for state in self._starts()]
        if most == 1 and self._here is not None and all(self._here is not one for one in places):
            places.append(self._here)
        for one in places:
            self._first.met(one.state)
        return self._at_a_time([(*one, True) for one in self._first.best(places, self._rng, most)])

    # --- trials ----------------------------------------------------------------------------------

    def _next_round(self, most: int) -> list[Attempt]:
        """The next trial, or step towards one, and others that are chosen before it is answered."""
        found = self._next()
        first = None if found is None or most == 1 else self._apart(found)
        if first is None:
            return [] if found is None else [found]
        chosen, tried = [first], dict(self._tried)
        while len(chosen) < most and self._outlook is not None:
            state = self._table.begun(chosen[-1][0].state)
            self._tried[state] = self._tried.get(state, 0) + 1
            found = self._best(self._outlook)
            if found is None or (another := self._apart(found)) is None:
                break
            chosen.append(another)
        self._tried = tried
        return self._at_a_time(chosen)

    def _apart(self, trial: Attempt) -> Attempt | None:
        """A trial that needs no other one before it, at a reset where that looks like where the agent stands; None if it is none, or to come late."""
        start, step, tells = trial
        if start is self._here and not self._staying:
            state = self._table.begun(start.state)
            start = next((one for one in self._initial if self._table.begun(one.state) == state), start)
        return (start, step, tells) if tells and start is not self._here else None

    def _at_a_time(self, trials: list[Attempt]) -> list[Attempt]:
        """These trials, of which the agent is told before if they are several."""
        if len(trials) > 1:
            self._turn += len(trials) - 1
            expect(self._agent, [Query(at, (instruction(self._actions, step),)) for at, step, _ in trials])
        return trials

    def _next(self) -> Attempt | None:
        """Where to go on from, the step to take there, and whether it is a trial; None if nothing is worth a step."""
        if self._outlook is None or self._lost(self._outlook):
            self._outlook = self._looked()
        found = self._best(self._outlook)
        if found is None:
            with self._options.resources.undisturbed():
                for action in self._actions:
                    action.reconsider()
            if self._versions() != self._version or self._unlooked:
                # cases were told apart, or situations have come up since that may be worth something
                self._outlook = None
                self._outlook = self._looked()
                found = self._best(self._outlook)
        return found

    def _exam_step(self) -> list[Attempt]:
        """A step at random, where none is worth anything; none once so many in a row have told nothing new.

        Every second one is of those that lack least of what may be required, and should be refused if any of the action should: what lacks
        much is refused whatever the reason of earlier refusals was.
        """
        if self._examined_version != self._versions():
            self._examined, self._examined_version = 0, self._versions()
        if self._examined >= self._options.exam:
            return []
        starts = [self._seen[state] for state in self._starts()]
        if self._here is not None:
            starts.append(self._here)
        start = starts[int(self._rng.integers(len(starts)))]
        steps: dict[int, list[Step]] = {}
        for step in self._table.all(start.state):
            steps.setdefault(step.action, []).append(step)
        if not steps:
            return []
        self._examined += 1
        own = list(steps.values())[int(self._rng.integers(len(steps)))]
        if self._examined % 2:
            action = self._actions[own[0].action]
            own = [step for step in own if action.certain_to_fail(step.held)] or own
            lacking = [action.precondition.violated(step.held, 0).size() for step in own]
            least = min(lacking)
            own = [step for step, lacks in zip(own, lacking, strict=True) if lacks == least]
        return [(start, own[int(self._rng.integers(len(own)))], False)]

    def _best(self, outlook: Outlook) -> Attempt | None:
        """The same among the situations of a graph."""
        graph = outlook.graph
        best = here = self._standing(graph)
        if self._open:
            places = np.array(self._open)
            other = int(places[np.argmax(outlook.value[places])])
            if here is None or outlook.value[other] > outlook.value[here] + NEGLIGIBLE:
                best = other
        choice = None if best is None or outlook.value[best] < NEGLIGIBLE else outlook.choice(best, self._rng)
        if best is None or choice is None:
            return None
        if self._strays and (trial := self._at_once(outlook)):
            return trial
        if (start := self._neglected(outlook)) and (
            own := outlook.choice(graph.number[self._table.begun(start.state)], self._rng)
        ):
            return start, *own
        stays = self._stays()
        mixes = self._moves < _MOVES and self._beyond > 0
        if mixes and (mixed := self._after_another(outlook, None if stays else best)):
            return mixed
        if stays and (late := self._from_here(outlook, float(outlook.value[best]))):
            return late
        if choice[1] and self._open and self._actions[choice[0].action].varies:
            best = self._in_turn(outlook, float(outlook.value[best]))
            choice = outlook.choice(best, self._rng) or choice
        return self._situation(graph, best), *choice

    def _at_once(self, outlook: Outlook) -> Attempt | None:
        """The best trial for which nothing has to be reached."""
        here = self._standing(outlook.graph)
        places = [*self._open, *(() if here is None else (here,))]
        best = max(places, key=lambda place: float(outlook.own[place]))
        if outlook.own[best] < NEGLIGIBLE:
            return None
        trial = outlook.graph.trial(best, self._rng)
        return trial and (self._situation(outlook.graph, best), trial, True)

    def _neglected(self, outlook: Outlook) -> Situation | None:
        """The situation that is worth most of a problem in which far fewer steps were attempted than in another one that looks like it."""
        problem, number, value = self._problems.neglected, outlook.graph.number, outlook.value
        if problem is None:
            return None
        own = [
            (float(value[number[state]]), situation)
            for state, situation in self._problems.kept(problem)
            if state in number and value[number[state]] >= NEGLIGIBLE
        ]
        return max(own, key=lambda one: one[0])[1] if own else None

    @property
    def _beyond(self) -> int:
        """Executions of actions with chance beyond those before which nothing but what an action does is looked for."""
        return sum(action.executed - _EARLY for action in self._actions if action.varies)

    def _stays(self) -> bool:
        """Whether the agent is left where it is: what comes late, and what comes right after it was put somewhere, are both to be seen."""
        if not self._staying and self._open:
            made = self._beyond
            doubted = any(action.late for action in self._actions)
            if made > 0 and self._late <= (_DOUBTED if doubted else _LATE) * made:
                self._staying = 2 * LONGEST
        self._staying = max(0, self._staying - 1)
        return self._staying > 0

    def _after_another(self, outlook: Outlook, best: int | None) -> Attempt | None:
        """A trial right after what few came right after, or a step right after which there is one.

        ``best``: the situation of the best trial; None if the agent is to be left where it is.
        """
        graph, actions = outlook.graph, self._actions
        here = self._standing(graph)
        if here is not None and (found := self._lacking(graph, here, self._course.after)):
            return self._situation(graph, here), graph.evenly(here, found[0], self._rng), True
        place = here if best is None else best
        if place is not None and self._lacking(graph, place, REFUSED):
            steps = self._table.distinct(graph.states[place])
            if refused := [step for step in steps if actions[step.action].certain_to_fail(step.held)]:
                step = refused[int(self._rng.integers(len(refused)))]
                return self._situation(graph, place), step, False
        clauses = [RIGHT_AFTER.format(action.index.header.name) for action in actions]
        wanted = [
            number
            for number, clause in enumerate(clauses)
            if any(one.varies and one.lacks(clause) for one in actions)
        ]
        moves = [] if here is None else [(move, here, step) for move, step in graph.moves(here).items()]
        moves = [one for one in moves if one[2].action in wanted]
        sources = frozenset(() if best is None else self._open)
        for number in wanted if sources else ():
            own = graph.of_action(number)
            drawn = (own[one] for one in self._rng.integers(len(own), size=_MOVES)) if own else ()
            moves += [one for one in drawn if one[1] in sources]
        chosen, most = None, _LIKELY
        for one in self._rng.permutation(len(moves))[: len(actions) * _MOVES]:
            move, source, step = moves[one]
            clause, leads = clauses[step.action], graph.leads(move)
            gain = sum(share for share, there in leads if self._lacking(graph, there, clause))
            if gain > most:
                chosen, most = (self._situation(graph, source), step, False), gain
        return chosen

    def _lacking(self, graph: StateGraph, place: int, clause: str) -> list[Step]:
        """The trials in a situation of which few were made before which that was so."""
        return [
            step
            for step in (self._table.distinct(graph.states[place]) if clause else ())
            if (action := self._actions[step.action]).varies
            and action.lacks(clause)
            and action.reveals(step.held)
            and action.worth(step.held) > NEGLIGIBLE
        ]

    def _situation(self, graph: StateGraph, place: int) -> Situation:
        """A situation of the graph: where the agent stands, if it is that one."""
        state = graph.states[place]
        if self._here is not None and self._table.begun(self._here.state) == state:
            return self._here
        return self._problems.least_tried(state) or self._seen.get(state, Situation(state, state))

    def _from_here(self, outlook: Outlook, worth: float) -> Attempt | None:
        """The way to the best trial from where the agent stands; none, and it stays no longer, if that is worth much less than the best of all."""
        here = self._standing(outlook.graph)
        if self._here is None or here is None or outlook.value[here] < worth * _EQUALLY:
            self._staying = 0
            return None
        choice = outlook.choice(here, self._rng)
        return choice and (self._here, *choice)

    def _in_turn(self, outlook: Outlook, value: float) -> int:
        """Of the situations that are worth as much as the best one, one in which fewest trials were made."""
        here = self._standing(outlook.graph)
        places = [one for one in (*self._open, here) if one is not None and outlook.own[one] >= value * EQUAL]
        states = outlook.graph.states
        made = {one: (states[one] not in self._spread, self._tried.get(states[one], 0)) for one in places}
        fewest = min(made.values())
        equal = [one for one, own in made.items() if own == fewest]
        return equal[int(self._rng.integers(len(equal)))]

    def _standing(self, graph: StateGraph) -> int | None:
        """The number in a graph of the situation in which the agent stands, if it is known and there."""
        return None if self._here is None else graph.number.get(self._table.begun(self._here.state))

    def _lost(self, outlook: Outlook) -> bool:
        """Whether the agent stands where the graph does not reach, and cannot be put where it does at will."""
        return not self._anywhere and self._here is not None and self._standing(outlook.graph) is None

    @property
    def _anywhere(self) -> bool:
        """Whether the access allows to go on from every situation that was seen."""
        return self._agent.access.returns

    @property
    def _open(self) -> list[int]:
        """The numbers of the situations of the graph from which the access allows to go on, whatever came before."""
        return self._beginnings if self._agent.access.restarts or self._here is None else []

    def _starts(self) -> list[State]:
        """Where the access allows to go on from, beside where the agent stands and states made for a question."""
        if self._anywhere:
            return list(self._seen)
        least = None if self._agent.access.restarts else int(self._here is None)
        return [self._table.begun(one.state) for one in self._initial[:least]]

    def _looked(self) -> Outlook:
        """What all situations are worth; these are found anew where the structure has changed."""
        version, old = self._versions(), self._outlook
        graph = None if old is None or version != self._version or self._lost(old) else old.graph
        if graph is None:
            if self._agent.access.constructs:
                rows = varied(self._actions, self._seen)
                self._spread = frozenset(rows)
                self._made = dict.fromkeys(
                    [*(one for each in self._actions for one in constructed(each)), *rows]
                )
            here = [] if self._here is None else [self._table.begun(self._here.state)]
            limit = FEW_STATES if self._made else MAX_STATES
            graph = StateGraph(self._actions, self._table, [*here, *self._starts()], self._made, limit)
            self._version, self._unlooked = version, False
            self._beginnings = [
                graph.number[one] for one in (*self._starts(), *self._made) if one in graph.number
            ]
        return graph.solve(None if self._anywhere else self._varying)

    def _versions(self) -> int:
        return sum(action.version for action in self._actions)

    def _try(self, start: Situation, step: Step, trial: bool) -> None:
        """Take a step and learn from the answer."""
        self._course.begin(start.state)
        problem = self._problems.looks_alike(start)
        self._course.problem = None if problem is None else problem + 1
        asked = instruction(self._actions, step)
        response = self._asked.ask(Query(start, (asked,), goes_on=start is self._here))
        when = self._course.step(asked, executed=response.executed > 0)
        self._course.end(response.final.state)
        self._problems.tried(start, response.final)
        action, begun = self._actions[step.action], self._table.begun(start.state)
        self._stand(response.final)
        self._note(start)
        self._note(response.final)
        if response.executed:
            after = response.final.state
            action.was_executed(start.state, step.objects, after, when)
            if self._outlook is not None and action.astray and not after.unknown:
                self._outlook.graph.note(begun, step, after)
            self._late += action.varies and when.since >= LONGEST // 2
        else:
            action.was_refused(start.state, step.objects)
        if self._verification is not None:
            self._verification.look(step.action)
        if trial:
            self._tried[begun] = self._tried.get(begun, 0) + 1
            if action.varies:
                made = self._varying.setdefault(step.action, {})
                made[begun] = made.get(begun, 0) + 1
        self._look_at_constancy(step.action)
        self._moves = 0 if trial else self._moves + 1
        if trial or self._moves % _MOVES == 0 or self._versions() != self._version:
            with self._options.resources.interrupting():
                self._outlook = None if self._versions() != self._version or self._misled else self._looked()
        self._watch(self._agent.counts.steps, self._model)

    def _look_at_constancy(self, number: int) -> None:
        """End where no model with outcomes explains an action, once it was tried as often as is wanted then."""
        action = self._actions[number]
        if action.looked and number not in self._inconsistent:
            try:
                checking.check_constant([action], early=True)
            except InconsistentAgent as error:
                self._inconsistent[number] = error
        if number in self._inconsistent and (action.tried_enough or not self._options.tries_on):
            self._end_if_inconsistent([number])

    def _end_if_inconsistent(self, numbers: Iterable[int]) -> None:
        """Raises InconsistentAgent if no model with outcomes explains one of these actions, or did not at some time."""
        numbers = tuple(numbers)
        checking.check_constant(self._actions[number] for number in numbers)
        for number in numbers:
            if (found := self._inconsistent.get(number)) is not None:
                raise found

    def _stand(self, situation: Situation) -> None:
        """Remember where the agent stands, if that is known."""
        self._here = None if situation.state.unknown else situation
        self._blocked = self._here is None and not self._agent.access.restarts

    def _note(self, situation: Situation) -> None:
        """Remember a situation, from which most accesses allow to go on."""
        if situation.state.unknown:
            return
        begun = self._table.begun(situation.state)
        if self._anywhere:
            self._problems.keep_apart(situation, begun)
        if self._anywhere and begun not in self._seen and self._outlook is not None:
            if (number := self._outlook.graph.number.get(begun)) is not None:
                self._beginnings.append(number)
            self._unlooked = self._unlooked or number is None
        if self._anywhere or begun not in self._seen:  # only the initial one can be reset to
            self._seen[begun] = situation
