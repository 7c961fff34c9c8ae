"""What labelled pictures show is cut out in groups."""

import numpy as np

from aam_vision.training.cutouts import backdrop_of
from tests.training.labelling.table import HAND, SIDE, backdrop


def test_the_backdrop_is_what_most_pictures_have_in_common(pictures):
    assert (backdrop_of([one.frame for one in pictures]) == backdrop()).all()


def test_what_hangs_together_is_one_group_and_what_is_held_is_tied(pictures, parts):
    for one, own in zip(pictures, parts, strict=True):
        held = [atom.objects[0] for atom in one.true if atom.predicate == "held"]
        piles = sum(atom.predicate == "on-table" for atom in one.true)
        assert len(own.groups) == piles + len(held)
        assert [group.looks for group in own.groups if group.tied] == [(one.scene.looks[x],) for x in held]
        for group in own.groups:
            inner = [about for predicate, about in group.atoms if predicate == "on"]
            assert len(inner) == len(group.looks) - 1


def test_the_picture_without_free_groups_has_what_is_held_and_what_may_lack_a_part_is_not_put_elsewhere(
    pictures, parts
):
    top, left = HAND
    hand = np.s_[top : top + SIDE, left : left + SIDE]
    for one, own in zip(pictures, parts, strict=True):
        assert (own.bare[hand] == one.frame[hand]).all()
        rest = own.bare.copy()
        rest[top : top + SIDE, left : left + SIDE + 4] = 190
        assert (rest == backdrop()).all()
        for group in own.groups:
            hidden = any((group.owner == number).sum() < SIDE**2 for number in range(len(group.looks)))
            assert not (hidden and group.whole), one.true
