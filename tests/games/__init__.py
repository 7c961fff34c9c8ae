"""Twelve small games, each with the words of a user: which of them are found out completely, and are any wrongly called so?"""

GAMES = (
    "levers",
    "charge",
    "warehouse",
    "buttons",
    "oneway",
    "ice",
    "conveyor",
    "counter",
    "teleporters",
    "signals",
    "trap",
    "shop",
)
"""The modules; each has an ``ENVIRONMENT``."""
