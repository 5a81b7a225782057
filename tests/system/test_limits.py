"""The reported limits of a run are the planted ones; its ceilings match other programs at the same time."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harness import DEADLINE_S, EngineJob, EngineRun, Json, case, plan, run_engine, strider_command, wait_for
from strider.engine import Engine
from strider.limits import Analysis
from strider.report.results.results import Results
from strider.report.words.remarks import result_remarks
from strider.store import load
from strider.units import MIB

SUITE = """\
[suite]
name = "limits"
clients = 2
repetitions = 3
[[case]]
name = "plain"
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "32MiB"
operations = ["write", "read"]
verify = "full"
[[case]]
name = "computing"
interface = "posix"
pattern = "segmented"
transfer = "1MiB"
block = "8MiB"
operations = ["read"]
think = "150ms"
[[case]]
name = "nothing"
interface = "null"
pattern = "segmented"
transfer = "4KiB"
block = "256MiB"
operations = ["write"]
"""


ATTEMPTS = 4
"""On a busy machine repetitions differ so much that nothing explains the result."""


def printed_by_run(work: Path, environment: dict[str, str]) -> str:
    """Runs the suite on a folder of its own, as other tests use that memory at the same time."""
    with TemporaryDirectory(prefix="strider-test-", dir="/dev/shm") as target:
        command = strider_command("run", work / "suite.toml", "--target", target, "--store", work / "store")
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        assert list(Path(target).iterdir()) == []
    return done.stdout


@pytest.fixture(scope="module")
def measured(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in memory with planted limits, made by the command line; its store."""
    work = tmp_path_factory.mktemp("limits")
    (work / "suite.toml").write_text(SUITE)
    if not Path("/dev/shm").is_dir():
        pytest.skip("machine: there is no /dev/shm")
    environment = {"STRIDER_ENGINE": str(engine.path), "PATH": "/usr/bin:/bin", "COLUMNS": "200"}
    for _ in range(ATTEMPTS):
        shutil.rmtree(work / "store", ignore_errors=True)
        (work / "out").write_text(printed_by_run(work, environment))
        if "think" in rules_of(work / "store")["computing", "read"]:
            break
    return work / "store"


def rules_of(store: Path) -> dict[tuple[str, str], list[str]]:
    """By name of the case and operation."""
    (directory,) = store.iterdir()
    verdicts = Analysis.of(load(directory)).verdicts
    return {
        (one.summary.case.name, one.summary.operation): [finding.rule.name for finding in one.findings]
        for one in verdicts
    }


def test_planted_limits_are_named(measured: Path) -> None:
    found = rules_of(measured)
    assert "target in memory" in found["plain", "write"]
    assert "target in memory" in found["plain", "read"]
    assert found["computing", "read"][0] == "think"
    assert found["nothing", "write"][0] == "null interface"
    assert "think" not in found["plain", "read"]
    assert "null interface" not in found["plain", "write"]


# proves limits: ceilings, nearest-ceiling
def test_the_run_ends_with_a_sentence_for_each_finding(measured: Path) -> None:
    """Of many, as on a busy machine, the run counts those that it leaves to strider show."""
    printed = " ".join((measured.parent / "out").read_text().split())
    results = Results(load(next(measured.iterdir())))
    sentences = [sentence for sentence, _ in result_remarks(results.run, results.summaries, results.analysis)]
    for planted in ("computing between requests (think) takes", "this is Strider's own cost"):
        assert any(planted in sentence for sentence in sentences)
    left_out = [sentence for sentence in sentences if sentence not in printed]
    assert not left_out or f"… {len(left_out)} more: strider show" in printed


# proves limits: in-report
def test_show_has_ceilings_and_findings_as_table_and_as_json(engine: Engine, measured: Path) -> None:
    environment = {"STRIDER_ENGINE": str(engine.path), "PATH": "/usr/bin:/bin", "COLUMNS": "200"}
    show = strider_command("show", "--limits", "--store", measured)
    table = subprocess.run(
        show, capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=True
    ).stdout
    assert "memory copy" in table
    assert "what limits it" in table
    printed = subprocess.run(
        [*show, "--json"], capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=True
    ).stdout
    document = json.loads(printed)
    assert {one["operation"] for one in document["limits"]} == {"read", "write"}
    names = {ceiling["name"] for report in document["ceilings"] for ceiling in report["ceilings"]}
    assert names >= {
        "memory_copy",
        "data_generation",
        "verification",
        "null_requests",
        "link",
        "target_write",
    }
    (directory,) = measured.iterdir()
    assert "What limits it" in (directory / "report.html").read_text(encoding="utf-8")


