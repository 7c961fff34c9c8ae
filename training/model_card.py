"""The card of a set of weights for people: Markdown made from the card for programs."""

from __future__ import annotations

from typing import Any

from aam_vision.classifiers.architecture import CAMERA
from aam_vision.classifiers.store import Card, alone
from aam_vision.classifiers.weak import weaknesses


def model_card(card: Card) -> str:
    """The weights' purpose, origin, thresholds of certainty and measured quality.

    Every figure is one of ``card.figures``, as measured when the training ended.
    """
    command = "train" if card.looks_sha256 is None or alone(card) else "label"
    boards = "scenes" if card.network == CAMERA else "boards"
    lines = [
        f"# Classifiers of {card.name}",
        "",
        f"They read images of `{card.name}` {boards} into the predicates below. Made by "
        f"`python -m aam_vision.training.{command} --env {card.name} --seed {card.seed}` from "
        f"{card.figures.get('boards', '?')} labelled {boards} in {card.figures.get('steps', '?')} steps; network `{card.network}`.",
        "",
        "| predicate | over | source | classifiers | hidden by |",
        "|---|---|---|---|---|",
    ]
    for name, facts in card.vocabulary["predicates"].items():
        heads = ", ".join(facts.get("heads", {}).values()) or "-"
        lines.append(
            f"| `{name}` | {', '.join(facts['types'])} | {facts['provenance']} | {heads} "
            f"| {facts.get('hidden_by') or '-'} |"
        )
    lines += ["", "| classifier | temperature | no below | yes above |", "|---|---|---|---|"]
    for head in card.vocabulary["heads"]:
        low, high = card.thresholds[head]
        lines.append(f"| {head} | {card.temperatures[head]} | {low} | {high} |")
    lines += [
        "",
        f"Between the two thresholds an answer is unknown, unless all legal {boards} agree about it.",
        *(
            []
            if card.looks_sha256 is None
            else ["What looks unlike the labelled looks beside the weights is unknown, too."]
        ),
        "",
        "| layouts | states | exact | refused | wrong accepted | ECE | NLL |",
        "|---|---|---|---|---|---|---|",
    ]
    for group in ("unseen", "interrogated"):
        found = card.figures.get(group)
        if found:
            lines.append(
                f"| {group} | {found['states']} | {found['exact']} | {found['refused']} | {found['wrong']} "
                f"| {found['ece']:.1e} | {found['nll']:.1e} |"
            )
    lines += _classifiers(card)
    lines += [
        "",
        f"Data sha256 `{card.data_sha256}`, weights sha256 `{card.weights_sha256}`; "
        + ", ".join(f"{name} {version}" for name, version in card.versions.items())
        + ".",
        "",
        "Not for pictures from another place, of other proportions, or of things with other looks: train on those."
        if card.network == CAMERA
        else "Not for boards whose cells are not square, not fitted into the image, or drawn in another theme: train "
        "on images of those.",
    ]
    return "\n".join(lines) + "\n"


def _classifiers(card: Card) -> list[str]:
    """Every classifier's own figures, and what they say against it; nothing for older weights, which have none."""
    positives: dict[str, int] = card.figures.get("positives", {})
    unseen: dict[str, dict[str, Any]] = card.figures.get("unseen", {}).get("classifiers", {})
    if not positives and not unseen:
        return []
    lines = ["", "| classifier | positive examples | unseen pictures | of these wrong |", "|---|---|---|---|"]
    for head in card.vocabulary["heads"]:
        counts = unseen.get(head, {})
        lines.append(
            f"| {head} | {positives.get(head, '?')} | {counts.get('pictures', '?')} | {counts.get('wrong', '?')} |"
        )
    return [*lines, *(part for line in weaknesses(card) for part in ("", f"**{line}.**"))]
