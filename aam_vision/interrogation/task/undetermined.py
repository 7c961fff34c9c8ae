"""The pal tuples that a result leaves open: grouped, told apart by whether they can matter, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from aam_vision.interrogation.completeness.indistinguishability import NO_WAY, Indistinguishability, origins
from aam_vision.interrogation.evidence.graph import REFUSALS, Claim
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.interrogation.task.verdict import OPEN
from aam_vision.model.strips import Location, PalTuple

CANNOT_MATTER = "cannot matter"
"""No situation that can be reached from the given problems tells the difference."""
NEVER_EXECUTED = "never executed: nothing is known"


@dataclass(frozen=True)
class Undetermined:
    """Pal tuples of one action that could not be decided, together where only their joint truth is known."""

    action: str
    location: str
    group: tuple[str, ...]
    """Literals in words; for an effect, its possible modes, e.g. ``+at-goal(?p) or ∅``."""
    known: str
    """The knowledge about the group."""
    kind: str = OPEN
    """``cannot matter``: no reachable situation tells the difference. Else ``open``: some query may tell, or it was not
    shown that none can."""
    settle: str = ""
    """What would settle it, in words; empty for what cannot matter."""
    pals: tuple[PalTuple, ...] = ()
    """The pal tuples of the group."""

    def __str__(self) -> str:
        where = "precondition" if self.location == "pre" else "effect"
        found = f"{self.action}, {where}: {', '.join(self.group)} ({self.known})"
        return f"{found}; to settle it: {self.settle}" if self.settle else found


def undetermined(hypotheses: Hypotheses) -> list[Undetermined]:
    """Everything that these hypotheses leave open, grouped, in a fixed order; each as ``open``."""
    return [
        entry
        for name, action in hypotheses.actions.items()
        for entry in (*_preconditions(name, action), *_effects(name, action))
    ]


def sorted_out(
    hypotheses: Hypotheses,
    transcript: Transcript,
    unconfirmed: tuple[Claim, ...],
    *,
    proven: bool,
    why: str,
    doubt: str,
    beyond: Mapping[str, tuple[Literals, int]] | None,
    reasons: Mapping[tuple[str, Literals], str],
) -> list[Undetermined]:
    """Everything undetermined, told apart by whether it can matter; then what is not confirmed.

    Where the run is not ``complete``, but ended because no way was found to ask what was open (``why``), this is told by
    what is proven to be ``beyond`` every query; without these proofs, they are made here. Else whatever is undetermined
    counts as open, and so it does where anything is in ``doubt``. What no answer can tell is known for these ``reasons``.
    """
    found = undetermined(hypotheses)
    if proven:
        found = [replace(entry, kind=CANNOT_MATTER, settle="") for entry in found]
    elif NO_WAY in why and not doubt and not unconfirmed:
        if beyond is None:
            beyond = Indistinguishability(hypotheses, origins(evidence_of(transcript))).closed
        found = [_sorted(entry, hypotheses[entry.action], beyond.get(entry.action)) for entry in found]
    found = [_reasoned(entry, hypotheses[entry.action], reasons) for entry in found]
    for claim in unconfirmed:
        action = hypotheses[claim.action]
        texts = tuple(action.index.text(claim.literals))
        if len(texts) == 1:  # several of which one is required are listed anyway
            known = f"refused, but not {REFUSALS} times, and could not be asked for again"
            settle = f"the same step refused again, {REFUSALS} times in all"
            pals = _pals(claim.action, action, claim.literals, Location.PRE)
            found.append(Undetermined(claim.action, "pre", texts, known, OPEN, settle, pals))
    return found


def _sorted(
    entry: Undetermined, action: ActionHypotheses, beyond: tuple[Literals, int] | None
) -> Undetermined:
    """The same with its kind, by the literals and effects of the action that are beyond every query."""
    if beyond is None:
        return entry
    literals, effects = beyond
    bit = action.index.mask([pal.atom for pal in entry.pals])
    if entry.location == Location.EFF.value:
        closed = bool(bit & effects)
    else:
        closed = action.undecided.common(Literals(bit, bit)).within(literals)
    return replace(entry, kind=CANNOT_MATTER, settle="") if closed else entry


def _reasoned(
    entry: Undetermined, action: ActionHypotheses, reasons: Mapping[tuple[str, Literals], str]
) -> Undetermined:
    """The same with the reason why no answer can tell it, if there is one."""
    if entry.kind != CANNOT_MATTER:
        return entry
    bit = action.index.mask([pal.atom for pal in entry.pals])
    for literal in (Literals(bit, 0), Literals(0, bit)):
        if (why := reasons.get((entry.action, literal))) is not None:
            return replace(entry, known=f"{entry.known}; {why}")
    return entry


def _preconditions(name: str, action: ActionHypotheses) -> Iterator[Undetermined]:
    for clause in sorted(action.clauses):
        settle = f"a step of {name} in which some of these hold and the others do not, and all else does"
        yield _entry(name, action, clause, "at least one is required", settle)
    for one in action.undecided.without(union(action.clauses)).singles():
        if not action.successes:
            yield _entry(name, action, one, NEVER_EXECUTED, _first(name))
            continue
        (text,) = action.index.text(Literals(one.positive | one.negative, 0))
        value = "false" if one.positive else "true"
        settle = f"a step of {name} in which {text} is {value} and all else holds"
        yield _entry(name, action, one, "held in every success", settle)


def _entry(name: str, action: ActionHypotheses, literals: Literals, known: str, settle: str) -> Undetermined:
    pals = _pals(name, action, literals, Location.PRE)
    return Undetermined(name, "pre", tuple(action.index.text(literals)), known, OPEN, settle, pals)


def _effects(name: str, action: ActionHypotheses) -> Iterator[Undetermined]:
    for bit in bits(action.undecided_effects):
        (text,) = action.index.text(Literals(bit, 0))
        possible = [
            (word, mask)
            for word, mask in ((f"+{text}", action.adds), (f"-{text}", action.deletes), ("∅", action.keeps))
            if mask & bit
        ]
        modes = " or ".join(word for word, _ in possible)
        known, settle = NEVER_EXECUTED, _first(name)
        if action.successes:
            known = "no success showed a difference"
            adds, deletes = bool(action.adds & bit), bool(action.deletes & bit)
            before = "" if adds and deletes else f" and it was {'false' if adds else 'true'} before"
            settle = f"a success of {name} after which {text} is seen{before}"
        pals = _pals(name, action, Literals(bit, 0), Location.EFF)
        yield Undetermined(name, "eff", (modes,), known, OPEN, settle, pals)


def _first(name: str) -> str:
    return f"a problem in which {name} can be done"


def _pals(
    name: str, action: ActionHypotheses, literals: Literals, location: Location
) -> tuple[PalTuple, ...]:
    index = action.index
    return tuple(
        PalTuple(index.atom(bit), name, location) for bit in bits(literals.positive | literals.negative)
    )
