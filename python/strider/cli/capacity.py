"""`strider run --find-capacity`: arrival rates around what each case completes in closed loop."""

from typing import TYPE_CHECKING, Any

from strider.cli.probing import measured
from strider.cli.running import RunOptions
from strider.errors import ExitCode, StriderError

if TYPE_CHECKING:
    from strider.suite.document import Document

OPTION = "--find-capacity"
PHASE_S = 1.0
#: Arrival rates ÷ the rate in closed loop: few where the latency hardly changes, more where it rises.
SHARES = (0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25)


def with_arrival_rates(document: "Document", options: RunOptions) -> "Document":
    """Sets the arrival rates of all cases to shares of the rate that a short closed loop reaches.

    Args:
        document: The suite; its cases are changed.
        options: Options of the run.

    Raises:
        StriderError: A closed loop could not be measured.
    """
    for index, table in document.cases():
        reached = _closed_loop(document, index, options)
        table["arrival_rate"] = sorted({_rounded(share * rate) for rate in reached for share in SHARES})
        table.setdefault("arrivals", "poisson")
        document.changed["case", index, "arrival_rate"] = document.changed["case", index, "arrivals"] = OPTION
    return document


def _closed_loop(document: "Document", index: int, options: RunOptions) -> list[float]:
    """Requests per second of the slowest and the fastest of a case's operations and variants."""
    from strider.statistics import summarize
    from strider.suite.document import parse

    alone = parse(document.text, document.name)
    (table,) = [dict(table) for number, table in alone.cases() if number == index]
    for key in ("arrivals", "arrival_rate", "repetitions", "deadline", "wear_out", "warmup"):
        table.pop(key, None)
    suite: dict[str, Any] = dict(alone.data.get("suite") or {})
    alone.data["suite"] = suite | {"repetitions": 1, "deadline": f"{PHASE_S:g}s", "wear_out": False}
    alone.data["case"] = [table]
    run, _ = measured(alone, options)
    rates = [summary.iops for summary in summarize(run) if summary.iops]
    if not rates:
        why = run.errors[0].message if run.errors else "no request was completed"
        raise StriderError(f"{OPTION}: case {index + 1} could not be measured: {why}", ExitCode.CANNOT_RUN)
    return sorted({min(rates), max(rates)})


def _rounded(rate: float) -> int:
    """A rate of two significant digits."""
    return max(1, int(float(f"{rate:.2g}")))
