"""A person at the labelling page who knows what pictures without cells show: how many clicks they take, and what comes of them.

``python -m experiments.page_labels`` labels pictures of things that somebody moves about, as in a folder, from no label on, by the sheets that
the page shows and by nothing else: things are pointed at, atoms are toggled where what is filled in is wrong, and outlines are extended where they leave
much out. Choosing a thing, pointing, toggling and going on count as a click each. The weights are kept for
``training.evaluate --classifiers`` and ``run --classifiers``. ``--disturbed`` reads pictures with the weights of such a folder that are taken as
cameras do on bad days: under noise, in another light, with a hand in them.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

import aam_vision
from aam_vision.agents.perception import Frame, Mask, Reading
from aam_vision.agents.unreliable import SimulatorDecorator
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.store import SHIPPED
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.registry import image_domain
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom
from aam_vision.run.targets.images import PerceptionSettings, perception_of, seen_through
from aam_vision.support.commandline import Progress, check_writable, run_command
from aam_vision.support.errors import AamWarning, UnusableInput
from aam_vision.training.described import PROBLEM, pictured_scene
from aam_vision.training.labelling.settings import MOST_SCENES, Way
from aam_vision.training.regions import middle
from experiments.interrogations import likeness
from experiments.options import about
from experiments.tables import Row, told

if TYPE_CHECKING:
    from aam_vision.training.labelling.pool import LabelQuestion, Walked
    from aam_vision.training.labelling.things import ThingDraft

TAKEN: Final = 320  # pictures to choose from: more of them show rarer piles, and leave more for the test, and take longer to draw

ALIKE: Final = 0.75
"""Share of the pixels of an outline and of the truth together that they have in common, from which on a person is content."""

TRIES: Final = 3  # clicks that extend an outline, at most


class Person:
    """Answers by the sheets of the page, and counts clicks; a ``Labeller``."""

    def __init__(self, domain: ImageDomain, pictures: Sequence[Walked], true: Sequence[Labelled]) -> None:
        from aam_vision.training.labelling.things import ThingSheets

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
        masks = dict.fromkeys(scene.looks, nothing)
        masks |= {one.scene.looks[thing]: mask for thing, mask in one.masks.items()}
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


Change = Callable[[Labelled, np.random.Generator], Frame]  # makes of a picture another one


@dataclass(frozen=True)
class Disturbance:
    """Something that befalls pictures: a share of a run's looks, each in another way (``anew``), or all in the same."""

    change: Change
    share: float = 1.0
    anew: bool = False


def light(*gains: float) -> Change:
    """All colours, or each of the three, brighter or darker."""
    return lambda one, _: _frame(one.frame * np.array(gains))


def noise(sigma: float) -> Change:
    """A sensor's noise, of 255."""
    return lambda one, rng: _frame(one.frame + rng.normal(0, sigma, one.frame.shape))


def moved(degrees: float, share: float) -> Change:
    """A camera that is turned about where it looks, or moved by a share of what it sees, either way."""

    def disturb(one: Labelled, rng: np.random.Generator) -> Frame:
        from PIL import Image

        turn, across = rng.choice((-1, 1), 2) * (degrees, share * one.frame.shape[1])
        taken = Image.fromarray(np.pad(one.frame, ((EDGE, EDGE), (EDGE, EDGE), (0, 0)), mode="edge"))
        seen = np.array(taken.rotate(turn, Image.Resampling.BILINEAR, translate=(round(across), 0)))
        return seen[EDGE:-EDGE, EDGE:-EDGE]

    return disturb


