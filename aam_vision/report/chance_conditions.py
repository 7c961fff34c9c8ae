"""What an action with chance needs, and the refusals that prove it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aam_vision.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.evidence.attempted_steps import AttemptedStep
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.report import english
from aam_vision.report.events import Event, Events
from aam_vision.strips import Mode
from aam_vision.wording import counted

PROVEN, ONE_OF, OPEN = "proven", "one of several", "open"
MAX_OTHERS = 6
"""Steps that are named behind one proof, at most."""


@dataclass(frozen=True)
class Condition:
    """A literal that an action needs, or may need."""

    text: str
    words: str
    status: str
    """``proven``, ``one of several`` or ``open``."""
    why: str
    anchor: str
    """A name that is unique on the page and safe in HTML."""
    in_model: bool
    """Whether the cautious model has it: most open negative literals are left out."""
    refusal: Event | None = None
    """The refused step that proves it, or leaves it open."""


def conditions(known: ActionKnowledge, steps: Sequence[AttemptedStep], events: Events) -> Iterator[Condition]:
    """What an action needs, and may need; proven conditions first.

    Args:
        known: what is known of it.
        steps: its steps.
        events: what they look like.
    """
    precondition = known.precondition
    refused = [(step, _violated(known, step)) for step in steps if not step.executed]
    of_clauses = union(precondition.clauses)
    for literal in (*precondition.proven.singles(), *precondition.undecided.singles()):
        (text,) = known.index.text(literal)
        status = (
            PROVEN
            if literal.overlaps(precondition.proven)
            else ONE_OF
            if literal.overlaps(of_clauses)
            else OPEN
        )
        if status == PROVEN:
            refusal = next((step for step, violated in refused if violated == literal), None)
        else:
            refusal = next((step for step, violated in refused if literal.within(violated)), None)
        if status == OPEN and not known.executed:
            continue  # every literal is open then
        atom = known.index.atom(literal.positive | literal.negative)
        mode = Mode.POSITIVE if literal.positive else Mode.NEGATIVE
        header = known.index.header
        words = english.literal(atom, mode, header.parameters, known.index.vocabulary)
        event = None if refusal is None else events.event(refusal)
        anchor = f"why-{header.name}-{'needs' if literal.positive else 'not'}-{known.index.atoms.index(atom)}"
        why = _why(known, status, refusal, steps, events)
        yield Condition(text, words, status, why, anchor, literal.within(precondition.cautious), event)


def _why(
    known: ActionKnowledge,
    status: str,
    refusal: AttemptedStep | None,
    steps: Sequence[AttemptedStep],
    events: Events,
) -> str:
    """How a condition is known, as a sentence or two."""
    if status == OPEN or refusal is None:
        return "It held in every execution, and no step was refused because of it alone: no answer tells whether it is needed."
    violated = _violated(known, refusal)
    name = events.event(refusal).name.lower()
    if status == ONE_OF:
        among = english.listed(known.index.text(violated), "or")
        return f"In {name} the step was refused: one of {among} is needed, and no answer tells which."
    alone = f"In {name} the step was refused, and of all that may be needed only this did not hold"
    false = _false(known, refusal)
    others = Literals(false.positive & ~violated.positive, false.negative & ~violated.negative)
    if not others:
        return f"{alone}."
    names = []
    left = others
    for step in steps:
        if not step.executed or step.before is None:
            continue
        shown = left.common(_false(known, step))
        if shown:
            names.append(events.event(step).name.lower())
            left = left.without(shown)
    told = english.listed([*names[:MAX_OTHERS], *(["others"] if len(names) > MAX_OTHERS else [])])
    return f"{alone}: the other {counted(others.size(), 'literal')} that did not are not needed, as executions without them show ({told})."


def _false(known: ActionKnowledge, step: AttemptedStep) -> Literals:
    """The literals that did not hold before a step."""
    assert step.before is not None, "such agents are asked for single steps"
    held, _ = known.index.values(step.before.state, step.action.objects)
    return Literals(known.index.everything & ~held, held)


def _violated(known: ActionKnowledge, step: AttemptedStep) -> Literals:
    """The literals among them that may be needed, by all answers."""
    return _false(known, step).common(known.precondition.candidates)
