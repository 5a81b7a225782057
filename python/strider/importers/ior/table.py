"""The tables in which IOR reports; widths and decimals are those of IOR 4.1."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, pstdev

from strider.importers.imported import VERSION
from strider.importers.ior.report import Report
from strider.importers.ior.results import Access, wall_of
from strider.importers.ior.test_info import TestInfo
from strider.units import KIB, MB, MIB

_HEAD = (
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  "
    "open(s)    wr/rd(s)   close(s)   total(s)   iter"
)
_RULE = (
    "------    ---------  ----       ----------  ---------- ---------  "
    "--------   --------   --------   --------   ----"
)
STATISTICS: Sequence[Callable[[list[float]], float]] = (max, min, fmean, pstdev)
"""Of the rates in IOR's summary."""


def render(report: Report) -> Iterator[str]:
    """Yields the lines that IOR prints by default.

    Args:
        report: The run.
    """
    yield f"IOR-{VERSION}: MPI Coordinated Test of Parallel I/O"
    yield _pair("Began", report.began)
    yield _pair("Command line", report.source)
    yield _pair("Machine", report.machine)
    for test in report.tests:
        yield from _test(report, test)
    yield ""
    yield "Summary of all tests:"
    yield _summary_head()
    for test in report.tests:
        for name in ("write", "read"):
            found = report.counted(test, name)
            if found:
                yield _summary(test, found)
    yield _pair("Finished", report.finished)


def _test(report: Report, test: TestInfo) -> Iterator[str]:
    """Yields options, results of the repetitions, and the largest rates of a test."""
    yield _pair("TestID", test.number)
    yield _pair("StartTime", report.started(test))
    yield from _file_system(report, test)
    yield ""
    yield "Options: "
    for name, value in test.options(report.nodes).items():
        yield _pair(name, value)
    yield ""
    yield "Results: "
    yield ""
    yield _HEAD
    yield _RULE
    for access in report.accesses(test):
        yield _row(test, access)
    for name, label in (("write", "Max Write: "), ("read", "Max Read:  ")):
        rates = [access.rate_mib_s for access in report.counted(test, name)]
        if rates:
            yield f"{label}{max(rates):.2f} MiB/sec ({max(rates) * MIB / MB:.2f} MB/sec)"


def _file_system(report: Report, test: TestInfo) -> Iterator[str]:
    found = report.file_system
    if found is None:
        return
    yield _pair("Path", test.first_file)
    yield _pair("FS", found.line)


def _row(test: TestInfo, access: Access) -> str:
    """Returns the row of one access."""
    cells = (
        (access.rate_mib_s, " "),
        (access.operations_s, " "),
        (access.latency_s, "  "),
        (test.work.block / KIB, " "),
        (test.work.transfer / KIB, " "),
        (access.open_s, " "),
        (access.access_s, " "),
        (access.close_s, " "),
        (access.total_s, " "),
    )
    numbers = "".join(_number(value) + blank for value, blank in cells)
    return f"{access.name:<10}{numbers}{access.iteration:<4}"


def _number(value: float) -> str:
    """Returns a number in ten columns, with as many decimals as IOR prints."""
    if value < 0:
        return f"{'   -':<10}"
    decimals = 6 if value < 1 else 2 if value < 3600 else 0
    return f"{value:<10.{decimals}f}"


def _summary_head() -> str:
    rates = ("Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)", "Mean(OPs)", "StdDev")
    numbers = " ".join(f"{name:>10}" for name in (*rates, "Mean(s)", "Stonewall(s)"))
    return (
        f"{'Operation':<9} {numbers} {'Stonewall(MiB)':>13} Test# #Tasks tPN reps fPP reord reordoff "
        f"reordrand seed segcnt {' blksiz':>8} {'xsize':>8} {'aggs(MiB)':>9} {'API':>5} RefNum"
    )


def _summary(test: TestInfo, found: Sequence[Access]) -> str:
    """Returns the row of the summary for the valid accesses of one name."""
    work = test.work
    rates = [access.rate_mib_s for access in found]
    operations = [access.total_operations_s for access in found]
    numbers = [one(values) for values in (rates, operations) for one in STATISTICS]
    wall = wall_of(test, found)
    stonewall = f"{wall.time_s:10.2f} {wall.rate_mib_s:13.2f}" if wall else f"{'NA':>10} {'NA':>13}"
    return (
        f"{found[0].name:<9} {' '.join(f'{number:10.2f}' for number in numbers)} "
        f"{fmean(access.total_s for access in found):10.5f} {stonewall} "
        f"{test.number:5d} {work.tasks:6d} {test.tasks_per_node:3d} {test.repetitions:4d} "
        f"{test.number_of('filePerProc'):3d} {test.number_of('reorderTasks'):5d} "
        f"{test.number_of('taskPerNodeOffset', 1):8d} {test.number_of('reorderTasksRandom'):9d} "
        f"{test.number_of('reorderTasksRandomSeed'):4d} {work.segments:6d} {work.block:8d} "
        f"{work.transfer:8d} {found[0].bytes / MIB:9.1f} {work.api:>3} {test.number_of('refNum'):6d}"
    )


def _pair(name: str, value: object) -> str:
    return f"{name:<20}: {value}"