def covered(colour: tuple[int, int, int] | None, size: float, *, arm: bool) -> Change:
    """A round thing of a colour, as large as a share of the picture: with an arm, over a thing; without, anywhere on the table.

    Without a colour it has the mean one of a thing that shows.
    """

    def disturb(one: Labelled, rng: np.random.Generator) -> Frame:
        height, width = one.frame.shape[:2]
        down, across = np.mgrid[:height, :width]
        shown = [mask for mask in one.masks.values() if mask.any()]
        mask = shown[int(rng.integers(len(shown)))]
        row, column = middle(mask)
        own_colour = one.frame[mask].mean(0) if colour is None else np.array(colour)
        if not arm:
            row, column = (
                int(rng.uniform(*part) * side)
                for part, side in (((0.4, 0.85), height), ((0.15, 0.85), width))
            )
        own = (down - row) ** 2 + (across - column) ** 2 < (size * width / 2) ** 2
        if arm:
            own |= (down > row) & (abs(across - column) < size * width / 3)
        shade = 1 - 0.3 * (across - column) / (size * width)
        return _frame(np.where(own[..., None], own_colour * shade[..., None].clip(0.5, 1.3), one.frame))

    return disturb


EDGE: Final = 40  # pixels by which a picture is continued before it is turned and moved

DISTURBED: Final[Mapping[str, Disturbance]] = {
    "as taken": Disturbance(noise(0)),
    "noise 1.5": Disturbance(noise(1.5), anew=True),
    "noise 5": Disturbance(noise(5), anew=True),
    "light -40%": Disturbance(light(0.6)),
    "light +40%": Disturbance(light(1.4)),
    "colour cast": Disturbance(light(1.2, 1.0, 0.8)),
    "unseen thing": Disturbance(covered((240, 130, 180), 0.11, arm=False)),
    "hand over a thing": Disturbance(covered((205, 150, 120), 0.14, arm=True), share=0.1, anew=True),
    "hand of another colour": Disturbance(covered((165, 115, 85), 0.14, arm=True), share=0.1, anew=True),
    "round thing of a known colour": Disturbance(covered(None, 0.11, arm=False)),
    "turned by 5 degrees": Disturbance(moved(5, 0)),
    "moved by 2 cm": Disturbance(moved(0, 0.055)),
}
"""What befalls pictures; 2 cm of the table are about a twentieth of what the camera sees of it."""


def read_disturbed(env: str, folder: Path, seed: int, number: int, runs: int = 1) -> Iterator[Row]:
    """How the weights of a folder read pictures under every disturbance, of how many they say that they are strange, and how runs end.

    ``wrong`` are pictures with an atom that is decided wrongly; ``accepted`` those of which nothing is left open that shows.
    """
    domain = image_domain(env)
    perception = CameraPerception.load(domain.visual, domain.name, folder, remembered=0)
    shown = {entry.predicate.name for entry in domain.visual.read_as(Reading.SHOWN)}
    known = taken(domain, number, seed + 1000)
    for name, disturbance in DISTURBED.items():
        rng, counts = np.random.default_rng([seed, 89]), Counter[str]()
        for one in known:
            frame = disturbance.change(one, rng)
            (percept,) = perception.read_many([frame], one.scene)
            different = (
                percept.state.true ^ domain.visual.sighted(one.scene, one.true)
            ) - percept.state.unknown
            wrongly = any(atom.predicate in shown for atom in different)
            counts["wrong"] += wrongly
            counts["accepted"] += not percept.refused
            counts["accepted wrong"] += wrongly and not percept.refused
            counts["named"] += bool(percept.unlike)
        columns = "accepted", "accepted wrong", "wrong", "named"
        read = {"disturbance": name, **{key: counts[key] for key in columns}}
        yield {**read, **ended([interrogated(env, folder, disturbance, seed + run) for run in range(runs)])}


class Disturbed(SimulatorDecorator):
    """A simulator that shows disturbed pictures."""

    def __init__(self, simulator: Any, domain: OwnEnvironment, disturbance: Disturbance, seed: int) -> None:
        super().__init__(simulator)
        self._domain, self._disturbance, self._seed = domain, disturbance, seed
        self._looks = np.random.default_rng([seed, 97])

    def frame(self) -> Frame:
        assert self._domain.labelled is not None
        if self._looks.random() >= self._disturbance.share:
            return self._simulator.frame()
        one = Labelled(*self._domain.labelled(self._simulator.present))  # type: ignore[attr-defined]
        rng = self._looks if self._disturbance.anew else np.random.default_rng([self._seed, 101])
        return self._disturbance.change(one, rng)


