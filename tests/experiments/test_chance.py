"""The table of agents with chance: QACE's figures stand beside ours, and of a domain that nothing can run they stand alone."""

from __future__ import annotations

from experiments.chance import CAFEWORLD, QACE, comparison


def test_all_five_domains_of_qace_are_in_the_table_and_the_one_with_a_robot_has_its_figures_alone() -> None:
    judged = {"right": 2, "intervals": 2, "wrong": []}
    judged |= dict.fromkeys(("exact", "structure", "early_structure"), True)
    figures = {"early": 0.1, "distance": 0.02, "elsewhere": 0.3, "seconds": 1.5}
    table = comparison([{"domain": name, "access": "reset", **judged, **figures} for name in QACE])
    told = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [row["domain"] for row in told] == [*QACE, "cafeworld"]
    assert [(row["VD then"], row["QACE VD"], row["CPU s"], row["QACE s"]) for row in told] == [
        *((0.02, one.distance, 1.5, one.seconds) for one in QACE.values()),
        (None, CAFEWORLD["QACE VD"], None, CAFEWORLD["QACE s"]),
    ]
