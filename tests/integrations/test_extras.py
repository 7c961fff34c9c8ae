"""Integrations whose packages are not installed."""

from __future__ import annotations

import importlib
import sys

import pytest

from tests.refusals import told_by


def test_without_inspect_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "aam_vision.integrations.inspect", raising=False)
    why = r"^needs Inspect AI: pip install 'aam-vision\[inspect\]'"
    told_by(lambda: importlib.import_module("aam_vision.integrations.inspect"), why)
