"""Is the agent rich, or is it misread? What a misread atom would explain is asked before the agent is called odd.

Most transitions of a control show one of a few visible changes. One that shows another change though it would show a usual one
if the atoms about a single object were read otherwise in one image, before or after, is *strange*. A rich agent is hardly ever
strange: what it does rarely becomes usual, and controls do not change what others set right again. A misread image is so on
the way in and on the way out. Two other signs: cases of a control multiply, and their conditions take too much work to tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.controls.discovery import Discovery
from aam_vision.interrogation.controls.giving import Giving, TwoWays
from aam_vision.interrogation.controls.operators import Transition, pattern
from aam_vision.interrogation.examination.diagnosing import LONGEST
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.interrogation.examination.inquiry import cut
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.errors import AamError
from aam_vision.support.wording import counted

USUAL = 3
"""Transitions of a control that show one change, so that it counts as usual."""
RARE = 2
"""Transitions on which a case rests, at most, so that it counts as a rare one."""
TOGETHER = 4
"""Atoms about one object that may be misread together."""
LARGEST = 12
"""Atoms of a change beyond which no misread one is looked for."""
FEW, MANY = 3, 8
"""Strange transitions, or rare cases of one control, that tell: of classifiers that failed images of their test, of others."""
POOR = 0.5
"""Classifiers that read a smaller share of the images of their test exactly are doubted at the first sign."""
SHARE = 0.8
"""The share of unusual transitions that a misread atom explains, at least, where classifiers have passed their test."""
GIVEN_UP = 3
"""Discoveries without an end, of agents read by classifiers that have passed their test."""
SHOWN = 3
"""Images that are named."""


class DoubtfulImage(NamedTuple):
    """An image that is probably misread, the atoms that are read wrongly, and how many transitions that would explain."""

    situation: Situation
    atoms: tuple[Atom, ...]
    explains: int


class Misread(AamError):
    """Raised when what was seen is more likely misread than done by the agent.

    ``images``: the most doubtful first; none where no single atom explains much.
    """

    def __init__(self, why: str, images: tuple[DoubtfulImage, ...]) -> None:
        self.why, self.images = why, images
        super().__init__(f"probably misread: {why}")

    @property
    def diagnosis(self) -> Diagnosis:
        """The same as a diagnosis, with the two most doubtful images."""
        atoms = [atom for image in self.images for atom in image.atoms]
        culprit = atoms[0].predicate if atoms else "images"
        shown = tuple(
            Example(
                image.situation, GroundAction("look", ()), f"doubtful: {', '.join(map(str, image.atoms))}"
            )
            for image in self.images[:2]
        )
        return Diagnosis(
            Family.MISREAD, culprit, cut(f"{culprit}: probably misread: {self.why}", LONGEST), shown
        )


def check(giving: Giving, discovery: Discovery) -> None:
    """Look for signs that images are misread, where classifiers read them.

    Raises:
        Misread: there are enough.
    """
    test = giving.image_test
    if test is None:
        return
    giving.given_up += bool(discovery.spent)
    some = [discovery.examples[operator.header.name] for operator in discovery.operators]
    first = [*(one[0].transition for one in some if len(one) <= RARE), *discovery.unexplained]
    rare = Counter(one.control.name for one in first)
    unusual, strange = _strange(giving, discovery)
    multiplied, cases = max(((number, name) for name, number in rare.items()), default=(0, ""))[::-1]
    if test.passed:
        explained = len(strange) >= SHARE * unusual
        told = explained and (len(strange) >= MANY or (giving.given_up and len(strange) >= FEW))
        told = told or giving.given_up >= GIVEN_UP
    else:
        told = bool(giving.given_up) or len(strange) >= FEW or cases >= MANY
        told = told or (test.exact < POOR * test.images and (cases > 0 or bool(strange)))
    if not told:
        return
    signs = [f"read otherwise, {counted(len(strange), 'transition')} would be as usual"] if strange else []
    if discovery.spent:
        signs.append(f"no facts tell when {multiplied or 'a control'} does what")
    elif cases > FEW or (cases and not strange):
        signs.append(f"{counted(cases, 'case')} of {multiplied} seen once or twice")
    if not test.passed:
        signs.append(str(test))
    raise Misread("; ".join(signs), _images(giving, strange or _changes(first)))


def doubted(giving: Giving, discovery: Discovery, unexplained: Sequence[Transition]) -> Misread | None:
    """What the model does not predict, as misread by classifiers that failed images of their test; None if they passed it."""
    test = giving.image_test
    if test is None or test.passed or not unexplained:
        return None
    strange = _strange(giving, discovery)[1] or _changes(unexplained)
    why = f"{counted(len(unexplained), 'transition')} came out otherwise than the model says; {test}"
    return Misread(why, _images(giving, strange))


def two_ways(error: TwoWays, test: ImageTest) -> Misread:
    """One situation and control that went two ways, as images that classifiers misread which have failed some in their test."""
    first, second = error.transitions
    atoms = tuple(dict(sorted({*first.change.items()} ^ {*second.change.items()})))
    latest = error.latest
    where = (latest.after, latest.before) if latest is not None else ()
    return Misread(f"{error}; {test}", tuple(DoubtfulImage(one, atoms, 1) for one in where))


def _changes(unexplained: Sequence[Transition]) -> dict[int, tuple[Atom, ...]]:
    """By ``id``, atoms that changed, where no single object tells which ones are doubtful."""
    return {id(one): tuple(one.change)[:TOGETHER] for one in unexplained if one.change}


def _strange(giving: Giving, discovery: Discovery) -> tuple[int, dict[int, tuple[Atom, ...]]]:
    """How many transitions show no usual change; and, by ``id``, the atoms that would make one of them usual.

    What a case explains that rests on more than a few transitions is usual whatever was so already.
    """
    explained = {
        id(one.transition)
        for examples in discovery.examples.values()
        for one in (examples if len(examples) > RARE else ())
    }
    constants = giving.agent.vocabulary.constants
    unusual, found = 0, dict[int, tuple[Atom, ...]]()
    for transitions in giving.transitions.values():
        changing = [one for one in transitions if 0 < len(one.change) <= LARGEST]
        shown = [pattern(one, constants).effects for one in changing]
        counts = Counter(shown)
        one_of = {
            effects: one for effects, one in zip(shown, changing, strict=True) if counts[effects] >= USUAL
        }
        usual = {*one_of}
        for one in one_of.values():  # less than that is usual, too: something was so already, or was not seen
            usual |= {pattern(_flipped(one, [atom]), constants).effects for atom in one.change}
        predicates = {effect.atom.predicate for effects in one_of for effect in effects}
        for one, effects in zip(changing, shown, strict=True):
            if effects in usual or not one_of or id(one) in explained:
                continue
            unusual += 1
            for atoms in _about_one_object(one.change):
                rest = pattern(_flipped(one, atoms), constants).effects
                if rest in usual or (not rest and predicates.isdisjoint(atom.predicate for atom in atoms)):
                    found[id(one)] = atoms
                    break
    return unusual, found


def _about_one_object(atoms: Collection[Atom]) -> Iterator[tuple[Atom, ...]]:
    """Single atoms first; then some that are about one object."""
    for number in range(1, TOGETHER + 1):
        for some in combinations(atoms, number):
            if number == 1 or set.intersection(*(set(atom.objects) for atom in some)):
                yield some


def _flipped(one: Transition, atoms: Sequence[Atom]) -> Transition:
    """The transition with some atoms read otherwise in the image after it."""
    after = one.after
    return Transition(one.before, one.control, State(after.true ^ {*atoms}, after.objects, after.unknown))


def _images(giving: Giving, strange: dict[int, tuple[Atom, ...]]) -> tuple[DoubtfulImage, ...]:
    """The images that most strange transitions lead to or begin in, each with the atoms that these name."""
    votes: dict[object, tuple[Situation, Counter[Atom]]] = {}
    for given in giving.given:
        for situation in (given.after, given.before) if id(given.transition) in strange else ():
            _, counts = votes.setdefault(situation.state, (situation, Counter()))
            counts.update(strange[id(given.transition)])
    ranked = sorted(votes.values(), key=lambda vote: -max(vote[1].values()))
    return tuple(
        DoubtfulImage(situation, tuple(counts), max(counts.values())) for situation, counts in ranked[:SHOWN]
    )
