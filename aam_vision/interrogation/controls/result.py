"""The result of an interrogation of controls, and how a person reads it: on a terminal, and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from aam_vision.interrogation.controls.chance import Shares, told
from aam_vision.interrogation.controls.conditional import Split, conditional
from aam_vision.interrogation.controls.coverage import Untried
from aam_vision.interrogation.controls.discovery import Discovery
from aam_vision.interrogation.controls.mapping import Carrier
from aam_vision.interrogation.controls.misreading import Misread
from aam_vision.interrogation.controls.operators import Operator, Transition, idle
from aam_vision.interrogation.controls.rules import ControlModel
from aam_vision.interrogation.examination.findings import ENOUGH, Diagnosis, Exam
from aam_vision.interrogation.task.result import CurvePoint, Result, aligned, table
from aam_vision.interrogation.task.verdict import BUDGET, COMPLETE, FAILED, NOT_STRIPS, OPEN
from aam_vision.model.pddl import domain_text
from aam_vision.model.remembered import Remembered
from aam_vision.model.strips import ActionHeader, Model
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted, listed, some

if TYPE_CHECKING:
    from aam_vision.support.plotting import Axes

LIKELIEST = "chance decides what controls do: the model has the likeliest outcome of each"
"""Why nothing of such controls is complete."""
_NAMED = 2
"""Circumstances that were not tried, and controls of which cases are missing, that a line names."""


@dataclass(frozen=True, repr=False)
class ControlsResult:
    """What controls do: the operators, their model, and how much of both is certain."""

    discovery: Discovery
    interrogation: Result | None
    """The interrogation of the operators; None if it was not begun."""
    controls: tuple[ActionHeader, ...]
    transitions: Mapping[str, tuple[Transition, ...]]
    """By control, all that was seen."""
    steps: int
    """The controls that were given, all of them."""
    rounds: int
    """How many times operators were discovered and interrogated."""
    watched: int
    """The controls of the last walk, given at random in situations seen before; all came out as predicted."""
    guessed: tuple[str, ...] = ()
    """Operators of which another one explains some transition, too."""
    why: str = ""
    """Why it ended early, if it did."""
    two_ways: tuple[Transition, Transition] | None = None
    """Transitions of one situation and control that went two ways, if that was seen: no model explains both."""
    diagnose: Callable[[Sequence[Transition]], Diagnosis | None] = lambda unexplained: None
    """Says what the vocabulary lacks, given what is unexplained."""
    exhausted: bool = False
    """Whether every control was given in every situation that can be reached."""
    covered: bool = False
    """Whether all controls were given in all combinations of circumstances of the situations that were seen or are expected."""
    untried: tuple[Untried, ...] = ()
    """Circumstances within reach in which a control was not given, the nearest first."""
    spent: bool = False
    """Whether it ended early since a budget was spent."""
    failed: bool = False
    """Whether it ended early since the agent could no longer answer."""
    misread: Misread | None = None
    """Why it is more likely that images were misread than that the agent does what was seen; None if it is not."""
    untested: str = ""
    """That the classifiers have not passed their test, in a line; empty if they have, or none read the images."""
    in_a_row: int = 0
    """The controls of walks without a return, most of them given before; all came out as predicted."""
    memory: Remembered | None = None
    """What the agent remembers of the controls that it was given before, if that explains it."""
    chance: Shares | None = None
    """How often what the model says comes of each control, if chance decides: the model has the likeliest outcome of each."""
    at_once: tuple[tuple[str, str], ...] = ()
    """Controls that do two things at once, each on a condition of its own: with a predicate that such a one changes on its own."""

    @property
    def operators(self) -> tuple[Operator, ...]:
        """The operators, in the order of the controls."""
        return self.discovery.operators

    @cached_property
    def model(self) -> Model:
        """The learned model; where nothing was interrogated, the one without any operator."""
        if self.interrogation is None:
            return Model(self.discovery.vocabulary, ())
        return self.interrogation.model

    @cached_property
    def predictions(self) -> ControlModel:
        """What the model says of controls."""
        return ControlModel(self.model, self.operators if self.interrogation is not None else ())

    @cached_property
    def conditional(self) -> Split:
        """The cases that are one action with conditional effects, and why others are not."""
        carriers = {one.header.name: Carrier(one.control, one.given) for one in self.operators}
        return conditional(self.model, carriers)

    @cached_property
    def unexplained(self) -> tuple[Transition, ...]:
        """What was seen and is not as the model predicts."""
        return tuple(
            transition
            for some in self.transitions.values()
            for transition in some
            if not self.predictions.agrees(transition.before, transition.control, transition.after)
        )

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What the vocabulary lacks, shown by two situations that it does not tell apart; None if nothing shows that."""
        if self.misread is not None:
            return self.misread.diagnosis
        if (self.spent or self.failed) and not self.discovery.unexplained:
            return None  # there were too few steps to tell the cases apart
        return self.diagnose(self.unexplained)

    @cached_property
    def idle(self) -> tuple[str, ...]:
        """The controls that never did anything: what they would do elsewhere is not known, unless all was tried."""
        return idle(self.transitions)

    @property
    def status(self) -> str:
        """How it ended: ``complete``, ``open`` (``missing`` says what is missing), ``budget``, ``not-strips`` or ``failed``."""
        if self.failed:
            return FAILED
        if self.misread is not None:
            return OPEN
        if self.two_ways is not None:
            return NOT_STRIPS
        if self.interrogation is None or self.why:
            return BUDGET if self.spent else OPEN
        if self._lacking:
            # more queries explain nothing that the cases do not
            return BUDGET if self.interrogation.status == BUDGET and not self.unexplained else OPEN
        return COMPLETE

    @property
    def complete(self) -> bool:
        """Whether nothing is missing: ``status`` is ``complete``."""
        return self.status == COMPLETE

    @property
    def missing(self) -> str | None:
        """What is missing for ``complete``, in a line; None if nothing is, or no model fits."""
        if self.two_ways is not None and self.misread is None:
            return None
        if self.interrogation is not None and not self.why:
            return self._lacking or None
        why = self.why or "nothing was interrogated"
        return "; ".join(filter(None, (why, self._told_at_once, "" if self.misread else self.untested)))

    @property
    def _lacking(self) -> str:
        """What an interrogation that was not cut short lacks to be complete, in a line; empty if it lacks nothing."""
        not_tried = self._not_tried
        told = (
            not_tried,
            self._told_at_once if not_tried else "",
            LIKELIEST if self.chance else "",
            self.untested,
        )
        return "; ".join(filter(None, told))

    @property
    def _told_at_once(self) -> str:
        """That operators cannot express what some controls do; empty if none is known to be such."""
        if not self.at_once:
            return ""
        told = [f"{control} ({predicate} is one of them)" for control, predicate in self.at_once]
        return (
            f"several things at once, each on a condition of its own, are changed by {listed(told)}: "
            "an operator says all that a control changes, and cannot express that"
        )

    @property
    def _not_tried(self) -> str:
        inner = self.interrogation
        assert inner is not None, "else something else is missing"
        if self.unexplained or not self.operators:
            return self.certain[1]
        if self.untried:
            return f"never tried: {some([str(one) for one in self.untried], _NAMED)}"
        if not self.exhausted and not self.covered:
            return (
                f"{listed(self.idle)} never did anything" if self.idle else "not all circumstances were tried"
            )
        if not self.proven:
            return inner.missing or inner.why
        if not self._walks.enough:
            return f"{counted(self._walks.steps, 'control')} predicted in a last walk, {ENOUGH} are needed"
        return ""

    @property
    def proven(self) -> bool:
        """Whether no query could tell any more of the discovered cases, and nothing that was seen speaks against these."""
        if self.interrogation is None or self.why or self.unexplained or self.two_ways is not None:
            return False
        return self.interrogation.proven or (self.exhausted and not self.interrogation.doubt)

    @property
    def case_bound(self) -> float:
        """The share of controls that do something else than predicted, at most, with 95% confidence.

        Of controls given in histories like those of the last walks, without a return; and, unless all were given in all
        situations, of controls given at random in situations that were seen. 1 if none was watched, something is
        unexplained, or one situation went two ways.
        """
        return 1.0 if self.unexplained or self.two_ways is not None else self._walks.bound

    @property
    def _walks(self) -> Exam:
        """The last walks as an examination, which is as long as the shorter of them that counts."""
        return Exam(self.in_a_row if self.exhausted else min(self.watched, self.in_a_row))

    @property
    def certain(self) -> tuple[str, str]:
        """What is certain, in two statements: within the discovered cases, and of cases that nobody has seen."""
        inner = "nothing was interrogated" if self.interrogation is None else self.interrogation.why
        with_it = "" if self.memory is None else ", with the same remembered,"
        if self.why:
            inner = f"nothing is certain: {self.why}"
        elif self.unexplained:
            inner = (
                "nothing is certain: situations were seen that the discovered cases do not describe rightly"
            )
        elif self.exhausted:
            inner = "every control was given in every situation: no query could tell more"
        elif self.interrogation is not None and self.interrogation.proven:
            inner = "within the discovered cases no query could tell more"
        if self.unexplained:
            count = len(self.unexplained)
            names = list(dict.fromkeys(one.control.name for one in self.unexplained))
            beyond = (
                f"{count} of the situations seen went otherwise than the model says: "
                f"cases of {some(names, _NAMED)} are missing"
            )
        elif self.two_ways is not None:
            beyond = "situations that look alike are not alike: what else controls do in them is not known"
        elif self.idle and not (self.exhausted or self.covered):
            beyond = f"{', '.join(self.idle)} never did anything: what it takes was not found"
        elif not self.operators:
            beyond = "no control ever did anything that a predicate shows: what it takes was not found"
        elif self.exhausted:
            beyond = (
                "every control was given in every situation that can be reached from the given problems: "
                f"there is no other case, if situations that look alike{with_it} are alike{self._histories}"
            )
        else:
            beyond = (
                f"{self.watched} controls given at random in situations seen before came out as predicted: "
                f"at most {100 * self.case_bound:.1f}% of such controls do something that no case describes "
                f"(95% confidence){self._histories}"
            )
            if self.idle:
                beyond += f"; {self._idle_told}"
        if self.chance is not None:
            return f"of the likeliest outcomes: {inner}", f"of the likeliest outcomes: {beyond}"
        return inner, beyond

    @property
    def _histories(self) -> str:
        """What was tried of histories, and what is assumed of longer ones; empty if nothing was."""
        if not self.in_a_row:
            return ""
        return (
            f"; {self.in_a_row} more in a row without a return, in the orders that came least, came out as predicted, too: "
            f"at most {100 * Exam(self.in_a_row).bound:.1f}% of controls in such histories depend on what was done before"
        )

    @property
    def _idle_told(self) -> str:
        """What was tried with the controls that never did anything."""
        tried = [f"{name} ({len(self.transitions[name])} situations)" for name in self.idle]
        return (
            f"{', '.join(tried)} never did anything: no situation that was seen or is expected near has a combination of facts "
            "that was not tried"
        )

    @property
    def mapping(self) -> list[dict[str, Any]]:
        """The contents of ``controls.json``: for every operator of the model its control, and where its arguments are."""
        known = {header.name for header in self.model.headers}  # none where nothing was interrogated
        return [
            {
                "operator": operator.header.name,
                "control": operator.control,
                "arguments": list(operator.header.parameters[: operator.given]),
                "parameters": list(operator.header.parameters),
                "determined": {
                    operator.header.parameters[one.parameter]: one.fact.text(operator.header.parameters)
                    for one in operator.derivations
                },
            }
            for operator in self.operators
            if operator.header.name in known
        ]

    @property
    def pddl(self) -> str:
        """The model as a PDDL domain."""
        return domain_text(self.model)

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """The model of the operators as it stood after so many queries, in the last interrogation of them."""
        return () if self.interrogation is None else self.interrogation.curve

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw how much of the model stood after how many queries about the operators; see ``Result.plot``.

        Raises:
            UnusableInput: no operators were interrogated.
        """
        if self.interrogation is None:
            raise UnusableInput("no operators were interrogated: there is no curve to draw")
        return self.interrogation.plot(axes)

    def __repr__(self) -> str:
        return (
            f"<ControlsResult: {self.status}; {counted(len(self.controls), 'control')}, "
            f"{counted(len(self.operators), 'operator')}; {counted(self.steps, 'control')} given>"
        )

    def __str__(self) -> str:
        return aligned(figures(self))

    def _repr_html_(self) -> str:
        """Figures and the model, for a notebook; without a style of its own."""
        model = f"<details open><summary>The model</summary><pre>{escape(self.pddl)}</pre></details>"
        return f"{table(figures(self))}{model}"


def figures(result: ControlsResult) -> list[tuple[str, str]]:
    """Names and values: how it ended, what the controls carry out, what is certain of that, and what it cost."""
    within, beyond = result.certain
    queries = 0 if result.interrogation is None else result.interrogation.counts.queries
    operators = [str(operator.header) for operator in result.operators]
    return [
        ("status", ": ".join(text for text in (result.status, result.missing or result.why) if text)),
        ("controls", ", ".join(map(str, result.controls))),
        *(("" if number else "operators", text) for number, text in enumerate(operators)),
        *(("" if number else "when", text) for number, text in enumerate(result.conditional.sentences)),
        *([] if result.memory is None else [("remembers", result.memory.text)]),
        *([] if result.chance is None else [("chance", told(result.chance))]),
        ("within", within),
        ("beyond", beyond),
        (
            "steps",
            f"{counted(result.steps, 'control')} given; {counted(queries, 'query')}, "
            f"{counted(result.rounds, 'discovery')}",
        ),
    ]
