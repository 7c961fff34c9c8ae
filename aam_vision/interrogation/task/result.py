"""The result of an interrogation: the model, what is not determined, and the cost; and how a person reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import combinations
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from aam_vision.agents.counting import Counts
from aam_vision.interrogation.beliefs.candidates import element
from aam_vision.interrogation.evidence.graph import Claim
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import Diagnosis, Exam
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.statistics.assessment import Assessment
from aam_vision.interrogation.statistics.counts import ErrorRates
from aam_vision.interrogation.task.undetermined import Undetermined, sorted_out
from aam_vision.interrogation.task.verdict import (
    ASSUMED,
    COMPLETE,
    NOT_STRIPS,
    OPEN,
    Ending,
    Verdict,
    assumption,
    lacking,
    verdict,
)
from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import (
    ActionHeader,
    LiftedAtom,
    Location,
    Mode,
    Model,
    PalTuple,
    Problem,
    Vocabulary,
    lifted_atoms,
)
from aam_vision.model.unified import to_unified_planning
from aam_vision.support import wording
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from pandas import DataFrame

    from aam_vision.support.plotting import Axes

_WIDTH = 14
"""Columns of a figure's name."""
_NAMED = 3
"""Open groups that are named among the figures."""


@dataclass(frozen=True)
class CurvePoint:
    """The model as it stood after so many queries and steps."""

    queries: int
    steps: int
    model: Model


class Outcomes(Protocol):
    """What was learned of an agent whose steps have several outcomes, or effects under conditions."""

    @property
    def status(self) -> str:
        """How that ended, in the words of ``Result.status``."""

    @property
    def missing(self) -> str | None:
        """What it lacks to be complete, in a line."""

    @property
    def sentences(self) -> list[str]:
        """What each action does, how often and when, and what of that is not certain."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same as a table (``Result.to_frame``)."""

    @property
    def undecided(self) -> list[Undetermined]:
        """What may be required, and may be not."""


