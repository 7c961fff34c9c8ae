"""Actions with conditional effects as PDDL, beside the other operators of a model."""

from __future__ import annotations

from aam_vision.controls.conditional import ConditionalAction, Split
from aam_vision.model.pddl.writing import action_of, action_text, conjunction, domain_of, literals_text
from aam_vision.model.strips import Model, Vocabulary


def conditional_text(model: Model, split: Split) -> str:
    """The model as a PDDL domain in which cases that are one action are written as one, with ``when``."""
    left = [schema for schema in model.actions if schema.header.name not in split.operators]
    negative = any(schema.negative for schema in model.actions)
    either = any(action.one_required for action in split.actions)
    wanted = (
        ":strips :typing"
        + " :negative-preconditions" * negative
        + " :disjunctive-preconditions" * either
        + " :conditional-effects"
    )
    actions = [conditional_action_text(action, model.vocabulary) for action in split.actions]
    actions += [action_text(schema, model.vocabulary) for schema in left]
    headers = [*(action.header for action in split.actions), *(schema.header for schema in left)]
    return domain_of(model.vocabulary, headers, wanted, actions)


def conditional_action_text(action: ConditionalAction, vocabulary: Vocabulary) -> str:
    """One action with conditional effects."""
    header = action.header
    precondition = literals_text(action.positive, action.negative, header, vocabulary)
    effect = literals_text(action.effects.add, action.effects.delete, header, vocabulary)
    conditions = []
    for one in action.branches:
        condition = literals_text(one.positive, one.negative, header, vocabulary)
        conditions.append(condition[0] if len(condition) == 1 else f"(and {' '.join(condition)})")
        own = literals_text(one.effects.add, one.effects.delete, header, vocabulary)
        if own and condition:
            changes = own[0] if len(own) == 1 else conjunction(own, 12)
            effect.append(f"(when {conditions[-1]}\n          {changes})")
        else:
            effect += own
    if action.one_required:
        precondition.append(f"(or {' '.join(conditions)})")
    comment = "".join(
        f"  ; {one} and {other} contradict each other where both conditions hold\n"
        for one, other in action.overlapping
    )
    return comment + action_of(header, conjunction(precondition), conjunction(effect))
