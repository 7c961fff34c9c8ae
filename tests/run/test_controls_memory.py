"""A run with controls whose effects depend on what was done before, which nothing shows, or come late."""

from __future__ import annotations

from pathlib import Path

from aam_vision.model.pddl import read_domain
from tests.agents.programs import written
from tests.commands import called, refused
from tests.finished import result_of
from tests.run.commands import command

BELL = '''
import json, sys

SPOTS = ("west", "middle", "east")
HELLO = {
    "protocol": 1, "name": "lamps", "access": "snapshot", "controls": True, "types": {"spot": "object"},
    "predicates": {"at": ["spot"], "beside": ["spot", "spot"], "lit": ["spot"]},
    "actions": {"west": [], "east": [], "press": [], "ring": []},
    "problems": [{"objects": dict.fromkeys(SPOTS, "spot")}],
}


def given(at, lit, rung, control):
    """A press switches the lamp at its spot once the bell was rung."""
    at += {"west": -1, "east": 1}.get(control, 0)
    if control == "press" and rung:
        lit = lit ^ (1 << at)
    return min(max(at, 0), 2), lit, rung or control == "ring"


at, lit, rung = 0, 0, False
for line in sys.stdin:
    question, answer = json.loads(line), HELLO
    if question["ask"] == "run":
        if question["from"] == "start":
            at, lit, rung = 0, 0, False
        elif question["from"] != "here":
            at, lit, rung = json.loads(question["from"]["snapshot"])
        for (control,) in question["plan"]:
            at, lit, rung = given(at, lit, rung, control)
        true = [["at", SPOTS[at]], ["beside", "west", "middle"], ["beside", "middle", "east"]]
        true += [["lit", spot] for place, spot in enumerate(SPOTS) if lit >> place & 1]
        answer = {"state": {"true": true}, "snapshot": json.dumps([at, lit, rung])}
    print(json.dumps({"id": question["id"], **answer}), flush=True)
'''


def test_it_is_learned_with_what_is_remembered(tmp_path: Path) -> None:
    asked = "--agent", written(tmp_path, BELL), "--quiet"
    done = command(*asked, "--controls", "--out", tmp_path / "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = result_of(tmp_path / "run")
    assert (told["status"], told["unexplained"], told["native_equivalent"]) == ("complete", 0, None)
    invented = "memory-1 is an invented fact: set by ring; false when a history begins."
    assert told["invented"] == invented
    model = read_domain(tmp_path / "run" / "model.pddl")
    pressing = [one for one in model.actions if one.header.name.startswith("press")]
    assert pressing
    assert all("memory-1" in {atom.predicate for atom in one.positive} for one in pressing)
    assert "ring: false -> true" in (tmp_path / "run" / "model.pddl").read_text()
    explained = called("aam_vision.explain", tmp_path / "run", cwd=tmp_path)
    assert invented in " ".join(explained.stdout.split())
    (tmp_path / "plan.txt").write_text("press-lit(west)\n")
    asking = tmp_path / "run", "--plan", "plan.txt"
    for module, more in (("aam_vision.ask", ()), ("aam_vision.execute", asked[:2])):
        assert "what it remembers changes with every control" in refused(module, *asking, *more, cwd=tmp_path)
    again = command("--resume", tmp_path / "run", *asked, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    result = tmp_path / "run" / "result.json"
    result.write_text(result.read_text().replace('"begins": 0', '"begins": 7'))
    assert "'memory' names states that it has not" in refused(
        "aam_vision.explain", tmp_path / "run", cwd=tmp_path
    )


def test_what_comes_late_is_told(tmp_path: Path) -> None:
    """The same lamps, whose bell is always rung: each control is carried out where two more were given."""
    late = (
        BELL.replace("at, lit, rung = 0, 0, False", "at, lit, waiting = 0, 0, []")
        .replace("at, lit, rung = json", "at, lit, waiting = json")
        .replace("json.dumps([at, lit, rung])", "json.dumps([at, lit, waiting])")
        .replace(
            "at, lit, rung = given(at, lit, rung, control)",
            "waiting.append(control)\n            if len(waiting) > 2:\n"
            "                at, lit, _ = given(at, lit, True, waiting.pop(0))",
        )
    )
    done = command("--agent", written(tmp_path, late), "--quiet", "--controls", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = result_of(tmp_path / "run")
    assert (told["status"], told["memory"]) == ("complete", {"late": 2})
    explained = " ".join(called("aam_vision.explain", tmp_path / "run", cwd=tmp_path).stdout.split())
    assert told["invented"] in explained
    assert "press() given in 24 situations, in 24 of them something changed" in explained
    assert "; Controls are carried out late" in (tmp_path / "run" / "model.pddl").read_text()
