"""Effects on objects that a step does not name: regular ones are the agent's, all others may have been misread.

A STRIPS action changes no atom of objects that it does not name. Where one changes every time, in situations that
differ, it is no mistake of perception, which would come and go with the situation. Such situations are sought by steps from where the agent stands: of the doubtful action where it
may be executed, and of others in between (``Wanderer``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, groupby, islice, product
from typing import NamedTuple

from aam_vision.interrogation.evidence.anomalies import changed_untouched
from aam_vision.interrogation.examination.course import Course, always, violated
from aam_vision.interrogation.examination.coverage import unlike
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, verdict
from aam_vision.interrogation.examination.trials import History, Trial, Trials
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, LiftedAtom, State, lifted_atoms

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
NEW = 0.6
"""Share of the steps that are new in the perceived state, as far as there are such."""
LACKING = 3
"""Literals that such a step may lack of those that held whenever its action was executed."""
AT_REST = 3
"""Times that a step is attempted in one situation, at most."""
BINDINGS = 300
"""Steps of one action that are considered in one state."""
REGULAR = 3
"""Readings that would have to be wrong, at least, before what always happens is the agent's doing."""
EVERY_STEP = 2
"""The same for what every step does, whatever its action."""
OFTEN = 3
"""Situations in which it has to happen, at least."""
SOUGHT = 20
"""Steps from one situation at most, to see whether the atom changes again."""
IN_ALL = 120
"""Such steps altogether."""
MADE = 10
"""States that are made for that, where any can be."""
SWITCHED = 2
"""Executions of the action from one situation: what it only makes true, or false, changes once."""

ANY = "any other"
"""In an atom: every object that the step does not name."""
_Effect = tuple[str, LiftedAtom]
"""An action, and an atom that it may change."""


