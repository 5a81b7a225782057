"""The tables in which IOR reports."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from strider import __version__
from strider.importers.imported import Grades
from strider.store import load_events
from strider.store.model import RankRow, Run, Sample
from strider.units import KIB, MB, MIB, format_bytes

_HEAD = (
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  "
    "open(s)    wr/rd(s)   close(s)   total(s)   iter"
)
_RULE = (
    "------    ---------  ----       ----------  ---------- ---------  "
    "--------   --------   --------   --------   ----"
)


@dataclass(frozen=True)
class TestInfo:
    """What the tables say of a test beside its results; the names are IOR's."""

    number: int
    api: str
    file: str
    block: int
    transfer: int
    segments: int
    tasks: int
    tasks_per_node: int
    repetitions: int
    file_per_process: bool
    collective: bool
    random: bool
    reorder: bool
    reorder_offset: int
    reorder_random: bool
    seed: int
    reference: int
    stonewall_s: int
    shown: tuple[str, ...]

    @property
    def aggregate(self) -> int:
        """Bytes of all files together."""
        return self.block * self.segments * self.tasks


def render(run: Run, grades: Grades, tests: Sequence[TestInfo], source: str) -> Iterator[str]:
    """The report of a run.

    Args:
        run: The results.
        grades: Of the results; the last column of the summary.
        tests: The tests, in the order of the run's cases.
        source: The script, or the command line.
    """
    yield f"Strider-{__version__}, in the form of IOR: MPI Coordinated Test of Parallel I/O"
    yield _pair("Began", run.info.started)
    yield _pair("Command line", source)
    ranks = load_events(run.directory, RankRow)
    for number, test in enumerate(tests, start=1):
        samples = [s for s in run.samples if s.case == number and s.measured and not s.warmup]
        shown = [sample for sample in samples if sample.operation in test.shown]
        yield from _test(run, test, shown, [rank for rank in ranks if rank.case == number])
    yield "Summary of all tests:"
    yield _summary_head()
    for number, test in enumerate(tests, start=1):
        for operation in test.shown:
            counted = [s for s in run.samples if s.case == number and s.operation == operation and s.counts]
            if counted:
                yield f"{_summary(test, counted)} {grades.get((number, operation), '-')}"
    yield _pair("Finished", run.info.ended or run.status)


def _test(run: Run, test: TestInfo, samples: Sequence[Sample], ranks: Sequence[RankRow]) -> Iterator[str]:
    """Options, results of the repetitions, and the largest rates of a test."""
    yield ""
    yield "Options: "
    for name, value in _options(run, test).items():
        yield _pair(name, value)
    yield ""
    yield "Results: "
    yield ""
    yield _HEAD
    yield _RULE
    for sample in samples:
        own = [r for r in ranks if (r.repetition, r.operation) == (sample.repetition, sample.operation)]
        yield _row(test, sample, own)
    for sample in samples:
        if not sample.valid:
            which = f"{_access(sample)} of iteration {sample.repetition}"
            yield f"WARNING: a check failed: {which} is excluded from the summary"
    for access, label in (("write", "Max Write: "), ("read", "Max Read:  ")):
        rates = [s.rate_mib_s for s in samples if s.counts and _access(s) == access]
        if rates:
            yield f"{label}{max(rates):.2f} MiB/sec ({max(rates) * MIB / MB:.2f} MB/sec)"
    yield ""


def _options(run: Run, test: TestInfo) -> dict[str, object]:
    ordering = "constant task offset" if test.reorder else "random task offset"
    shifted = test.reorder or test.reorder_random
    return {
        "api": test.api,
        "test filename": f"{test.file} (Strider's own files in {run.info.directory})",
        "access": "file-per-process" if test.file_per_process else "single-shared-file",
        "type": "collective" if test.collective else "independent",
        "segments": test.segments,
        "ordering in a file": "random" if test.random else "sequential",
        "ordering inter file": ordering if shifted else "no tasks offsets",
        **({"task offset": test.reorder_offset} if shifted else {}),
        "nodes": len(run.start.nodes) if run.start else 0,
        "tasks": test.tasks,
        "clients per node": test.tasks_per_node,
        "repetitions": test.repetitions,
        "xfersize": format_bytes(test.transfer),
        "blocksize": format_bytes(test.block),
        "aggregate filesize": format_bytes(test.aggregate),
        **({"stonewallingTime": test.stonewall_s} if test.stonewall_s else {}),
    }


def _row(test: TestInfo, sample: Sample, ranks: Sequence[RankRow]) -> str:
    """One repetition of one access. Latency is the least of all tasks' means, as IOR has it."""
    latencies = [rank.transfer_s / rank.requests for rank in ranks if rank.requests]
    cells = [
        (sample.rate_mib_s, " "),
        (sample.requests / sample.access_s if sample.access_s else -1, " "),
        (min(latencies, default=-1), "  "),
        (test.block / KIB, " "),
        (test.transfer / KIB, " "),
        (sample.open_s, " "),
        (sample.access_s, " "),
        (sample.close_s, " "),
        (sample.elapsed_s, " "),
    ]
    numbers = "".join(_number(value) + blank for value, blank in cells)
    return f"{_access(sample):<10}{numbers}{sample.repetition:<4}"


def _number(value: float) -> str:
    """Ten columns, with as many decimals as IOR gives."""
    if value < 0:
        return f"{'   -':<10}"
    decimals = 6 if value < 1 else 2 if value < 3600 else 0
    return f"{value:<10.{decimals}f}"


def _access(sample: Sample) -> str:
    return "read" if sample.operation == "read" else "write"


def _summary_head() -> str:
    names = (
        "Max(MiB)",
        "Min(MiB)",
        "Mean(MiB)",
        "StdDev",
        "Max(OPs)",
        "Min(OPs)",
        "Mean(OPs)",
        "StdDev",
        "Mean(s)",
    )
    numbers = " ".join(f"{name:>10}" for name in names)
    return (
        f"{'Operation':<9} {numbers} {'Stonewall(s)':>12} {'Stonewall(MiB)':>14} Test# #Tasks tPN reps "
        "fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum Trust"
    )


def _summary(test: TestInfo, samples: Sequence[Sample]) -> str:
    rates = [sample.rate_mib_s for sample in samples]
    operations = [sample.requests / sample.elapsed_s for sample in samples]
    statistics: tuple[Callable[[list[float]], float], ...] = (max, min, fmean, pstdev)
    numbers = [one(values) for values in (rates, operations) for one in statistics]
    walls = [sample.deadline for sample in samples if sample.deadline]
    stonewall = (
        f"{fmean(w.elapsed_s for w in walls):12.2f} {fmean(w.rate_mib_s for w in walls):14.2f}"
        if walls
        else f"{'NA':>12} {'NA':>14}"
    )
    return (
        f"{_access(samples[0]):<9} "
        + " ".join(f"{number:10.2f}" for number in numbers)
        + f" {fmean(sample.elapsed_s for sample in samples):10.5f} {stonewall} "
        f"{test.number:5d} {test.tasks:6d} {test.tasks_per_node:3d} {test.repetitions:4d} "
        f"{int(test.file_per_process):3d} {int(test.reorder):5d} {test.reorder_offset:8d} "
        f"{int(test.reorder_random):9d} {test.seed:4d} {test.segments:6d} {test.block:8d} {test.transfer:8d} "
        f"{test.aggregate / MIB:9.1f} {test.api:>5} {test.reference:6d}"
    )


def _pair(name: str, value: object) -> str:
    return f"{name:<20}: {value}"
