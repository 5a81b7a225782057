"""Cases of metadata before and during a run: inodes, and progress in operations."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from strider.engine import Check, Description, Json
from strider.launch import preflight as module
from strider.launch.display import Lines, LiveTable, case_title
from strider.launch.job_limits import Memory
from strider.launch.launchers import Launcher
from strider.launch.machine import Space
from strider.launch.messages import message
from strider.launch.preflight import preflight
from strider.launch.state import RunState
from strider.suite import Changes, CheckedPlan
from strider.suite.document import parse
from strider.suite.load import build
from strider.units import GIB

SUITE = """\
[suite]
name = "s"
target = "/data"
[[case]]
interface = "posix"
tree = "balanced"
items = 500
operations = ["create", "small-read"]
"""
PROGRESS: dict[str, Json] = {
    "event": "progress", "case": 1, "operation": "create", "bytes_done": 0, "bytes_total": 0,
    "requests_done": 250, "requests_total": 1000, "elapsed_s": 0.01, "done_phases": 1, "planned_phases": 4,
}  # fmt: skip
SAMPLE: dict[str, Json] = {
    "event": "sample", "case": 1, "operation": "create", "measured": True, "bytes": 0, "requests": 1000,
    "rate_mib_s": 0.0, "requests_s": 123456.7,
}  # fmt: skip
HERE = Launcher("mpiexec", lambda mapping: ["mpiexec", "-n", str(mapping.ranks)], reach="this host")


@pytest.fixture
def checked(description: Description) -> Callable[..., CheckedPlan]:
    """Makes a plan of one case of metadata of which the engine would say the given things."""

    def make(**needs: Json) -> CheckedPlan:
        suite = build(parse(SUITE, "s.toml"), description, Changes())
        phases = [{"operation": "create", "bytes": 0, "requests": 500, "ranks": 1}]
        check = {
            "format": "strider-check",
            "version": 1,
            "cases": [{"case": 1, "phases": phases, **needs}],
        }
        return CheckedPlan(suite, Check.model_validate(check))

    return make


@pytest.fixture
def free_inodes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Sets how many inodes the target has left."""

    def have(count: int | None) -> None:
        monkeypatch.setattr(module, "memory", lambda: Memory(64 * GIB, 64 * GIB))
        monkeypatch.setattr(module, "space_of", lambda _: Space(1000 * GIB, 1000 * GIB, count, 4096))

    return have


def found(plan: CheckedPlan, description: Description) -> list[str]:
    return [
        f"{one.severity}: {one.message}: {one.remedy}"
        for one in preflight(plan, description, Path("/data"), HERE)
    ]


class TestInodes:
    def test_files_and_directories_must_fit(
        self,
        checked: Callable[..., CheckedPlan],
        free_inodes: Callable[[int | None], None],
        description: Description,
    ) -> None:
        plan = checked(files=100_000, directories=5, inodes=100_005)
        free_inodes(100_021)
        assert found(plan, description) == []
        free_inodes(100_020)
        assert found(plan, description) == [
            "error: /data has 100 020 free inodes (files and directories), "
            "but case 1 needs 100 005 plus 16 reserve: "
            "reduce items, depth, fanout or clients, remove files there, or choose another directory"
        ]

    def test_a_file_system_without_a_limit_takes_any(
        self,
        checked: Callable[..., CheckedPlan],
        free_inodes: Callable[[int | None], None],
        description: Description,
    ) -> None:
        free_inodes(None)
        assert found(checked(inodes=10**9), description) == []


def test_reads_of_metadata_get_no_note_about_caches(
    checked: Callable[..., CheckedPlan],
    free_inodes: Callable[[int | None], None],
    description: Description,
) -> None:
    free_inodes(None)
    assert found(checked(space_bytes=4096), description) == []


def state_after(*events: dict[str, Json]) -> RunState:
    state = RunState(4)
    for event in events:
        state.add(event)
    return state


class TestProgress:
    def test_operations_done_are_the_share_where_no_bytes_are_moved(self) -> None:
        assert state_after(PROGRESS).fraction == pytest.approx(0.25 / 4)

    def test_an_engine_that_reports_no_operations_shows_none(self) -> None:
        older = {key: value for key, value in PROGRESS.items() if not key.startswith("requests")}
        assert state_after(older).fraction == 0.0

    def test_a_pipe_gets_operations_per_second(self, checked: Callable[..., CheckedPlan]) -> None:
        output = io.StringIO()
        lines = Lines(Console(file=output, width=200), checked().suite.plan)
        lines.show(state_after(PROGRESS))
        assert "case 1 posix balanced, 1 client: create  25 000 op/s" in output.getvalue()

    def test_a_terminal_gets_the_operations_done(self, checked: Callable[..., CheckedPlan]) -> None:
        output = io.StringIO()
        console = Console(file=output, width=200, force_terminal=True)
        bar = LiveTable(console, checked().suite.plan)
        bar.show(state_after(PROGRESS))
        shown = " ".join(output.getvalue().split())
        assert "create 25 000 op/s" in shown
        assert "250 of 1 000" in shown
        bar.close()

    def test_a_phase_that_is_done_has_its_own_rate(self, checked: Callable[..., CheckedPlan]) -> None:
        output = io.StringIO()
        Lines(Console(file=output, width=200), checked().suite.plan).show(state_after(PROGRESS, SAMPLE))
        assert "create  123 457 op/s" in output.getvalue()

    def test_a_case_is_named_by_its_tree(self, checked: Callable[..., CheckedPlan]) -> None:
        assert case_title(checked().suite.plan.cases[0]) == "case 1 posix balanced, 1 client"


def test_what_was_found_wrong_is_reported_with_its_path_and_rank() -> None:
    event: dict[str, Json] = {
        "event": "error", "case": 1, "repetition": 0, "operation": "stat", "kind": "verify", "rank": 3,
        "host": "n1", "file": "case1.0/f0.17", "message": "the size is 5 instead of 10", "class": None,
        "expected": None, "found": None, "count": 2, "remedy": "look",
    }  # fmt: skip
    assert message(event) == (
        "case 1, stat, repetition 0, rank 3 on n1: "
        "the size is 5 instead of 10 in case1.0/f0.17 (2 times): look"
    )
