"""The results of IOR for programs: its JSON and its CSV (`summaryFormat`), and a row for each rank."""

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from strider.engine import Json
from strider.importers.imported import VERSION
from strider.importers.ior.report import Report
from strider.importers.ior.results import Access, access_s_of, wall_of
from strider.importers.ior.table import STATISTICS
from strider.importers.ior.test_info import TestInfo
from strider.units import KIB, MB, MIB

_CSV_HEAD = (
    "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter"
)
_RANKS_HEAD = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"


def render_json(report: Report) -> Iterator[str]:
    """Yields IOR's JSON, a name and a value in each line.

    Args:
        report: The run.
    """
    document = {
        "Version": VERSION,
        "Began": report.began,
        "Command line": report.source,
        "Machine": report.machine,
        "tests": [_test(report, test) for test in report.tests],
        "summary": list(_summaries(report)),
        "Finished": report.finished,
    }
    yield from _json(document).splitlines()


def _test(report: Report, test: TestInfo) -> dict[str, Json]:
    found = report.accesses(test)
    return {
        "TestID": test.number,
        "StartTime": report.started(test),
        **_file_system(report, test),
        "Parameters": test.parameters(report.nodes, report.platform),
        "Options": test.options(report.nodes),
        "Results": [_result(test, access) for access in found],
        "max": _largest(report, test),
    }


def _file_system(report: Report, test: TestInfo) -> dict[str, Json]:
    found = report.file_system
    if found is None:
        return {}
    return {
        "Path": test.first_file,
        "Capacity": found.capacity,
        "Used Capacity": found.used,
        "Inodes": found.inodes,
        "Used Inodes": found.used_inodes,
    }


def _result(test: TestInfo, access: Access) -> dict[str, Json]:
    return {
        "access": access.name,
        "bwMiB": access.rate_mib_s,
        "blockKiB": test.work.block / KIB,
        "xferKiB": test.work.transfer / KIB,
        "iops": access.operations_s,
        "latency": access.latency_s,
        "openTime": access.open_s,
        "wrRdTime": access.access_s,
        "closeTime": access.close_s,
        "totalTime": access.total_s,
    }


def _largest(report: Report, test: TestInfo) -> dict[str, Json]:
    """Returns the largest rates of a test."""
    largest: dict[str, Json] = {}
    for name in ("write", "read"):
        rates = [access.rate_mib_s for access in report.counted(test, name)]
        if rates:
            largest |= {f"{name}MiB": max(rates), f"{name}MB": max(rates) * MIB / MB}
    return largest


def _summaries(report: Report) -> Iterator[dict[str, Json]]:
    for test in report.tests:
        for name in ("write", "read"):
            found = report.counted(test, name)
            if found:
                yield _summary(test, name, found)


def _summary(test: TestInfo, name: str, found: Sequence[Access]) -> dict[str, Json]:
    work = test.work
    rates = [statistic([access.rate_mib_s for access in found]) for statistic in STATISTICS]
    operations = [statistic([access.total_operations_s for access in found]) for statistic in STATISTICS]
    wall = wall_of(test, found)
    stonewall = {"StoneWallTime": wall.time_s, "StoneWallbwMeanMIB": wall.rate_mib_s} if wall else {}
    return {
        "operation": name,
        "API": work.api,
        "TestID": test.number,
        "ReferenceNumber": test.number_of("refNum"),
        "segmentCount": work.segments,
        "blockSize": work.block,
        "transferSize": work.transfer,
        "numTasks": work.tasks,
        "tasksPerNode": test.tasks_per_node,
        "repetitions": test.repetitions,
        "filePerProc": test.number_of("filePerProc"),
        "reorderTasks": test.number_of("reorderTasks"),
        "taskPerNodeOffset": test.number_of("taskPerNodeOffset", 1),
        "reorderTasksRandom": test.number_of("reorderTasksRandom"),
        "reorderTasksRandomSeed": test.number_of("reorderTasksRandomSeed"),
        **dict(zip(("bwMaxMIB", "bwMinMIB", "bwMeanMIB", "bwStdMIB"), rates, strict=True)),
        **dict(zip(("OPsMax", "OPsMin", "OPsMean", "OPsSD"), operations, strict=True)),
        "MeanTime": fmean(access.total_s for access in found),
        **stonewall,
        "xsizeMiB": found[0].bytes / MIB,
    }


def _json(value: Json, indent: str = "") -> str:
    """Returns a value as JSON; real numbers have four decimals, as in IOR."""
    inside = indent + "  "
    match value:
        case Mapping():
            pairs = [f"{inside}{json.dumps(name)}: {_json(each, inside)}" for name, each in value.items()]
            return "{\n" + ", \n".join(pairs) + f"\n{indent}}}"
        case list():
            return "[\n" + ", \n".join(inside + _json(each, inside) for each in value) + f"\n{indent}]"
        case float():
            return f"{value:.4f}"
        case _:
            return json.dumps(value)


def render_csv(report: Report) -> Iterator[str]:
    """Yields IOR's CSV: a head for each test, and a line for each access.

    Args:
        report: The run.
    """
    for test in report.tests:
        yield _CSV_HEAD
        for access in report.accesses(test):
            numbers = (
                access.rate_mib_s,
                access.operations_s,
                access.latency_s,
                test.work.block / KIB,
                test.work.transfer / KIB,
                access.open_s,
                access.access_s,
                access.close_s,
                access.total_s,
            )
            cells = ",".join(f"{number:.4f}" for number in numbers)
            yield f"{access.name},{cells},{test.work.tasks},{access.iteration}"


def render_ranks(report: Report, tests: Sequence[TestInfo]) -> Iterator[str]:
    """Yields IOR's times and rates of each rank (`saveRankPerformanceDetailsCSV`).

    Args:
        report: The run.
        tests: The tests for which the file was requested.
    """
    yield _RANKS_HEAD
    for test in tests:
        for access in report.accesses(test):
            own = access.bytes / test.work.tasks
            for rank in access.ranks:
                times = (rank.end_s - rank.start_s, access_s_of(rank))
                rates = [own / time if time else 0.0 for time in times]
                cells = ",".join(f"{number:.10e}" for number in (*times, *rates))
                yield f"{access.name},{rank.rank},{cells}"
