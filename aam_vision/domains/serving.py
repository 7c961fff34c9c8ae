"""Drinks: barman."""

from __future__ import annotations

from itertools import pairwise

from aam_vision.domains.draft import Draft


def barman(draft: Draft, size: int) -> None:
    """Clean, empty vessels on the table; the goal is a different drink in every shot glass but one.

    Every cocktail has two different parts and the shaker two steps, enough for both of them.
    """
    shaker = draft.number("shaker", 1)[0]
    hands = draft.add("hand", ["left", "right"])
    shots = draft.number("shot", 2 + size)
    ingredients = draft.number("ingredient", 1 + size)
    cocktails = draft.number("cocktail", size)
    levels = draft.add("level", ["l0", "l1", "l2"])
    for ingredient, dispenser in zip(ingredients, draft.number("dispenser", len(ingredients)), strict=True):
        draft.holds("dispenses", dispenser, ingredient)
    for cocktail in cocktails:
        first, second = draft.shuffled(ingredients)[:2]
        draft.holds("cocktail-part1", cocktail, first)
        draft.holds("cocktail-part2", cocktail, second)
    for vessel in (shaker, *shots):
        for predicate in ("ontable", "clean", "empty"):
            draft.holds(predicate, vessel)
    for hand in hands:
        draft.holds("handempty", hand)
    draft.holds("shaker-empty-level", shaker, levels[0])
    draft.holds("shaker-level", shaker, levels[0])
    for low, high in pairwise(levels):
        draft.holds("next", low, high)
    drinks = [*cocktails, *draft.shuffled(ingredients)]
    for shot, drink in zip(shots[:-1], drinks, strict=False):
        draft.wants("contains", shot, drink)
