"""Training in rounds: after each of them unseen pictures are read, until all are read rightly or training stands still.

Every round is examined on pictures drawn for it alone, so no decision to go on has seen the pictures whose figures are told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from time import process_time
from typing import Any, Final, Generic, TypeVar

from aam_vision.classifiers.networks import Network
from aam_vision.classifiers.store import Card
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.support.commandline import Progress
from aam_vision.support.wording import counted
from aam_vision.training.assessment import PerceptionScores, Reader, evaluate_domain
from aam_vision.training.settings import TrainingSettings
from aam_vision.training.trainer import Examined

PATIENCE: Final = 2
"""Rounds without a better figure after which training stands still: more of them find late gains, and take longer."""

Sees = TypeVar("Sees", bound=Reader)


@dataclass(frozen=True)
class Trained(Generic[Network, Sees]):
    """What a round of training came to: calibrated classifiers, their card, and how well they read which pictures."""

    network: Network
    card: Card
    perception: Sees
    scores: Mapping[str, PerceptionScores]
    steps: int
    pictures: Mapping[str, Sequence[Pictures]]

    @property
    def misread(self) -> int:
        """Pictures that were not read rightly, of all groups."""
        return sum(found.states - found.exact for found in self.scores.values())


class Rounds(Generic[Network, Sees]):
    """The rounds of a session, and the best of what they came to.

    Args:
        domain: the environment.
        settings: of the session.
        states: pictures per group that a round is examined on.
        finish: calibrates a network in place; the card, and what reads with it.
        progress: is told what is being done.
    """

    def __init__(
        self,
        domain: ImageDomain,
        settings: TrainingSettings,
        states: int,
        finish: Callable[[Network], tuple[Card, Sees]],
        progress: Progress,
    ) -> None:
        self._domain, self._settings, self._states = domain, settings, states
        self._finish, self._progress = finish, progress
        self.steps, self.limit = settings.rounds(domain)
        self.cpu_s = 0.0
        """Of all examinations."""
        self._best: Trained[Network, Sees] | None = None
        self._examined = self._since_best = self._done = 0

    @property
    def best(self) -> Trained[Network, Sees]:
        """The round with the fewest misread pictures, the first of several."""
        assert self._best is not None, "wherever training ends, it is examined"
        return self._best

    @property
    def examined(self) -> Examined:
        """What a trainer has to know."""
        return Examined(self.steps, self._enough)

    def step(self, done: int, loss: float) -> None:
        """Tell that a step was done."""
        self._progress.step(done, -(-done // self.steps) * self.steps, f"loss {loss:.4f}")

    def tell(self) -> None:
        """How many pictures are read rightly, and what to do if not all of them are."""
        name = self._domain.name
        for group, found in self.best.scores.items():
            told = f"{found.exact} of {found.states} {group} pictures read rightly"
            if found.exact == found.states:
                self._progress.stage(f"{name}: {told}")
                continue
            if self._since_best == PATIENCE:
                cure = (
                    f"{counted(PATIENCE, 'more round')} of training did not help: give more pictures, or clearer ones, "
                    f"or label some (python -m aam_vision.training.label)"
                )
            else:
                stopped = self._done < self.limit
                cure = f"train longer ({'--resume' if stopped else f'--steps {2 * self.limit}'})"
            self._progress.stage(
                f"warning: {told}: runs with these classifiers of {name} take some misread pictures for facts; {cure}"
            )

    def _enough(self, network: Any, steps: int) -> bool:
        """Examine what a network has learned; whether there is no use in going on."""
        started, network = process_time(), deepcopy(network).cpu().eval()
        self._progress.stage(f"{self._domain.name}: evaluating after {counted(steps, 'step')}")
        card, perception = self._finish(network)
        seed = self._settings.seed + self._examined
        pictures = {group: [*some] for group, some in self._domain.examinations(self._states, seed).items()}
        scores = evaluate_domain(self._domain, perception, seed=seed, examined=pictures)
        now = Trained(network, card, perception, scores, steps, pictures)
        self._examined, self._done = self._examined + 1, steps
        if self._best is None or now.misread < self._best.misread:
            self._best, self._since_best = now, 0
        else:
            self._since_best += 1
        self.cpu_s += process_time() - started
        stands = now.misread == 0 or self._since_best == PATIENCE
        if not stands and steps + self.steps <= self.limit:
            told = counted(now.misread, "unseen picture")
            self._progress.stage(f"{self._domain.name}: {told} misread: training goes on")
        return stands