@dataclass(frozen=True, repr=False)
class Result:
    """The outcome of an interrogation; printed, its figures, and in a notebook its model, too.

    ``model`` is the cautious one: undetermined positive preconditions in, everything else undetermined
    out. ``status`` and ``missing`` say how far it can be relied on.
    """

    model: Model
    """The learned model; ``pddl`` has it as text."""
    proven: bool
    """Whether it is proven that no query could tell any more, of a deterministic STRIPS agent that is seen rightly.

    ``complete`` tells whether that assumption was examined, too."""
    why: str
    """Why it ended, in words."""
    counts: Counts
    """The cost: queries, steps, failed steps, walk steps, resets."""
    hypotheses: Hypotheses
    """The palm tuples that are still possible."""
    transcript: Transcript
    """Everything that was asked and answered: ``verification.verify`` checks the result against it."""
    curve: tuple[CurvePoint, ...] = field(default=())
    assessment: Assessment | None = None
    """How probable everything is, where answers turned out not to be reliable and trials were weighed."""
    rates: ErrorRates | None = None
    """How often answers were wrong, as far as that was looked into; None if each was taken at its word."""
    confidence: float = 1.0
    """How probable a palm tuple had to be to count as certain."""
    doubt: str = ""
    """Why nothing here is certain, if so: something was seen that no STRIPS agent shows."""
    unconfirmed: tuple[Claim, ...] = ()
    """Claims that follow from the answers, but rest on too few refusals to be certain."""
    beyond: Mapping[str, tuple[Literals, int]] | None = field(default=None, compare=False)
    """Per action, the literals and effects that are proven to be beyond every query, where the policy's last move tells."""
    reasons: Mapping[tuple[str, Literals], str] = field(default_factory=dict, compare=False)
    """By action and literal, why no answer can tell it, where that is not for want of a situation."""
    exam: Exam = field(default_factory=Exam)
    """The examination of the assumption that all of this rests on."""
    diagnosis: Diagnosis | None = None
    """Which part of that assumption is false, if something showed that one is."""
    cut: str = ""
    """``budget`` or ``failed`` if that cut it short."""
    invented: str = ""
    """What the vocabulary was extended by, a fact or constants, to explain what the agent does, in sentences; empty if it was not."""
    refused: tuple[str, ...] = ()
    """Actions that are not in the model: each was refused wherever it was tried, and nothing in the vocabulary explains that."""
    changed: str = ""
    """Since when the agent is as the model says, and what was different before, in sentences; empty if it has not changed."""
    outcomes: Outcomes | None = None
    """What was learned of the actions' outcomes, if the agent is no deterministic one: the model is that, and has nothing ``certain``."""
    untested: str = ""
    """That the classifiers have not passed their test, in a line; empty if they have, or none read the images."""
    strange: str = ""
    """Which images look unlike everything that the classifiers learned from, in a line; empty if none do."""
    seen: str = ""
    """What the test of the user's own classifiers came to, in a line, if they have passed it."""
    unweighed: Result | None = field(default=None, compare=False)
    """The same as it was diagnosed, with all answers since, where these were weighed and chance refusals do not come as errors do."""
    checkpoint: Mapping[str, str] = field(default_factory=dict)
    """By name the SHA-256 of the files that say which version of the agent it is about."""

    def __repr__(self) -> str:
        return in_short(self)

    def __str__(self) -> str:
        return aligned(figures(self))

    def _repr_html_(self) -> str:
        return html(self)

    @property
    def pddl(self) -> str:
        """The model as a PDDL domain."""
        return domain_text(self.model)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw how much of the model stood after how many queries: the share of all possible lines that were as in the end.

        Args:
            axes: of matplotlib, to draw into; new ones if None.
        """
        from aam_vision.support.plotting import learning_curve

        pals = list(self.hypotheses.pal_tuples())
        last = _modes(self.model, pals)
        same = [sum(map(eq, _modes(point.model, pals), last)) for point in self.curve]
        points = [(point.queries, right / len(pals)) for point, right in zip(self.curve, same, strict=True)]
        return learning_curve(points, axes)

    def to_unified_planning(self, problem: Problem | None = None) -> Any:
        """The model as a problem of unified-planning, for its planners and simulators.

        Args:
            problem: The objects, the initial state and the goal that it gets; None for a domain alone.

        Raises:
            UnusableInput: a name is one that PDDL forbids, or the model has derived predicates.
        """
        return to_unified_planning(self.model, problem)

    def to_frame(self) -> DataFrame:
        """The model as a table of pandas (the extra ``frames``).

        With outcomes, a row for each one under each condition: ``action``, ``condition``, ``effects``, ``probability``, ``low`` and
        ``high`` (its interval) and ``trials``. Otherwise a row for each line of the model, and for what may be one: ``action``,
        ``location`` (``pre`` or ``eff``), ``atom``, ``mode`` (``+``, ``-`` or, of what is left out, ``∅``) and ``certain``.

        Raises:
            UnusableInput: pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise UnusableInput('pandas is not installed: pip install "aam-vision[frames]"') from None
        if self.outcomes is not None:
            return DataFrame(self.outcomes.rows)
        certain, rows = self.certain, []
        for pal in self.hypotheses.pal_tuples():
            schema = self.model.schema(pal.action)
            mode = schema.mode(pal.atom, pal.location)
            required = certain.get(pal._replace(location=Location.PRE))
            restated = {*self.hypotheses.modes(pal)} <= {required, Mode.ABSENT}
            sure = pal in certain or restated
            if mode is not Mode.ABSENT or not sure:
                told = pal.action, pal.location.value, pal.atom.text(schema.header.parameters), mode.value
                rows.append((*told, sure))
        return DataFrame(rows, columns=["action", "location", "atom", "mode", "certain"])

    @property
    def status(self) -> str:
        """How it ended, as ``result.json`` has it.

        ``complete``: no query could tell any more, and the assumption behind that was examined.
        ``open``: something is ``missing``. ``budget``: the budget that was given was spent before.
        ``not-strips``: the assumption is false (``diagnosis``). ``failed``: the agent failed before.
        """
        if self.outcomes is not None:
            return self.outcomes.status
        if self.not_strips:
            return NOT_STRIPS
        return (self.cut or OPEN) if self._lacking else COMPLETE

    @property
    def complete(self) -> bool:
        """Whether nothing is missing: ``status`` is ``complete``."""
        return self.status == COMPLETE

    @property
    def missing(self) -> str | None:
        """What is missing for ``complete``, in a line; None if nothing is, or no model fits."""
        if self.outcomes is not None:
            return self.outcomes.missing
        return None if self.not_strips else self._lacking or None

    @property
    def never_executed(self) -> list[ActionHeader]:
        """The actions of which no step was executed: nothing is known of their effects."""
        return [action.index.header for action in self.hypotheses.actions.values() if not action.successes]

    @property
    def _lacking(self) -> str:
        if self.suspected and self.diagnosis is not None:
            why = "the classifiers have not passed their test" if self.untested else self.strange
            return f"probably misread, as {why}; or {self.diagnosis.why}"
        if not self.proven:
            return self.why
        never = self.never_executed
        types, weighed = self.model.vocabulary.types, self.rates is not None
        distinct = not self.hypotheses.repeated and any(
            types.is_a(one, other) or types.is_a(other, one)
            for header in never
            for one, other in combinations(header.types, 2)
        )
        names = [*(header.name for header in never), *self.refused]
        return lacking(self.exam, names, self.cut, weighed=weighed, untested=self.untested, distinct=distinct)

    @property
    def not_strips(self) -> bool:
        """Whether the agent showed that it is no deterministic STRIPS agent in this vocabulary, or is seen wrongly."""
        return (
            self.outcomes is None and self.diagnosis is not None and bool(self.doubt) and not self.suspected
        )

    @property
    def diagnosed(self) -> Result | None:
        """What a run goes on from, if anything was diagnosed that a richer model may explain."""
        if self.not_strips or self.unweighed is None:
            return self if self.not_strips else None
        return replace(self.unweighed, untested=self.untested, strange=self.strange, seen=self.seen)

    @property
    def looks_err(self) -> bool:
        """Whether looks at one situation have differed, so that each was looked at until it was certain."""
        return self.rates is not None and self.rates.looks_err

    @property
    def suspected(self) -> bool:
        """Whether a misreading is as likely behind its contradictions: its classifiers are untested, or saw strange images."""
        return self.diagnosis is not None and bool(self.doubt) and bool(self.untested or self.strange)

    @cached_property
    def undetermined(self) -> list[Undetermined]:
        """Everything that is not determined, grouped, in a fixed order; then what is not confirmed.

        ``kind`` tells what no reachable situation tells (``cannot matter``) from what is ``open``.
        """
        if self.outcomes is not None:
            return self.outcomes.undecided
        return sorted_out(
            self.hypotheses,
            self.transcript,
            self.unconfirmed,
            proven=self.proven,
            why=self.why,
            doubt=self.doubt,
            beyond=self.beyond,
            reasons=self.reasons,
        )

    @property
    def confidences(self) -> dict[PalTuple, tuple[Mode, float]]:
        """The likeliest mode of every palm tuple, and how probable it is at least; all alike where nothing tells."""
        if self.assessment is not None:
            return self.assessment.confidences()
        certain, found = self.certain, {}
        for pal in self.hypotheses.pal_tuples():
            modes = self.hypotheses.modes(pal)
            sure = pal in certain
            found[pal] = (
                modes[0],
                self.confidence if sure else 1 / (len(modes) if len(modes) > 1 else len(Mode)),
            )
        return found

    @property
    def certain(self) -> dict[PalTuple, Mode]:
        """The palm tuples that the result vouches for."""
        if self.doubt:
            return {}
        found = {
            pal: modes[0]
            for pal in self.hypotheses.pal_tuples()
            if len(modes := self.hypotheses.modes(pal)) == 1
        }
        if not self.proven or self.rates is not None:  # a single success may have been misread at every look
            found = {pal: mode for pal, mode in found.items() if self.hypotheses[pal.action].successes != 1}
        for claim in self.unconfirmed:
            action = self.hypotheses[claim.action]
            for bit in bits(claim.literals.positive | claim.literals.negative):
                found.pop(PalTuple(action.index.atom(bit), claim.action, Location.PRE), None)
                if sum(bool(bit & modes) for modes in action.effects) > 1:  # decided by what is required
                    found.pop(PalTuple(action.index.atom(bit), claim.action, Location.EFF), None)
        return found

    @property
    def lower_bound(self) -> int:
        """The least number of queries any sound interrogation needs: one per proven precondition or clause.

        A query has at most one failing step, and what a failing step proves is one literal, or one clause.
        """
        return lower_bound(self.hypotheses)


