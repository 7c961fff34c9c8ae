"""Machines that look at things far away and tell of them: satellite, rovers."""

from __future__ import annotations

from aam_vision.domains.draft import Draft


def satellite(draft: Draft, size: int) -> None:
    """Satellites with two or three instruments each; images are wanted in modes that some instrument has."""
    satellites = draft.number("satellite", 1 + size // 2)
    directions = draft.number("direction", 3 + size)
    modes = draft.number("mode", 1 + size)
    instruments: list[str] = []
    for number, machine in enumerate(satellites, 1):
        draft.holds("power_avail", machine)
        draft.holds("pointing", machine, draft.one(directions))
        aboard = draft.add("instrument", (f"instrument{number}-{i + 1}" for i in range(draft.count(2, 3))))
        for instrument in aboard:
            draft.holds("on_board", instrument, machine)
            draft.holds("calibration_target", instrument, draft.one(directions))
            draft.holds("supports", instrument, draft.one(modes))
        instruments += aboard
    for mode in modes:
        draft.holds("supports", draft.one(instruments), mode)
    for direction in draft.some(directions):
        draft.wants("have_image", direction, draft.one(modes))
    if draft.count(0, 1):
        draft.wants("pointing", draft.one(satellites), draft.one(directions))


def rovers(draft: Draft, size: int) -> None:
    """Rovers on a network of waypoints; the first can do everything and go anywhere, so goals are reachable.

    The lander stands where at least two waypoints see it: an analysis of one can be sent from the other.
    """
    machines = draft.number("rover", 1 + size // 2)
    waypoints = draft.number("waypoint", 3 + size)
    objectives = draft.number("objective", 1 + size)
    modes = draft.add("mode", ["colour", "high_res", "low_res"])
    cameras = draft.number("camera", len(machines) - 1 + size)
    tree, edges = _network(draft, waypoints)
    for one, other in edges:
        draft.holds("visible", one, other)
        draft.holds("visible", other, one)

    degree = {w: sum(w in edge for edge in edges) for w in waypoints}
    site = draft.one([w for w in waypoints if degree[w] >= 2])
    lander = draft.number("lander", 1)[0]
    draft.holds("at_lander", lander, site)
    draft.holds("channel_free", lander)

    for number, rover in enumerate(machines, 1):
        first = rover == machines[0]
        draft.holds("available", rover)
        draft.holds("at", rover, draft.one(waypoints))
        store = draft.add("store", [f"store{number}"])[0]
        draft.holds("store_of", store, rover)
        draft.holds("empty", store)
        for ability in draft.some(["soil_analysis", "rock_analysis", "imaging"], 3 if first else 1):
            draft.holds(f"equipped_for_{ability}", rover)
        for one, other in edges if first else tree:
            draft.holds("can_traverse", rover, one, other)
            draft.holds("can_traverse", rover, other, one)

    for objective in objectives:
        for waypoint in draft.some(waypoints):
            draft.holds("visible_from", objective, waypoint)
    for camera in cameras:
        first = camera == cameras[0]
        draft.holds("on_board", camera, machines[0] if first else draft.one(machines))
        draft.holds("calibration_target", camera, draft.one(objectives))
        for mode in draft.some(modes):
            draft.holds("supports", camera, mode)
            if first:
                draft.wants("communicated_image_data", draft.one(objectives), mode)
    away = [w for w in waypoints if w != site]
    for matter in ("soil", "rock"):
        for waypoint in draft.some(away):
            draft.holds(f"at_{matter}_sample", waypoint)
            draft.wants(f"communicated_{matter}_data", waypoint)


def _network(draft: Draft, nodes: list[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """A random tree over the nodes, and the same with some more edges."""
    order = draft.shuffled(nodes)
    tree = [(draft.one(order[:i]), order[i]) for i in range(1, len(order))]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    more = [pair for pair in draft.shuffled(pairs) if pair not in set(tree)]
    return tree, tree + more[: len(nodes) // 2]
