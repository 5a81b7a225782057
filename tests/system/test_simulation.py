"""Simulated ranks: the reductions, events, store and report of many ranks, without I/O."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import Json, strider_command

SUITE = """
[suite]
name = "many"

[[case]]
interface = "posix"
pattern = "segmented"
transfer = "1MiB"
block = "2MiB"
operations = ["write", "read"]
repetitions = {repetitions}

[[case]]
interface = "posix"
tree = "balanced"
depth = 0
items = 3
operations = ["create", "stat"]
repetitions = {repetitions}
"""


def strider(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(strider_command(*words), capture_output=True, text=True, check=False)


def write_suite(folder: Path, repetitions: int) -> Path:
    suite = folder / "many.toml"
    suite.write_text(SUITE.format(repetitions=repetitions), encoding="utf-8")
    return suite


def simulated(folder: Path, ranks: int, *further: object) -> tuple[Path, str]:
    """Runs the suite with simulated ranks; returns the run directory and the output."""
    suite = write_suite(folder, 2)
    done = strider("run", suite, "--simulate", ranks, "--store", folder / "store", *further)
    assert done.returncode == 0, done.stderr
    (directory,) = (folder / "store").iterdir()
    return directory, done.stdout


def events_of(directory: Path, kind: str) -> list[Json]:
    lines = (directory / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def last_rank(sample: Json) -> int:
    """Returns the rank that finished a phase last."""
    (rank,) = [one["max_rank"] for one in sample["rank_distributions"] if one["quantity"] == "end_s"]
    return int(rank)


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return simulated(tmp_path_factory.mktemp("thousand"), 1000, "--report")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a known time of its last change."""
    folder = tmp_path_factory.mktemp("target")
    os.utime(folder, (1, 1))
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory, target: Path) -> tuple[Path, str]:
    return simulated(tmp_path_factory.mktemp("few"), 9, "--target", target)


def test_the_report_names_the_straggler(thousand: tuple[Path, str]) -> None:
    assert "rank 666 on simulated-10 finished last in" in thousand[1]


def stragglers_named(printed: str) -> set[tuple[str, str]]:
    """Returns the whole nodes and the ranks, each with an empty word for the other."""
    text = " ".join(printed.split())
    return set(re.findall(r"Straggler: (?:a rank|all ranks) of (\S+)|Straggler: (rank \d+ on \S+)", text))