# proves limits: memory-copy
def test_memory_copy_is_what_others_find(engine: Engine, tmp_path: Path) -> None:
    """Within a factor of three of a copy by numpy before or after, on a machine with other work.

    That work slows one of them down as it comes and goes, so a wrong value is measured again.
    """
    import numpy as np

    def numpy_mib_s() -> float:
        source = np.ones(64 * MIB, dtype=np.uint8)
        sink = np.empty_like(source)
        np.copyto(sink, source)
        rates = []
        for _ in range(5):
            begin = time.perf_counter()
            np.copyto(sink, source)
            rates.append(64 / (time.perf_counter() - begin))
        return float(np.median(rates))

    one = case("segmented", interface="null", pattern_block=1 << 20, operations=["write"])
    off = []
    for attempt in range(5):
        work = tmp_path / str(attempt)
        work.mkdir()
        beside = [numpy_mib_s()]
        done = run_engine(engine, plan([one]), work, options=["--ceilings", "all"])
        beside.append(numpy_mib_s())
        events = done.of("ceilings")
        values = [value for event in events if (value := value_of(event, "memory_copy")) is not None]
        assert values
        if min(beside) / 3 < max(values) and min(values) < 3 * max(beside):
            return
        off.append((beside, values))
    raise AssertionError(f"copies by numpy and by Strider, MiB/s: {off}")


def value_of(event: Json, name: str) -> float | None:
    """The value of a ceiling in an event, None where it has none."""
    return next((one["value"] for one in event["ceilings"] if one["name"] == name), None)


# proves limits: before-first-case, again-after-last
def test_ceilings_stand_before_the_first_case_and_after_the_last(engine: Engine, tmp_path: Path) -> None:
    cases = [
        case("segmented", pattern_block=1 << 20, operations=["write"], clients=clients) for clients in (1, 2)
    ]
    done = run_engine(engine, plan(cases), tmp_path, options=["--ceilings", "all"])
    kinds = [event["event"] for event in done.events]
    assert kinds[:4] == ["run", "ceilings", "ceilings", "ceilings"]
    assert kinds[-2:] == ["ceilings", "end"]
    assert [(one["moment"], one["clients"], one["node"]) for one in done.of("ceilings")] == [
        ("start", 2, None),
        ("start", 1, None),
        ("start", None, 0),
        ("end", 2, None),
    ]
    assert list(done.directory.iterdir()) == []
    assert device(done) is not None


def device(done: EngineRun) -> str | None:
    """The finding on writing to the device or the target."""
    (of_node,) = done.of("ceilings", node=0)
    return next((one["about"] for one in of_node["ceilings"] if one["name"].endswith("_write")), None)


def test_a_missing_target_is_an_error_before_any_case(engine: Engine, tmp_path: Path) -> None:
    one = case("segmented", pattern_block=1 << 20, operations=["write"])
    missing = tmp_path / "target" / "missing"
    options = ["--ceilings", "all", "--directory", str(missing)]
    with EngineJob(engine, plan([one]), tmp_path, options=options) as job:
        done = job.finish()
    assert done.returncode != 0
    assert done.of("sample") == []


def has_ceilings(events_file: Path) -> bool:
    """Whether any were written."""
    return events_file.exists() and '"ceilings"' in events_file.read_text(encoding="utf-8")


def test_an_interruption_ends_the_measuring_too(engine: Engine, tmp_path: Path) -> None:
    one = case("segmented", pattern_block=1 << 20, operations=["write"], clients=2)
    with EngineJob(engine, plan([one]), tmp_path, options=["--ceilings", "all"]) as job:
        wait_for(lambda: has_ceilings(job.events_file), "the ceilings of the clients")
        job.process.send_signal(signal.SIGINT)
        done = job.finish()
    assert done.events[-1]["status"] in ("interrupted", "complete")
    figures = [(one["name"], one["value"]) for event in done.of("ceilings") for one in event["ceilings"]]
    assert figures
    assert [(name, value) for name, value in figures if value == 0] == [], "cut short, yet told"
    assert list(done.directory.iterdir()) == []


@pytest.mark.parametrize(("option", "message"), [(["--ceilings", "most"], 'unknown --ceilings "most"')])
def test_a_scope_that_is_none_is_refused(
    engine: Engine, tmp_path: Path, option: list[str], message: str
) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    command = strider_command("run", tmp_path / "suite.toml", "--target", tmp_path, *option)
    environment = {"STRIDER_ENGINE": str(engine.path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=DEADLINE_S, env=environment, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
