"""Proofs of modes: the answers that rule the other modes of a pal tuple out, looked up in a transcript afterwards.

A mode is ruled out in one of three ways: a literal of a precondition by a success in which it was violated; a mode
of an effect by a step's changes, or the lack of them; and that a literal is *not* required by a refusal of which every
other possible reason is ruled out. The entries that a proof names suffice: the same mode follows from them alone.
Where a value was not seen, because an image hides it or a situation within a plan was not looked at, it followed from
other answers, and the proof says so (``Proof.seen``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aam_vision.interrogation.evidence.transcript import (
    AttemptedStep,
    Place,
    Transcript,
    attempted,
    evidence_of,
    ruled_out,
    violated,
)
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.model.strips import LiftedAtom, Location, Mode, PalTuple
from aam_vision.support.errors import InconsistentAgent

AtomMode = tuple[LiftedAtom, Mode]
"""An atom and a mode of it; the action and the location follow from the context."""


@dataclass(frozen=True)
class Exclusion:
    """An executed step of the action, or else any step that showed what was hidden; and the modes that it rules out."""

    step: AttemptedStep
    claims: tuple[AtomMode, ...]
    seen: bool = True
    """Whether the states seen around the step suffice; else the exclusion rests on other answers, too."""


@dataclass(frozen=True)
class Proof:
    """The possible modes of one pal tuple, and the answers from which they follow."""

    pal: PalTuple
    modes: tuple[Mode, ...]
    """The modes that are left; one if the pal tuple is decided."""
    exclusions: tuple[Exclusion, ...] = ()
    """Successes that rule out modes of the pal tuple."""
    refusal: AttemptedStep | None = None
    """The refused step that shows that some literal is required, if the pal tuple's is or may be that."""
    violated: int = 0
    """The number of literals that were violated there, or may have been."""
    innocent: tuple[Exclusion, ...] = ()
    """Successes in which other literals violated there were violated, too, so that these are not required."""
    reasons: tuple[AtomMode, ...] = ()
    """The possible reasons that remain: one, or several of which at least one is required."""
    inferred: tuple[LiftedAtom, ...] = ()
    """Atoms that were not seen at the refusal; their values there follow from other answers."""
    premises: tuple[Proof, ...] = ()
    """Proofs of other pal tuples on which this one rests."""

    @property
    def decided(self) -> bool:
        return len(self.modes) == 1

    @property
    def seen(self) -> bool:
        """Whether the entries named here suffice."""
        return (
            not self.inferred
            and all(one.seen for one in (*self.exclusions, *self.innocent))
            and all(premise.seen for premise in self.premises)
        )

    @property
    def entries(self) -> tuple[int, ...]:
        """The entries of the transcript, walks in single steps, that the proof names."""
        own = {one.step.entry for one in (*self.exclusions, *self.innocent)}
        own |= {self.refusal.entry} if self.refusal is not None else set()
        return tuple(sorted(own.union(*(premise.entries for premise in self.premises))))


