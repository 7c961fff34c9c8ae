"""One attempted step as evidence: the plan, the states seen before and after, and the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aam_vision.agents.perception import Box, Point
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import AttemptedStep, Transcript
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, LiftedAtom, State, lifted_atoms
from aam_vision.report.recorded import Recorded, Sight

MAX_FACTS = 40
"""Facts of one state that are listed, at most."""


@dataclass(frozen=True)
class ShownImage:
    """An image in an event: its name, what it is, where the step's arguments are in it, and what things are called."""

    image: str
    caption: str
    marks: tuple[tuple[str, Box], ...]
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Event:
    """A query or a step of a walk, with one of its steps in the focus."""

    anchor: str
    name: str
    plan: tuple[tuple[str, str], ...]
    """Every step with ``done``, ``refused`` or ``unreached``."""
    focus: int
    binding: tuple[tuple[str, str], ...]
    """The parameters of the step in the focus, and the objects that stand for them."""
    shown: tuple[ShownImage, ...]
    held: tuple[str, ...] | None
    """Facts about the arguments before the step, by the parameters' names; None where the state was not seen."""
    unknown: tuple[str, ...]
    """Facts about the arguments that could not be seen."""
    changes: tuple[str, ...]
    """The facts that the step has changed, ``+`` or ``-`` first."""
    executed: bool
    asked: bool
    """Whether it belongs to a query; else the agent acted on its own."""

    @property
    def step(self) -> str:
        """The step in the focus."""
        return self.plan[self.focus][0]

    @property
    def outcome(self) -> str:
        """The outcome in a few words."""
        return "was done" if self.executed else "could not be done"


class Events:
    """The attempted steps of a run."""

    def __init__(self, run: Recorded, single: Transcript) -> None:
        self._run = run
        self._single = single
        self._headers = {header.name: header for header in single.headers}
        self._names = _anchors(run, single)
        self._atoms = {
            header.name: lifted_atoms(single.vocabulary, header, repeated=single.repeated)
            for header in single.headers
        }

    def event(self, step: AttemptedStep) -> Event:
        """The event of one step."""
        entry = self._single.entries[step.entry]
        anchor, name = self._names[step.entry]
        if isinstance(entry, Asked):
            executed, plan = entry.response.executed, entry.query.plan
            states = ["done"] * executed + ["refused"] + ["unreached"] * len(plan)
            states = states[: len(plan)]
            start, end = entry.query.initial, entry.response.final
        else:
            ((start, action, end),) = entry.steps
            plan, states, executed = (action,), ["done"], 1
        passing = self._passing(start, end, executed)
        header = self._headers[step.action.name]
        before = None if step.before is None else step.before.state
        after = None if step.after is None else step.after.state
        return Event(
            anchor,
            name,
            tuple(zip(map(str, plan), states, strict=True)),
            step.position,
            tuple(zip((f"?{p}" for p in header.parameters), step.action.objects, strict=True)),
            self._pictures(step, passing),
            None if before is None else self._facts(step.action, before, True),
            () if before is None else self._facts(step.action, before, None),
            () if before is None or after is None else self._changes(step.action, before, after),
            step.executed,
            isinstance(entry, Asked),
        )

    def _passing(self, start: Situation, end: Situation, executed: int) -> list[Sight | None]:
        """How it looked before a plan, and after each of its executed steps; None where no image was kept."""
        first, last = self._run.sights.get(start.handle), self._run.sights.get(end.handle)
        if not executed:
            return [first]
        between: list[Sight | None] = [None] * (executed - 1)
        if last is not None and len(last.passed) == executed - 1:
            # of these only the image is known, and not where things were seen in it
            between = [Sight(image, last.problem, {}) for image in last.passed]
        return [first, *between, last]

    def _pictures(self, step: AttemptedStep, passing: list[Sight | None]) -> tuple[ShownImage, ...]:
        """The image before the step, and the one after it; where those are missing, of the whole plan."""
        before, executed = passing[step.position], len(passing) - 1
        name = step.action.name
        if not step.executed:
            return self._shown(step, (before, f"before {name}, which could not be done"))
        after = passing[step.position + 1]
        if before is not None and after is not None:
            return self._shown(step, (before, f"before {name}"), (after, f"after {name}"))
        which = f"after {executed} steps"
        return self._shown(step, (passing[0], "before the plan"), (passing[-1], which))

    def _shown(self, step: AttemptedStep, *seen: tuple[Sight | None, str]) -> tuple[ShownImage, ...]:
        action = step.action
        return tuple(
            ShownImage(sight.image, caption, self._marks(sight, action), self._labels(sight, action))
            for sight, caption in seen
            if sight is not None
        )

    def _marks(self, sight: Sight, action: GroundAction) -> tuple[tuple[str, Box], ...]:
        """Where the arguments are, as far as they are places, or things whose place is known."""
        if not 0 <= sight.problem < len(self._run.boxes):
            return ()
        boxes: Mapping[str, Box] = self._run.boxes[sight.problem]
        labels: dict[Box, list[str]] = {}
        header = self._headers[action.name]
        for parameter, name in zip(header.parameters, action.objects, strict=True):
            box = boxes.get(name) or boxes.get(sight.places.get(name) or "")
            if box is not None:
                labels.setdefault(box, []).append(f"?{parameter}")
        return tuple((" ".join(names), box) for box, names in labels.items())

    def _labels(self, sight: Sight, action: GroundAction) -> tuple[Label, ...]:
        """The names of the things that were found in a picture without cells; the arguments are marked."""
        called: dict[str, str] = {}
        for parameter, name in zip(self._headers[action.name].parameters, action.objects, strict=True):
            called[name] = f"{called[name]} ?{parameter}" if name in called else f"?{parameter}"
        return labels(sight.positions or {}, called)

    def _facts(self, action: GroundAction, state: State, value: bool | None) -> tuple[str, ...]:
        parameters = self._headers[action.name].parameters
        found = [
            atom.text(parameters)
            for atom in self._atoms[action.name]
            if state.value(atom.ground(action.objects)) is value
        ]
        return (*found[:MAX_FACTS], *(["..."] if len(found) > MAX_FACTS else []))

    def _changes(self, action: GroundAction, before: State, after: State) -> tuple[str, ...]:
        parameters = self._headers[action.name].parameters
        found = []
        for atom in self._atoms[action.name]:
            fact = atom.ground(action.objects)
            was, now = before.value(fact), after.value(fact)
            if None not in (was, now) and was != now:
                found.append(f"{'+' if now else '-'}{atom.text(parameters)}")
        return tuple(found[:MAX_FACTS])


