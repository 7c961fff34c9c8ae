"""Things that stand on or behind one another: blocksworld, parking, termes."""

from __future__ import annotations

from itertools import pairwise, product

from aam_vision.domains.draft import Draft


def blocksworld(draft: Draft, size: int) -> None:
    """Random towers that are to become other random towers; the hand is empty."""
    blocks = draft.number("block", 2 + size, "b")
    for tower in _towers(draft, blocks):
        draft.holds("ontable", tower[0])
        draft.holds("clear", tower[-1])
        for below, above in pairwise(tower):
            draft.holds("on", above, below)
    draft.holds("handempty")
    for tower in _towers(draft, blocks):
        for below, above in pairwise(tower):
            draft.wants("on", above, below)
        if len(tower) == 1:
            draft.wants("ontable", tower[0])


def _towers(draft: Draft, blocks: list[str]) -> list[list[str]]:
    towers: list[list[str]] = []
    for block in draft.shuffled(blocks):
        if towers and draft.count(0, 2):
            draft.one(towers).append(block)
        else:
            towers.append([block])
    return towers


def parking(draft: Draft, size: int) -> None:
    """All curbs but one are taken, by two cars each except for one car alone; the goal is another order.

    The competition's problems have one car more. There a car alone at a curb and a free curb never come
    together, so that none of them can execute ``move-curb-to-curb``.
    """
    curbs = draft.number("curb", 2 + size)
    cars = draft.number("car", 2 * (len(curbs) - 1) - 1)
    free = draft.one(curbs)
    draft.holds("curb_clear", free)
    for curb, *pair in _parked(draft, [curb for curb in curbs if curb != free], cars):
        draft.holds("at_curb", pair[0])
        draft.holds("at_curb_num", pair[0], curb)
        draft.holds("car_clear", pair[-1])
        if len(pair) > 1:
            draft.holds("behind_car", pair[1], pair[0])
    for curb, *pair in _parked(draft, draft.shuffled(curbs)[1:], cars):
        draft.wants("at_curb_num", pair[0], curb)
        if len(pair) > 1:
            draft.wants("behind_car", pair[1], pair[0])


def _parked(draft: Draft, curbs: list[str], cars: list[str]) -> list[list[str]]:
    """Every curb with its one or two cars, the car at the curb first."""
    order = draft.shuffled(cars)
    return [[curb, *order[i :: len(curbs)]] for i, curb in enumerate(draft.shuffled(curbs))]


def termes(draft: Draft, size: int) -> None:
    """An empty grid with a robot at its depot; a few towers are wanted, apart from one another.

    A tower of two blocks needs a ramp of one block beside it, which is taken away again at the end; higher
    ones are not asked for, so that every goal can be reached on every grid.
    """
    width, depth, top = 2 + size, 1 + size, 1 + size
    heights = draft.add("numb", (f"n{i}" for i in range(top + 1)))
    for low, high in pairwise(heights):
        draft.holds("succ", high, low)
    cells = list(product(range(width), range(depth)))
    names = dict(zip(cells, draft.add("position", (f"pos-{x}-{y}" for x, y in cells)), strict=True))
    for x, y in cells:
        for beside in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if beside in names:
                draft.holds("neighbor", names[x, y], names[beside])
        draft.holds("height", names[x, y], heights[0])
    depot = draft.one(cells)
    draft.holds("is_depot", names[depot])
    draft.holds("at", names[depot])
    towers: list[tuple[int, int]] = []
    for cell in draft.shuffled(cells):
        apart = all(abs(cell[0] - x) + abs(cell[1] - y) > 2 for x, y in towers)
        if cell != depot and apart and len(towers) < size:
            towers.append(cell)
    for cell in cells:
        draft.wants("height", names[cell], heights[draft.count(1, 2) if cell in towers else 0])
    draft.wants("has_block", value=False)
