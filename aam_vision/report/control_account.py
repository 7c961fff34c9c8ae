"""What the controls of an agent do, case by case, in words and pictures; of a run that knew only controls."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from aam_vision.interrogation.controls.chance import likeliest
from aam_vision.interrogation.controls.conditional import conditional, conditional_action_text
from aam_vision.interrogation.controls.giving import Given
from aam_vision.interrogation.controls.mapping import read_carriers
from aam_vision.interrogation.controls.operators import Operator, Transition, idle
from aam_vision.interrogation.controls.rules import ControlModel
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import AttemptedStep, Transcript
from aam_vision.model.strips import ActionHeader, GroundAction, State
from aam_vision.report.abilities import ALL, ControlNames, clause
from aam_vision.report.ending import ShownExample
from aam_vision.report.events import Event
from aam_vision.support.wording import some

if TYPE_CHECKING:
    from aam_vision.report.told_account import ToldAccount

SHOWN = 6
"""Steps that no case explains which are shown, at most."""
CHANGES = 4
"""Changes of such a step that are named, at most."""


@dataclass(frozen=True)
class CaseAccount:
    """One thing that a control does: an operator of the model, with a step that shows it."""

    action: str
    """The name of the operator."""
    sentence: str
    example: Event | None


@dataclass(frozen=True)
class ControlAccount:
    """What one control does."""

    header: ActionHeader
    cases: tuple[CaseAccount, ...]
    given: int
    """How often it was given."""
    changed: int
    """How often it changed something."""
    conditional: tuple[str, ...] = ()
    """Cases that are one action with conditional effects, as PDDL."""


class Controls:
    """What the controls of a run do, whose operators ``account`` is of. Raises UnusableInput: ``controls.json`` is missing, damaged, or of another run."""

    def __init__(self, account: ToldAccount, transcript: Transcript) -> None:
        self._account = account
        self._headers = transcript.headers
        self._steps: list[Given] = []
        memory = account.run.memory
        remembered: dict[Hashable, Any] = {}
        for entry in transcript.entries:  # looks are left out
            if isinstance(entry, Asked) and len(entry.query.plan) == entry.response.executed == 1:
                before, control, after = entry.query.initial, entry.query.plan[0], entry.response.final
                step: tuple[State, GroundAction | None, State] = before.state, control, after.state
                if memory is not None:
                    here = remembered.get(before.handle, memory.begins)
                    did = before.state != after.state
                    remembered[after.handle] = memory.after(here, control, did=did)
                    step = memory.step(before.state, control, after.state, here)
                seen, carried_out, then = step
                if carried_out is not None:
                    self._steps.append(Given(before, Transition(seen, carried_out, then), after))
        if (account.run.figures or {}).get("chance"):
            self._steps = likeliest(self._steps)
        self._carriers = read_carriers(account.run.folder, account.model, self._headers)

    @property
    def names(self) -> ControlNames:
        """The controls, which operators each carries out, and those that never did anything."""
        seen: dict[str, list[Transition]] = {header.name: [] for header in self._headers}
        for step in self._steps:
            seen[step.transition.control.name].append(step.transition)
        carried = {name: carrier.control for name, carrier in self._carriers.items()}
        return ControlNames(tuple(seen), carried, idle(seen))

    @cached_property
    def told(self) -> list[ControlAccount]:
        """Every control, in the agent's order."""
        model, found = self._account.model, list[ControlAccount]()
        split = conditional(model, self._carriers)
        for header in self._headers:
            names = [name for name, carrier in self._carriers.items() if carrier.control == header.name]
            given = [one.transition for one in self._different if one.transition.control.name == header.name]
            cases = [CaseAccount(name, self._sentence(name), self._examples.get(name)) for name in names]
            merged = [one for one in split.actions if one.control == header.name]
            texts = tuple(conditional_action_text(one, model.vocabulary) for one in merged)
            changed = sum(bool(one.change) for one in given)
            found.append(ControlAccount(header, tuple(cases), len(given), changed, texts))
        return found

    def _sentence(self, name: str) -> str:
        """All that a case needs and changes, in a sentence."""
        model = self._account.model
        words = clause(model, model.schema(name), ALL, ALL)
        return f"{words[:1].upper()}{words[1:]}."

    @cached_property
    def unexplained(self) -> list[ShownExample]:
        """Steps that came out otherwise than the model predicts, some of them."""
        if not (self._account.run.figures or {}).get("unexplained"):
            return []
        operators = [
            Operator(carrier.control, carrier.given, self._account.model.schema(name).header, ())
            for name, carrier in self._carriers.items()
        ]
        model = ControlModel(self._account.model, operators)
        strange = (
            self._example(one)
            for one in self._different
            if not model.agrees(one.transition.before, one.transition.control, one.transition.after)
        )
        return list(islice(strange, SHOWN))

    def telling(self, control: str) -> Event | None:
        """A step of a control that shows its first case in two different pictures; None if no case has such."""
        for one in self.told:
            for case in one.cases if one.header.name == control else ():
                shown = () if case.example is None else case.example.shown
                if len(shown) == 2 and shown[0].image != shown[1].image:
                    return case.example
        return None

    @cached_property
    def two_ways(self) -> tuple[ShownExample, ...]:
        """Two steps of one control in situations that look alike, which went differently; none if that was not seen."""
        seen: dict[tuple[State, GroundAction], Given] = {}
        for one in self._steps:
            key = one.transition.before, one.transition.control
            known = seen.setdefault(key, one)
            states = known.transition.after, one.transition.after
            if states[0] != states[1] and not any(state.unknown for state in (key[0], *states)):
                return self._example(known), self._example(one)
        return ()

    @cached_property
    def _different(self) -> list[Given]:
        """The steps, each kind (what was seen, and the control) once, in order."""
        found: dict[tuple[State, GroundAction], Given] = {}
        for one in self._steps:
            found.setdefault((one.transition.before, one.transition.control), one)
        return list(found.values())

    @property
    def shown(self) -> Iterator[str]:
        """The names of all images that are shown."""
        for control in self.told:
            for case in control.cases:
                yield from (image.image for image in (case.example.shown if case.example else ()))
        for one in self.unexplained:
            yield from (name for name in (one.image, one.image_after) if name is not None)

    def _example(self, step: Given) -> ShownExample:
        """A step with its images."""
        sights = [self._account.run.sights.get(one.handle) for one in (step.before, step.after)]
        before, after = (None if sight is None else sight.image for sight in sights)
        return ShownExample(str(step.transition.control), _outcome(step.transition), before, after)

    @cached_property
    def _examples(self) -> Mapping[str, Event]:
        """By operator, a step that shows what it does: one whose pictures differ, and the first that changes most."""
        best: dict[str, tuple[tuple[bool, bool, int], AttemptedStep]] = {}
        sights = self._account.run.sights
        for step in self._account.steps:
            if not step.executed or step.before is None or step.after is None:
                continue
            before, after = (sights.get(one.handle) for one in (step.before, step.after))
            seen = before is not None and after is not None and before.image != after.image
            change = Transition(step.before.state, step.action, step.after.state).change
            single = len(self._account.transcript.entries[step.entry].actions) == 1
            key = seen, single, len(change)
            if step.action.name not in best or key > best[step.action.name][0]:
                best[step.action.name] = key, step
        return {name: self._account.events.event(step) for name, (_, step) in best.items()}


def _outcome(transition: Transition) -> str:
    """What a step changed, in a few words."""
    changes = [f"{'+' if value else '-'}{atom}" for atom, value in transition.change.items()]
    return some(changes, CHANGES) if changes else "nothing changed"
