"""Shared by the benchmarks: running the engine and fio on the same work, medians and ratios."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from strider import engine as engines

Json = Any


def run_engine(cases: Iterable[Json], target: Path) -> list[Json]:
    """Runs cases, one after the other, on the ranks of the largest; their samples, measured ones only."""
    return [line for line in run_events(cases, target) if line["event"] == "sample" and line["measured"]]


def run_events(
    cases: Iterable[Json],
    target: Path,
    further: Iterable[str] = (),
    path: Path | None = None,
    around: Iterable[str] = (),
) -> list[Json]:
    """The same with all events; further options of the engine, its path, words before the launcher."""
    engine = engines.Engine(path) if path else engines.find()
    numbered = [{"case": number, "repetitions": 1, **case} for number, case in enumerate(cases, 1)]
    ranks = max(case.get("clients", 1) for case in numbered)
    header = {"format": "strider-plan", "version": 1, "ranks": ranks, "interleave": "none"}
    with tempfile.TemporaryDirectory() as work:
        plan, events = Path(work) / "plan.json", Path(work) / "events.jsonl"
        plan.write_text(json.dumps({**header, "cases": numbered}), encoding="utf-8")
        options = [
            "--directory",
            target,
            "--run",
            "benchmark",
            "--data-seed",
            "1",
            "--events",
            events,
            *further,
        ]
        words = [*around, engine.version.mpi.mpiexec, "-n", ranks, engine.path, "run", plan, *options]
        subprocess.run([str(word) for word in words], check=True)
        return [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]


def build(*targets: str) -> Path:
    """Builds programs of the benchmarks in the engine's own build folder; that folder."""
    folder = engines.find().path.parent.parent
    source = Path(__file__).resolve().parents[1]
    configure = ["cmake", "-S", source, "-B", folder, "-DSTRIDER_BENCHMARKS=ON"]
    for words in (configure, ["cmake", "--build", folder, "--target", *targets]):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{', '.join(targets)} could not be built:\n{done.stdout}{done.stderr}")
    return folder


SECRET = "5" * 64
"""Of a volume that lives for some seconds."""


@contextmanager
def list_server(
    folder: Path, place: Path, transport: str, *options: str | Path
) -> Iterator[tuple[Path, Json]]:
    """One list-I/O server; its volume file, and its message when it is ready.

    Args:
        folder: That of the build.
        place: Folder for all that it keeps.
        transport: As in the volume file.
        options: Further ones of the server.
    """
    (place / "secret").write_text(SECRET)
    words = [folder / "engine/strider-listio-server", "--directory", place, "--transport", transport]
    words += ["--secret-file", place / "secret", *options]
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True) as server:
        try:
            ready = json.loads(next(iter(server.stdout or []), "").removeprefix("ready "))
            volume = {
                "strider-listio-volume": 1,
                "servers": [ready["address"]],
                "transport": transport,
                "strip_bytes": 65536,
                "secret": SECRET,
            }
            (place / "volume.json").write_text(json.dumps(volume))
            yield place / "volume.json", ready
        finally:
            server.terminate()


def run_fio(target: Path, **options: str | int) -> Json:
    """Runs one fio job; its statistics, all processes together."""
    words = ["fio", "--name=benchmark", f"--directory={target}", "--group_reporting", "--output-format=json"]
    words += [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    (job,) = json.loads(done.stdout)["jobs"]
    return job


def print_medians(title: str, unit: str, rows: Mapping[str, Mapping[str, list[float]]], note: str) -> None:
    """Prints a row for each piece of work: each tool's median and range, and the ratio of two."""
    tools = list(next(iter(rows.values())))
    table = Table(title=title, caption=note, title_justify="left", caption_justify="left")
    table.add_column("work")
    for tool in tools:
        table.add_column(f"{tool} ({unit})", justify="right")
    if len(tools) > 1:
        table.add_column(f"{tools[0]} ÷ {tools[1]}", justify="right")
    for work, values in rows.items():
        medians = [statistics.median(values[tool]) for tool in tools]
        cells = [
            f"{median:.4g} ({min(values[tool]):.4g} – {max(values[tool]):.4g})"
            for tool, median in zip(tools, medians, strict=True)
        ]
        ratio = [f"{medians[0] / medians[1]:.3f}"] if len(tools) > 1 else []
        table.add_row(work, *cells, *ratio)
    Console(width=120).print(table)
