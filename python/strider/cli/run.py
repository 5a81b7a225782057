"""`strider run`: measures a suite."""

from pathlib import Path
from typing import Annotated

import typer

from strider.cli.grouped import Without, grouped
from strider.cli.options import SuiteArgument, TargetsOption
from strider.errors import StriderError
from strider.running.conducting import run_suite
from strider.running.options import (
    AccessOptions,
    OutputOptions,
    RankOptions,
    RecordOptions,
    RunOptions,
    SuiteOptions,
    VerdictOptions,
)

AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="BASELINE",
        help="Also run a baseline, alternating with the suite, and compare: another suite, an earlier run "
        "(its suite and target are run again), or a directory (the same suite on it).",
    ),
]
CapacityOption = Annotated[
    bool,
    typer.Option(
        "--find-capacity",
        help="Measure each case in closed loop for 1 s, and then at arrival rates of 10 to 125 % of what it "
        "completed.",
    ),
]
TimeLimitOption = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        help="Begin no repetition that would end later, such as 60s or 10min; 0: no limit (default: the "
        "suite's time_limit). With several targets, it limits their rounds; with --against, each run.",
    ),
]
SimulateOption = Annotated[
    int | None,
    typer.Option(
        "--simulate",
        metavar="RANKS",
        min=1,
        max=10_000_000,
        help="Do no I/O: draw what so many ranks would measure, and report it, to check what they cost. The "
        "results say that they are simulated.",
    ),
]
PairsOption = Annotated[
    int,
    typer.Option("--pairs", metavar="N", min=3, max=1000, help="Number of runs of each side, for --against."),
]
_PAIRS = 6


@grouped
def run(
    *,
    suite: SuiteArgument,
    target: TargetsOption = None,
    changes: Annotated[SuiteOptions, Without("target")],
    ranks: RankOptions,
    records: RecordOptions,
    access: AccessOptions,
    time_limit: TimeLimitOption = None,
    find_capacity: CapacityOption = False,
    simulate: SimulateOption = None,
    against: AgainstOption = None,
    pairs: PairsOption = _PAIRS,
    verdicts: VerdictOptions,
    output: OutputOptions,
    job: Annotated[Path | None, typer.Option("--job", hidden=True)] = None,
) -> None:
    """Measure all cases of a suite, print a table and write a report.

    Creates test files only in the folder strider-RUN of the target and removes it at the end. Ctrl-C stops
    within two seconds, removes the files, prints and keeps the results so far; the exit code is 1, or 3
    without results. A second Ctrl-C ends the writing of results. To see the cases first: strider plan SUITE.

    With --against, runs the baseline (A) and the suite (B) alternately, each pair in random order, and
    prints their comparison; --threshold, --fail-on and -o are those of strider compare.
    """
    from strider.running.against import Verdicts, run_against

    file, targets = _suite_and_targets(suite, target, against)
    options = RunOptions.of(
        changes,
        ranks,
        records,
        access,
        output,
        target=targets[0] if target and len(targets) == 1 else None,
        settings=[*changes.settings, *_time_limit(time_limit)],
    )
    _refuse_one_file_for_several(records.per_rank, against is not None or len(targets) > 1)
    _check_combination(find_capacity, simulate, against is not None or len(targets) > 1)
    if against is not None:
        run_against(file, against, options, Verdicts.of(pairs, verdicts))
    _refuse_without_baseline(pairs, verdicts)
    _run_here(file, targets, options, find_capacity, job, simulate)


def _run_here(
    file: Path,
    targets: list[str],
    options: RunOptions,
    find_capacity: bool,
    job: Path | None,
    simulated_ranks: int | None,
) -> None:
    """Runs a suite without a baseline: simulated, on several targets, as the run of a batch job, or alone."""
    from strider.running.in_job import run_in_job
    from strider.running.simulating import simulate_suite
    from strider.running.targets import run_targets

    if simulated_ranks is not None:
        simulate_suite(file, options, simulated_ranks)
    if len(targets) > 1:
        run_targets(file, targets, options)
    if job is not None:
        run_in_job(job, file, options)
        return
    run_suite(file, options, find_capacity)


def _refuse_without_baseline(pairs: int, verdicts: VerdictOptions) -> None:
    """Refuses options that need --against."""
    for name, is_given in (
        ("--pairs", pairs != _PAIRS),
        ("--threshold", verdicts.threshold != "0%"),
        ("--fail-on", bool(verdicts.fail_on)),
        ("--output", verdicts.page is not None),
    ):
        if is_given:
            raise StriderError(f"{name} needs a baseline: add --against BASELINE")


def _time_limit(text: str | None) -> list[str]:
    """Returns the change of the suite that `--time-limit` stands for.

    Raises:
        StriderError: It is not a time.
    """
    from strider.units import parse_seconds

    if text is None:
        return []
    try:
        parse_seconds(text)
    except ValueError as error:
        raise StriderError(f"--time-limit {text}: {error}") from error
    return [f"suite.time_limit={text}"]


def _check_combination(finds_capacity: bool, simulated_ranks: int | None, compares: bool) -> None:
    """Refuses --find-capacity and --simulate with each other, and where targets are compared."""
    if finds_capacity and compares:
        raise StriderError("--find-capacity measures one target: leave --against and other targets out")
    if simulated_ranks is not None and (compares or finds_capacity):
        raise StriderError(
            "--simulate measures nothing: leave --find-capacity, --against and further targets out"
        )


def _refuse_one_file_for_several(per_rank: Path | None, compares: bool) -> None:
    if per_rank is not None and compares:
        raise StriderError("--per-rank is the file of one run: leave --against and further targets out")


def _suite_and_targets(suite: str, typed: list[str] | None, against: str | None) -> tuple[Path, list[str]]:
    """Returns the suite file, and the targets of the command line or of the suite."""
    from strider.suite import locate
    from strider.suite.document import read
    from strider.suite.targets import targets_of

    file = locate(suite)
    targets = targets_of(read(file), typed or [])
    if against is not None and len(targets) > 1:
        raise StriderError(
            f"--against compares one target with the baseline, not {len(targets)}: name one with --target"
        )
    return file, targets
