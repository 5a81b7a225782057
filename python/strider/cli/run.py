"""`strider run`: measures a suite."""

from strider.cli.options import (
    CeilingsOption,
    ClientsOption,
    ConfineOption,
    CountersOption,
    JsonOption,
    LauncherOption,
    ObserveEngineOption,
    ObserveOption,
    QuietOption,
    RemountOption,
    SetOption,
    StoreOption,
    SuiteArgument,
    TargetOption,
    TimelineIntervalOption,
    TimelineOption,
    WithinOption,
)
from strider.cli.running import RunOptions, run_suite


def run(
    suite: SuiteArgument,
    target: TargetOption = None,
    clients: ClientsOption = None,
    settings: SetOption = None,
    launcher: LauncherOption = "mpiexec",
    counters: CountersOption = "all",
    ceilings: CeilingsOption = "all",
    observe: ObserveOption = None,
    observe_engine: ObserveEngineOption = "strider-engine",
    timeline: TimelineOption = "auto",
    timeline_interval: TimelineIntervalOption = "100ms",
    remount_command: RemountOption = None,
    confine: ConfineOption = "auto",
    within: WithinOption = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure all cases of a suite, print a table and write a report.

    Creates test files only in the folder strider-RUN of the target and removes it at the end. Ctrl-C stops
    within two seconds, removes the files and keeps the results so far; the exit code is 1, or 3 without
    results. A second Ctrl-C ends the writing of results. To see the cases first: strider plan SUITE.
    """
    from strider.suite import locate

    options = RunOptions(
        settings or [],
        target,
        clients,
        launcher,
        store,
        quiet,
        json,
        counters,
        timeline,
        timeline_interval,
        remount_command,
        ceilings,
        observe,
        observe_engine,
        confine,
        within or [],
    )
    run_suite(locate(suite), options)
