"""The doubtful step of an interrogation: which one it is, and what was expected of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aam_vision.interrogation.evidence.anomalies import (
    contradicted_entry,
    contradicting_entries,
    unexplained_changes,
)
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.interrogation.examination.predictions import Predictions, differing, expected
from aam_vision.interrogation.examination.trials import History, Trial, Trials
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.errors import InconsistentAgent

SEARCHED = 400
"""States that are searched for a way to one."""
EXPLORED = 150
"""Steps that are taken at random to find two outcomes of a step in situations that look alike."""
ELSEWHERE = 0.1
"""Share of these steps that begin again in an initial situation."""
ON_PURPOSE = 0.7
"""Share of these steps that are of the doubtful action, where it can be executed."""


@dataclass
class Inquiry:
    """What the experiments of a diagnosis have in common."""

    trials: Trials
    evidence: Evidence
    """The evidence as it was before the answer that contradicts it."""
    doubtful_entry: int
    """The number of that answer."""
    rng: np.random.Generator
    steadfast: bool = False
    """Whether the doubtful step came out the same each time that it was repeated: chance is no excuse then."""

    @classmethod
    def of(cls, trials: Trials, rng: np.random.Generator) -> Inquiry:
        """The inquiry into the contradiction that a transcript ends with."""
        evidence, number = _before_contradiction(trials.transcript)
        return cls(trials, evidence, number, rng)

    def plans(self, state: State) -> Predictions:
        """Steps from a state on that the model can execute, and where it thinks that they lead."""
        return Predictions(self.evidence)

    def unexpected(self, trial: Trial) -> bool:
        """Whether a step came out otherwise than the evidence says."""
        fate = expected(self.evidence, trial.before.state, trial.step)
        if fate is False:
            return trial.executed
        if trial.after is None:
            return fate is True
        after = self.evidence.predict(trial.before.state, trial.step)
        return bool(differing(after, trial.after.state))

    def strange_atoms(self, trial: Trial) -> list[Atom]:
        """The atoms that an executed step left otherwise than the evidence says."""
        if trial.after is None:
            return []
        return differing(self.evidence.predict(trial.before.state, trial.step), trial.after.state)

    def contradicting(self) -> list[Trial]:
        """The steps whose answers contradict each other, as far as they were seen from before to after."""
        single = self.trials.transcript.in_single_steps()
        entries = [single.entries[number] for number in contradicting_entries(single) or ()]
        steps = {
            (start.handle, action)
            for entry in entries
            for start, action in (
                [(entry.query.initial, entry.query.plan[0])]
                if isinstance(entry, Asked) and entry.query.plan
                else [(step.before, step.action) for step in getattr(entry, "steps", ())]
            )
        }
        return [
            trial
            for trial in self.trials.seen[: self.trials.known]
            if (trial.before.handle, trial.step) in steps
        ]

    def doubtful_step(self) -> Trial | None:
        """The step that came out otherwise than expected; None if it cannot be singled out.

        A plan shows only its end, so it is asked again step by step. A step that was executed though it should have
        been refused refutes a precondition; then the doubtful step is the refusal that had proven it.
        """
        found = self._unexpected_step()
        if found is None or not found.executed:
            return found
        if expected(self.evidence, found.before.state, found.step) is not False:
            return found
        return self._refused_without_reason(found) or found

    def _refused_without_reason(self, executed: Trial) -> Trial | None:
        """A refusal for which the successes leave no reason; the evidence is then that of the successes alone."""
        transcript = self.trials.transcript

        def successes(entry: Entry) -> Entry:
            if isinstance(entry, Asked):
                query = replace(entry.query, plan=entry.query.plan[: entry.response.executed])
                return replace(entry, query=query)
            return entry

        try:
            evidence = evidence_of(transcript, map(successes, transcript.entries[: self.doubtful_entry + 1]))
        except InconsistentAgent:
            return None
        for trial in self.trials.seen:
            refused = trial.step.name == executed.step.name and not trial.executed
            if refused and expected(evidence, trial.before.state, trial.step):
                self.evidence = evidence
                return trial
        return None

    def _unexpected_step(self) -> Trial | None:
        entries = self.trials.transcript.entries
        if not entries:
            return None
        last = entries[self.doubtful_entry]
        begun, steps = self.trials.of_entry[self.doubtful_entry]
        for trial in reversed(steps):
            if self.unexpected(trial):
                return trial
        if not isinstance(last, Asked):
            return steps[-1] if steps else None
        if last.looks:
            return None
        found = None if begun is None else self._step_by_step(last, begun)
        if found is not None or self.trials.access.restarts or self.trials.here is None:
            return found
        name = last.query.plan[max(0, last.response.executed - 1)].name
        return next((one for one in self.random_steps(name, self.trials.here) if self.unexpected(one)), None)

    def _step_by_step(self, last: Asked, history: History) -> Trial | None:
        plan, executed = last.query.plan, last.response.executed
        low, found = 0, None
        if not self.trials.access.snapshots:  # every part costs its whole length: halve
            high = executed
            while low + 1 < high:
                middle = (low + high) // 2
                low, high = (middle, high) if self._as_predicted(history, plan[:middle]) else (low, middle)
        history = history.then(plan[:low], low)
        for step in plan[low : executed + 1]:
            if found is not None:
                history = self.after(found)
            found = self.trials.attempt(history, step)
            if found is None or self.unexpected(found):
                return found
            if not found.executed:
                break
        return _as_seen_at_first(last, found)

    def _as_predicted(self, history: History, plan: tuple[GroundAction, ...]) -> bool:
        start = self.trials.reached(history)
        reached = self.trials.reached(history.then(plan, len(plan)))
        if start is None or reached is None:
            return False
        return not differing(self.evidence.predict_plan(start.state, plan), reached.state)

    def after(self, done: Trial) -> History:
        """The history after a step that was executed."""
        assert done.after is not None
        if not self.trials.access.snapshots and done.history is not None:
            return done.history.then((done.step,), 1)
        return History(done.after)

    def again(self, trial: Trial) -> Trial | None:
        """A step again after the same history; on a trajectory in the same perceived state, if a way leads there."""
        if self.trials.access.restarts or self.trials.history(trial.before) is not None:
            return self.trials.again(trial)
        here = self.trials.here
        if here is None:
            return None
        for _, way in self.ways(here.state, trial.before.state.__eq__):
            found = self.trials.attempt(History(here).then(way, len(way)), trial.step)
            return found if found is not None and found.before.state == trial.before.state else None
        return None

    def random_steps(self, name: str, at: Situation) -> Iterator[Trial]:
        """Steps that the model can execute, one after the other from a situation on, an action's own more often."""
        trials, rng = self.trials, self.rng
        initial = trials.transcript.initial
        for _ in range(EXPLORED):
            if trials.access.restarts and rng.random() < ELSEWHERE:
                at = initial[int(rng.integers(len(initial)))]
            history = trials.history(at)
            if history is None:
                return
            options = self.plans(at.state).executable(at.state)
            wanted = [step for step in options if step.name == name]
            if wanted and rng.random() < ON_PURPOSE:
                options = wanted
            if not options:
                at = initial[int(rng.integers(len(initial)))]
                continue
            step, here = options[int(rng.integers(len(options)))], trials.here
            stands = trials.access.episodic and here is not None and here.handle == at.handle
            trial = trials.go_on(step) if stands else trials.attempt(history, step)  # its history costs steps
            if trial is None:
                return
            at = trial.after or trial.before
            yield trial

    def ways(
        self, start: State, wanted: Callable[[State], bool]
    ) -> Iterator[tuple[State, tuple[GroundAction, ...]]]:
        """The shortest predicted ways from a state to those wanted, the nearest first."""
        plans = self.plans(start)
        came: dict[State, tuple[GroundAction, ...]] = {start: ()}
        waiting = deque([start])
        while waiting and len(came) < SEARCHED:
            one = waiting.popleft()
            if wanted(one):
                yield one, came[one]
            for step in plans.executable(one):
                after = plans.successor(one, step)
                if after not in came:
                    came[after] = (*came[one], step)
                    waiting.append(after)


