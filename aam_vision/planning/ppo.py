"""P_PO, the planning problem whose plans distinguish two models (paper, "Query Generation").

Both models get a copy of every predicate. An action is applicable if one model can execute it; if both can,
both effects apply, and if only one can, the dummy predicate p_psi becomes true. The goal is a difference
between the copies, or p_psi. Disjunctions, conditional effects and an existential goal make it a problem
for planners such as Fast Downward (``lama-first`` or ``astar(blind())``).

The two models differ in one palm tuple, so they run alike until the step that tells them apart. Hence a
smaller form has the same solutions: one copy of the state, and a condition on the last step (``telling``).
The toolkit solves that one, which every classical planner understands.

The dummy p_u marks that the value of gamma's predicate has become uncertain: actions whose effect on it is
not in M' yet make it true, the others make it false. In preconditions it stands in disjunction with the
predicate only: as a conjunct wherever the predicate is open (which the formula can be read to say) it
would rule out every plan.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aam_vision.model.pddl.writing import domain_of
from aam_vision.model.strips import (
    ActionSchema,
    LiftedAtom,
    Location,
    Mode,
    Model,
    PalTuple,
    Predicate,
    State,
    Vocabulary,
    lifted_atoms,
)

COPIES = ("-i", "-j")
P_PSI = "p-psi"
"""Ends like no copy of a predicate, so it cannot be mistaken for one."""


def telling(i: Mode, j: Mode) -> tuple[bool, ...]:
    """The values of gamma's atom before the last step with which that step tells the two modes apart."""
    if Mode.ABSENT not in (i, j):
        return False, True
    return (Mode.NEGATIVE in (i, j),)


def add_palm(model: Model, pal: PalTuple, mode: Mode) -> Model:
    """The model with the pal tuple in this mode, whatever mode it had (Algorithm 2, line 3)."""
    actions = []
    for schema in model.actions:
        if schema.header.name == pal.action:
            names = ("positive", "negative") if pal.location is Location.PRE else ("add", "delete")
            for name, own in zip(names, (Mode.POSITIVE, Mode.NEGATIVE), strict=True):
                atoms = getattr(schema, name) - {pal.atom} | ({pal.atom} if mode is own else set())
                schema = replace(schema, **{name: atoms})
        actions.append(schema)
    return Model(model.vocabulary, tuple(actions))


MODE_NAMES = {Mode.POSITIVE: "plus", Mode.NEGATIVE: "minus", Mode.ABSENT: "none"}
MAX_NAME = 150


@dataclass(frozen=True)
class DistinguishingProblem:
    """P_PO for the models M' + gamma^i and M' + gamma^j.

    ``model`` holds the palm tuples of M', ``refined`` names all pal tuples in M', those with mode absent
    included; gamma is not among them.
    """

    model: Model
    refined: Collection[PalTuple]
    pal: PalTuple
    i: Mode
    j: Mode

    @property
    def name(self) -> str:
        """The pal tuple and the two modes as a part of a file's name, e.g. ``move-pre-at-p-from-plus-none``."""
        header = self.model.schema(self.pal.action).header
        atom = re.findall(r"[\w-]+", self.pal.atom.text(header.parameters))
        modes = [MODE_NAMES[self.i], MODE_NAMES[self.j]]
        name = "-".join([self.pal.action, self.pal.location.value, *atom, *modes])
        return re.sub(r"[^\w-]", "_", name)[:MAX_NAME]

    def pddl(self, initial: State) -> tuple[str, str]:
        """P_PO as (domain, problem) text; every solution is the plan of a distinguishing query from ``initial``."""
        vocabulary = self.model.vocabulary
        names = {predicate.name for predicate in vocabulary.predicates}
        p_u = "p-u"
        while p_u in names:
            p_u += "-"
        copies = [
            Predicate(f"{one.name}{copy}", one.types)
            for copy in COPIES
            for one in (*vocabulary.predicates, Predicate(p_u, ()))
        ]
        doubled = replace(
            vocabulary, name=f"p-po-{vocabulary.name}", predicates=(*copies, Predicate(P_PSI, ()))
        )
        wanted = (
            ":strips :typing :negative-preconditions :disjunctive-preconditions :existential-preconditions"
            " :conditional-effects"
        )
        known = add_palm(self.model, self.pal, Mode.ABSENT)
        actions = [self._action(schema, vocabulary, p_u) for schema in known.actions]
        return domain_of(doubled, self.model.headers, wanted, actions), _problem(vocabulary, initial)

    def _action(self, schema: ActionSchema, vocabulary: Vocabulary, p_u: str) -> str:
        """One action of P_PO."""
        uncertain = _uncertainty(schema, vocabulary, self.refined, self.pal)
        pre, eff = [], []
        for copy, mode in zip(COPIES, (self.i, self.j), strict=True):
            required = _literals(schema, schema.positive, schema.negative, copy)
            effects = _literals(schema, schema.add, schema.delete, copy)
            if self.pal.action == schema.header.name and mode is not Mode.ABSENT:
                literal = _literal(schema, self.pal.atom, copy, positive=mode is Mode.POSITIVE)
                if self.pal.location is Location.PRE:
                    required.append(f"(or {literal} ({p_u}{copy}))")
                else:
                    effects.append(literal)
            if uncertain is not None:
                effects.append(f"({p_u}{copy})" if uncertain else f"(not ({p_u}{copy}))")
            pre.append(_and(required))
            eff += effects
        header = schema.header
        parameters = " ".join(f"?{n} - {k}" for n, k in zip(header.parameters, header.types, strict=True))
        return (
            f"  (:action {header.name}\n"
            f"    :parameters ({parameters})\n"
            f"    :precondition (or {pre[0]} {pre[1]})\n"
            f"    :effect (and\n"
            f"      (when (and {pre[0]} {pre[1]})\n"
            f"        {_and(eff)})\n"
            f"      (when (or (and {pre[0]} (not {pre[1]})) (and (not {pre[0]}) {pre[1]}))\n"
            f"        ({P_PSI})))\n"
            "  )"
        )


