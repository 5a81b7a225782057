"""`strider run`: runs a suite."""

from strider.cli.options import (
    ClientsOption,
    CountersOption,
    JsonOption,
    LauncherOption,
    QuietOption,
    RemountOption,
    SetOption,
    StoreOption,
    SuiteArgument,
    TargetOption,
    TimelineIntervalOption,
    TimelineOption,
)
from strider.cli.running import RunOptions, run_suite


def run(
    suite: SuiteArgument,
    target: TargetOption = None,
    clients: ClientsOption = None,
    settings: SetOption = None,
    launcher: LauncherOption = "mpiexec",
    counters: CountersOption = "all",
    timeline: TimelineOption = "auto",
    timeline_interval: TimelineIntervalOption = "100ms",
    remount_command: RemountOption = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run a suite: measure every case, print a table, write a report.

    Test files are made only in a folder of Strider's own in the target, and removed at the end, whatever
    happens. Ctrl-C stops measuring within two seconds, removes the files and keeps what was measured.
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
    )
    run_suite(locate(suite), options)
