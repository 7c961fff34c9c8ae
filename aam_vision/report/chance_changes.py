"""What has changed since an agent with chance was interrogated earlier: ``--prior`` of a run, or of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aam_vision.interrogation.chance.comparing import ALPHA, AtomDifference, OutcomeDifference, differences
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.prior import Claim, EarlierModel, EarlierRun, Prior
from aam_vision.interrogation.chance.retelling import retold
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.task.result import check_prior
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Agent
from aam_vision.model.strips import ActionSchema, Model
from aam_vision.report import chance
from aam_vision.report.recorded import read_run
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import some


def earlier(path: Path, agent: Agent, seed: int | None) -> Prior:
    """The earlier findings: of the folder of a run with ``--chance`` its trials, else the model, whose probabilities are claims.

    ``seed``: from which the agent's chance is drawn; None if that is of its own. Raises UnusableInput: nothing there is of this agent.
    """
    vocabulary, headers = agent.vocabulary, agent.headers
    if path.is_dir():
        run = read_run(path)
        if run.within is not None:
            told = run.transcript
            _check(Model(told.vocabulary, tuple(ActionSchema(one) for one in told.headers)), agent, path)
            transcript = replace(told, vocabulary=vocabulary, headers=headers)  # atoms in the agent's order
            independent = run.chance_seed is None or run.chance_seed != seed
            return EarlierRun(retold(transcript, precision_of(run.within)).actions, independent)
        path = path / "model.pddl"
        if not path.is_file():
            raise UnusableInput(
                "holds no model; give the folder of a finished run, or a PDDL domain", "prior", path
            )
    model = read_domain(path, chance=True)
    _check(Model(model.vocabulary, tuple(ActionSchema(one) for one in model.headers)), agent, path)
    return EarlierModel(model)


def _check(model: Model, agent: Agent, path: Path) -> None:
    check_prior(model, agent.vocabulary, agent.headers, path)
    own, given = agent.vocabulary, model.vocabulary
    if dict(own.constants) != dict(given.constants) or own.types != given.types:
        raise UnusableInput("is of another agent: its types or constants differ", "prior", path)


def changes(prior: Prior, actions: tuple[ActionKnowledge, ...]) -> dict[str, Any]:
    """``differences`` and ``as_before`` of ``result.json``: what differs, and by how much the rest may at most."""
    found: list[dict[str, Any]] = []
    before: dict[str, float | None] = {}
    for action in actions:
        told, widest = _of_run(prior, action) if isinstance(prior, EarlierRun) else _of_model(prior, action)
        found += told
        if not told:
            before[action.index.header.name] = None if widest is None else round(widest, 4)
    return {"differences": found, "as_before": before}


def lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for a person."""
    none = ["none to what was learned earlier that chance does not explain"]
    texts = [one["text"] for one in told["differences"]] or none
    known = [
        f"{name} (no outcome's probability by more than {100 * widest:.0f} points)"
        for name, widest in told["as_before"].items()
        if widest is not None
    ]
    unknown = [name for name, widest in told["as_before"].items() if widest is None]
    rows = [("" if number else "differences", text) for number, text in enumerate(texts)]
    if known:
        rows.append(("as before", "; ".join(known)))
    if unknown:
        rows.append(("not told", f"whether outcomes are as before: {some(unknown, 12)}"))
    return rows


def _of_run(prior: EarlierRun, action: ActionKnowledge) -> tuple[list[dict[str, Any]], float | None]:
    name = action.index.header.name
    before = next(one for one in prior.actions if one.index.header.name == name)
    count = len(prior.actions)
    (found,) = differences([before], [action], independent=prior.independent, actions=count)
    told = [_atom(action, atom) for atom in found.atoms]
    if found.incompatible and not found.atoms:
        why = "no precondition explains the answers of both runs"
        told.append(_entry(action, "pre", f"{name} requires something else: {why}"))
    for one in found.outcomes:
        compared = one.comparison
        if compared.different:
            shares = compared.one.share, compared.other.share
            condition = action.index.text(one.condition)
            told.append(_outcome(action, one, condition, shares, compared.limits, compared.p_value))
    return told, found.widest


def _of_model(prior: Prior, action: ActionKnowledge) -> tuple[list[dict[str, Any]], float | None]:
    assert isinstance(prior, EarlierModel), "the other kind"
    told = [_atom(action, atom) for atom in prior.atoms(action)]
    claims = list(prior.claims(action))
    for one in claims:
        if one.wrong:
            told.append(_outcome(action, one, [], (one.probability, one.seen.share), one.limits, one.p_value))
    if not action.executed or not action.explanation.sure or not claims:
        return told, None
    return told, max(max(-low, high) for low, high in (one.limits for one in claims))


def _atom(action: ActionKnowledge, atom: AtomDifference) -> dict[str, Any]:
    name, text = action.index.header.name, action.index.atom(atom.bit).text(action.index.header.parameters)
    before, now = (" or ".join(mode.value for mode in modes) for modes in (atom.one, atom.other))
    entry = _entry(action, "pre", f"{name} requires {text}: {before} before, {now} now")
    return {**entry, "atom": text, "before": before, "now": now}


def _outcome(
    action: ActionKnowledge,
    one: OutcomeDifference | Claim,
    condition: Sequence[str],
    shares: tuple[float, float],
    limits: tuple[float, float],
    p_value: float,
) -> dict[str, Any]:
    words = chance.effects(action, one.adds, one.deletes) + chance.held(action, one.kind)
    if condition:
        words += f" if {', '.join(condition)}"
    assert p_value <= ALPHA, "others are not told"
    often = f"{100 * shares[0]:.0f}% before, {100 * shares[1]:.0f}% now ({chance.difference(*limits)})"
    return {
        **_entry(action, "outcome", f"{action.index.header.name}: {words}: {often}"),
        "effects": action.index.text(Literals(one.adds, one.deletes)),
        "before": round(shares[0], 6),
        "now": round(shares[1], 6),
        "difference": [round(limit, 4) for limit in limits],
        "p_value": p_value,
    }


def _entry(action: ActionKnowledge, location: str, text: str) -> dict[str, Any]:
    return {"action": action.index.header.name, "location": location, "text": text}
