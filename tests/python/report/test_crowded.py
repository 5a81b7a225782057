"""More ranks than cores make collective calls slow: the report says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.report.words.remarks import remarks
from strider.statistics import summarize
from strider.store import load

DESCRIPTION = Path(__file__).parents[1] / "description.json"


def said(folder: Path, interface: str, clients: int, cores: int) -> str:
    """The remarks on a run through an interface, with the description of an engine that has capabilities."""
    directory = RunBuilder([CaseSpec(interface={"name": interface}, clients=clients)]).write(folder)
    info = json.loads((directory / "run.json").read_text())
    info["environment"]["cores"] = cores
    (directory / "run.json").write_text(json.dumps(info))
    shutil.copy(DESCRIPTION, directory / "description.json")
    run = load(directory)
    return " ".join(remarks(run, summarize(run), []))


def test_more_ranks_than_cores_are_named(tmp_path: Path) -> None:
    assert "2 results of mpiio: more ranks than cores (up to 4 on 2)." in said(
        tmp_path / "run", "mpiio", 4, 2
    )


@pytest.mark.parametrize(("interface", "clients"), [("mpiio", 2), ("posix", 4)])
def test_other_results_are_not(tmp_path: Path, interface: str, clients: int) -> None:
    assert "more ranks than cores" not in said(tmp_path / "run", interface, clients, 2)
