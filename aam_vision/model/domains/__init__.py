"""The ten domains of the paper's symbolic experiments: their models, and problems of any size.

Paper, Section "Empirical Evaluation": the agents whose models are recovered come from the International
Planning Competition. The PDDL here states those domains' facts in our own words; the generators make legal
problems in which every action can be executed somewhere (no object used twice in one action).
"""

from __future__ import annotations

from aam_vision.model.domains.generators import generate
from aam_vision.model.domains.registry import DOMAINS, load

__all__ = ["DOMAINS", "generate", "load"]
