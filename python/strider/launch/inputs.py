"""Inputs of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from strider.engine import Engine
from strider.launch.confinement import ConfineMode
from strider.launch.launchers import Launcher
from strider.launch.resume import Resumption
from strider.launch.watching import Watching
from strider.suite import CheckedPlan


@dataclass(frozen=True)
class Bounds:
    """Limits on the access of a run.

    Attributes:
        confine: Whether the kernel enforces them (confinement).
        within: Directories that may contain the target, as resolved paths; empty: any.
    """

    confine: ConfineMode = "auto"
    within: Sequence[Path] = ()


@dataclass(frozen=True, kw_only=True)
class RunInputs:
    """All that a run needs.

    Attributes:
        checked: The plan and its needs.
        engine: The engine.
        launcher: Launcher of the ranks.
        store: Folder for the run directory.
        watching: Records besides the results.
        remount: Command that remounts the target before cold reads, in words; empty: none.
        bounds: Limits on the access of the run.
        resumption: The run to continue; None for a new run.
        run_id: Id of a new run; empty for one with the present time.
    """

    checked: CheckedPlan
    engine: Engine
    launcher: Launcher
    store: Path
    watching: Watching = field(default_factory=Watching)
    remount: Sequence[str] = ()
    bounds: Bounds = field(default_factory=Bounds)
    resumption: Resumption | None = None
    run_id: str = ""