class Proofs:
    """The proofs from a transcript, up to the first entry that contradicts earlier ones (``contradiction``)."""

    def __init__(self, transcript: Transcript) -> None:
        self.contradiction: str | None = None
        single = transcript.in_single_steps()
        wrong = self._replay(single)
        if wrong is not None:
            number, error = wrong
            self.contradiction = f"{single.names()[number]}: {error}"
            single = single.of(single.entries[:number])
            self._replay(single)
        self.transcript = single
        """The consistent entries, walks in single steps."""
        self.steps = tuple(attempted(single))
        self._refused: dict[str, list[AttemptedStep]] = {name: [] for name in self.hypotheses.actions}
        self._successes: dict[str, list[tuple[AttemptedStep, dict[Place, int]]]] = {
            name: [] for name in self.hypotheses.actions
        }
        """The first success of all that rule out the same."""
        known = set[tuple[object, ...]]()
        for step in self.steps:
            name = step.action.name
            if step.executed:
                excludes = ruled_out(self.hypotheses[name].index, step)
                key = (name, *excludes.values())
                if key not in known:
                    known.add(key)
                    self._successes[name].append((step, excludes))
            else:
                self._refused[name].append(step)

    def _replay(self, single: Transcript) -> tuple[int, str] | None:
        """Take in all entries; return the number of the first that contradicts those before it, and the error."""
        evidence = evidence_of(single)
        self.hypotheses: Hypotheses = evidence.hypotheses
        """The hypotheses after all entries."""
        self.decided: list[int] = []
        """The number of decided pal tuples after each entry."""
        self._excluded: dict[str, list[tuple[int, Place, int]]] = {
            name: [] for name in self.hypotheses.actions
        }
        """By action, the entries that ruled out modes, with the atoms for which they did."""
        for number, entry in enumerate(single.entries):
            before = {name: _masks(action) for name, action in self.hypotheses.actions.items()}
            try:
                evidence.take_in(entry)
            except InconsistentAgent as error:
                return number, str(error)
            for name, masks in before.items():
                now = _masks(self.hypotheses[name])
                changed = [(number, place, mask & ~now[place]) for place, mask in masks.items()]
                self._excluded[name] += [change for change in changed if change[-1]]
            self.decided.append(self.hypotheses.decided())
        return None

    def proof(self, pal: PalTuple) -> Proof:
        """The proof of the modes of a pal tuple."""
        if pal.location is Location.EFF:
            return self._of_effect(pal)
        action, modes = self.hypotheses[pal.action], self.hypotheses.modes(pal)
        bit = action.index.bit[pal.atom]
        if Mode.ABSENT not in modes:
            own = Literals(bit, 0) if Mode.POSITIVE in modes else Literals(0, bit)
            return self._of_refusal(pal, modes, own)
        wanted = {(Location.PRE, mode): bit for mode in Mode if mode not in modes}
        exclusions = self._exclusions(pal.action, wanted)
        for clause in sorted(action.clauses):
            if (clause.positive | clause.negative) & bit:
                return replace(self._of_refusal(pal, modes, clause), exclusions=exclusions)
        return Proof(pal, modes, exclusions)

    # --- effects and refusals ------------------------------------------------------------------------------------

    def _of_effect(self, pal: PalTuple) -> Proof:
        action, modes = self.hypotheses[pal.action], self.hypotheses.modes(pal)
        bit = action.index.bit[pal.atom]
        wanted = {(Location.EFF, mode): bit for mode in Mode if mode not in modes}
        exclusions = self._exclusions(pal.action, wanted)
        premises: tuple[Proof, ...] = ()
        if len(modes) > 1 and not action.undecided_effects & bit:
            # an effect that restates a proven precondition changes nothing, and is read as absent
            modes = (Mode.ABSENT,)
            premises = (self.proof(pal._replace(location=Location.PRE)),)
            if action.index.merges:
                # where atoms may coincide, further answers show that no other effect deletes it
                return Proof(pal, modes, exclusions, premises=premises, inferred=(pal.atom,))
        return Proof(pal, modes, exclusions, premises=premises)

    def _of_refusal(self, pal: PalTuple, modes: tuple[Mode, ...], left: Literals) -> Proof:
        """The proof of a clause, with the refusal that takes the fewest answers to explain."""
        action = self.hypotheses[pal.action]
        best: tuple[tuple[int, int], Proof] | None = None
        for step in self._refused[pal.action]:
            reasons = violated(action.index, step)
            if not left.within(reasons):
                continue
            others = reasons.without(left)
            places = {
                (Location.PRE, Mode.POSITIVE): others.positive,
                (Location.PRE, Mode.NEGATIVE): others.negative,
            }
            innocent = self._exclusions(pal.action, places)
            for one in innocent:
                for atom, mode in one.claims:
                    places[Location.PRE, mode] &= ~action.index.bit[atom]
            unexplained = places[Location.PRE, Mode.POSITIVE] | places[Location.PRE, Mode.NEGATIVE]
            proof = Proof(
                pal,
                modes,
                refusal=step,
                violated=reasons.size(),
                innocent=innocent,
                reasons=(
                    *_atom_modes(action, left.positive, Mode.POSITIVE),
                    *_atom_modes(action, left.negative, Mode.NEGATIVE),
                ),
                inferred=tuple(atom for atom, _ in _atom_modes(action, unexplained, Mode.ABSENT)),
            )
            rank = (unexplained.bit_count() + sum(not one.seen for one in innocent), len(innocent))
            if best is None or rank < best[0]:
                best = rank, proof
        return best[1] if best is not None else Proof(pal, modes)

    # --- successes -----------------------------------------------------------------------------------------------

    def _exclusions(self, name: str, wanted: dict[Place, int]) -> tuple[Exclusion, ...]:
        """Few successes that rule out all these modes, as far as they are ruled out at all; chosen greedily."""
        action, left = self.hypotheses[name], dict(wanted)
        chosen: list[Exclusion] = []
        while any(left.values()):
            gain, best, open_ = 0, None, [one for one in left.items() if one[1]]
            for success in self._successes[name]:
                size = 0
                for place, mask in open_:
                    size += (mask & success[1].get(place, 0)).bit_count()
                if size > gain:
                    gain, best = size, success
            if best is None:
                break
            step, excludes = best
            masks = {place: mask & excludes[place] for place, mask in left.items()}
            chosen.append(Exclusion(step, _atom_modes_of(action, masks)))
            left = {place: mask & ~masks[place] for place, mask in left.items()}
        return (*chosen, *self._inferred_exclusions(name, left))

    def _inferred_exclusions(self, name: str, left: dict[Place, int]) -> list[Exclusion]:
        """The entries that ruled out modes although the states seen around one step do not suffice."""
        action, found = self.hypotheses[name], dict[int, dict[Place, int]]()
        for number, place, excluded in self._excluded[name]:
            if mask := left.get(place, 0) & excluded:
                found.setdefault(number, {})[place] = mask
        chosen = []
        for number, masks in found.items():
            steps = [step for step in self.steps if step.entry == number]
            own = [step for step in self.steps if step.entry <= number and step.action.name == name]
            here = [step for step in steps if step.action.name == name] or steps or own  # a look has no steps
            chosen.append(Exclusion(here[-1], _atom_modes_of(action, masks), seen=False))
        return chosen


def _masks(action: ActionHypotheses) -> dict[Place, int]:
    """The possible modes, as masks of the atoms that may have them."""
    return {
        (location, mode): mask
        for location in Location
        for mode, mask in zip(Mode, action.masks(location), strict=True)
    }


def _atom_modes(action: ActionHypotheses, mask: int, mode: Mode) -> list[AtomMode]:
    return [(action.index.atom(bit), mode) for bit in bits(mask)]


def _atom_modes_of(action: ActionHypotheses, masks: dict[Place, int]) -> tuple[AtomMode, ...]:
    return tuple(claim for (_, mode), mask in masks.items() for claim in _atom_modes(action, mask, mode))
