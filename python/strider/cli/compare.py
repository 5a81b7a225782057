"""`strider compare`: compares two runs, or the values of a key within one run."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from strider.cli.grouped import grouped
from strider.console import echo
from strider.errors import StriderError
from strider.running.conclusion import conclude, conditions
from strider.running.options import FailOn, LauncherOption, OutputOptions, RunOptions, VerdictOptions

if TYPE_CHECKING:
    from strider.compare import Comparison
    from strider.store import Run


RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="A B",
        help="Two directories, which are measured alternately; or two runs: ids, unique prefixes of ids, run "
        "directories, or latest. A is the base. To compare several runs on each side, join them with "
        "commas: A1,A2,A3 B1,B2,B3; alternate the sides when you measure. With --by: one run.",
    ),
]
ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="KEY[=BASE,OTHER…]",
        help="Compare the values of a suite key within one run, for example interface=posix,mpiio.",
    ),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="rate (default), first-done, latency-mean, -p50, -p90, -p99 or -max. May be repeated.",
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Time to measure two directories, for example 60s or 10min (default: 4min).",
        show_default=False,
    ),
]
_BUDGET = "4min"
#: Files of a run directory.
_OF_RUNS = ("run.json", "plan.json", "events.jsonl")


@grouped
def compare(
    *,
    runs: RunsArgument,
    by: ByOption = None,
    metric: MetricOption = None,
    verdicts: VerdictOptions,
    budget: BudgetOption = None,
    launcher: LauncherOption = "mpiexec",
    output: OutputOptions,
) -> None:
    """Compare two directories, two runs, or the values of a key within one run.

    Measures two directories alternately and answers in one sentence: which one is faster, for
    what, and how much. --budget, --launcher and --quiet are for directories only, --by and --metric for runs.

    Of runs, matches cases that do the same work. Reports a difference only if it is statistically
    significant, corrected for the number of comparisons, and if the sides were measured alternately (--by,
    alternating runs, strider run --against) or 5 earlier runs of the case show how much single runs differ.
    Exit code 0; with --fail-on, 1 if the condition is met or nothing can be compared, 2 if there is no
    verdict.
    """
    share, wanted = conditions(verdicts.threshold, verdicts.fail_on)
    if _are_directories(runs, output.store):
        for name, given in (("--by", by), ("--metric", metric)):
            if given:
                raise StriderError(f"{name} compares runs: name runs, or leave it out")
        from strider.running.directories import CompareOptions, compare_measured

        options = RunOptions.of(output, launcher=launcher, ceilings="none")
        compare_measured(runs, options, CompareOptions(budget or _BUDGET, share, wanted, verdicts.page))
    if budget:
        raise StriderError("--budget is the time to measure two directories, and runs are measured already")
    found = _compare(runs, by, metric or ["rate"], share, output.store)
    if FailOn.UNPROVEN in wanted:
        _print_chances(found)
    conclude(found, wanted, json=output.json, page=verdicts.page)


def _are_directories(names: list[str], store: Path | None) -> bool:
    """Returns whether directories are named, and no runs.

    Raises:
        StriderError: Some names are of directories and some of runs, one does not exist, or it is not two
            directories.
    """
    for name in names:
        if name.startswith(("/", "./", "../", "~")) and not Path(name).expanduser().exists():
            raise StriderError(f"{name} does not exist: create the directory, or name a run of the store")
    found = [_is_directory(name, store) for name in names]
    if all(found) and len(found) == 2:
        return True
    if any(found) and len(found) != 2:
        raise StriderError(f"two directories are needed, not {len(names)}: name two directories, or two runs")
    if any(found):
        directory, other = sorted(names, key=lambda name: not found[names.index(name)])
        raise StriderError(
            f"{directory} is a directory without a run, and {other} is none: name two directories to measure "
            "them, or two runs"
        )
    return False


def _is_directory(name: str, store: Path | None) -> bool:
    """Returns whether a name is of a directory to measure; a run by that name comes first."""
    from strider import store as stored
    from strider.listing.names import store_of

    path = Path(name).expanduser()
    if not path.is_dir() or any((path / file).exists() for file in _OF_RUNS):
        return False
    if "/" not in name:
        with suppress(StriderError):
            stored.resolve(store_of(store), name)
            return False
    return True


def _compare(
    names: list[str], by: str | None, metrics: list[str], threshold: float, store: Path | None
) -> "Comparison":
    from strider import compare as comparing
    from strider import store as stored
    from strider.listing.names import store_of

    folder = store_of(store)

    def load(name: str) -> "list[Run]":
        return [stored.load(stored.resolve(folder, one)) for one in _split(name)]

    if by is not None:
        if len(names) != 1:
            raise StriderError(f"--by compares within one run, but {len(names)} are named: name one run")
        (run,) = load(names[0])[:1]
        return comparing.compare_within(run, by, metrics, threshold)
    if len(names) != 2:
        raise StriderError(
            f"two runs are needed, not {len(names)}: name two runs, or one run and --by KEY (join "
            "several runs of one side with commas: A1,A2,A3)"
        )
    base, other = map(load, names)
    history = comparing.history_of(base[0], other[0]) if len(base) == len(other) == 1 else None
    return comparing.compare(base, other, metrics, threshold, history)


def _print_chances(found: "Comparison") -> None:
    """Prints the possible verdicts of a test of these pairs, on the error output; nothing without pairs."""
    from statistics import median

    from strider.compare.chances import Test, chances_text

    paired = [row.change for row in found.rows if row.change and row.change.method.startswith("paired")]
    if not paired:
        return
    pairs = min(change.n for change in paired)
    spread = median(change.error * (change.n / 2) ** 0.5 for change in paired)
    for line in chances_text(Test(pairs, len(paired), found.threshold, "unproven"), spread):
        echo(f"strider: note: {line}", stream=sys.stderr)


def _split(name: str) -> list[str]:
    """Splits names at commas; an existing path that contains a comma is one name."""
    return [name] if Path(name).exists() else [part for part in name.split(",") if part]
