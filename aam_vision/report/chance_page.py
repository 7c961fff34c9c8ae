"""The page of a run that learned how often: ``report.html`` with every outcome as a bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import ActionSchema, Model
from aam_vision.report import chance, english, rendering
from aam_vision.report.abilities import main_conditions, qualified
from aam_vision.report.chance_account import ActionAccount, ChanceAccount
from aam_vision.report.ending import MAX_BYTES
from aam_vision.report.events import LETTER_HEIGHT, Event, ShownImage
from aam_vision.report.screen import EXPLAINED, ROOM, Abilities, Deed, FirstScreen
from aam_vision.support import wording
from aam_vision.support.files import read_limited

MOST_NUMBER = 1e9
"""Figures of a stranger that are shown are below this."""
_SHARES: Sequence[tuple[int, int]] = ((3, 2), (2, 2), (1, 1))
"""Conditions of each action and effects of each outcome that are told on the first screen, tried in turn."""


def page(account: ChanceAccount) -> str:
    """The page of a run, as HTML."""
    figures = account.figures
    screen = first_screen(account)
    events = list(_events(account))
    names = [
        *(shown.image for shown in screen.shown),
        *(one.image for event in events for one in event.shown),
    ]
    name = account.model.vocabulary.name if figures is None else str(figures["env"])
    return rendering.rendered(
        "chance.html.jinja",
        account=account,
        actions=account.actions,
        assumed=account.assumed,
        compared=list(_compared(account)),
        counted=wording.counted,
        english=english,
        figures=figures,
        letters=LETTER_HEIGHT,
        pddl=domain_text(account.model),
        pictures=rendering.pictures(account.run.folder, names),
        screen=screen,
        times=wording.times,
        title=f"What the agent of {name} does, and how often",
        truth=_truth(account),
    )


def first_screen(account: ChanceAccount) -> FirstScreen:
    """The first screen of a run: actions with several outcomes before those that always do the same."""
    actions = sorted(account.actions, key=lambda action: -min(2, len(action.outcomes)))
    whole = Model(account.model.vocabulary, tuple(_all_effects(one) for one in account.model.actions))
    for conditions, effects in _SHARES:
        deeds = [_deed(action, whole, conditions, effects) for action in actions]
        if sum(len(str(deed)) for deed in deeds) <= ROOM:
            break
    all_told = all(
        len(one.positive | one.negative) <= conditions and len(one.add | one.delete) <= effects
        for one in whole.actions
    )
    rest = [deed.action for deed in deeds[EXPLAINED:]]
    others = f"There {'is' if len(rest) == 1 else 'are'} also {wording.some(rest, 8)}." if rest else ""
    about, shown = _telling(account) or ("", ())
    status = "" if account.figures is None else account.figures["status"]
    how_far = qualified(all_told, status == COMPLETE, len(deeds) == 1)
    can = Abilities(
        f"It has {wording.counted(len(deeds), 'action')}{how_far}.", tuple(deeds[:EXPLAINED]), others
    )
    return FirstScreen(can, account.verdict, status, shown, about)


def _all_effects(schema: ActionSchema) -> ActionSchema:
    """An action with all that it may change, for what tells actions apart."""
    adds = frozenset(atom for one in schema.single for atom in one.add)
    deletes = frozenset(atom for one in schema.single for atom in one.delete)
    return ActionSchema(schema.header, schema.positive, schema.negative, adds, deletes - adds)


def _deed(action: ActionAccount, whole: Model, conditions: int, effects: int) -> Deed:
    if action.best is None:
        return Deed(action.name, "it was never executed")
    does = chance.doing(action.known, most=effects).removeprefix(action.name).removesuffix(".")
    does = does.removeprefix(": ") if does.startswith(": ") else f"it{does}"
    needs = main_conditions(whole, whole.schema(action.name), conditions)
    words = f"if {needs}, then {does}" if needs else does
    return Deed(action.name, words, None if len(action.known.cases) > 1 else action.best.way.found)


def _telling(account: ChanceAccount) -> tuple[str, tuple[ShownImage, ...]] | None:
    """What two pictures show, and these: of the first outcome that is not the one most often meant, or of any."""
    best: tuple[str, tuple[ShownImage, ...]] | None = None
    for action in account.actions:
        for one in action.outcomes:
            if one.example is None or len(one.example.shown) < 2:
                continue
            before, after = one.example.shown
            shown = (before, replace(after, caption=f"{after.caption}: {one.words}"))
            told = f"{one.example.name}: {one.example.step}; {one.words}", shown
            if one is not action.best:
                return told
            best = best or told
    return best


def _events(account: ChanceAccount) -> Iterator[Event]:
    for action in account.actions:
        yield from (one.example for one in action.outcomes if one.example is not None)
        yield from (one.refusal for one in action.conditions if one.refusal is not None)


def _compared(account: ChanceAccount) -> Iterator[tuple[str, str]]:
    """The figures of the comparison with the truth, as far as ``result.json`` has them."""
    told = account.figures or {}

    def number(name: str) -> float | None:
        value = told.get(name)
        return value if isinstance(value, int | float) and 0 <= value < MOST_NUMBER else None

    if (distance := number("variational_distance")) is not None:
        yield "Variational distance", f"{distance:.3f}"
    if (wrong := number("wrong_certain")) is not None:
        yield "Certain and wrong", f"{wrong:.0f}"
    intervals, right = number("intervals"), number("intervals_right")
    if intervals is not None and right is not None:
        yield "Intervals that are right", f"{right:.0f} of {intervals:.0f}"
    if isinstance(told.get("exact"), bool):
        same = "same where compared" if told.get("equivalent") is True else "another"
        yield "Structure", "exact" if told["exact"] else same


def _truth(account: ChanceAccount) -> str | None:
    """The text of ``truth.pddl``, which may be anybody's; None if there is none."""
    path = account.run.folder / "truth.pddl"
    if path.is_symlink() or not path.is_file():
        return None
    return read_limited(path, MAX_BYTES).decode(errors="replace")
