"""The constants of the beliefs: they order the questions, and no conclusion depends on them.

Priors and odds describe domains as people write them; the better they fit, the fewer questions are asked.
"""

from __future__ import annotations

# --- preconditions of actions that were executed -----------------------------------------------------------------

PRIOR_POSITIVE = 0.3
"""Probability of a positive precondition. Higher: fewer candidates are put to the test together, and more refused."""
PRIOR_NEGATIVE = 0.02
"""The same of a negative one, which hardly any domain has."""
MAX_EXPECTED = 4
"""Positive preconditions that an action is expected to have at most, however many atoms it has."""
LIKELY = 0.5
"""Literals more probable than this are taken for preconditions. Higher: larger groups are refuted together, and more of
these groups are refused."""
DELETED = 0.97
"""Probability that an atom which a step deletes is required, as it nearly always is in written domains."""
KEPT = 0.5
"""The same for an atom that held in every success and is not deleted, before it is weighed by how rare it is."""
HIDDEN = 0.05
"""The same for an atom that was hidden in every success."""
CERTAIN_CHANCE = 0.99
"""The highest probability that refusals give a literal which is not proven: some doubt is left to be tested."""

# --- situations that are looked through --------------------------------------------------------------------------

RATE_SITUATIONS = 12
"""Situations in which the base rates of predicates are measured. More: better odds, slower."""
JOINT_SITUATIONS = 40
"""Situations in which it is counted how often a candidate holds beside the others."""
JOINT_BINDINGS = 60
"""Bindings that are counted in each of them."""
COOCCURRENCE_SITUATIONS = 12
"""Situations that are searched for atoms which are true together: so many for each question."""

# --- the value of a step -----------------------------------------------------------------------------------------

EFFECT = 0.2
"""Value of seeing whether an atom is changed, where refuting a positive candidate counts 1; most are not changed."""
NEGATIVE = 0.02
"""Value of refuting a negative candidate: the cautious model leaves it out anyway."""
FIRST_SUCCESS = 0.5
"""Value of a first success, for each of the action's atoms: whatever did not hold is refuted by it, or soon after."""
PROOF = 0.03
"""Value of a refusal with one possible reason; with n, an n-th of that. Higher: more steps only prove the model."""
SHARED_TRIES = 6
"""Tries at a first success that share the steps to the state in which they can be made."""

# --- preconditions of actions that were never executed -----------------------------------------------------------

EXTRA_PRECONDITIONS = 0.5
"""Positive preconditions of an action beyond one for each parameter, before anything is known about it."""
NEVER_TRUE = 0.25
"""Factor for the prior of an atom whose predicate was true nowhere: another action may bring it about."""
RARE = 1.5
"""Factor for that of an atom that never holds by chance; less for one that does, since it is seldom required."""
REVERSED = 0.5
"""Factor for that of an atom that names parameters of one type in another order than the header."""
MAX_UNUSED = 0.5
"""Probability, at most, that an atom is required because no action seen so far requires its predicate."""
REQUIRED_ELSEWHERE = 3.0
"""Factor for the odds of an atom if other actions require the same element of P*."""
NOT_REQUIRED_ELSEWHERE = 0.6
"""The same if other actions have the element, but do not require it."""
SHAPE_ONLY = 0.5
"""Weight of actions that require an atom of the same shape, where none has the same element."""

# --- Gibbs sampling and the beam search --------------------------------------------------------------------------

POSTERIOR_SAMPLES = 600
"""Samples of the precondition of an action that was never executed. More: better estimates, slower."""
SWEEPS = 6
"""Times that every literal of every sample is drawn again."""
UNMET = 0.15
"""Factor for the odds of a set for every expected clause that it does not satisfy."""
NEVER_TOGETHER = 0.03
"""Factor for the odds of a literal for every chosen one that was never true together with it."""
MAX_RAISE = 1.5
"""By how much log odds are raised at most to reach the expected size: not all sets that large can hold."""
MIN_SIZE = 0.5
"""Sizes of samples below this count as this, so that their logarithm exists."""
BEAM_WIDTH = 400
"""Partial choices of arguments that are kept. More: better choices, slower."""
