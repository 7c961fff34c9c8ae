"""Steps from where the agent stands: of the doubtful action where it may be executed, and of others in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import islice, product

from aam_vision.interrogation.examination.course import Course, Seen, always, violated
from aam_vision.interrogation.examination.inquiry import Inquiry
from aam_vision.interrogation.examination.trials import Trial
from aam_vision.model.query import Situation
from aam_vision.model.strips import ActionHeader, GroundAction, LiftedAtom, State, lifted_atoms

Literals = list[tuple[LiftedAtom, bool]]

ON_PURPOSE = 0.5
"""Share of the steps that are of the doubtful action, where it may be executed."""
WRONG = 0.15
"""Share of the steps that may be any of the doubtful action: one that is executed by mistake is no chance refusal. Those of
others may lack one literal that held so far: what merely happened to hold would keep the agent where it is."""
GOING_BACK = 0.2
"""Share of the steps before which a way is sought to a state in which the action was executed."""
GOING_ON = 0.5
"""The same where a state is sought in which it was not attempted yet."""
NEW = 0.3
"""Share of the steps that are new in the perceived state, as far as there are such."""
AT_REST = 3
"""Times that a step is attempted in one situation, at most."""
BINDINGS = 300
"""Steps of one action that are considered in one state."""


@dataclass
class Wanderer:
    """Makes steps one after the other from where the agent stands.

    Args:
        inquiry: the agent, and what is known of it.
        name: the doubtful action.
        elsewhere: whether it is to be executed in new states, instead of in those in which it was executed.
    """

    inquiry: Inquiry
    name: str
    elsewhere: bool = False
    _tried: Counter[tuple[Hashable, GroundAction]] = field(default_factory=Counter)
    _followed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often the second action was attempted right after the first one."""
    _held: dict[str, Literals] = field(default_factory=dict)
    """For every action that was executed the literals that held each time."""
    _attempted: set[tuple[State, GroundAction]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for trial in Course.of(
            self.inquiry.trials
        ).trials:  # on a trajectory also those in the middle of plans
            self._narrow(trial)

    def steps(self, count: int) -> Iterator[Trial]:
        """So many steps, and each as soon as it was made; fewer if nothing is left to try.

        Raises:
            Spent: too many steps have been attempted.
        """
        last: Trial | None = None
        for _ in range(count):
            at = self.inquiry.trials.here
            if at is None:
                return
            if last is not None and self._asked_again(last, at):
                step: GroundAction | None = last.step
            else:
                if self.inquiry.rng.random() < (GOING_ON if self.elsewhere else GOING_BACK):
                    at = self._gone_back(at)
                step = self._chosen(at, last)
            if step is None:
                return
            last = self.inquiry.trials.go_on(step)
            if last is None:
                return
            self._tried[last.before.handle, step] += 1
            if last.after is not None and last.after.state == last.before.state:
                self._tried[last.after.handle, step] = self._tried[last.before.handle, step]
            self._narrow(last)
            yield last

    def _asked_again(self, last: Trial, at: Situation) -> bool:
        """Whether a step that changed nothing is asked for in the same situation once more."""
        unchanged = last.after is None or last.after.state == last.before.state
        return unchanged and not self.elsewhere and self._tried[at.handle, last.step] < AT_REST

    def _gone_back(self, at: Situation) -> Situation:
        """The nearest state that is sought, if the model leads there; else where the agent stands."""
        trials = self.inquiry.trials
        wanted = self._sought()
        for _, way in islice(self.inquiry.ways(at.state, wanted), 1):
            for step in way:
                trial = trials.go_on(step)
                if trial is None or trial.after is None:
                    break
                at = trial.after
        return trials.here or at

    def _sought(self) -> Callable[[State], bool]:
        """Whether the action was executed in a state, or may be executed there in a new way."""
        own = [trial for trial in self.inquiry.trials.seen if trial.step.name == self.name]
        if not self.elsewhere and self.inquiry.rng.random() < 0.5:
            known = {trial.before.state for trial in own if trial.executed}
            return lambda state: state in known
        attempted = {(trial.before.state, trial.step) for trial in own}
        header = self.inquiry.evidence.hypotheses[self.name].index.header

        def possible(state: State) -> bool:
            steps = _possible(header, state, self._held.get(self.name, []), 0)
            return any((state, step) not in attempted for step in steps)

        return possible

    def _chosen(self, at: Situation, last: Trial | None) -> GroundAction | None:
        """A step that may be executed: the doubtful action's often, else one of the action that followed least.

        If none is left, literals that held so far may not be needed.
        """
        fresh = self._options(at)
        if not fresh:
            return None
        rng, name = self.inquiry.rng, self.name
        if name not in fresh or rng.random() >= ON_PURPOSE:
            previous = "" if last is None else last.step.name
            fewest = min(self._followed[previous, one] for one in fresh)
            names = [one for one in fresh if self._followed[previous, one] == fewest]
            name = names[int(rng.integers(len(names)))]
            self._followed[previous, name] += 1
        return fresh[name][int(rng.integers(len(fresh[name])))]

    def _options(self, at: Situation) -> dict[str, list[GroundAction]]:
        """The steps to choose from, by action: those that may be executed, and often only those that are new there.

        Where none of these is new, one literal may be lacking that held so far: else the agent would stay among the same
        few states.
        """
        rng = self.inquiry.rng
        if rng.random() < NEW:
            for lacking in (0, 1):
                found = self._fresh(at, self._held, lacking)
                new = {
                    name: [step for step in steps if (at.state, step) not in self._attempted]
                    for name, steps in found.items()
                }
                if any(new.values()):
                    return {name: steps for name, steps in new.items() if steps}
        if not self.elsewhere and rng.random() < WRONG:
            others = {name: held for name, held in self._held.items() if name != self.name}
            return self._fresh(at, others, 1) or self._fresh(at, {}, 0)
        return self._fresh(at, self._held, 0) or self._fresh(at, {}, 0)

    def _fresh(self, at: Situation, held: dict[str, Literals], lacking: int) -> dict[str, list[GroundAction]]:
        """By action, the steps that were not tried in the situation and lack no more than so many literals."""
        found = {
            header.name: [
                step
                for step in _possible(header, at.state, held.get(header.name, []), lacking)
                if not self._tried[at.handle, step]
            ]
            for header in self.inquiry.trials.transcript.headers
        }
        return {name: steps for name, steps in found.items() if steps}

    def _narrow(self, trial: Trial) -> None:
        """Keep the literals that held where a step was executed, too."""
        self._attempted.add((trial.before.state, trial.step))
        if not trial.executed:
            return
        name, objects = trial.step.name, trial.step.objects
        if name not in self._held:
            told = self.inquiry.trials.transcript
            header = next(header for header in told.headers if header.name == name)
            atoms = lifted_atoms(told.vocabulary, header)
            self._held[name] = always([Seen(trial.before.state, trial.step, None)], atoms)
        else:
            self._held[name] = [
                (atom, value)
                for atom, value in self._held[name]
                if trial.before.state.value(atom.ground(objects)) is not (not value)
            ]


def _possible(header: ActionHeader, state: State, literals: Literals, lacking: int) -> list[GroundAction]:
    """The steps of an action for which no more than so many of the literals are violated."""
    rows = product(*(state.objects.of_type(kind) for kind in header.types))
    steps = (GroundAction(header.name, row) for row in rows if len(set(row)) == len(row))
    fitting = (
        step for step in steps if sum(violated(Seen(state, step, None), [one]) for one in literals) <= lacking
    )
    return list(islice(fitting, BINDINGS))
