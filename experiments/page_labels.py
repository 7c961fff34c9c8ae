"""A person at the labelling page who knows what pictures without cells show: how many clicks they take, and what comes of them.

``python -m experiments.page_labels`` labels pictures of things that somebody moves about, as in a folder, from no label on, by the sheets that
the page shows and by nothing else: things are pointed at, atoms are toggled where what is filled in is wrong, and outlines are extended where they leave
much out. Choosing a thing, pointing, toggling and going on count as a click each. The weights are kept for
``training.evaluate --classifiers`` and ``run --classifiers``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from aam_vision.agents.perception import Mask, Reading
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.registry import image_domain
from aam_vision.model.strips import Atom
from aam_vision.support.commandline import Progress, check_writable, run_command
from aam_vision.training.described import PROBLEM, pictured_scene
from aam_vision.training.labelling.pool import LabelQuestion, Walked
from aam_vision.training.labelling.record import write_answers
from aam_vision.training.labelling.rounds import LabellingRounds
from aam_vision.training.labelling.scenes import WAITED_FOR, SceneLearner
from aam_vision.training.labelling.session import written
from aam_vision.training.labelling.settings import MOST_SCENES, Way
from aam_vision.training.labelling.things import ThingDraft, ThingSheets
from aam_vision.training.regions import middle

TAKEN: Final = 200
"""Pictures to choose from: more of them show rarer piles, and take longer to draw."""

ALIKE: Final = 0.75
"""Share of the pixels of an outline and of the truth together that they have in common, from which on a person is content."""

TRIES: Final = 3
"""Clicks that extend an outline, at most."""


class Person:
    """Answers by the sheets of the page, and counts clicks; a ``Labeller``."""

    def __init__(self, domain: ImageDomain, pictures: Sequence[Walked], true: Sequence[Labelled]) -> None:
        self._sheets, self._pictures, self._true = ThingSheets(domain.visual, pictures), pictures, true
        (self._found,) = (entry.predicate.name for entry in domain.visual.read_as(Reading.FOUND))
        self._chosen = -1
        self.clicks: list[int] = []
        self.confirming: list[bool] = []

    def learned(self, perception: Any) -> None:
        self._sheets.learned(perception)

    def answer(self, question: LabelQuestion, *, tested: bool = False, missing: int = 0) -> Labelled:
        """The label that comes of clicking until all is as it is."""
        self.confirming.append(missing > 0)
        true = self._true[question.number]
        frame, sheet = self._pictures[question.number].frame, self._sheets.sheet(question, None)
        self.clicks.append(1)  # to go on
        self._chosen = -1
        for place, facts in enumerate(sheet.view(frame)["places"]):
            if not facts["whole"]:
                self._point(sheet, place, facts["name"], true)
        for place, head in iter(lambda: next(wrong(sheet.view(frame), true), (-1, -1)), (-1, -1)):
            self._click(place)
            sheet.change("toggle", {"places": [place], "head": head})
        answer = sheet.answer("next")
        self._sheets.note(question, answer)
        return answer

    def _click(self, place: int) -> None:
        """Choose a place, unless it is chosen already, and click."""
        self.clicks[-1] += 1 + (place != self._chosen)
        self._chosen = place

    def _point(self, sheet: ThingDraft, place: int, thing: str, true: Labelled) -> None:
        """Say where a thing is, or that it does not show; where so little shows that either is right, what is filled in stays."""
        seen, mask = Atom(self._found, (thing,)), true.masks[thing]
        shows, own = seen in true.true, sheet.labelled().masks[thing]
        there = bool(own.any())
        if there and ((not shows and seen not in true.unknown) or (shows and not (own & mask).any())):
            self._click(place)
            sheet.change("clear", {"places": [place]})
            there = False
        if not shows:
            return
        if not there:
            self._click(place)
            sheet.change("point", {"places": [place], **spot(mask)})
        for _ in range(TRIES):
            own = sheet.labelled().masks[thing]
            left_out = mask & ~own
            if (own & mask).sum() >= ALIKE * (own | mask).sum() or left_out.sum() < (1 - ALIKE) * mask.sum():
                return
            self._click(place)
            sheet.change("point", {"places": [place], **spot(left_out), "more": True})


def taken(domain: ImageDomain, number: int, seed: int) -> list[Labelled]:
    """Pictures of random situations, none of which is among those that classifiers are evaluated on; things are called like their looks."""
    assert isinstance(domain, OwnEnvironment)
    source, scene = domain.unseen or domain.pictures, pictured_scene(Path(), domain.visual)
    assert source is not None
    assert scene is not None
    found = []
    for one in islice(source(np.random.default_rng([seed, 83])), number):
        nothing = np.zeros(one.frame.shape[:2], bool)
        masks = {
            **dict.fromkeys(scene.looks, nothing),
            **{one.scene.looks[thing]: mask for thing, mask in one.masks.items()},
        }
        true, unknown = (
            frozenset(Atom(name, tuple(one.scene.looks[thing] for thing in about)) for name, about in atoms)
            for atoms in (one.true, one.unknown)
        )
        found.append(Labelled(scene, true, one.frame, masks, unknown))
    return found


def spot(mask: Mask) -> dict[str, float]:
    """Where somebody clicks on a region: across and down, as shares of the picture."""
    row, column = middle(mask)
    return {"x": (column + 0.5) / mask.shape[1], "y": (row + 0.5) / mask.shape[0]}


def wrong(view: dict[str, Any], true: Labelled) -> Iterator[tuple[int, int]]:
    """Places and heads of a view that are said wrongly; pairs first, as they take others back."""
    found = []
    for place, facts in enumerate(view["places"]):
        for head in facts["asked"]:
            predicate, *other = view["heads"][head]["name"].split()
            atom = Atom(predicate, (*([] if facts["whole"] else [facts["name"]]), *other))
            if (atom in true.true) != (head in facts["yes"]):
                found.append((not other, atom not in true.true, place, head))
    return ((place, head) for *_, place, head in sorted(found))


def page_labels(
    out: Annotated[Path, typer.Option(help="Folder for labels and weights.")],
    env: Annotated[str, typer.Option(help="Environment whose pictures have no cells.")] = "tabletop",
    seed: Annotated[int, typer.Option(min=0, help="Seed of pictures, choice and weights.")] = 0,
    pictures: Annotated[int, typer.Option(min=1, help="Pictures to label at most.")] = MOST_SCENES,
    number: Annotated[int, typer.Option(min=1, help="Pictures to choose from.")] = TAKEN,
) -> None:
    """Label pictures as a person at the page does, and count the clicks.

    Examples:
        python -m experiments.page_labels --out runs/page
        python -m experiments.page_labels --out runs/page-1 --seed 1
    """
    check_writable(out)
    domain, progress = image_domain(env), Progress()
    progress.stage(f"{domain.name}: taking pictures")
    true = taken(domain, number, seed)
    found = [Walked(PROBLEM, one.scene, one.frame, None) for one in true]
    person = Person(domain, found, true)
    way = Way(most=pictures, seed=seed, waits=True)
    _, result = LabellingRounds[Any](SceneLearner(domain, found, way), person, progress).run()
    write_answers(domain, found, result.told, out)
    written(domain, result, len(found), way.most, out, progress)
    confirming = np.array(person.confirming)
    clicks, test = np.array(person.clicks)[~confirming], np.array(person.clicks)[confirming]
    print(
        f"{env}, seed {seed}: {len(clicks)} pictures, {clicks.sum()} clicks ({clicks.mean():.1f} a picture; "
        f"{clicks[: WAITED_FOR.first].mean():.1f} before the first training), {len(test)} pictures of the test, {test.sum()} clicks, "
        f"trainings of {', '.join(f'{one:.0f}' for one in result.seconds)} CPU s"
    )


if __name__ == "__main__":
    sys.exit(run_command(page_labels))