class ProblemFolder:
    """Keeps every P_PO as two files that start with its number: a domain and a problem."""

    def __init__(self, folder: Path) -> None:
        """Numbers go on after those that the folder has already."""
        self._folder = folder

    def write(self, problem: DistinguishingProblem, initial: State) -> None:
        """Write P_PO with this initial state."""
        self._folder.mkdir(parents=True, exist_ok=True)
        number = 1 + sum(1 for _ in self._folder.glob("*-domain.pddl"))
        for part, text in zip(("domain", "problem"), problem.pddl(initial), strict=True):
            path = self._folder / f"{number:04d}-{problem.name}-{part}.pddl"
            path.write_text(text, encoding="utf-8")


def _uncertainty(
    schema: ActionSchema, vocabulary: Vocabulary, refined: Collection[PalTuple], pal: PalTuple
) -> bool | None:
    """Whether the action makes gamma's predicate uncertain or certain; None if it cannot speak of it."""
    name = schema.header.name
    spoken = [a for a in lifted_atoms(vocabulary, schema.header) if a.predicate == pal.atom.predicate]
    if not spoken:
        return None
    return any(PalTuple(atom, name, Location.EFF) not in refined for atom in spoken)


def _problem(vocabulary: Vocabulary, initial: State) -> str:
    """The problem text. What is unknown in the state is in neither copy, and named in a comment."""
    objects = [f"{n} - {k}" for n, k in initial.objects.items() if n not in vocabulary.constants]
    facts = [
        f"({' '.join([atom.predicate + copy, *atom.objects])})"
        for copy in COPIES
        for atom in sorted(initial.true)
    ]
    goals = []
    for predicate in vocabulary.predicates:
        names = "".join(f" ?v{number}" for number in range(predicate.arity))
        in_i, in_j = (f"({predicate.name}{copy}{names})" for copy in COPIES)
        differ = f"(or (and {in_i} (not {in_j})) (and (not {in_i}) {in_j}))"
        if predicate.arity:
            variables = " ".join(f"?v{number} - {kind}" for number, kind in enumerate(predicate.types))
            differ = f"(exists ({variables}) {differ})"
        goals.append(f"    {differ}")
    unknown = [f"  ; unknown: {atom}" for atom in sorted(initial.unknown)]
    return "\n".join(
        [
            "(define (problem p-po)",
            f"  (:domain p-po-{vocabulary.name})",
            f"  (:objects {' '.join(objects)})",
            *unknown,
            f"  (:init {' '.join(facts)})",
            "  (:goal (or",
            *goals,
            f"    ({P_PSI}))))\n",
        ]
    )


def _literals(
    schema: ActionSchema, positive: Iterable[LiftedAtom], negative: Iterable[LiftedAtom], copy: str
) -> list[str]:
    texts = sorted(_literal(schema, atom, copy, positive=True) for atom in positive)
    return texts + sorted(_literal(schema, atom, copy, positive=False) for atom in negative)


def _literal(schema: ActionSchema, atom: LiftedAtom, copy: str, *, positive: bool) -> str:
    names = schema.header.parameters
    arguments = [f"?{names[a]}" if isinstance(a, int) else a for a in atom.arguments]
    text = f"({' '.join([atom.predicate + copy, *arguments])})"
    return text if positive else f"(not {text})"


def _and(parts: list[str]) -> str:
    return f"(and {' '.join(parts)})" if parts else "(and)"
