"""Where runs are, and what their names mean."""

from pathlib import Path

import pytest

from strider.listing.names import store_of


def test_the_store_is_the_option_else_the_variable_else_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIDER_STORE", "/elsewhere")
    assert store_of(Path("/chosen")) == Path("/chosen")
    assert store_of(None) == Path("/elsewhere")
    monkeypatch.delenv("STRIDER_STORE")
    assert store_of(None) == Path("strider-runs")
