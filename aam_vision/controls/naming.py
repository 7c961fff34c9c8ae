"""Names of operators and of their parameters: after the control, the effects and the types, the same in every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aam_vision.controls.cases import Case
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, Types


def headers(cases: Sequence[Case], types: Types) -> list[ActionHeader]:
    """A header for every case of one control, in the order of the cases.

    The only case has the control's name; of several, each is named after an effect that no other has (``push-at-goal``,
    ``push-not-at-goal``), the one without such an effect after the control alone.
    """
    taken: Counter[str] = Counter()
    found = []
    for case in cases:
        kinds = case.types(types)
        name = "-".join([case.control.name, *_own_effect(case, cases)])
        taken[name] += 1
        numbered = name if taken[name] == 1 else f"{name}-{taken[name]}"
        found.append(ActionHeader(numbered, _parameters(case, kinds), kinds))
    return found


def _own_effect(case: Case, cases: Sequence[Case]) -> list[str]:
    """The effect that tells a case from all others, in words; none if there is none."""
    others = {
        (effect.atom.predicate, effect.becomes) for one in cases if one is not case for effect in one.effects
    }
    own = [effect for effect in case.effects if (effect.atom.predicate, effect.becomes) not in others]
    if len(cases) == 1 or not own:
        return []
    first = min(own, key=lambda effect: (not effect.becomes, effect.order))
    return [first.atom.predicate if first.becomes else f"not-{first.atom.predicate}"]


def _parameters(case: Case, kinds: Sequence[str]) -> tuple[str, ...]:
    """The control's own names, and numbered ones after the types of the other parameters."""
    names = list(case.control.parameters)
    own = kinds[len(names) :]
    total, number = Counter(own), Counter[str]()
    for kind in own:
        stem = "thing" if kind == ROOT_TYPE else kind
        number[kind] += 1
        name = stem if total[kind] == 1 else f"{stem}{number[kind]}"
        while name in names:
            number[kind] += 1
            name = f"{stem}{number[kind]}"
        names.append(name)
    return tuple(names)