@dataclass
class Wanderer:
    """Makes steps one after the other from where the agent stands.

    ``elsewhere``: whether it is to be executed in new states, instead of in those in which it was executed.
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
        """So many steps, and each as soon as it was made; fewer if nothing is left to try."""
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
        """Whether a step that changed nothing is asked for in the same situation once more.

        Not one that was refused where it lacks what held whenever its action was executed.
        """
        unchanged = last.after is None or last.after.state == last.before.state
        held = self._held.get(last.step.name)
        if not unchanged or held is None or violated(last.before.state, last.step, held):
            return False
        return not self.elsewhere and self._tried[at.handle, last.step] < AT_REST

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

        Where none of these is new, a few literals may be lacking that held so far: else the agent would stay among the
        same few states.
        """
        rng = self.inquiry.rng
        if rng.random() < NEW:
            for lacking in range(LACKING + 1):
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
        return (
            self._fresh(at, self._held, 0)
            or self._fresh(at, {}, 0)
            or ({} if self.elsewhere else self._fresh(at, {}, 0, AT_REST - 1))
        )

    def _fresh(
        self, at: Situation, held: dict[str, Literals], lacking: int, tried: int = 0
    ) -> dict[str, list[GroundAction]]:
        """By action, the steps that were tried at most so often in the situation and lack no more than so many literals."""
        found = {
            header.name: [
                step
                for step in _possible(header, at.state, held.get(header.name, []), lacking)
                if self._tried[at.handle, step] <= tried
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
            self._held[name] = always([(trial.before.state, trial.step)], atoms)
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
    fitting = (step for step in steps if sum(violated(state, step, [one]) for one in literals) <= lacking)
    return list(islice(fitting, BINDINGS))


class _Change(NamedTuple):
    """An atom as it was before and after a step that does not name all its objects."""

    trial: Trial
    atom: Atom
    before: bool
    after: bool


def changes_elsewhere(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Conditional, if the step's action changes an atom of other objects in one situation after the other."""
    if doubtful.after is None:
        return None
    if not (asked := _asked(Course.of(inquiry.trials), doubtful)):
        return None
    if found := _in_made_states(inquiry, doubtful):
        return found
    wanderer = Wanderer(inquiry, doubtful.step.name, elsewhere=True)
    left = IN_ALL
    for history in cycle(_starts(inquiry, doubtful)):
        if left <= 0:
            return None
        left -= 1
        if history is not None and not _goes_to(inquiry.trials, history):
            continue
        executed = 0
        for trial in wanderer.steps(min(left, SOUGHT)):
            left -= 1
            if not trial.executed or trial.step.name != doubtful.step.name:
                continue
            course, executed = Course.of(inquiry.trials), executed + 1
            if found := regular(course, [doubtful]):
                return found
            if not any(_uniform(_changes(course, *key)) for key in asked):
                return None
            if executed == SWITCHED:
                break
    return None


def _in_made_states(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """The same from the doubtful step alone, where states can be made that differ in what it does not name."""
    trials, state = inquiry.trials, doubtful.before.state
    if not trials.access.constructs:
        return None
    named = {*doubtful.step.objects, *trials.transcript.vocabulary.constants}
    assert doubtful.after is not None, "it was executed"
    for number in range(MADE):
        other = unlike(trials.transcript.vocabulary, state, inquiry.rng)
        changed = state.true ^ (
            other.true if number else doubtful.after.state.true
        )  # what it did comes first
        made = replace(
            state, true=state.true ^ {atom for atom in changed if not named.issuperset(atom.objects)}
        )
        trial = trials.attempt(History(Situation(made, made)), doubtful.step)
        if trial is not None and trial.executed and (found := regular(Course.of(trials), [doubtful])):
            return found
    return None


def _starts(inquiry: Inquiry, doubtful: Trial) -> list[History | None]:
    """Where to look for further situations: where the agent stands (None), the doubtful one, and the beginnings."""
    before = [] if doubtful.history is None else [doubtful.history]
    return [None, *before, *map(History, inquiry.trials.transcript.initial)]


def _goes_to(trials: Trials, history: History) -> bool:
    """Whether the agent stands where the history ends, after it was brought there."""
    at = trials.reached(history)
    if at is not None:
        trials.ask(Query(at, ()))
    return at is not None


def regular(course: Course, strange: Iterable[Trial]) -> Diagnosis | None:
    """Conditional, if atoms of objects that the steps do not name change regularly with their actions.

    That has to explain most of all such changes: of many that come by mistake one may seem regular.
    """
    asked: dict[_Effect, None] = {}
    for trial in strange:
        asked.update(dict.fromkeys(_asked(course, trial)))
    found = [(key, rule) for key in asked if (rule := _rule(course, *key))]
    if not found:
        return None
    explained = {
        one.atom for key, _ in found for one in _changes(course, *key) if one.before is not one.after
    }
    made = {(key[0], key[1].predicate, _uniform(_changes(course, *key))) for key, _ in found}
    changes = {(*course.seen[number], atom) for number, atom in course.untouched(course.seen)}
    fitting = sum(
        atom in explained
        or (step.name, atom.predicate, "true" if after is not None and atom in after.true else "false")
        in made
        for _, step, after, atom in changes
    )
    if 2 * fitting <= len(changes):
        return None
    return found[0][1]


def _asked(course: Course, strange: Trial) -> list[_Effect]:
    """What the step may have done to atoms of other objects, as an effect that its action always has."""
    assert strange.after is not None, "it was executed"
    before, step, after = strange.before.state, strange.step, strange.after.state
    changed = changed_untouched(before, [step], after, course.vocabulary.constants)
    return [(step.name, pattern) for atom in changed for pattern in _patterns(step, atom)]


def _uniform(changes: Sequence[_Change]) -> str:
    """What always happens to the atom, in a word; empty if that differs."""
    after = {one.after for one in changes}
    if len(after) == 1:
        return "true" if True in after else "false"
    return "" if any(one.before is one.after for one in changes) else "switches"


def _patterns(step: GroundAction, atom: Atom) -> list[LiftedAtom]:
    """The atom itself, with parameters in the place of the objects that the step names, and that of any object."""
    places = {name: place for place, name in reversed([*enumerate(step.objects)])}
    patterns = [LiftedAtom(atom.predicate, atom.objects)]
    if not places.keys().isdisjoint(atom.objects):
        patterns.append(LiftedAtom(atom.predicate, tuple(places.get(name, name) for name in atom.objects)))
    if len(atom.objects) == 1:
        patterns.append(LiftedAtom(atom.predicate, (ANY,)))
    return patterns


def _rule(course: Course, name: str, pattern: LiftedAtom) -> Diagnosis | None:
    """The diagnosis, if the atom changes by a rule with the steps of the action."""
    found = _changes(course, name, pattern)
    always = _uniform(found)
    changing = [one for one in found if one.before is not one.after]
    if not always or all(_late(course, one) for one in changing):
        return None
    ground = all(isinstance(argument, str) and argument != ANY for argument in pattern.arguments)
    atoms = dict.fromkeys(one.atom for one in changing)
    others = [
        _changes(course, other.name, LiftedAtom(atom.predicate, atom.objects))
        for atom in atoms
        for other in course.headers
        if other.name != name
    ]
    if any(not _uniform(some) and any(one.before is not one.after for one in some) for some in others):
        return None  # it comes and goes with other actions, too: a picture may be wrong before or after
    every = [one for some in (found, *(others if ground else ())) for one in some]
    if ground and all(one.before is not one.after for one in every):
        changing, least, always = every, EVERY_STEP, _uniform(every)
    else:
        least = REGULAR
    if (
        _readings(changing) < least
        or len({(one.trial.before.state, one.trial.step) for one in changing}) < OFTEN
    ):
        return None
    text = cut(pattern.text(course.header(name).parameters), 40)
    literal = text if always == "switches" else None
    told = f"switches {text}" if literal else f"makes {text} {always}"
    usual = next((one.trial for one in found if one.before is one.after), changing[0].trial)
    shown = dict.fromkeys([usual, changing[-1].trial])
    told = f"{cut(told, 60)}, which it does not name"
    return verdict(Family.CONDITIONAL, name, told, *shown, literal=literal)


def _changes(course: Course, name: str, pattern: LiftedAtom) -> list[_Change]:
    """What became of the atom in the steps of the action that do not name all its objects."""
    found = []
    for trial in course.executed:
        if trial.step.name != name or trial.after is None:
            continue
        atoms = [pattern.ground(trial.step.objects)]
        if pattern.arguments == (ANY,):
            (kind,) = course.vocabulary.predicate(pattern.predicate).types
            names = trial.before.state.objects.of_type(kind)
            atoms = [Atom(pattern.predicate, (one,)) for one in names]
        for atom in atoms:
            before, after = trial.before.state.value(atom), trial.after.state.value(atom)
            named = {*trial.step.objects, *course.vocabulary.constants}
            if before is not None and after is not None and not named.issuperset(atom.objects):
                found.append(_Change(trial, atom, before, after))
    return found


def _readings(changes: Sequence[_Change]) -> int:
    """How many readings are wrong, at least, if that is the reason for all changes: in one picture before or after each step.

    Steps that have no picture in common need one each for every atom.
    """
    used: set[State] = set()
    count = 0
    for trial, atoms in groupby(changes, key=lambda one: one.trial):
        assert trial.after is not None, "it was executed"
        both = {trial.before.state, trial.after.state}
        if used.isdisjoint(both):
            used |= both
            count += len(list(atoms))
    return count


def _late(course: Course, change: _Change) -> bool:
    """Whether the step before may have made the change, which then came late."""
    previous = course.previous(change.trial)
    return previous is not None and {*change.atom.objects} <= {*previous.objects}