def _modes(model: Model, pals: Iterable[PalTuple]) -> list[Mode]:
    return [model.schema(pal.action).mode(pal.atom, pal.location) for pal in pals]


def lower_bound(hypotheses: Hypotheses) -> int:
    """How many of the queries up to now no sound interrogation could have done without (``Result.lower_bound``)."""
    return sum(
        action.found_required.size() + len(_disjoint(action.clauses))
        for action in hypotheses.actions.values()
    )


def lifted_predicates(model: Model, *, repeated: bool = False) -> int:
    """The size of P*: lifted atoms over all actions, parameters named by their type and number.

    So ``at(?thing1, ?location2)`` of one action and of another are the same element, as in the paper's
    table.
    """
    found = {
        element(atom, header)
        for header in model.headers
        for atom in lifted_atoms(model.vocabulary, header, repeated=repeated)
    }
    return len(found)


def _disjoint(clauses: list[Literals]) -> list[Literals]:
    """Clauses that share no literal, greedily: each needs a failing step of its own."""
    chosen: list[Literals] = []
    for clause in sorted(clauses, key=Literals.size):
        if all(
            not (clause.positive & other.positive or clause.negative & other.negative) for other in chosen
        ):
            chosen.append(clause)
    return chosen


# Differences between an agent and a model learned earlier.