def interrogated(env: str, folder: Path, disturbance: Disturbance, seed: int) -> Row:
    """What a run says that sees such pictures, as one of a program: a camera may be anybody's."""
    domain = image_domain(env)
    assert isinstance(domain, OwnEnvironment)
    assert domain.truth is not None
    settings = PerceptionSettings(None if folder.resolve() == SHIPPED.resolve() else folder)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        perception = perception_of(env, settings)
        warned.clear()  # of what the classifiers are, not of what they are shown
        shown = [
            Disturbed(domain.simulator(problem), domain, disturbance, seed) for problem in domain.interrogated
        ]
        about = env, shown, domain.headers, Access.SNAPSHOT, settings, perception
        try:
            result = aam_vision.interrogate(
                seen_through(*about, strange=True, refuses_surely=False).agent, seed=seed, raises=False
            )
        except UnusableInput as error:  # the first picture does not show all that is named
            return {"status": "refused", "model": None, "strange": str(error), "why": str(error)}
    truth, held_out = domain.truth(), domain.held_out_states(perception.look)
    why = result.missing or (result.diagnosis.why if result.diagnosis else result.why)
    said = [result.strange, *(str(one.message) for one in warned if issubclass(one.category, AamWarning))]
    return {
        "status": result.status,
        "model": likeness(result.model, truth, held_out, STATES, seed),
        "strange": "; ".join(filter(None, said)),
        "why": why,
    }


def ended(runs: Sequence[Row]) -> Row:
    """How many runs ended with which status and model, how many said that pictures were strange, and why those that are not complete ended."""
    return {
        "ended": _counted(f"{run['status']}, {run['model']}" for run in runs),
        "strange": sum(bool(run["strange"]) for run in runs),
        "why": _counted(run["why"] for run in runs if run["status"] != "complete"),
    }


def _counted(said: Iterable[str]) -> str:
    return "; ".join(f"{number} {what}" for what, number in Counter(said).most_common())


STATES: Final = 100  # situations of held-out scenes in which a model is compared with what is intended


def _frame(values: NDArray[Any]) -> Frame:
    return values.clip(0, 255).round().astype(np.uint8)


def page_labels(
    out: Annotated[Path, about("Folder for labels and weights.")],
    env: Annotated[str, about("Environment whose pictures have no cells.")] = "tabletop",
    seed: Annotated[int, about("Seed of pictures, choice and weights.", min=0)] = 0,
    pictures: Annotated[int, about("Pictures to label at most.", min=1)] = MOST_SCENES,
    number: Annotated[int, about("Pictures to choose from, or to read.", min=1)] = TAKEN,
    runs: Annotated[int, about("Runs under each disturbance, with seeds of their own.", min=1)] = 1,
    disturbed: Annotated[bool, about("Only read, with the weights in the folder.", "--disturbed")] = False,
) -> None:
    """Label pictures as a person at the page does, and count the clicks.

    Examples:
        python -m experiments.page_labels --out runs/page
        python -m experiments.page_labels --out runs/page-1 --seed 1
        python -m experiments.page_labels --out runs/page --disturbed --number 300
        python -m experiments.page_labels --out classifiers/weights --disturbed
    """
    check_writable(out)
    domain, progress = image_domain(env), Progress()
    if disturbed:
        list(told(read_disturbed(env, out, seed, number, runs)))
        return
    from aam_vision.training.labelling.pool import Walked
    from aam_vision.training.labelling.record import write_answers
    from aam_vision.training.labelling.rounds import LabellingRounds
    from aam_vision.training.labelling.scenes import WAITED_FOR, SceneLearner
    from aam_vision.training.labelling.session import written

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
    list(told([interrogated(env, out, DISTURBED["as taken"], seed)]))


if __name__ == "__main__":
    sys.exit(run_command(page_labels))
