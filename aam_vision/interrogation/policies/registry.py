"""Which policy interrogates under which access. Only the one that is chosen is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.interrogation.evidence.moves import Policy
    from aam_vision.interrogation.policies.decorators import Untellable
    from aam_vision.model.strips import Model
    from aam_vision.planning.planner import Planner
    from aam_vision.planning.ppo import ProblemFolder

POLICIES = ("economical", "aia")


def check_policy(name: str) -> None:
    """Say at once that there is no such policy.

    Raises:
        UnusableInput: there is none of that name.
    """
    if name not in POLICIES:
        raise UnusableInput(f"unknown; use {' or '.join(POLICIES)}", argument="policy", value=name)


def policy_for(
    access: Access,
    name: str,
    planner: Planner,
    prior: Model | None = None,
    ppo: ProblemFolder | None = None,
    untellable: Untellable | None = None,
) -> Policy:
    """A fresh policy: the paper's, or the one that asks least under the access.

    Args:
        access: what the agent allows.
        name: one of ``POLICIES``.
        planner: what finds plans.
        prior: a model learned earlier; it is verified where any state can be asked about, elsewhere it saves nothing.
        ppo: where the policy ``aia`` writes the planning problems that its queries solve.
        untellable: says why no answer can tell what is left open, if anything does.

    Raises:
        UnusableInput: there is no such policy, or it needs another access.
    """
    check_policy(name)
    if name == "aia" and not access.restarts:
        raise UnusableInput(
            "its queries begin in states seen before, and trajectory access leads back to none: use the policy "
            "economical, or reset access",
            argument="policy",
            value=name,
        )
    from aam_vision.interrogation.policies.decorators import Excusing, Exhaustive, Replaying

    policy = _policy(access, name, planner, prior, ppo)
    exhaustive = Exhaustive(policy if untellable is None else Excusing(policy, untellable), access)
    return Replaying(exhaustive) if access.episodic else exhaustive


def _policy(
    access: Access, name: str, planner: Planner, prior: Model | None, ppo: ProblemFolder | None
) -> Policy:
    if name == "aia":
        from aam_vision.interrogation.policies.aia import AiaPolicy

        show = None if ppo is None else ppo.write
        return AiaPolicy(planner=planner, constructed=access.constructs, show=show)
    if access.constructs:
        from aam_vision.interrogation.policies.settable import ReassessmentPolicy, SettablePolicy

        if prior is not None:
            return ReassessmentPolicy(prior)
        return SettablePolicy()
    if not access.restarts:
        from aam_vision.interrogation.policies.trajectory import TrajectoryPolicy

        return TrajectoryPolicy(planner=planner)
    from aam_vision.interrogation.policies.economical import EconomicalPolicy

    return EconomicalPolicy(planner=planner)