def value_words(atom: LiftedAtom, step: AttemptedStep) -> str:
    """The values of an atom before and after a step, in words."""

    def word(situation: Situation | None) -> str:
        value = None if situation is None else situation.state.value(atom.ground(step.action.objects))
        return {True: "true", False: "false", None: "not seen"}[value]

    return f"{word(step.before)} before, {word(step.after)} after"


def _anchors(run: Recorded, single: Transcript) -> list[tuple[str, str]]:
    """The anchor and the name of every entry, walks in single steps, and whether it only examines what was learned."""
    examined = [
        number in run.examined
        for number, entry in enumerate(run.transcript.entries)
        for _ in range(1 if isinstance(entry, Asked) else len(entry.steps))
    ]
    made, found = Counter[str](), list[tuple[str, str]]()
    for entry in single.entries:
        what = "Walk step" if not isinstance(entry, Asked) else "Look" if entry.looks else "Query"
        made[what] += 1
        found.append((f"{what.lower().split()[0]}-{made[what]}", f"{what} {made[what]}"))
    told = [f"Line {line}" for line in single.lines] or [name for _, name in found]
    return [
        (anchor, f"{name} (examination)" if examines else name)
        for (anchor, _), name, examines in zip(found, told, examined, strict=False)
    ]


# Names of things at their places in a picture without cells, none over another.


LETTER_HEIGHT: Final = 0.042
"""Height of the letters, as a share of the picture's width."""
LETTER_WIDTH: Final = 0.64
"""Width of a letter, at most on average, as a share of its height."""


@dataclass(frozen=True)
class Label:
    """A name, and the middle of its text in shares of the picture's width and height."""

    text: str
    across: float
    down: float
    marked: bool
    """Whether it is about an argument of the step."""


def labels(positions: Mapping[str, Point], parameters: Mapping[str, str]) -> tuple[Label, ...]:
    """Labels of things at their positions, each moved down until it covers none above, and into the picture; ``parameters``: thing to ``?x``."""
    found: list[Label] = []
    for name, (across, down) in sorted(positions.items(), key=lambda item: (item[1][1], item[0])):
        text = f"{parameters[name]} {name}" if name in parameters else name
        half = min(0.5, len(text) * LETTER_HEIGHT * LETTER_WIDTH / 2)
        across = min(max(across, half), 1 - half)
        down = min(max(down, LETTER_HEIGHT), 1 - LETTER_HEIGHT)
        label = Label(text, across, down, name in parameters)
        while any(_overlap(label, other) for other in found):
            label = replace(label, down=label.down + LETTER_HEIGHT / 4)
        found.append(label)
    return tuple(found)


def _overlap(one: Label, other: Label) -> bool:
    wide = (len(one.text) + len(other.text)) * LETTER_HEIGHT * LETTER_WIDTH / 2
    return abs(one.across - other.across) < wide and abs(one.down - other.down) < LETTER_HEIGHT * 1.1
