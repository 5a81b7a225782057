"""What IOR itself would refuse, and what Strider cannot do."""

from collections.abc import Iterator

from strider.importers.ior.packets import is_type
from strider.importers.ior.workload import Workload
from strider.suite.mistakes import Mistakes

ACCESS_SIZE = 8
"""IOR moves whole words of this many bytes."""
INTERFACES = {
    "posix": "posix",
    "mpiio": "mpiio",
    "dummy": "null",
    "mmap": "mmap",
    "hdf5": "hdf5",
    "ncmpi": "pnetcdf",
    "cephfs": "cephfs",
}
"""IOR's interfaces and Strider's; which of them this engine has, the suite's own check says."""

FORMS = ("default", "json", "csv")
"""Forms of IOR's output, in small letters."""

Objection = tuple[str, str]
"""The option at fault, and the error."""


def check(workload: Workload, mistakes: Mistakes) -> None:
    """Notes everything that keeps a test from being run."""
    workload.settings.refuse(mistakes)
    for option, message in (
        *_sizes(workload),
        *_counts(workload),
        *_combinations(workload),
        *_output(workload),
        *_limits(workload),
    ):
        mistakes.add(workload.settings.place(option), message)


def _sizes(workload: Workload) -> Iterator[Objection]:
    transfer, block = workload.transfer, workload.block
    if transfer < ACCESS_SIZE or transfer % ACCESS_SIZE:
        yield "transferSize", f"the transfer size must be a multiple of {ACCESS_SIZE} bytes, as in IOR"
    elif block < 1 or block % transfer:
        given = "blockSize" if "blockSize" in workload.settings.by_name else "transferSize"
        remedy = f"for instance -b {max(1, block // transfer) * transfer}"
        yield given, f"the block size must be a multiple of the transfer size: {remedy}"
    if workload.segments < 1:
        yield "segmentCount", "at least 1 segment is needed"


def _counts(workload: Workload) -> Iterator[Objection]:
    if workload.settings.number("repetitions", 1) < 1:
        yield "repetitions", "at least 1 repetition is needed"
    if workload.settings.number("numTasks") < 0:
        yield "numTasks", "the number of tasks cannot be negative"
    if workload.settings.number("interTestDelay") < 0:
        yield "interTestDelay", "the delay cannot be negative"


def _combinations(workload: Workload) -> Iterator[Objection]:
    """What IOR does not take together."""
    reorders = workload.flag("reorderTasks") or workload.flag("reorderTasksRandom")
    if workload.flag("reorderTasks") and workload.flag("reorderTasksRandom"):
        yield "reorderTasksRandom", "-C and -Z exclude each other: keep one"
    if workload.flag("randomOffset") and not workload.flag("filePerProc") and reorders:
        yield "randomOffset", "-z with -C or -Z needs -F, as in IOR"
    if workload.flag("stoneWallingWearOut") and not workload.settings.number("deadlineForStonewalling"):
        yield "stoneWallingWearOut", "stoneWallingWearOut needs a deadline: give -D SECONDS"
    yield from _status(workload)
    yield from _random(workload)


def _status(workload: Workload) -> Iterator[Objection]:
    """What IOR does not take together with a status file."""
    if not workload.settings.text("stoneWallingStatusFile"):
        return
    if not workload.flag("keepFile"):
        yield (
            "stoneWallingStatusFile",
            "stoneWallingStatusFile needs files that stay: add -k, as in IOR",
        )
    elif workload.asked.writes and not workload.flag("stoneWallingWearOut"):
        yield (
            "stoneWallingStatusFile",
            "stoneWallingStatusFile needs stoneWallingWearOut where a test writes, as in IOR",
        )


def _random(workload: Workload) -> Iterator[Objection]:
    """What IOR does not take together with random offsets."""
    prefill = workload.settings.number("randomPrefill")
    if prefill and not workload.flag("randomOffset"):
        yield "randomPrefill", "randomPrefill needs -z, as in IOR"
    elif prefill and (prefill < 1 or workload.block % prefill):
        yield "randomPrefill", f"it must divide the block size, {workload.block} bytes, as in IOR"
    if not workload.draws:
        return
    if workload.asked.writes or workload.asked.checks_write:
        yield (
            "randomOffset",
            "-z twice only reads, because IOR draws offsets in an existing file: give -r alone",
        )
    if workload.block != workload.transfer:
        yield "randomOffset", f"-z twice needs blocks of one transfer here: give -b {workload.transfer}"


def _output(workload: Workload) -> Iterator[Objection]:
    """Forms of output and types of data that IOR does not have."""
    packet = workload.settings.text("dataPacketType")
    if packet and not is_type(packet):
        yield (
            "dataPacketType",
            f'"{packet}" is not a type of data: use timestamp, offset, incompressible or random',
        )
    form = workload.settings.text("summaryFormat", FORMS[0])
    if form.lower() not in FORMS:
        yield "summaryFormat", f'"{form}" is not a format: use default, JSON or CSV'


def _limits(workload: Workload) -> Iterator[Objection]:
    """What Strider cannot do."""
    if workload.flag("minTimeDuration") and workload.flag("deadlineForStonewalling"):
        yield (
            "minTimeDuration",
            "a minimum and a maximum of the time (-D) are not supported together: keep one",
        )
    if workload.api.lower() not in INTERFACES:
        *most, last = (name.upper() for name in INTERFACES)
        yield "api", f"interface {workload.api} is not supported: use {', '.join(most)} or {last}"
    if "@" in workload.settings.text("testFile"):
        yield (
            "testFile",
            "several test files are not supported, because a run has one target directory: name one file",
        )
    if workload.flag("preallocate") and workload.api == "MPIIO":
        yield "preallocate", "preallocate is not supported with MPI-IO: remove it"
