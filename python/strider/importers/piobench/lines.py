"""The lines in which PIObench reports: pattern, operation, time, bandwidth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from strider.store.model import Run, Sample
from strider.units import MB

_HEAD = f"{'# pattern':<20}{'operation':<19}{'clients':>7}{'request (B)':>13}{'repetition':>12}"


@dataclass(frozen=True)
class Reporting:
    """The report as the global directives define it."""

    average: bool = False
    open_time: bool = False
    close_time: bool = False
    header_offset: bool = False


@dataclass(frozen=True)
class ModuleTitle:
    """The name of a module, and the operation that it reports."""

    pattern: str
    operation: str
    reported: str


def render(run: Run, titles: dict[str, ModuleTitle], reporting: Reporting) -> Iterator[str]:
    """A line for each repetition of each module.

    Args:
        run: The results.
        titles: The modules by the names of their cases.
        reporting: Which further columns and lines there are.
    """
    yield "# time: longest time of any client, without open and close; MB = 1 000 000 bytes"
    yield _HEAD + "".join(f"{name:>14}" for name in _columns(reporting))
    for case in run.cases.values():
        title = titles[case.name]
        samples = [s for s in run.samples if s.case == case.number and s.operation == title.reported]
        counted = [sample for sample in samples if sample.counts]
        start = f"{title.pattern:<20}{title.operation:<19}{case.clients:>7}{case.transfer_bytes or 0:>13}"
        for sample in counted:
            yield f"{start}{sample.repetition + 1:>12}{_numbers([sample], reporting)}"
        if reporting.average and counted:
            yield f"{start}{'average':>12}{_numbers(counted, reporting)}"
        if len(counted) < len(samples):
            yield f"{start}  # excluded because a check failed: {len(samples) - len(counted)}"


def _columns(reporting: Reporting) -> list[str]:
    further = {
        "open (s)": reporting.open_time,
        "close (s)": reporting.close_time,
        "header (B)": reporting.header_offset,
    }
    return ["time (s)", "MB/s", *(name for name, wanted in further.items() if wanted)]


def _numbers(samples: Sequence[Sample], reporting: Reporting) -> str:
    """Means over some samples; that of the bandwidth is the mean of their bandwidths."""
    times = [sample.access_s for sample in samples]
    rates = [sample.bytes / sample.access_s / MB for sample in samples if sample.access_s]
    cells = [f"{fmean(times):14.6f}", f"{fmean(rates) if rates else 0:14.3f}"]
    cells += [f"{fmean(s.open_s for s in samples):14.6f}"] if reporting.open_time else []
    cells += [f"{fmean(s.close_s for s in samples):14.6f}"] if reporting.close_time else []
    # Strider's files begin with the data.
    cells += [f"{0:>14}"] if reporting.header_offset else []
    return "".join(cells)
