"""What a version of an agent has lost that an earlier one could do: the question of a gate between two versions.

*Lost* is what is sure: a step that is refused where it was not, an effect that does not come any more, or one that came to it; with
chance, the likeliest change that an action brings about comes less often by more than a margin. What comes more often, or is needed no more, is no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aam_vision.interrogation.chance.comparing import ActionDifferences, OutcomeDifference
from aam_vision.interrogation.task.undetermined import CANNOT_MATTER
from aam_vision.interrogation.task.verdict import COMPLETE, FAILED, NOT_STRIPS
from aam_vision.model.strips import ActionSchema, Location, Mode, Model, Vocabulary, lifted_atoms
from aam_vision.report.ending import read_undetermined
from aam_vision.report.versions import Versions, outcome_text
from aam_vision.support.wording import counted, lines

MARGIN: Final = 0.05
"""By how much less often something may come, by default, before that is a loss."""
CODES: Final = {"lost": 5, "not sure": 6, "nothing lost": 0}
"""Exit codes, by verdict."""


@dataclass(frozen=True)
class Losses:
    """What version B has surely lost, and what may be lost and is not told, in lines."""

    lost: tuple[str, ...]
    unsure: tuple[str, ...]
    cure: str = ""
    """How more can be told."""

    @property
    def verdict(self) -> str:
        """``lost``, ``not sure`` or ``nothing lost``."""
        return "lost" if self.lost else "not sure" if self.unsure else "nothing lost"

    def lines(self) -> Iterator[str]:
        """The verdict, and the reasons for it."""
        for kind, texts in (("lost", self.lost), ("not sure", self.unsure)):
            for text in texts:
                yield from lines(f"{kind}: {text}", indent=2)
        if not (self.lost or self.unsure):
            yield "nothing lost: B does all that A does"
        elif not self.lost and self.cure:
            yield f"to be sure: {self.cure}"

    def json(self) -> dict[str, Any]:
        """The same for programs."""
        return {"verdict": self.verdict, "lost": list(self.lost), "unsure": list(self.unsure)}


def of_models(models: Sequence[Model], folders: Sequence[Path | None]) -> Losses:
    """What model B of two without chance has lost; folders of their runs say what is not determined. Raises UnusableInput: a file there is damaged."""
    told = [
        ("", []) if one is None else read_undetermined(one / "result.json", ended=True) for one in folders
    ]
    no_base = [
        f"{name} ended as {status}, so nothing of it is certain"
        for name, (status, _) in zip("AB", told, strict=True)
        if status in (NOT_STRIPS, FAILED)
    ]
    if no_base:
        return Losses((), tuple(no_base))
    undetermined = {
        (one.action, one.location, text.partition(" or ")[0].removeprefix("not ").lstrip("+-")): one.kind
        for _, groups in told
        for one in groups
        for text in one.texts
    }
    first, second = models
    lost = [
        f"{one.header.name}: {text}"
        for one in first.actions
        for text in _of_action(one, second.schema(one.header.name), first.vocabulary, undetermined)
    ]
    by_action = Counter(action for (action, _, _), kind in undetermined.items() if kind != CANNOT_MATTER)
    unsure = [
        f"{name}: {counted(count, 'line')} of the model not determined in A or B"
        for name, count in by_action.items()
    ]
    return Losses(tuple(lost), tuple(unsure))


def of_versions(versions: Versions, margin: float) -> Losses:
    """What a version with chance has lost, where what comes less often by ``margin`` at most is no loss."""
    lost: list[str] = []
    unsure = list(versions.warnings)
    ended = all((one.run.figures or {}).get("status") == COMPLETE for one in (versions.one, versions.other))
    for action in versions.actions:
        name = action.one.index.header.name
        for atom in action.atoms:
            if Mode.ABSENT in atom.one and Mode.ABSENT not in atom.other:
                text = action.one.index.atom(atom.bit).text(action.one.index.header.parameters)
                where = "false" if atom.other == (Mode.POSITIVE,) else "true"
                lost.append(f"{name}: refused where {text} is {where}")
        if action.incompatible and not action.atoms:
            unsure.append(f"{name}: it is refused elsewhere, and no precondition explains where")
        if action.undecided and not ended:  # else no situation that can be reached would tell
            atoms = counted(action.undecided, "atom")
            unsure.append(f"{name}: {atoms} of its precondition undecided in A or B")
        if action.one.executed and not action.other.executed:
            unsure.append(f"{name}: never executed in B")
        for one in _wanted(action) if action.one.executed and action.other.executed else ():
            low, high = one.comparison.limits
            if high < -margin:
                lost.append(f"{name}: {outcome_text(action, one)}")
            elif low < -margin:
                unsure.append(f"{name}: {outcome_text(action, one)}")
    cure = "interrogate both with a smaller --within, or allow a larger --margin"
    return Losses(() if versions.warnings else tuple(lost), tuple(unsure), cure)


def _wanted(action: ActionDifferences) -> Iterator[OutcomeDifference]:
    """Of each case the outcome that is the likeliest in A of those that change something."""
    best: dict[object, OutcomeDifference] = {}
    for one in action.outcomes:
        case = one.condition, one.kind
        if one.adds | one.deletes and one.comparison.one.hits:
            rival = best.get(case)
            if rival is None or one.comparison.one.share > rival.comparison.one.share:
                best[case] = one
    yield from best.values()


def _of_action(
    one: ActionSchema,
    other: ActionSchema,
    vocabulary: Vocabulary,
    undetermined: Collection[tuple[str, str, str]],
) -> Iterator[str]:
    """What is lost of an action, atom by atom, as far as both lines are determined."""
    value = {Mode.POSITIVE: "true", Mode.NEGATIVE: "false"}
    for atom in lifted_atoms(vocabulary, one.header):
        text = atom.text(one.header.parameters)
        pre, eff = ((one.header.name, place.value, text) not in undetermined for place in Location)
        needs, rival = (schema.mode(atom, Location.PRE) for schema in (one, other))
        makes, instead = (schema.mode(atom, Location.EFF) for schema in (one, other))
        if pre and rival is not Mode.ABSENT and rival is not needs:
            yield f"refused where {text} is {'false' if rival is Mode.POSITIVE else 'true'}"
        elif (
            eff
            and makes is not instead
            and any(
                (before if makes is Mode.ABSENT else makes)
                is not (before if instead is Mode.ABSENT else instead)
                for before in value
                if needs in (before, Mode.ABSENT)
            )
        ):
            if instead is Mode.ABSENT:
                yield f"no longer makes {text} {value[makes]}"
            else:
                yield f"makes {text} {value[instead]}{', too' if makes is Mode.ABSENT else ''}"
