"""Small random domains, interrogated through the public function and checked by brute force.

``python -m experiments.random_domains`` does the same on thousands of them.
"""

from __future__ import annotations

import pytest

from aam_vision.model.query import Access
from experiments.random_domains import CASES, judged
from experiments.random_strips import random_domain
from tests.profiles import scaled

DOMAINS = scaled(40)


@pytest.mark.parametrize(("access", "policy"), CASES)
def test_an_interrogation_ends_only_when_no_query_could_tell_any_more(access: str, policy: str) -> None:
    verdicts = {seed: judged(random_domain(seed), Access(access), policy, seed) for seed in range(DOMAINS)}
    wrong = [item for item in verdicts.items() if item[1].outcome in ("tracebacks", "false complete")]
    missed = [item for item in verdicts.items() if item[1].outcome == "missed"]
    assert not wrong
    assert len(missed) <= DOMAINS // 100, missed