class ModelDifference(NamedTuple):
    """A pal tuple whose mode is another one now."""

    action: str
    location: Location
    atom: str
    before: Mode
    now: Mode

    def __str__(self) -> str:
        where = "requires" if self.location is Location.PRE else "changes"
        return f"{self.action} {where} {self.atom}: {self.before.value} before, {self.now.value} now"


def differences(before: Model, now: Model, *, repeated: bool = False) -> list[ModelDifference]:
    """All of them, in the order of the model; an effect that restates a precondition does not count."""
    found = []
    for schema in now.actions:
        header = schema.header
        for atom in lifted_atoms(now.vocabulary, header, repeated=repeated):
            for location in Location:
                modes = [read_mode(model, header.name, atom, location) for model in (before, now)]
                if modes[0] is not modes[1]:
                    found.append(ModelDifference(header.name, location, atom.text(header.parameters), *modes))
    return found


def check_prior(
    prior: Model, vocabulary: Vocabulary, headers: tuple[ActionHeader, ...], source: object = None
) -> None:
    """Refuse a model of another agent; ``source`` names the model in the message.

    Raises:
        UnusableInput: it is no model, or its predicates or actions are not those of the agent.
    """
    if not isinstance(prior, Model):
        raise UnusableInput(
            "is no model; give one that was learned, such as result.model", "prior", repr(prior)
        )
    for what, own, given in (
        (
            "predicates",
            {p.name: p.types for p in vocabulary.predicates},
            {p.name: p.types for p in prior.vocabulary.predicates},
        ),
        ("actions", {h.name: h.types for h in headers}, {h.name: h.types for h in prior.headers}),
    ):
        if own != given:
            other = sorted(own.keys() ^ given.keys()) or sorted(n for n in own if own[n] != given[n])
            whose = "is a model of another agent"
            if what == "predicates" and own.items() < given.items():
                whose = "has invented predicates, or is of another agent"
            elif (
                what == "actions"
                and given.keys() - own.keys()
                and all(name.startswith((*own,)) for name in given)
            ):
                whose = "has several actions in place of one, or is of another agent"
            elif what == "actions" and given.items() < own.items():
                whose = "leaves out what was refused everywhere, or is of another agent"
            raise UnusableInput(
                f"{whose} (its {what} differ: {', '.join(other[:3])}); give one with the "
                "agent's vocabulary and instructions",
                argument="prior",
                value=source or prior.vocabulary.name,
            )


