"""Patience: freecell."""

from __future__ import annotations

from itertools import pairwise, product

from aam_vision.domains.draft import Draft

_SUITS = {"clubs": "black", "diamonds": "red", "hearts": "red", "spades": "black"}
_CELLS = 4
_MOST_COLUMNS = 8


def freecell(draft: Draft, size: int) -> None:
    """Four suits of one value more than the size, dealt at random; all are wanted at home."""
    top = 1 + size
    columns = min(4 + size, _MOST_COLUMNS)
    numbers = draft.add("num", (f"n{i}" for i in range(max(top, columns, _CELLS) + 1)))
    for low, high in pairwise(numbers):
        draft.holds("successor", high, low)
    suits = draft.add("suit", _SUITS)
    cards = {(suit, value): f"{suit}-{value}" for suit, value in product(suits, range(top + 1))}
    draft.add("card", cards.values())
    for (suit, value), card in cards.items():
        draft.holds("suit", card, suit)
        draft.holds("value", card, numbers[value])
        for other in suits:
            if 0 < value < top and _SUITS[suit] != _SUITS[other]:
                draft.holds("canstack", card, cards[other, value + 1])
    for suit in suits:
        draft.holds("home", cards[suit, 0])
        draft.wants("home", cards[suit, top])

    deck = draft.shuffled([card for (_, value), card in cards.items() if value])
    piles = draft.count(3, columns)
    for number in range(piles):
        pile = deck[number::piles]
        draft.holds("bottomcol", pile[0])
        draft.holds("clear", pile[-1])
        for below, above in pairwise(pile):
            draft.holds("on", above, below)
    draft.holds("cellspace", numbers[_CELLS])
    draft.holds("colspace", numbers[columns - piles])
