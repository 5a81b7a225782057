"""`strider quick`: cards of real directories."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from disks import disk, limited
from harness import DEADLINE_S, Json, strider_command, wait_for

LIMIT_BYTES_S = 20_000_000
BURST = 2.0
"""The kernel lets a group move 2 to 4 MB at once after a pause, and a phase lasts 0.3 s or more.

Rates of the page cache are 50 times as high as the limit."""


def quick(target: Path, store: Path, *words: str, group: list[str] | None = None) -> str:
    command = strider_command("quick", target, "--store", store, "--quiet", *words)
    done = subprocess.run(
        [*(group or []), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in done.stderr
    return done.stdout


def test_a_card_of_memory_fits_a_screen_and_tops_the_report(memory_folder: Path, tmp_path: Path) -> None:
    shown = quick(memory_folder, tmp_path / "store", "--budget", "5s")
    lines = shown.splitlines()
    (run,) = (tmp_path / "store").iterdir()
    assert lines[-1].startswith(f"report: {run}/report.html")
    assert len(lines) <= 24
    assert max(map(len, lines[:-1])) <= 80
    assert "\033" not in shown
    assert list(memory_folder.iterdir()) == []
    for words in (": tmpfs", "nothing survives a restart", "read, 1 MiB, any order"):
        assert words in shown
    for words in ("stable", ", cold", "durable", " A\n"):
        assert words not in shown
    assert (run / "card.svg").read_text(encoding="utf-8").startswith("<svg ")
    page = (run / "report.html").read_text(encoding="utf-8")
    assert page.index('id="run-1-card"') < page.index('id="run-1-summary"')
    (row,) = (line for line in lines if line.startswith("read, 1 MiB, any"))
    assert " ".join(row.split()[5:7]) in page


def test_an_interruption_prints_the_card_of_what_was_measured(memory_folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    command = strider_command("quick", memory_folder, "--store", store, "--quiet")
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        events = '"event":"sample"'
        wait_for(lambda: any(events in path.read_text() for path in store.glob("*/events.jsonl")), "a phase")
        process.send_signal(signal.SIGINT)
        shown, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1, errors
    (run,) = store.iterdir()
    head, last = shown.splitlines()[2], shown.splitlines()[-1]
    assert "of 120 s: cut" in head
    assert last == f"to write the report: strider report {run}"
    again = subprocess.run(
        strider_command("show", run), capture_output=True, text=True, check=True, timeout=DEADLINE_S
    )
    assert again.stdout.endswith(shown)
    assert list(memory_folder.iterdir()) == []


@pytest.fixture(scope="module")
def slow_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slow")


@pytest.fixture(scope="module")
def slow_run(slow: Json, slow_folder: Path) -> Path:
    """The run of the card."""
    (run,) = (slow_folder / "store").iterdir()
    return run


@pytest.fixture(scope="module")
def slow(slow_folder: Path) -> Json:
    """The card of an ext4 file system on a device of 20 MB/s, each way."""
    folder = slow_folder
    with disk(folder, 512) as device, limited(device, LIMIT_BYTES_S) as group:
        target = device.point / "target"
        target.mkdir()
        shown = quick(target, folder / "store", "--budget", "8s", "--json", group=group)
        assert list(target.iterdir()) == []
    card: Json = json.loads(shown)
    return card


def test_no_rate_of_storage_exceeds_the_device(slow: Json) -> None:
    rates = {line["id"]: line["rate"]["value"] for line in slow["lines"] if line["rate"]}
    assert {"write.sequential", "read.sequential", "read.random", "append.fsync"} <= rates.keys()
    for name, rate in rates.items():
        of_data = name.startswith(("read.", "write.", "append.")) and name != "read.cached"
        per_request = 1 if "sequential" in name or name == "read.deep" else 4096
        if of_data:
            assert rate * per_request <= LIMIT_BYTES_S * BURST, name


def test_reads_were_served_by_storage(slow: Json) -> None:
    rounds = [one for line in slow["lines"] if line["id"].startswith("read.") for one in line["rounds"]]
    assert rounds
    assert all(one["served"] >= 0.99 for one in rounds if one["served"] is not None)
    assert any(one["served"] is not None for one in rounds)


def test_its_run_ends_within_its_budget_and_it_names_its_place(slow: Json, slow_run: Path) -> None:
    assert slow["budget"]["asked_s"] == 8
    # How much later the command ends depends on the machine.
    assert 0 < json.loads((slow_run / "plan.json").read_text())["time_limit_s"] < 8
    assert (slow["place"]["fs"], slow["place"]["kind"]) == ("ext4", "local")
    assert slow["verdict"]
