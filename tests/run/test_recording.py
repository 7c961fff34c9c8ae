"""``--record``: a video however the run ends, and one line before it begins where there can be none."""

from __future__ import annotations

from aam_vision.report.display import Display
from aam_vision.report.recorded import read_run
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import INTERRUPTED, interrogate_agent


def test_an_interrupted_run_leaves_a_video_and_resuming_it_makes_the_whole_one(tmp_path, monkeypatch, capsys):
    first, second, whole = (tmp_path / name for name in ("first.gif", "second.gif", "whole.gif"))
    watch, few = Display.watch, {"max_queries": 4, "quiet": True}

    def interrupting(self: Display, *what: object) -> None:
        watch(self, *what)  # type: ignore[arg-type]
        if what[2].counts.queries == 2:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Display, "watch", interrupting)
        ended = interrogate_agent(Arguments("doors", out=tmp_path / "run", record=first, **few))
    assert ended == INTERRUPTED
    assert "images of 2 queries" in capsys.readouterr().err
    begun = read_run(tmp_path / "run")
    assert begun.sources, "an interrupted run says where its predicates come from"
    assert begun.boxes
    assert interrogate_agent(Arguments(resume=tmp_path / "run", record=second, quiet=True)) == 0
    assert interrogate_agent(Arguments("doors", out=tmp_path / "other", record=whole, **few)) == 0
    assert 0 < first.stat().st_size < second.stat().st_size
    assert second.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob("*.partial"))
