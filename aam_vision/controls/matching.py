"""Which bindings of effects explain a transition: every atom that changed has to be one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aam_vision.controls.operators import Derivation, Effect, Outcome, outcome
from aam_vision.controls.transitions import Transition
from aam_vision.model.strips import Atom


def explanations(
    effects: Sequence[Effect],
    arity: int,
    derivations: Sequence[Derivation],
    transition: Transition,
) -> Iterator[tuple[str, ...]]:
    """The injective bindings under which the effects are the change, hidden ones included.

    The control's arguments bind the first parameters. A parameter that neither these nor the change name has to be
    derived. Without a change there is no explanation.
    """
    given = transition.control.objects
    if not transition.change or len(set(given)) < len(given):
        return
    binding: list[str | None] = [*given, *[None] * (arity - len(given))]
    seen = set()
    for found in _unified(list(transition.change.items()), effects, binding):
        objects = derived(transition, found, derivations)
        if objects is None or objects in seen:
            continue
        seen.add(objects)
        if outcome(effects, transition, objects) is Outcome.SEEN:
            yield objects


def derived(
    transition: Transition, binding: Sequence[str | None], derivations: Sequence[Derivation]
) -> tuple[str, ...] | None:
    """The whole binding, with what facts determine; None if some parameter stays open, or one object comes twice."""
    full = list(binding)
    for one in derivations:
        value = one.value(transition.before, full)
        if value is None or full[one.parameter] not in (None, value):
            return None
        full[one.parameter] = value
    objects = tuple([name for name in full if name is not None])
    return objects if len(objects) == len(full) == len(set(objects)) else None


def _unified(
    left: Sequence[tuple[Atom, bool]], effects: Sequence[Effect], binding: list[str | None]
) -> Iterator[list[str | None]]:
    """The ways to read each of these changes as one of the effects; the binding is extended meanwhile."""
    if not left:
        yield binding.copy()
        return
    (atom, value), rest = left[0], left[1:]
    for effect in effects:
        if effect.becomes == value and effect.atom.predicate == atom.predicate:
            newly = _bind(effect.atom.arguments, atom.objects, binding)
            if newly is not None:
                yield from _unified(rest, effects, binding)
                for place in newly:
                    binding[place] = None


def _bind(
    arguments: Sequence[int | str], objects: Sequence[str], binding: list[str | None]
) -> list[int] | None:
    """Bind parameters so that the arguments are these objects, and return which; None if that is impossible."""
    newly: list[int] = []
    for argument, name in zip(arguments, objects, strict=True):
        if isinstance(argument, int):
            if binding[argument] == name:
                continue
            if binding[argument] is None and name not in binding:
                binding[argument] = name
                newly.append(argument)
                continue
        elif argument == name:
            continue
        for place in newly:
            binding[place] = None
        return None
    return newly
