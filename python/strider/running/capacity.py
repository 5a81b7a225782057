"""`strider run --find-capacity`: arrival rates around what each case completes in closed loop."""

from dataclasses import replace
from typing import TYPE_CHECKING

from strider.errors import ExitCode, StriderError
from strider.running.options import RunOptions
from strider.running.probing import measured
from strider.running.sizing import prepare
from strider.suite.document import parse
from strider.suite.mistakes import Mistakes, Place
from strider.text import shortened

if TYPE_CHECKING:
    from strider.engine import Json
    from strider.suite.document import Document

OPTION = "--find-capacity"
PHASE_S = 1.0
#: Arrival rates ÷ the rate in closed loop: few where the latency hardly changes, more where it rises.
SHARES = (0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25)
_CLOSED = (
    f"{OPTION} measures latency at arrival rates, which a closed loop does not have: leave arrivals out, or "
    'write arrivals = "poisson" or "fixed"'
)
#: Keys of a case and of `[suite]` that a closed loop of one short repetition replaces.
_REPLACED = (
    *("arrivals", "arrival_rate", "repetitions", "warmup"),
    *("deadline", "wear_out", "runtime", "ramp"),
)


def with_arrival_rates(document: "Document", options: RunOptions) -> "Document":
    """Sets the arrival rates of all cases to shares of the rate that a short closed loop reaches.

    Args:
        document: The suite; its cases are changed.
        options: Options of the run.

    Raises:
        SuiteError: The suite has mistakes or contradicts the option; nothing is measured.
        StriderError: The options set arrival rates, or a closed loop could not be measured.
    """
    _refuse_rates(options)
    _refuse_arrivals(document, options)
    checked = parse(document.text, document.name)
    for index, _ in checked.cases():
        _set_rates(checked, index, [1])
    prepare(checked, options)
    for index, _ in document.cases():
        reached = _closed_loop(document, index, options)
        _set_rates(document, index, sorted({_rounded(share * rate) for rate in reached for share in SHARES}))
    return document


def _set_rates(document: "Document", index: int, rates: list[int]) -> None:
    table = dict(document.cases())[index]
    table["arrival_rate"] = rates
    document.changed["case", index, "arrival_rate"] = OPTION
    if "arrivals" not in table and "arrivals" not in _of_suite(document):
        table["arrivals"] = "poisson"
        document.changed["case", index, "arrivals"] = OPTION


def _of_suite(document: "Document") -> dict[str, "Json"]:
    """Returns the table `[suite]`."""
    table = document.data.get("suite")
    return table if isinstance(table, dict) else {}


def _refuse_rates(options: RunOptions) -> None:
    """Refuses arrival rates of the command line, which would replace the chosen ones.

    Raises:
        StriderError: There is one.
    """
    for text in options.settings:
        if _key_of(text) == "arrival_rate":
            raise StriderError(f"--set {text}: {OPTION} chooses the arrival rates: leave one of the two out")


def _refuse_arrivals(document: "Document", options: RunOptions) -> None:
    """Refuses the closed loop and rates in a `zip`, which contradict the chosen rates.

    Raises:
        SuiteError: There is one; the message has its line or its option.
    """
    mistakes = Mistakes()
    typed = [text for text in options.settings if _key_of(text) == "arrivals"]
    for text in typed:
        if "closed" in _words_of(text.partition("=")[2].strip(" []").split(",")):
            mistakes.add(Place(0, f"--set {shortened(text)}"), _CLOSED)
    written: list[tuple[tuple[str | int, ...], dict[str, Json]]] = [(("suite",), _of_suite(document))]
    for index, table in document.cases():
        zipped = table.get("zip")
        for key in ("arrival_rate", "arrivals"):
            if isinstance(zipped, dict) and key in zipped:
                place = document.value(("case", index, "zip", key))
                mistakes.add(place, f"{OPTION} chooses the arrival rates: leave {key} out of zip")
        written.append((("case", index), table))
    for path, table in written:
        if not typed and "closed" in _words_of(table.get("arrivals")):
            mistakes.add(document.value((*path, "arrivals")), _CLOSED)
    mistakes.raise_if_any()


def _words_of(value: "Json") -> list[str]:
    """Returns the words of a value or of a list of values, without quotes."""
    return [str(word).strip(" \"'") for word in (value if isinstance(value, list) else [value])]


def _key_of(setting: str) -> str:
    """Returns the key of a `--set` argument without its table, such as `runtime` of `case.runtime=1s`."""
    return setting.partition("=")[0].partition(".")[2].strip()


def _alone(document: "Document", index: int) -> "Document":
    """Returns a suite of one case in closed loop; its mistakes have the lines of the whole suite."""
    alone = parse(document.text, document.name)
    suite, table = ({**part} for part in (alone.data.get("suite") or {}, dict(alone.cases())[index]))
    for key in _REPLACED:
        suite.pop(key, None)
        table.pop(key, None)
    own = {"repetitions": 1, "deadline": f"{PHASE_S:g}s", "wear_out": False}
    alone.data |= {"suite": suite | own, "case": [table]}
    alone.changed |= {("suite", key): OPTION for key in own}
    alone.lines = alone.lines.of_element("case", index)
    return alone


def _closed_loop(document: "Document", index: int, options: RunOptions) -> list[float]:
    """Requests per second of the slowest and the fastest of a case's operations and variants."""
    from strider.statistics import summarize

    kept = [text for text in options.settings if _key_of(text) not in _REPLACED]
    run, _ = measured(_alone(document, index), replace(options, settings=kept), prepare)
    rates = [summary.iops for summary in summarize(run) if summary.iops]
    if not rates:
        why = run.errors[0].message if run.errors else "no request was completed"
        raise StriderError(f"{OPTION}: case {index + 1} could not be measured: {why}", ExitCode.CANNOT_RUN)
    return sorted({min(rates), max(rates)})


def _rounded(rate: float) -> int:
    """A rate of two significant digits."""
    return max(1, int(float(f"{rate:.2g}")))
