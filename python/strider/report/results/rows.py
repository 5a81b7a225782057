"""The numbers of a run for other programs, unrounded."""

from __future__ import annotations

from typing import Any

from strider.report.results.references import Reference
from strider.report.results.results import Results
from strider.statistics import Distribution, OperationSummary, Overlap, outliers, overlaps
from strider.statistics.latency import LatencySummary
from strider.statistics.summary import CallSummary, LoadSummary, PartSummary
from strider.store.case import Case, Parameters

_TIMES = (
    "elapsed_s",
    "open_s",
    "transfer_s",
    "sync_s",
    "close_s",
    "prepare_s",
    "user_s",
    "system_s",
)


def as_rows(results: Results) -> list[dict[str, Any]]:
    """The summaries of a run as one dictionary per case and operation.

    Units are in the keys; None means unknown. `rate_mib_s` is the
    geometric mean of the repetitions' rates, of which the interval is; `rate_mean_mib_s` is their arithmetic
    mean, `rate_total_mib_s` total work ÷ total time. Rows of metadata have `tree` in the
    place of `pattern`, `requests_s` (operations per second) in that of `mib_s`, and the operations of a mix
    in `parts`.
    """
    found = overlaps(results.summaries)
    return [
        _as_row(results.run.id, summary, results.reference, found.get(summary.key))
        for summary in results.summaries
    ]


def _as_row(
    run_id: str, summary: OperationSummary, reference: Reference | None, overlap: Overlap | None
) -> dict[str, Any]:
    case, times, verify = summary.case, summary.times, summary.verify
    of_metadata = case.is_metadata
    unit = "requests_s" if of_metadata else "mib_s"
    first_done = summary.first_done.median if summary.first_done else None
    row = {
        "run": run_id,
        "case": case.number,
        "name": case.name,
        "interface": case.interface_name,
        "interface_parameters": _without_name(case.interface),
        **_shape_fields(case),
        **case.common_parameters,
        "operation": summary.operation,
        "n": summary.n,
        "starts": sorted({sample.start for sample in summary.samples}),
        "voided": summary.voided,
        "errors": sum(error.count for error in summary.errors),
        "trust": summary.trust.grade if summary.trust else None,
        "trust_reasons": list(summary.trust.reasons) if summary.trust else [],
        **_rate_fields(summary.rate, unit),
        "outlier_repetitions": [outlier.sample.repetition for outlier in outliers([summary])],
        f"rate_total_{unit}": summary.total_rate,
        f"rate_first_done_median_{unit}": first_done,
        **({} if of_metadata else {"iops": summary.iops, **_published(summary, reference)}),
        **_latency_fields(summary.latency),
        **{name: getattr(summary.calls, name, None) for name in CallSummary.__dataclass_fields__},
        **({} if of_metadata else _cache_fields(summary)),
        **_load_fields(summary.load),
        "verify_checked_bytes": verify.checked_bytes if verify else None,
        "verify_wrong_bytes": verify.wrong_bytes if verify else None,
        **({"verify_mismatches": verify.mismatches if verify else None} if of_metadata else {}),
        "sync_share": times.sync_share if times else None,
        **{name: getattr(times, name, None) for name in _TIMES},
        **({} if of_metadata else _thinking_fields(summary, overlap)),
        **({"parts": [_part_fields(part) for part in summary.parts]} if of_metadata or summary.parts else {}),
    }
    return _finite(row)


def _cache_fields(summary: OperationSummary) -> dict[str, Any]:
    served, done = summary.served, summary.preparation
    return {
        "served_by_storage": served.share if served else None,
        "served_source": served.source if served else None,
        "served_is_upper_bound": served.is_most if served else None,
        "cached_before": done.cached_share if done else None,
    }


def _load_fields(load: LoadSummary | None) -> dict[str, Any]:
    return {
        "offered_requests_s": load.offered if load else None,
        "achieved_requests_s": load.achieved if load else None,
        "late_share": load.late_share if load else None,
        "saturated": load.saturated if load else None,
    }


def _without_name(parameters: Parameters) -> Parameters:
    return {key: value for key, value in parameters.items() if key != "name"}


def _shape_fields(case: Case) -> dict[str, Any]:
    if case.is_metadata:
        return {"tree": case.shape_name, "tree_parameters": _without_name(case.tree)}
    return {
        "pattern": case.shape_name,
        "pattern_parameters": _without_name(case.pattern),
        "transfer_bytes": case.transfer_bytes,
    }


def _rate_fields(rate: Distribution | None, unit: str) -> dict[str, Any]:
    interval = rate.interval if rate else None
    return {
        f"rate_{unit}": rate.centre if rate else None,
        f"rate_mean_{unit}": rate.mean if rate else None,
        f"rate_median_{unit}": rate.median if rate else None,
        f"rate_min_{unit}": rate.minimum if rate else None,
        f"rate_max_{unit}": rate.maximum if rate else None,
        f"rate_deviation_{unit}": rate.deviation if rate else None,
        "rate_zeros": rate.zeros if rate else None,
        "rate_variation": rate.variation if rate else None,
        f"rate_interval_low_{unit}": interval.low if interval else None,
        f"rate_interval_high_{unit}": interval.high if interval else None,
        "rate_interval_method": interval.method if interval else None,
    }


def _latency_fields(latency: LatencySummary | None) -> dict[str, Any]:
    return {f"latency_{name}": getattr(latency, name, None) for name in LatencySummary.__dataclass_fields__}


def _thinking_fields(summary: OperationSummary, overlap: Overlap | None) -> dict[str, Any]:
    return {
        "compute_s": summary.times.compute_s if summary.times else None,
        "overlap": overlap.share if overlap else None,
    }


def _published(summary: OperationSummary, reference: Reference | None) -> dict[str, Any]:
    figure = reference.figure_mb_s(summary.case, summary.operation) if reference else None
    return {"published_mb_s": figure}


def _part_fields(part: PartSummary) -> dict[str, Any]:
    row = {
        "operation": part.operation,
        "requests": part.requests,
        "bytes": part.bytes,
        "share": part.share,
        **_rate_fields(part.rate, "requests_s"),
        **_latency_fields(part.latency),
    }
    return _finite(row)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row for JSON, which knows no NaN."""
    return {key: None if isinstance(value, float) and value != value else value for key, value in row.items()}
