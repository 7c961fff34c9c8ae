"""From transitions of controls to operators: the whole discovery, as a function of what was seen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aam_vision.controls.cases import Case, Example, with_constants
from aam_vision.controls.grouping import Grouped, grouped
from aam_vision.controls.naming import headers
from aam_vision.controls.operators import Effect, Operator
from aam_vision.controls.transitions import Transition
from aam_vision.model.strips import ActionHeader, Vocabulary
from aam_vision.planning.joins import StateIndices
from aam_vision.support.errors import UnusableInput

MAX_CASES: Final = 32
"""Cases of one control, at most."""
NONE: Final = Grouped((), ())
AGAIN: Final = 0.25
"""By what share more must have been seen of a control before its cases are looked for again, where that was given up."""


@dataclass(frozen=True)
class Discovery:
    """What controls do, as far as was seen.

    ``vocabulary`` is the user's, and names the objects that some control always concerns as constants.
    """

    vocabulary: Vocabulary
    operators: tuple[Operator, ...]
    examples: Mapping[str, tuple[Example, ...]]
    """By operator, the transitions that it explains; each transition belongs to one operator."""
    unexplained: tuple[Transition, ...] = ()
    spent: bool = False
    """Whether it was given up to look for fewer cases of some control, or for their conditions."""

    def of(self, control: str) -> list[Operator]:
        """The operators that a control may carry out."""
        return [operator for operator in self.operators if operator.control == control]

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for two discoveries that lead to the same questions and answers."""
        return self.operators, tuple(sorted(self.vocabulary.constants.items()))


def discover(
    vocabulary: Vocabulary,
    controls: Sequence[ActionHeader],
    transitions: Mapping[str, Sequence[Transition]],
    indices: StateIndices | None = None,
    known: dict[str, tuple[int, Grouped]] | None = None,
) -> Discovery:
    """The operators of all controls.

    Args:
        vocabulary: the user's.
        controls: the agent's controls.
        transitions: by control, everything that was seen, in the order in which it was seen.
        indices: of states, kept for later.
        known: by control, how many transitions its cases were found from, and these; kept for later.

    Raises:
        UnusableInput: a control has more than ``MAX_CASES`` cases.
    """
    indices, known = indices or StateIndices(), {} if known is None else known
    operators: list[Operator] = []
    examples: dict[str, tuple[Example, ...]] = {}
    constants: dict[str, str] = {}
    unexplained: list[Transition] = []
    spent = False
    for control in controls:
        some = transitions.get(control.name, ())
        number, found = known.get(control.name, (0, NONE))
        if len(some) > number * (1 + AGAIN if found.spent else 1):
            found = grouped(vocabulary, control, some, indices)
            known[control.name] = len(some), found
        elif found.spent:
            since = tuple(one for one in some[number:] if one.change)
            found = replace(found, unexplained=(*found.unexplained, *since))
        spent |= found.spent
        if len(found.cases) > MAX_CASES:
            raise UnusableInput(
                f"{control} does more than {MAX_CASES} kinds of things: more than can be told apart; use predicates that "
                "say less, or a control that does less"
            )
        unexplained += found.unexplained
        for case, named in zip(found.cases, headers(found.cases, vocabulary.types), strict=True):
            header = _unique(named, control, examples)
            constants.update(case.constants)
            operators.append(_operator(case, header))
            examples[header.name] = case.examples
    return Discovery(
        with_constants(vocabulary, constants), tuple(operators), examples, tuple(unexplained), spent
    )


def _unique(header: ActionHeader, control: ActionHeader, taken: Collection[str]) -> ActionHeader:
    """The header with another name where another control's operator has that name."""
    name, number = header.name, 1
    while name in taken:
        number += 1
        name = f"{header.name}-of-{control.name}" + ("" if number == 2 else f"-{number}")
    return replace(header, name=name)


def _operator(case: Case, header: ActionHeader) -> Operator:
    return Operator(
        case.control.name, case.control.arity, header, case.effects, case.derivations, _pivot(case)
    )


def _pivot(case: Case) -> Effect | None:
    """An effect that was seen in every example: rather a deletion, which mostly requires what it deletes."""
    seen = [
        effect
        for effect in case.effects
        if all(
            transition.change.get(effect.atom.ground(objects)) == effect.becomes
            for transition, objects in case.examples
        )
    ]
    if not seen:
        return None
    return min(seen, key=lambda effect: (effect.becomes, -len(set(effect.atom.arguments)), effect.order))
