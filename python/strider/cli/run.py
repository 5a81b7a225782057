"""`strider run`: runs a suite."""

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
    """Run a suite: measure every case, print a table, write a report.

    Test files are made only in a folder of Strider's own in the target, and removed at the end, whatever
    happens. Ctrl-C stops measuring within two seconds, removes the files and keeps what was measured; the
    exit code is then 1, or 3 if that is nothing. When everything is measured, results are still written;
    Ctrl-C once more ends that too.
    strider plan SUITE shows beforehand what a run will do.
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
