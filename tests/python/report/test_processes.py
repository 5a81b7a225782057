"""Times of each process are shown with published ones."""

from __future__ import annotations

from pathlib import Path

from builders import CaseSpec, RunBuilder
from printed import printed
from strider.store import Run, load


def run_of(folder: Path, suite: str, *cases: CaseSpec) -> Run:
    return load(RunBuilder(cases, repetitions=2, suite=suite).write(folder / "run"))


def test_each_process_has_a_row(tmp_path: Path) -> None:
    text = printed(run_of(tmp_path, "synthetic", CaseSpec(clients=3)), option="processes")
    rows = [line.split() for line in text.splitlines() if line.split()[:2] == ["posix", "read"]]
    assert [row[2] for row in rows] == ["0", "1", "2"]
    assert "published" not in text


def test_published_times_stand_beside_those_of_the_same_clients(tmp_path: Path) -> None:
    off = {"verify": "off"}
    cases = [
        CaseSpec(interface={"name": name}, operations=("read",), clients=clients, common=off)
        for name, clients in (("posix", 1), ("mpiio", 2), ("listio", 1))
    ]
    text = printed(run_of(tmp_path, "clusters-2002", *cases), option="processes")
    (posix,) = [line for line in text.splitlines() if " posix " in line]
    assert posix.split()[-4:-1] == ["437", "0.0600", "32.0"]
    mpiio = [line for line in text.splitlines() if " mpiio " in line]
    # What mpirun needed is none of a process that reads.
    assert [line.split()[-4:-1] for line in mpiio] == [["403", "–", "–"]] * 2


def test_of_many_processes_the_first_are_shown(tmp_path: Path) -> None:
    text = printed(run_of(tmp_path, "synthetic", CaseSpec(clients=40)), option="processes")
    assert "has the first 64 of 80 rows" in text
    assert sum(line.split()[:1] == ["posix"] for line in text.splitlines()) == 64
