"""A run is removed as a whole, and only a run that is over."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.errors import StriderError
from strider.store.removal import QUIET_S, remove_run

RUN = "2026-11-20-101112-quick-abcd"


def made(store: Path, status: str | None = "complete") -> Path:
    return RunBuilder([CaseSpec()], repetitions=1).write(store / RUN, status=status)


def test_a_link_to_a_run_is_not_the_run(tmp_path: Path) -> None:
    link = tmp_path / "2026-11-22-101112-quick-link"
    link.symlink_to(made(tmp_path))
    with pytest.raises(StriderError, match="not the directory of a run"):
        remove_run(link)
    assert (tmp_path / RUN / "run.json").is_file()


def test_a_run_that_may_be_active_stays_unless_forced(tmp_path: Path) -> None:
    directory = made(tmp_path, None)
    with pytest.raises(StriderError, match="may be active"):
        remove_run(directory)
    assert directory.is_dir()
    remove_run(directory, force=True)
    assert not list(tmp_path.iterdir())


def test_a_run_that_was_killed_long_ago_is_not_active(tmp_path: Path) -> None:
    directory = made(tmp_path, None)
    long_ago = time.time() - QUIET_S - 60
    for file in directory.iterdir():
        os.utime(file, (long_ago, long_ago))
    remove_run(directory)
    assert not list(tmp_path.iterdir())