def read_mode(model: Model, action: str, atom: LiftedAtom, location: Location) -> Mode:
    """The mode in a model; an effect that restates what its action requires is read as absent."""
    schema = model.schema(action)
    mode = schema.mode(atom, location)
    restated = location is Location.EFF and mode is schema.mode(atom, Location.PRE)
    return Mode.ABSENT if restated else mode


def ending(result: Result) -> Ending:
    """How an interrogation ended."""
    groups = result.undetermined
    left = sum(group.kind == OPEN for group in groups)
    return Ending(
        result.status,
        result.proven,
        result.why,
        result.missing or "",
        result.exam,
        result.rates is not None,
        left,
        len(groups) - left,
        result.doubt,
        result.diagnosis,
        result.invented,
        result.changed,
        seen=result.seen,
    )


def figures(result: Result) -> list[tuple[str, str]]:
    """Names and values: how it ended, what it cost, how far the model is determined and can be relied on."""
    counts, ended = result.counts, ending(result)
    steps = f"{counts.steps} ({counts.walk_steps} walked, {counts.failed_steps} failed, {counted(counts.resets, 'reset')})"
    version = [("version", f"{name}, SHA-256 {digest}") for name, digest in result.checkpoint.items()]
    if result.outcomes is not None:
        return [
            ("status", f"{result.status}: {result.why}"),
            *([("diagnosis", result.diagnosis.why)] if result.diagnosis is not None else []),
            *([("explained", result.invented)] if result.invented else []),
            ("assumed", ASSUMED),
            *(("" if number else "learned", text) for number, text in enumerate(result.outcomes.sentences)),
            ("steps", steps),
            *version,
        ]
    judged = verdict(ended)
    found = [*_verdict(ended, judged)]
    queries = str(counts.queries)
    if not result.invented:  # else the experiments before it, which do not count, have proven a part
        queries += f" (no sound interrogation needs fewer than {result.lower_bound} for what was proven)"
    found += [("queries", queries), ("steps", steps), *version]
    if result.rates is not None:
        found.append(
            ("looks", f"{counts.looks} (situations shown once more, in which nothing was attempted)")
        )
    found.append(("lines", f"{result.hypotheses.size} ({_groups(ended)})"))
    found += [("" if number else "open", line) for number, line in enumerate(_open(result, judged))]
    if result.rates is not None:
        surely = result.rates.surely and result.diagnosis is None
        found.append(("answers", _reliability(result.rates, surely=surely)))
    return found


def _open(result: Result, judged: Verdict) -> list[str]:
    """What is open, and what would settle it: a few groups by name."""
    named = [group for group in result.undetermined if group.kind == OPEN]
    found = list(map(str, named[:_NAMED]))
    if len(named) > _NAMED:
        found.append(f"and {len(named) - _NAMED} more, which result.json lists")
    return [*(text for text in judged.details if "--max-" in text), *found]


