"""Things that are brought from one place to another: gripper, miconic, logistics."""

from __future__ import annotations

from aam_vision.domains.draft import Draft


def gripper(draft: Draft, size: int) -> None:
    """Balls spread over rooms, a robot with two hands; every ball is wanted in another room."""
    rooms = draft.number("room", 2 + size // 2)
    balls = draft.number("ball", 1 + size)
    for hand in draft.add("gripper", ["left", "right"]):
        draft.holds("free", hand)
    draft.holds("at_robby", draft.one(rooms))
    for ball in balls:
        room = draft.one(rooms)
        draft.holds("at", ball, room)
        draft.wants("at", ball, draft.one(rooms, but=room))


def miconic(draft: Draft, size: int) -> None:
    """One lift, passengers that wait at a floor and want to another; all are to be served.

    As in the competition's problems ``not_boarded`` and ``not_served`` are not used: no action keeps them true.
    """
    floors = draft.number("floor", 2 + size)
    for i, low in enumerate(floors):
        for high in floors[i + 1 :]:
            draft.holds("above", low, high)  # as the actions read it: the second is the higher one
    draft.holds("lift_at", draft.one(floors))
    for passenger in draft.number("passenger", 1 + size):
        origin = draft.one(floors)
        draft.holds("origin", passenger, origin)
        draft.holds("destin", passenger, draft.one(floors, but=origin))
        draft.wants("served", passenger)


def logistics(draft: Draft, size: int) -> None:
    """Cities with an airport and other places, a truck in each, planes; packages want to other places."""
    cities = draft.number("city", 1 + size)
    places: list[str] = []
    airports: list[str] = []
    for number, city in enumerate(cities, 1):
        local = draft.add("airport", [f"airport{number}"])
        airports += local
        local += draft.add("location", (f"location{number}-{i + 1}" for i in range(1 + size // 2)))
        for place in local:
            draft.holds("in-city", place, city)
        draft.holds("at", draft.add("truck", [f"truck{number}"])[0], draft.one(local))
        places += local
    for airplane in draft.number("airplane", 1 + size // 3):
        draft.holds("at", airplane, draft.one(airports))
    for package in draft.number("package", 1 + size):
        place = draft.one(places)
        draft.holds("at", package, place)
        draft.wants("at", package, draft.one(places, but=place))
