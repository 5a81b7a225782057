"""Options of runs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strider.launch.launchers import Places


from enum import StrEnum


class FailOn(StrEnum):
    """Conditions that fail a comparison."""

    SLOWER = "slower"
    DIFFERENT = "different"
    UNPROVEN = "unproven"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True)
class RunOptions:
    """Options of a run from the command line.

    Attributes:
        settings: Texts of `--set`.
        target: Directory to measure; None for the suite's target.
        clients: Client counts as typed; None for the suite's.
        launcher: Name of the launcher.
        store: Folder of the run directory; None for the default.
        quiet: Whether to hide progress.
        json: Whether to print JSON instead of a table.
        counters: Which node counters are recorded.
        timeline: Which timelines are recorded.
        timeline_interval: Timeline interval, as typed.
        remount_command: Command that remounts the target, as typed.
        ceilings: Whether the machine's ceilings are measured first.
        observe: Hosts to observe by ssh, as typed, or None.
        observe_engine: Path of the engine on those hosts.
        confine: Whether the ranks are confined.
        within: Directories that may contain the target; empty: any.
        places: Where the ranks may be; None: as the launcher chooses.
        run_id: Id of the run, known before; empty for a new one.
        per_rank: File for the rows of all ranks, or None.
    """

    settings: list[str] = field(default_factory=list)
    target: str | None = None
    clients: str | None = None
    launcher: str = "mpiexec"
    store: Path | None = None
    quiet: bool = False
    json: bool = False
    counters: str = "all"
    timeline: str = "auto"
    timeline_interval: str = "100ms"
    remount_command: str | None = None
    ceilings: str = "all"
    observe: str | None = None
    observe_engine: str = "strider-engine"
    confine: str = "auto"
    within: list[Path] = field(default_factory=list)
    places: "Places | None" = None
    run_id: str = ""
    per_rank: Path | None = None
