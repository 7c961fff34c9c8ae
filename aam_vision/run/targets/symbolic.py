"""Symbolic agents: of PDDL files, also behind controls, and of the packaged domains."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.run.targets.target import SYMBOLIC_ACCESS, Target, access_of, check_problems, numbers
from aam_vision.support.errors import AamWarning, UnusableInput
from aam_vision.support.wording import listed

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.bare import Control
    from aam_vision.model.strips import GroundAction, Model, State, Vocabulary

GENERATED_PROBLEMS = 3
"""Problems that are generated for one interrogation, and as many more to evaluate on."""
CONTROL = re.compile(r"\s*(?P<name>[^\s()=,]+)\s*\((?P<parameters>[^()=]*)\)\s*=\s*(?P<operators>[^()=]+)")
WRITE = "write e.g. 'move(?dir)=push,move', with the control, its parameters and the operators that it may carry out"


def from_pddl(
    domain: Path,
    problems: Sequence[str],
    *,
    access: str | None,
    repeated: bool = False,
    chance: np.random.Generator | None = None,
    random: bool = False,
) -> Target:
    """An agent that holds the model of a PDDL or PPDDL domain file.

    Args:
        domain: the file.
        problems: files with where it begins.
        access: how it can be asked; None for the usual one.
        repeated: whether one object may be named twice.
        chance: draws outcomes where a step has several; None if the file may have no such step.
        random: whether the agent counts as random even if no step has several outcomes.

    Raises:
        UnusableInput: a file or access cannot be used.
    """
    from aam_vision.model.pddl import read_any_domain, read_domain, read_problem

    allowed = access_of(access, SYMBOLIC_ACCESS, str(domain))
    check_problems(domain, problems, allowed)
    if random or chance is None:
        model = read_domain(domain, chance=random)
    else:
        model = read_any_domain(domain)
    drawn = None if model.strips and not random else chance
    tell_left_out(domain, model.vocabulary)
    initial = [read_problem(model, problem).initial for problem in problems]
    names = [Path(problem).name for problem in problems]
    return symbolic(
        model.vocabulary.name, names, model, initial, initial, allowed, repeated=repeated, chance=drawn
    )


def symbolic(
    name: str,
    problems: Sequence[str],
    model: Model,
    initial: Sequence[State],
    held_out: list[State],
    access: Access,
    *,
    repeated: bool = False,
    chance: np.random.Generator | None = None,
) -> Target:
    """An agent that holds a model and tells its states; ``chance`` draws its outcomes, ``held_out`` are states to evaluate on."""
    from aam_vision.agents.symbolic import SymbolicAgent

    return Target(
        name,
        tuple(problems),
        SymbolicAgent(model, initial, access, repeated=repeated, refuses_surely=True, chance=chance),
        truth=lambda: model,
        held_out=lambda: held_out,
        generators=() if chance is None else (chance,),
        identity=identity(model) if chance is None else None,
    )


def tell_left_out(domain: Path, vocabulary: Vocabulary) -> None:
    """Warn (AamWarning) which predicates of a domain file are instructions, as PDDLGym writes them, and so are left out."""
    found = vocabulary.left_out
    if found:
        what = "is an instruction and no concept" if len(found) == 1 else "are instructions and no concepts"
        line = f"{domain}: {listed(found)} {what}; left out"
        warnings.warn(line, AamWarning, stacklevel=2)


def from_bare(domain: Path, problems: Sequence[str], bare: Sequence[str], access: str | None) -> Target:
    """A PDDL domain behind controls, each written as ``NAME(?PARAMETER ...)=OPERATOR,...``. Raises UnusableInput: one or a file cannot be used."""
    from aam_vision.agents.bare import BARE_ACCESS, BareSymbolicAgent
    from aam_vision.model.pddl import read_domain, read_problem

    access_of(access, BARE_ACCESS, "--bare")
    check_problems(domain, problems, Access.SNAPSHOT)
    model = read_domain(domain)
    tell_left_out(domain, model.vocabulary)
    initial = [read_problem(model, problem).initial for problem in problems]
    controls = read_controls(model, bare)
    agent = BareSymbolicAgent(model, controls, initial)
    return Target(
        model.vocabulary.name,
        tuple(Path(problem).name for problem in problems),
        agent,
        truth=lambda: model,
        held_out=lambda: initial,
        identity=f"{identity(model)} {' '.join(sorted(bare))}",
        native_steps=lambda count, rng: _walked(agent, initial, count, rng),
    )


def read_controls(model: Model, texts: Sequence[str]) -> list[Control]:
    """The controls of a model, written as ``NAME(?PARAMETER ...)=OPERATOR,...``. Raises UnusableInput: one is not like that, or comes twice."""
    from aam_vision.agents.bare import control_of

    found: dict[str, Control] = {}
    for text in texts:
        match = CONTROL.fullmatch(text)
        if match is None:
            raise UnusableInput(WRITE, "bare", text)
        parameters, operators = (
            [one for one in re.split(r"[\s,]+", match[part].strip()) if one]
            for part in ("parameters", "operators")
        )
        parameters = [one.removeprefix("?") for one in parameters]
        if match["name"] in found:
            raise UnusableInput(f"the control {match['name']} comes twice", "bare")
        found[match["name"]] = control_of(model, match["name"], parameters, operators)
    return list(found.values())


def _walked(
    agent: object, initial: Sequence[State], count: int, rng: np.random.Generator
) -> list[tuple[State, GroundAction, State]]:
    """Steps of random walks; there is no way to make legal states of a PDDL domain at random."""
    from aam_vision.agents.bare import BareSymbolicAgent, random_control

    assert isinstance(agent, BareSymbolicAgent), "the agent of this target"
    found: list[tuple[State, GroundAction, State]] = []
    for number in range(count):
        if number < len(initial) or number % 50 == 0:
            state = initial[number % len(initial)]
        control = random_control(agent.headers, state, rng)
        if control is None:
            break
        after = agent.given(state, control)
        found.append((state, control, after))
        state = after
    return found


def from_generated(
    env: str, access: Access, problems: Sequence[str], size: int, seed: int, repeated: bool
) -> Target:
    """A symbolic agent that holds the model of a packaged domain, on generated problems. Raises UnusableInput: no such problem."""
    import numpy as np

    from aam_vision.model.domains import generate, load

    rng = np.random.default_rng([seed, 1])
    model = load(env)
    initial = [generate(env, size, rng).initial for _ in range(2 * GENERATED_PROBLEMS)]
    chosen = numbers(env, problems, GENERATED_PROBLEMS, access)
    names, states = [f"generated/{number}" for number in chosen], [initial[number] for number in chosen]
    return symbolic(env, names, model, states, initial[GENERATED_PROBLEMS:], access, repeated=repeated)


def identity(model: Model) -> str:
    """A digest of the agent's model."""
    from aam_vision.model.pddl import domain_text

    return f"symbolic {sha256(domain_text(model).encode()).hexdigest()}"
