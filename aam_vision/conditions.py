"""The conditions of a query over facts, narrowed to the objects and facts that its answers can use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.fact_tables import Mask, Numbers, Table

LARGE = 1000
"""Facts from which a table is narrowed to those that a query can use; smaller ones are joined as quickly."""


class Condition(NamedTuple):
    """An atom that is to be true: a table and, for each place, a parameter's number or, negative, ``-1 - object``."""

    table: Table
    arguments: tuple[int, ...]
    literals: Numbers | None = None
    """For each row of the table the literal that it is, where compatibility matters."""

    def holds(self, rows: Numbers) -> Mask:
        """Under which of these complete bindings the atom is true."""
        return self.table.find(columns_of(rows, self.arguments), len(rows)) >= 0


class Absence(NamedTuple):
    """An atom that is to be false."""

    table: Table
    """The facts that may be false, or may not."""
    arguments: tuple[int, ...]
    literals: Numbers
    """For each row of the table the literal that the fact is false; negative where it never is."""


def narrowed(
    allowed: Sequence[Mask | None],
    conditions: Sequence[Condition],
    absences: Sequence[Absence],
    *,
    distinct: bool,
) -> tuple[list[Mask | None], list[Condition]]:
    """The values that each parameter may have, and the conditions with the facts that these leave.

    Args:
        allowed: for each parameter which numbers it may have; None for one that is given from the start.
        conditions: the atoms that are to be true.
        absences: the atoms that are to be false.
        distinct: whether parameters that are not given must differ from each other.
    """
    domains = _possible(allowed, conditions, absences)
    conditions = list(conditions)
    if any(len(condition.table) >= LARGE for condition in conditions):
        domains = _different(domains) if distinct else domains
        conditions = [_with_fewer_facts(condition, domains) for condition in conditions]
        domains = _possible(domains, conditions, absences)
        domains = _different(domains) if distinct else domains
    return domains, conditions


def _possible(
    allowed: Sequence[Mask | None], conditions: Sequence[Condition], absences: Sequence[Absence]
) -> list[Mask | None]:
    """The values of each parameter that no single condition rules out."""
    domains = list(allowed)
    for table, arguments, _ in conditions:
        for place, argument in enumerate(arguments):
            if argument >= 0 and (domain := domains[argument]) is not None:
                domains[argument] = domain & table.occurring(place, len(domain))
    for absence in absences:
        parameter = absence.arguments[0] if len(absence.arguments) == 1 else -1
        if parameter >= 0 and (domain := domains[parameter]) is not None:
            domain = domain.copy()
            domain[absence.table.rows[absence.literals < 0, 0]] = False
            domains[parameter] = domain
    return domains


def _different(domains: Sequence[Mask | None]) -> list[Mask | None]:
    """The values without those that are another parameter's only one."""
    left = list(domains)
    for number, domain in enumerate(domains):
        if domain is not None and domain.sum() == 1:
            for other, values in enumerate(left):
                if other != number and values is not None:
                    left[other] = values & ~domain
    return left


def _with_fewer_facts(condition: Condition, domains: Sequence[Mask | None]) -> Condition:
    """The condition without the facts whose objects the parameters cannot be, if these are many."""
    table, arguments, literals = condition
    if len(table) < LARGE:
        return condition
    keep = np.ones(len(table), dtype=bool)
    for place, argument in enumerate(arguments):
        values = table.rows[:, place]
        if argument < 0:
            keep &= values == -1 - argument
        elif (domain := domains[argument]) is not None:
            keep &= domain[values]
    if 2 * keep.sum() > len(keep):
        return condition
    return Condition(table.having(keep), arguments, None if literals is None else literals[keep])


def columns_of(rows: Numbers, arguments: Sequence[int]) -> list[Numbers]:
    """The values of an atom's arguments under each binding."""
    return [rows[:, a] if a >= 0 else np.full(len(rows), -1 - a) for a in arguments]
