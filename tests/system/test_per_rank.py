"""The file of per-rank rows, read by netCDF's own library and by scipy, beside the events of its run."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from harness import EngineRun, Json, case, plan, read_events, run_engine, strider_command, tree_case
from strider.engine import Engine

COLUMNS = [
    "bytes", "requests", "start_s", "end_s", "open_s", "transfer_s", "close_s", "io_s", "user_s", "system_s",
]  # fmt: skip
PLAIN = ["--ceilings", "none", "--timeline", "none", "--counters", "none", "--confine", "auto"]
SUITE = """
[suite]
name = "rows"
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
clients = {clients}
operations = ["write", "read"]
repetitions = {repetitions}
"""
Table = dict[str, numpy.ndarray]


def read_by_netcdf(file: Path) -> Table:
    """All variables, without any conversion."""
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(file) as opened:
        assert opened.data_model == "NETCDF3_64BIT_OFFSET"
        opened.set_auto_mask(False)
        return {name: variable[:] for name, variable in opened.variables.items()}


def read_by_scipy(file: Path) -> Table:
    io = pytest.importorskip("scipy.io")
    with io.netcdf_file(file, mmap=False) as opened:
        return {name: variable[:].copy() for name, variable in opened.variables.items()}


def operations(file: Path) -> list[str]:
    """The operation of each phase."""
    with pytest.importorskip("netCDF4").Dataset(file) as opened:
        variable = opened["operation"]
        names = dict(zip(variable.flag_values, variable.flag_meanings.split(), strict=True))
        return [names[code] for code in variable[:]]


def two_sizes() -> Json:
    data = case("segmented", pattern_transfer=4096, pattern_block=40960, operations=["write", "read"])
    four = {**data, "clients": 4, "repetitions": 2}
    return plan([four, {**tree_case(["create", "stat"], tree_items=9), "clients": 2}])


@pytest.fixture(scope="module")
def run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[EngineRun, Path]:
    """Four ranks, and two of them."""
    folder = tmp_path_factory.mktemp("rows")
    file = folder / "rows.nc"
    done = run_engine(engine, two_sizes(), folder, options=["--per-rank", str(file)])
    assert done.returncode == 0, done.stderr
    return done, file


def test_each_phase_has_the_rows_of_the_events(run: tuple[EngineRun, Path]) -> None:
    done, file = run
    table, samples = read_by_netcdf(file), done.of("sample")
    assert len(samples) == len(table["case"]) == 7  # and one that makes directories
    for phase, (sample, operation) in enumerate(zip(samples, operations(file), strict=True)):
        name = {key: sample[key] for key in ("case", "repetition", "operation")}
        assert [table["case"][phase], table["repetition"][phase], operation] == [*name.values()]
        assert table["clients"][phase] == sample["clients"]
        assert table["measured"][phase] == sample["measured"]
        ranks = done.of("rank", **name)
        assert len(ranks) == sample["clients"]
        for row in ranks:
            found = [table[column][phase, row["rank"]] for column in COLUMNS]
            assert found == [row[column] for column in COLUMNS]
            assert table["node"][phase, row["rank"]] == row["node"]


def test_rows_agree_with_sums_and_extremes_of_the_samples(run: tuple[EngineRun, Path]) -> None:
    done, file = run
    table = read_by_netcdf(file)
    for phase, sample in enumerate(done.of("sample")):
        assert numpy.nansum(table["bytes"][phase]) == sample["bytes"]
        assert numpy.nansum(table["requests"][phase]) == sample["requests"]
        for one in sample["rank_distributions"]:
            if one["quantity"] not in COLUMNS:
                continue
            # Distributions are those of ranks with work.
            works = table["requests"][phase] > 0
            values = numpy.where(works, table[one["quantity"]][phase], numpy.nan)
            start_s = sample["start_s"] if one["quantity"] in ("start_s", "end_s") else 0
            assert numpy.nanmax(values) - start_s == pytest.approx(one["max"], abs=1e-9)
            assert numpy.nanmin(values) - start_s == pytest.approx(one["min"], abs=1e-9)
            assert values[one["max_rank"]] == numpy.nanmax(values)
            assert values[one["min_rank"]] == numpy.nanmin(values)


def test_ranks_without_a_part_have_no_numbers(run: tuple[EngineRun, Path]) -> None:
    table = read_by_netcdf(run[1])
    few = table["clients"] == 2
    assert few.sum() == 3
    for column in COLUMNS:
        assert numpy.isnan(table[column][few][:, 2:]).all()
        assert not numpy.isnan(table[column][few][:, :2]).any()
        assert not numpy.isnan(table[column][~few]).any()
    assert (table["node"][few][:, 2:] == -1).all()


def test_scipy_reads_the_same(run: tuple[EngineRun, Path]) -> None:
    ours, theirs = read_by_scipy(run[1]), read_by_netcdf(run[1])
    assert list(ours) == list(theirs)
    for name, values in theirs.items():
        numpy.testing.assert_array_equal(ours[name], values)


def test_columns_have_units_and_the_texts_of_the_events(run: tuple[EngineRun, Path], engine: Engine) -> None:
    described = json.loads(subprocess.check_output([engine.path, "describe"]))["results"]
    text = json.dumps(described)
    with pytest.importorskip("netCDF4").Dataset(run[1]) as opened:
        assert opened.run == "test"
        for column in COLUMNS:
            assert opened[column].long_name in text
            assert opened[column].units == {"bytes": "byte", "requests": "1"}.get(column, "s")


def test_groups_have_their_phases_one_after_the_other(engine: Engine, tmp_path: Path) -> None:
    def member(name: str, clients: int, earlier: list[Json]) -> Json:
        turn = {"number": 1, "alone": 1, "earlier": earlier}
        keys: Json = {"clients": clients, "group": name, "turn": turn, "repetitions": 2}
        return case(
            "segmented", pattern_transfer=4096, pattern_block=8192, operations=["write", "read"], **keys
        )

    none = {"placement": "pack", "nodes": 0, "per_node": 0}
    document = plan([member("a", 2, []), member("b", 1, [{"clients": 2, **none}])], ranks=3)
    file = tmp_path / "rows.nc"
    done = run_engine(engine, document, tmp_path, options=["--per-rank", str(file)])
    assert done.returncode == 0, done.stderr
    table = read_by_netcdf(file)
    assert table["case"].tolist() == [1, 1, 2, 2] * 2
    assert table["repetition"].tolist() == [0] * 4 + [1] * 4
    assert operations(file) == ["write", "read"] * 4
    for phase, number in enumerate(table["case"]):
        name = {"case": int(number), "repetition": int(table["repetition"][phase])}
        (sample,) = done.of("sample", **name, operation=operations(file)[phase])
        assert numpy.nansum(table["bytes"][phase]) == sample["bytes"]
        assert numpy.nanmax(table["end_s"][phase]) == max(
            row["end_s"] for row in done.of("rank", **name, operation=operations(file)[phase])
        )


def test_several_writers_make_one_record(engine: Engine, tmp_path: Path) -> None:
    """For 8192 ranks, two processes send their rows to two others; for 10 000, each of four writes 2500."""
    for ranks in (8192, 10_000, 100):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        one = case(
            "segmented", pattern_transfer=4096, pattern_block=4096, operations=["write"], clients=ranks
        )
        (folder / "plan.json").write_text(json.dumps(plan([one])))
        (folder / "target").mkdir()
        file = folder / "rows.nc"
        words = ["--directory", folder / "target", "--run", "test", "--events", folder / "events.jsonl"]
        words += ["--simulate", ranks, "--per-rank", file, "--timeline", "none", "--counters", "none"]
        words += ["--timeline", "rank"]  # rows in the events, to compare with
        launch = [engine.version.mpi.mpiexec, "-n", "4", engine.path, "run", folder / "plan.json"]
        subprocess.run([*map(str, launch), *map(str, words)], check=True, timeout=120)
        table = read_by_netcdf(file)
        rows = [event for event in read_events(folder / "events.jsonl") if event["event"] == "rank"]
        assert len(rows) == ranks
        for column in ("end_s", "bytes", "node"):
            assert table[column][0].tolist() == [row[column] for row in rows]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("machine: a small file system can only be mounted by root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def strider(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(strider_command(*words), capture_output=True, text=True, check=False)


def suite_of(folder: Path, clients: int = 2, repetitions: int = 1) -> list[object]:
    """The words of a run of a small suite."""
    (folder / "target").mkdir(exist_ok=True)
    (folder / "rows.toml").write_text(SUITE.format(clients=clients, repetitions=repetitions))
    return [
        "run", folder / "rows.toml", "--target", folder / "target", "--store", folder / "store", *PLAIN, "-q",
    ]  # fmt: skip


def test_a_full_disk_ends_the_file_and_not_the_run(small_disk: Path, tmp_path: Path) -> None:
    file = small_disk / "rows.nc"
    done = strider(*suite_of(tmp_path, clients=4, repetitions=30), "--per-rank", file)
    assert done.returncode == 1
    (directory,) = (tmp_path / "store").iterdir()
    events = read_events(directory / "events.jsonl")
    assert sum(event["event"] == "sample" for event in events) == 60
    assert [event["status"] for event in events if event["event"] == "end"] == ["complete"]
    (error,) = [event for event in events if event["event"] == "error"]
    kept = len(read_by_netcdf(file)["case"])
    assert 0 < kept < 60
    assert error["message"].startswith(f"the file keeps the rows of {kept} phases")
    said = " ".join(done.stderr.split())
    assert f"rank 0 on {error['host']}: pwrite: No space left on device (ENOSPC): the file keeps" in said
    assert str(file) in said
    assert f"{file} ({kept} phases)" in said
    assert said.count("ENOSPC") == 1


def test_a_run_records_and_shows_its_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.nc"
    done = strider(*suite_of(tmp_path), "--per-rank", file, "--report")
    assert done.returncode == 0, done.stderr
    assert f"rows of all ranks: {file} (2 phases)" in " ".join(done.stderr.split())
    assert "not confined" not in done.stderr
    assert (read_by_netcdf(file)["bytes"] == 256 * 1024).all()
    (directory,) = (tmp_path / "store").iterdir()
    assert json.loads((directory / "run.json").read_text())["per_rank"] == str(file)
    assert str(file) in "".join(strider("show", directory).stdout.split("\n"))
    assert str(file) in (directory / "report.html").read_text()


def test_the_file_is_refused_where_it_would_do_harm(tmp_path: Path) -> None:
    words = suite_of(tmp_path)
    (tmp_path / "there.nc").write_text("mine")
    for file, said in (
        (tmp_path / "there.nc", "exists already: remove it, or name a file that does not exist"),
        (tmp_path / "no" / "rows.nc", f"its folder does not exist: create it with mkdir -p {tmp_path}/no"),
        (tmp_path / "target" / "rows.nc", "is in the target"),
        (tmp_path / "store" / ".." / "target" / "rows.nc", "is in the target"),
    ):
        (tmp_path / "store").mkdir(exist_ok=True)
        done = strider(*words, "--per-rank", file)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())
        assert not [*(tmp_path / "store").iterdir()]
        assert not [*(tmp_path / "target").iterdir()]
    assert (tmp_path / "there.nc").read_text() == "mine"


def test_comparisons_have_no_single_file(tmp_path: Path) -> None:
    words = [*suite_of(tmp_path), "--per-rank", tmp_path / "rows.nc"]
    done = strider(*words, "--against", tmp_path / "target")
    assert done.returncode == 2
    assert "--per-rank is the file of one run: leave --against" in " ".join(done.stderr.split())
    assert not (tmp_path / "rows.nc").exists()


def test_the_engine_keeps_a_file_with_data(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine")
    done = run_engine(engine, two_sizes(), tmp_path, options=["--per-rank", str(file)])
    assert done.returncode == 3
    (error,) = done.of("error")
    assert "it has data, which is kept" in error["message"]
    assert file.read_text() == "mine"
    assert not done.of("sample")


def test_a_node_that_does_not_see_the_file_is_named(engine: Engine, tmp_path: Path) -> None:
    """Rank 1 is a machine of its own by its host name, and has an empty folder in place of that of rank 0."""
    folder = tmp_path / "shared"
    folder.mkdir()
    words = ["--directory", tmp_path / "target", "--run", "test", "--events", tmp_path / "events.jsonl"]
    (tmp_path / "target").mkdir()
    one = case("segmented", pattern_transfer=4096, pattern_block=8192, operations=["write"], clients=2)
    (tmp_path / "plan.json").write_text(json.dumps(plan([one])))
    common = [engine.path, "run", tmp_path / "plan.json", *words, "--per-rank", folder / "rows.nc"]
    elsewhere = f'hostname elsewhere && mount -t tmpfs none {folder} && exec "$@"'
    if subprocess.run(["unshare", "-m", "-u", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("machine: only root can give a rank a host name and mounts of its own")
    launch = [engine.version.mpi.mpiexec, "-n", "1", *common]
    apart = ["unshare", "-m", "-u", "--propagation", "slave"]
    launch += [":", "-n", "1", *apart, "sh", "-c", elsewhere, "sh", *common]
    done = subprocess.run([*map(str, launch)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, done.stderr
    (error,) = [event for event in read_events(tmp_path / "events.jsonl") if event["event"] == "error"]
    assert (error["kind"], error["rank"], error["host"]) == ("plan", 1, "elsewhere")
    assert error["message"] == "No such file or directory"
    assert error["remedy"] == "name a file in a folder that all nodes share"


def test_a_resumed_run_continues_its_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.nc"
    words = [*suite_of(tmp_path, repetitions=4), "--per-rank", file]
    done = strider(*words, "--set", "case.runtime=0.4", "--time-limit", "1.5s")
    assert done.returncode == 0, done.stderr
    first = read_by_netcdf(file)
    assert 0 < len(first["case"]) < 8
    (directory,) = (tmp_path / "store").iterdir()
    # As after a kill between the file and the events: the last repetition of the file is measured again.
    with file.open("r+b") as opened:
        opened.seek(4)
        opened.write((len(first["case"]) + 2).to_bytes(4))
        record = file.stat().st_size
        opened.seek(0, 2)
        opened.write(bytes(2 * record))
    done = strider("resume", directory, "--time-limit", "0", "-q")
    assert done.returncode == 0, done.stderr
    table = read_by_netcdf(file)
    assert table["repetition"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    numpy.testing.assert_array_equal(table["end_s"][: len(first["end_s"])], first["end_s"])
    assert (numpy.diff(table["start_s"][:, 0]) > 0).all()


def test_a_resumed_run_asks_for_its_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.nc"
    words = [*suite_of(tmp_path, repetitions=4), "--per-rank", file]
    strider(*words, "--set", "case.runtime=0.4", "--time-limit", "1.5s")
    (directory,) = (tmp_path / "store").iterdir()
    whole = file.read_bytes()
    file.unlink()
    done = strider("resume", directory, "--time-limit", "0", "-q")
    assert done.returncode == 2
    assert "the file of per-rank rows of this run is gone" in " ".join(done.stderr.split())
    for damaged, said in ((b"other", "is not the file of this run"), (whole[:-8], "its end is missing")):
        file.write_bytes(damaged)
        done = strider("resume", directory, "--time-limit", "0", "-q")
        assert done.returncode == 3
        assert said in " ".join(done.stderr.split())
        assert file.read_bytes() == damaged


def test_simulated_ranks_have_rows(tmp_path: Path) -> None:
    words = ["run", *suite_of(tmp_path, clients=1)[1:2], "--simulate", "3000", "--store", tmp_path / "store"]
    file = tmp_path / "rows.nc"
    done = strider(*words, "-n", "3000", "--set", "case.clients=3000", "--per-rank", file, "-q")
    assert done.returncode == 0, done.stderr
    table = read_by_netcdf(file)
    assert table["end_s"].shape == (2, 3000)
    assert (numpy.argmax(table["end_s"], axis=1) == 2000).all()
    assert table["node"][0].tolist() == [rank // 64 for rank in range(3000)]