def _before_contradiction(transcript: Transcript) -> tuple[Evidence, int]:
    """The evidence before the first answer that cannot be right, and its number.

    Where each answer agrees with those before it, a plan may end otherwise than its steps as seen elsewhere.
    """
    evidence, known = evidence_of(transcript), transcript.vocabulary
    last = len(transcript.entries) - 1
    for number, entry in enumerate(transcript.entries):
        if unexplained_changes(entry, known):
            return evidence, number
        try:
            evidence.take_in(entry)
        except InconsistentAgent:
            return evidence_of(transcript, transcript.entries[:number]), number
    found = contradicted_entry(transcript, evidence.hypotheses)
    if found is not None:
        return evidence, found[0]
    return evidence_of(transcript, transcript.entries[:last]), last


def _as_seen_at_first(last: Asked, again: Trial | None) -> Trial | None:
    """The last step with its first outcome, where it came out as expected when it was asked again."""
    executed = last.response.executed
    if again is None or not executed:
        return again
    if executed < len(last.query.plan):
        return replace(again, after=None)
    return replace(again, step=last.query.plan[-1], after=last.response.final)


def example(trial: Trial) -> Example:
    """A step as the diagnosis shows it."""
    return Example(trial.before, trial.step, trial.outcome, trial.after)


def verdict(family: Family, culprit: str, told: str, *shown: Trial, **more: Any) -> Diagnosis:
    """The diagnosis that says so of its culprit, with the steps that show it; ``more``: its other fields."""
    why = f"{culprit}: {family.value}, {told}"
    return Diagnosis(family, culprit, why, tuple(map(example, shown)), **more)


def cut(text: str, length: int) -> str:
    """A text of at most so many characters, cut between words: an atom stays whole."""
    if len(text) <= length:
        return text
    kept = text[: length - 2]
    while " " in kept and (kept[-1] != " " or kept.count("(") > kept.count(")")):
        kept = kept[:-1]
    return f"{kept.rstrip(' ,;:') if ' ' in kept else kept[:-1]}..."
