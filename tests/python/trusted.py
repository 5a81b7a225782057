"""Runs of which every result can be trusted: long, steady, synced and served by storage."""

from __future__ import annotations

from strider.store import Run

#: Rates of repetitions beside that of their result.
STEADY = (1.0, 1.01, 0.992, 1.006, 0.995, 0.998)


def trusted(run: Run, seconds: float = 2.0) -> Run:
    """The run with phases of two seconds, rates that differ by one per cent, and nothing verified."""
    first: dict[tuple[int, str], float] = {}
    samples = []
    for sample in run.samples:
        base = first.setdefault((sample.case, sample.operation), sample.rate_mib_s)
        rate = base * STEADY[sample.repetition % len(STEADY)]
        moved = round(rate * seconds * (1 << 20))
        served = {"served_by_storage": 1.0, "served_bytes": moved, "served_source": "process"}
        update: dict[str, float] = {"rate_mib_s": rate, "elapsed_s": seconds, "bytes": moved}
        if run.cases[sample.case].is_metadata:
            done = round(sample.requests_s * STEADY[sample.repetition % len(STEADY)] * seconds)
            update = {"requests_s": done / seconds, "elapsed_s": seconds, "requests": done}
        samples.append(sample.model_copy(update=update | (served if "read" in sample.operation else {})))
    cases = {
        number: case.model_copy(update={"verify": "off", "sync": "each" if case.is_metadata else "end"})
        for number, case in run.cases.items()
    }
    return run.model_copy(update={"samples": samples, "cases": cases})