def _verdict(ended: Ending, judged: Verdict) -> list[tuple[str, str]]:
    """How sure the model is, why, and on which assumption."""
    if ended.status == NOT_STRIPS:
        return [
            ("status", f"{ended.status}: {judged.main}"),
            *(("diagnosis" if not number else "", text) for number, text in enumerate(judged.details)),
        ]
    found = [("status", f"{ended.status}: {ended.missing or ended.why}")]
    if ended.doubt and ended.doubt not in ended.why:
        found.append(("in doubt", f"everything: {ended.doubt}"))
    if ended.diagnosis is not None:
        found.append(("diagnosis", ended.diagnosis.why))
        if ended.diagnosis.further:
            found.append(("", ended.diagnosis.further))
    if ended.invented:
        found.append(("explained", ended.invented))
    if ended.changed:
        found.append(("changed", ended.changed))
    found.append(("assumed", assumption(ended).partition(": ")[2].rstrip(".")))
    if judged.examination:
        found.append(("examination", judged.examination.rstrip(".")))
    return found


def aligned(lines: Iterable[tuple[str, str]]) -> str:
    """Names and values under each other, for a terminal, in lines of at most ``wording.WIDTH`` characters."""
    return "\n".join(
        f"{name if not number else '':<{_WIDTH}}{part}"
        for name, value in lines
        for number, part in enumerate(wording.lines(value, 2, wording.WIDTH - _WIDTH))
    )


def table(lines: Iterable[tuple[str, str]]) -> str:
    """Names and values as a table of HTML."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(value)}</td></tr>'
        for name, value in lines
    )
    return f"<table>{rows}</table>"


def in_short(result: Result) -> str:
    """The result in a line."""
    counts = result.counts
    return (
        f"<Result: {result.status}; {counted(len(result.model.actions), 'action')}, "
        f"{'outcomes' if result.outcomes is not None else counted(result.hypotheses.size, 'line')}, {counted(len(result.undetermined), 'group')} undetermined; "
        f"{counted(counts.queries, 'query')}, {counted(counts.steps, 'step')}>"
    )


def html(result: Result) -> str:
    """The result for a notebook: figures, the model, and what is not determined. It has no style of its own."""
    model = escape(domain_text(result.model))
    shown = f"{table(figures(result))}<details open><summary>The model</summary><pre>{model}</pre></details>"
    for kind, title in (("open", "Open"), ("cannot matter", "Not determined, but cannot matter")):
        if left := [entry for entry in result.undetermined if entry.kind == kind]:
            entries = "".join(
                f"<li>{escape(entry.action)}, {'precondition' if entry.location == 'pre' else 'effect'}: "
                f"<code>{escape(', '.join(entry.group))}</code> ({escape(entry.known)}"
                f"{escape(f'; to settle it: {entry.settle}') if entry.settle else ''})</li>"
                for entry in left
            )
            shown += f"<details><summary>{title} ({len(left)})</summary><ul>{entries}</ul></details>"
    return shown


def _groups(ended: Ending) -> str:
    """How many groups are undetermined, and of which kind."""
    found = f"{counted(ended.open + ended.cannot_matter, 'group')} undetermined"
    kinds = [
        f"{number} {word}"
        for number, word in ((ended.open, "open"), (ended.cannot_matter, "cannot matter"))
        if number
    ]
    return f"{found}: {', '.join(kinds)}" if kinds else found


def _reliability(rates: ErrorRates, *, surely: bool) -> str:
    """How unreliable the answers were; of an agent that refuses ``surely`` nothing is said of wrong refusals."""
    wrong = [
        f"{100 * max(found, default=0):.1f}%"
        for found in (
            [one.false_positive for one in rates.misreadings.values()],
            [one.false_negative for one in rates.misreadings.values()],
        )
    ]
    refused = "" if surely else f", {100 * rates.refusals:.1f}% of steps refused by mistake"
    return (
        f"weighed: at most {wrong[0]} of false and {wrong[1]} of true atoms of a predicate are misread{refused} "
        "(estimates)"
    )
