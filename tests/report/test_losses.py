"""What a version has lost that an earlier one could do: sure only where a step shows it, and never missed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import ActionSchema, Atom, Model, State
from aam_vision.report.versions import of_models
from experiments.random_strips import all_bindings, ground_atoms, random_domain
from experiments.reassessment import changed
from tests.commands import called, refused

STATES, MOST = 60, 12
Row = tuple[str, ...]


def worse(before: Model, after: Model, initial: State, rng: np.random.Generator) -> set[str]:
    """The actions of which a step goes otherwise in the second model that the first one executes, in random states."""
    atoms, found = ground_atoms(before.vocabulary, initial.objects), set()
    for schema in before.actions:
        rival = after.schema(schema.header.name)
        for row in all_bindings(schema.header, initial.objects)[:MOST]:
            for _ in range(STATES):
                state = _executing(schema, row, initial, atoms, rng)
                after_it = schema.successor(state, row)
                if not rival.applicable(state, row) or rival.successor(state, row) != after_it:
                    found.add(schema.header.name)
    return found


def _executing(schema: ActionSchema, row: Row, initial: State, atoms: list[Atom], rng: np.random.Generator):
    """A random state in which the first model executes the step."""
    true = {atom for atom in atoms if rng.random() < 0.5}
    true |= {atom.ground(row) for atom in schema.positive}
    return State(frozenset(true - {atom.ground(row) for atom in schema.negative}), initial.objects)


@given(st.integers(0, 10**6), st.integers(0, 3))
def test_what_is_lost_is_what_some_step_shows(seed: int, changes: int) -> None:
    rng, domain = np.random.default_rng(seed), random_domain(seed)
    assume(not domain.repeated and not domain.model.vocabulary.constants)  # two atoms would be one fact
    after = changed(domain.model, changes, rng)
    found = of_models((domain.model, after), (Path("nowhere"), Path("nowhere")))
    lost, initial = {text.partition(":")[0] for text in found.lost}, domain.problems[0]
    possible = {one.name for one in domain.model.headers if all_bindings(one, initial.objects)}
    assert lost & possible == worse(domain.model, after, initial, rng)
    assert found.verdict == ("lost" if found.lost else "nothing lost")


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of a robot that picks up 90% of the time, and of one that does so half of the time."""
    folder = tmp_path_factory.mktemp("versions")
    for name, probability, seed in (("old", 0.9, 1), ("new", 0.5, 2)):
        (folder / f"{name}.pddl").write_text(DOMAIN.format(probability))
        (folder / "one.pddl").write_text(PROBLEM)
        asked = f"--domain {name}.pddl --problem one.pddl --chance --within 0.1 --seed {seed}".split()
        called("aam_vision.run", *asked, "--quiet", "--out", name, cwd=folder, code=0)
    return folder


DOMAIN = """(define (domain hand)
  (:predicates (holding) (free))
  (:action pick :parameters () :precondition (free)
    :effect (probabilistic {} (and (holding) (not (free)))))
  (:action drop :parameters () :precondition (holding) :effect (and (free) (not (holding)))))
"""
PROBLEM = "(define (problem one) (:domain hand) (:init (free)) (:goal (holding)))"


def test_what_comes_less_often_is_lost_and_what_comes_more_often_is_not(versions: Path) -> None:
    done = called("aam_vision.compare", "old", "new", "--gate", cwd=versions, code=5)
    assert "lost: pick: holding is true and free is no longer true: A" in " ".join(done.stdout.split())
    done = called("aam_vision.compare", "new", "old", "--gate", "--margin", "0.3", "--json", cwd=versions)
    told = json.loads(done.stdout)
    assert (done.returncode, told["verdict"], told["lost"]) == (0, "nothing lost", [])


def test_what_too_few_trials_show_is_not_sure(versions: Path) -> None:
    done = called("aam_vision.compare", "old", "old", "--gate", "--margin", "0.01", cwd=versions, code=6)
    assert "to be sure: interrogate both with a smaller --within, or allow a larger --margin" in done.stdout


def test_a_version_that_is_no_strips_agent_vouches_for_nothing(tmp_path: Path) -> None:
    for name, status in (("old", "complete"), ("new", "not-strips")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.pddl").write_text(domain_text(random_domain(0).model))
        (tmp_path / name / "result.json").write_text(json.dumps({"status": status, "undetermined": []}))
    done = called("aam_vision.compare", "old", "new", "--gate", cwd=tmp_path, code=6)
    assert "B ended as not-strips, so nothing of it is certain" in done.stdout
    (tmp_path / "new" / "result.json").write_text(json.dumps({"undetermined": []}))
    assert "there is no 'status'" in refused("aam_vision.compare", "old", "new", "--gate", cwd=tmp_path)


def test_what_a_run_left_open_excuses_no_other_model_in_its_folder(tmp_path: Path) -> None:
    domain = random_domain(0).model
    model = next(schema for schema in domain.actions if schema.positive)
    looser = replace(model, positive=frozenset())
    one = {"action": model.header.name, "location": "pre", "kind": "open"}
    told = [one | {"group": [atom.text(model.header.parameters)]} for atom in model.positive]
    (tmp_path / "run").mkdir()
    for name in ("model", "other"):
        actions = tuple(looser if one is model else one for one in domain.actions)
        (tmp_path / "run" / f"{name}.pddl").write_text(domain_text(replace(domain, actions=actions)))
    (tmp_path / "run" / "result.json").write_text(json.dumps({"status": "open", "undetermined": told}))
    (tmp_path / "new.pddl").write_text(domain_text(domain))
    codes = {
        name: called("aam_vision.compare", f"run/{name}.pddl", "new.pddl", "--gate", cwd=tmp_path).returncode
        for name in ("model", "other")
    }
    assert codes == {"model": 6, "other": 5}


def test_what_too_few_refusals_show_of_a_precondition_is_not_sure(versions: Path) -> None:
    asked = ("--domain", "old.pddl", "--problem", "one.pddl", "--chance", "--max-steps", "4", "--quiet")
    called("aam_vision.run", *asked, "--out", "early", cwd=versions, code=0)
    done = called("aam_vision.compare", "old", "early", "--gate", "--margin", "1", cwd=versions, code=6)
    assert "of its precondition undecided in A or B" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("given", "said"),
    [(["--margin", "0.1"], "goes with --gate only"), (["--gate", "--margin", "2"], "margin")],
)
def test_a_margin_that_means_nothing_is_refused(given: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "a.pddl").write_text(DOMAIN.format(1.0))
    done = called("aam_vision.compare", "a.pddl", "a.pddl", *given, cwd=tmp_path, code=2)
    assert said in done.stderr
