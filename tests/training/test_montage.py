"""Pictures made of labelled ones show what their labels say: read off the pixels, by a picture in which that is easy."""

from dataclasses import replace

import numpy as np

from aam_vision.model.strips import Atom
from aam_vision.training import montage
from aam_vision.training.cutouts import fixed_looks, taken_apart
from aam_vision.training.montage import Montage, cuts_of, exchanged
from tests.training.labelling.table import COLOURS, HAND, SIDE, VOCABULARY, backdrop, labelled


def test_parts_of_piles_are_exchanged_with_what_is_true_of_them(parts):
    cuts = [cut for one in parts for group in one.groups if group.whole for cut in cuts_of(group)]
    made = [found for below in cuts for above in cuts if (found := exchanged(below, above))]
    assert max(len(group.looks) for group in made) == 4
    for group in made:
        atoms = set(group.atoms)
        on = {about for predicate, about in atoms if predicate == "on"}
        assert len(on) == len(group.looks) - 1
        uppers, lowers = {one for one, _ in on}, {other for _, other in on}
        for number in range(len(group.looks)):
            assert (("on-table", (number,)) in atoms) == (number not in uppers)
            assert (("clear", (number,)) in atoms) == (number not in lowers)
        for upper, lower in on:
            rows = [np.nonzero(group.owner == number)[0] for number in (upper, lower)]
            assert rows[0].max() == rows[1].min() - 1


def test_labels_of_made_pictures_are_what_they_show(parts):
    montage, rng = Montage(VOCABULARY, parts), np.random.default_rng(7)
    one, again = (montage.make(np.random.default_rng(3)) for _ in range(2))
    assert (one.frame == again.frame).all()
    assert one.true == again.true
    assert montage.usable
    seen = set()
    for _ in range(60):
        one = montage.make(rng)
        seen.update(atom.predicate for atom in one.true)
        for thing, look in one.scene.looks.items():
            mask = one.masks[thing]
            assert (one.frame[mask] == COLOURS[look]).all()
            shows = Atom("seen", (thing,))
            share = mask.sum() / SIDE**2
            assert (shows in one.true) == (share >= 0.25)
            assert (shows in one.unknown) == (0.08 < share < 0.25)
            if share == 1:
                row, column = (int(side[0]) for side in np.nonzero(mask))
                held = Atom("held", (thing,)) in one.true
                assert held == ((row, column) == HAND)
        for atom in one.true:
            if atom.predicate == "on" and all(one.masks[thing].sum() == SIDE**2 for thing in atom.objects):
                upper, lower = (np.argwhere(one.masks[thing])[0] for thing in atom.objects)
                assert tuple(lower - upper) == (SIDE, 0)
    assert seen == {"seen", "held", "on-table", "clear", "on"}


def test_without_masks_or_with_shared_looks_nothing_is_made(pictures):
    assert taken_apart(VOCABULARY, pictures[0]._replace(masks={}), backdrop()) is None
    alike = labelled(np.random.default_rng(0), ("red", "red"))
    assert taken_apart(VOCABULARY, alike, backdrop()) is None
    assert not Montage(VOCABULARY, []).usable


def test_what_touches_something_else_in_all_pictures_makes_none(parts):
    touching = [
        replace(one, groups=tuple(replace(group, whole=False) for group in one.groups)) for one in parts
    ]
    assert not Montage(VOCABULARY, touching).usable


def test_a_made_picture_shows_a_thing_even_where_none_fits(parts, monkeypatch):
    monkeypatch.setattr(montage, "TRIED", 0)
    maker, rng = Montage(VOCABULARY, parts), np.random.default_rng(0)
    assert all(maker.make(rng).scene.looks for _ in range(20))


def test_what_never_leaves_its_place_is_not_put_elsewhere(pictures):
    assert fixed_looks(pictures) == frozenset()
    placed = []
    for number, one in enumerate(pictures):  # the red thing slides from time to time
        down = 3 * (number % 2)
        mask = np.zeros(one.frame.shape[:2], bool)
        mask[14 + down : 24 + down, 4:12] = True
        frame = np.where(mask[..., None], np.uint8(COLOURS["red"]), one.frame).astype(np.uint8)
        masks = {thing: own & ~mask for thing, own in one.masks.items()} | {"thing-0": mask}
        true = {atom for atom in one.true if "thing-0" not in atom.objects} | {Atom("seen", ("thing-0",))}
        placed.append(one._replace(frame=frame, masks=masks, true=frozenset(true)))
    assert fixed_looks(placed) == {"red"}
    assert fixed_looks(placed[:4]) == frozenset(), "so few tell nothing"
    parts = [taken_apart(VOCABULARY, one, backdrop(), {"red"}) for one in placed]
    maker, rng = Montage(VOCABULARY, parts), np.random.default_rng(0)
    places = {tuple(np.argwhere(one.masks["thing-0"])[0]) for one in placed}
    seen = set()
    for _ in range(30):
        one = maker.make(rng)
        (red,) = (thing for thing, look in one.scene.looks.items() if look == "red")
        if (mask := one.masks[red]).sum() == 80:
            seen.add(tuple(np.argwhere(mask)[0]))
    assert seen == places
    alone = [replace(one, groups=tuple(group for group in one.groups if group.tied)) for one in parts]
    assert Montage(VOCABULARY, alone).make(rng).true


def test_a_thing_that_others_hide_wholly_is_left_as_it_is(parts):
    """Where parts of piles are exchanged, one may cover another one."""
    rng = np.random.default_rng(0)
    whole = [replace(one, groups=tuple(map(_hiding, one.groups))) for one in parts]
    assert any(group.whole and len(group.looks) > 1 for one in whole for group in one.groups)
    montage = Montage(VOCABULARY, whole)
    for _ in range(40):
        one = montage.make(rng)
        shows = {atom.objects[0] for atom in one.true if atom.predicate == "seen"}
        assert all(one.masks[thing].any() for thing in shows)


def _hiding(group):
    """The group with its first thing hidden by the others."""
    owner = np.where(group.owner == 0, 1, group.owner) if len(group.looks) > 1 else group.owner
    return replace(group, owner=owner)


def test_what_no_label_speaks_of_hides_what_is_behind_it(parts, monkeypatch):
    made = []
    for often in (0.0, 1.0):
        monkeypatch.setattr(montage, "STRANGE", often)
        rng, maker = np.random.default_rng(8), Montage(VOCABULARY, parts)
        made.append([maker.make(rng) for _ in range(60)])
    known = [*COLOURS.values(), (190, 190, 190), (95, 95, 95)]
    for some in made:
        for one in some:
            other = ~np.any([(one.frame == colour).all(2) for colour in known], axis=0)
            assert not any((mask & other).any() for mask in one.masks.values())
    hidden = [sum(mask.sum() < SIDE**2 for one in some for mask in one.masks.values()) for some in made]
    assert hidden[1] > hidden[0] + 10