@pytest.mark.parametrize(
    ("ranks", "node", "rank"),
    [
        (64, "simulated-1", "rank 42 on simulated-2"),
        (1000, "simulated-20", "rank 666 on simulated-41"),
        pytest.param(
            100_000, "simulated-2083", "rank 66666 on simulated-4166", marks=pytest.mark.slow, id="many"
        ),
    ],
)
def test_the_report_names_the_slow_node_beside_the_straggler(
    tmp_path: Path, ranks: int, node: str, rank: str
) -> None:
    suite = write_suite(tmp_path, 12)
    text = suite.read_text().split('[[case]]\ninterface = "posix"\ntree')[0]
    suite.write_text(text.replace("[suite]", "[suite]\nranks_per_node = 16"))
    done = strider("run", suite, "--simulate", ranks, "--store", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert stragglers_named(done.stdout) == {(node, ""), ("", rank)}


def test_two_nodes_have_no_slow_one(tmp_path: Path) -> None:
    """It might be the node of the straggler. With one rank on the second node, the first has nearly all."""
    suite = write_suite(tmp_path, 3)
    done = strider("run", suite, "--simulate", 65, "--store", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    (directory,) = (tmp_path / "store").iterdir()
    assert {last_rank(sample) for sample in events_of(directory, "sample")} == {42}


def test_the_slow_node_has_its_ranks_wherever_they_are(tmp_path: Path) -> None:
    """Ranks that are spread over three nodes take turns: node 0 has ranks 0, 3, 6 and 9."""
    suite = write_suite(tmp_path, 3)
    text = suite.read_text().split('[[case]]\ninterface = "posix"\ntree')[0]
    text = text.replace("[suite]", "[suite]\nranks_per_node = 4")
    suite.write_text(text + 'placement = "spread"\n')
    done = strider("run", suite, "--simulate", 12, "--store", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    (directory,) = (tmp_path / "store").iterdir()
    for event in events_of(directory, "sample"):
        assert (last_rank(event) in {0, 3, 6, 9}) == (event["repetition"] == 2)


def test_everything_says_that_it_is_simulated(thousand: tuple[Path, str]) -> None:
    directory, printed = thousand
    assert "no measurements" in printed
    assert "no measurements" in (directory / "report.html").read_text(encoding="utf-8")
    assert "simulated-many" in directory.name
    assert all(sample["flags"] == ["simulated"] for sample in events_of(directory, "sample"))


def test_samples_are_those_of_all_ranks(thousand: tuple[Path, str]) -> None:
    for sample in events_of(thousand[0], "sample"):
        ends = next(one for one in sample["rank_distributions"] if one["quantity"] == "end_s")
        assert sample["clients"] == ends["ranks"] == 1000
        assert ends["max_rank"] == 666
        assert ends["max"] == pytest.approx(sample["elapsed_s"], abs=1e-3)
        assert 1.2 < ends["max"] / ends["p50"] < 1.8
        assert (
            sample["requests"]
            == {"write": 2000, "read": 2000, "create": 3000, "stat": 3000}[sample["operation"]]
        )
        assert sample["latency"]["count"] == sample["requests"]


def test_events_do_not_grow_with_the_ranks(few: tuple[Path, str], thousand: tuple[Path, str]) -> None:
    sizes = [
        sum(len(json.dumps(event)) for event in events_of(directory, "sample"))
        for directory in (few[0], thousand[0])
    ]
    assert sizes[1] < 2 * sizes[0]
    assert not events_of(thousand[0], "rank")


def test_few_ranks_have_rows(few: tuple[Path, str]) -> None:
    directory, printed = few
    assert len(events_of(directory, "rank")) == 9 * len(events_of(directory, "sample"))
    assert "rank 6 on simulated-0" in printed


def test_nothing_is_written_beside_the_run(few: tuple[Path, str], target: Path) -> None:
    assert few[0].is_dir()
    assert target.stat().st_mtime == 1


def test_cases_keep_the_clients_that_their_nodes_determine(tmp_path: Path) -> None:
    """An axis of nodes is simulated as it is measured; cases without nodes have all ranks."""
    suite = write_suite(tmp_path, 1)
    nodes = 'interface = "posix"\npattern = "segmented"\nnodes = [1, 2, 4]\nper_node = 4'
    text = suite.read_text().replace('interface = "posix"\npattern = "segmented"', nodes)
    suite.write_text(text.replace("[suite]", "[suite]\nranks_per_node = 4"))
    done = strider("run", suite, "--simulate", 16, "--store", tmp_path / "store", "--quiet")
    assert done.returncode == 0, done.stderr
    (directory,) = (tmp_path / "store").iterdir()
    clients = [case["clients"] for case in json.loads((directory / "plan.json").read_text())["cases"]]
    assert clients == [4, 8, 16, 16]
    beyond = strider("run", suite, "--simulate", 8, "--store", tmp_path / "store")
    assert (beyond.returncode, "--simulate 8: a case has 16 clients" in beyond.stderr) == (2, True)


def test_more_clients_than_ranks_are_refused(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, 1)
    done = strider("run", suite, "--simulate", 8, "-n", 16, "--store", tmp_path / "store")
    assert done.returncode == 2
    assert "--simulate 8: a case has 16 clients" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hosts", "nosuchhost"], "leave --hosts, --hostfile, --nodes, --per-node and --bind out"),
        (["--bind", "core"], "and --bind out"),
        (["--observe", "nosuchhost"], "leave --observe out"),
        (["--within", "/nonexistent"], "leave --within out"),
        (["--set", "case.arrival_rate=100"], "arrival rates cannot be simulated (arrival_rate)"),
    ],
)
def test_what_needs_real_ranks_is_refused(tmp_path: Path, words: list[str], said: str) -> None:
    done = strider("run", write_suite(tmp_path, 1), "--simulate", 8, *words, "--store", tmp_path / "store")
    assert done.returncode == 2, done.stderr
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "store").exists()


def test_groups_are_refused(tmp_path: Path) -> None:
    suite = tmp_path / "groups.toml"
    case = '[[case]]\ninterface = "posix"\npattern = "segmented"\nclients = 2\ngroup = "{}"\n'
    suite.write_text('[suite]\nname = "groups"\n' + case.format("a") + case.format("b"), encoding="utf-8")
    done = strider("run", suite, "--simulate", 100, "--store", tmp_path / "store")
    assert done.returncode == 2
    assert "groups of ranks cannot be simulated (group)" in done.stderr


def test_results_are_trusted_for_nothing(few: tuple[Path, str]) -> None:
    text = " ".join(few[1].split())
    assert re.search(r"D \d \(simulated \d\)", text), text
    assert not re.search(r"[ABC] \d \(", text)


def test_it_cannot_be_resumed_on_real_storage(thousand: tuple[Path, str]) -> None:
    done = strider("resume", thousand[0])
    assert done.returncode == 2
    assert "simulated ranks" in done.stderr
