"""Which answers a picture shows, hidden by nothing."""

from __future__ import annotations

from aam_vision.classifiers.legality import Truth
from aam_vision.perception import Perceived, Reading, VisualVocabulary


def shown(vocabulary: VisualVocabulary, sure: Truth, doubtful: Truth) -> Truth:
    """The doubtful answers that the picture shows, hidden by nothing: all are (heads, places)."""
    rows = {head: row for row, head in enumerate(vocabulary.cell_heads())}
    entries = [entry for entry in vocabulary.entries if isinstance(entry, Perceived)]
    looks = {
        look: rows[head]
        for entry in entries
        if entry.reading is Reading.WHERE
        for look, head in entry.heads.items()
    }
    found = doubtful.copy()
    for entry in entries:
        if entry.reading is not Reading.WHERE:
            row = rows[entry.heads[""]]
            if entry.hidden_by is not None:
                found[row] &= ~sure[looks[entry.hidden_by]]
            if entry.reading is Reading.ON:
                found[row] &= sure[list(looks.values())].any(0)
    return found
