"""Runs that can continue: whether, and why not."""

import socket
from pathlib import Path

from strider.errors import StriderError
from strider.launch.folder import Marker
from strider.listing.summary import RunSummary
from strider.store.load import read_json
from strider.suite.places import named_by, objection
from strider.suite.plan import Plan
from strider.text import shortened
from strider.text_file import MOST_DOCUMENT_BYTES, read_regular
from strider.web.site import Site, confined_target

_OWN_LAUNCHER = "mpiexec"


def is_killed(directory: Path) -> bool:
    """Whether a run without an end was executed by a process of this machine that has ended."""
    try:
        marker = Marker.of(read_json(directory / "run.json").get("process"))
    except StriderError:
        return False
    return marker is not None and marker.host == socket.gethostname() and not marker.lives()


def is_cut(run: RunSummary) -> bool:
    """Whether a run may lack measurements, as far as its summary shows."""
    if run.ended is None:
        return is_killed(run.directory)
    return run.status in ("interrupted", "failed") or run.time_limit is not None


def require_resumable(directory: Path, site: Site) -> str:
    """Refuses a run that a page must not continue: it has the limits of a suite on the page.

    Args:
        directory: The run directory.
        site: The ground.

    Returns:
        The name of its suite.

    Raises:
        StriderError: It names places or programs that are not permitted here, or cannot be read.
    """
    info, run = read_json(directory / "run.json"), directory.name
    remedy = f"resume it on the command line: strider resume {run}"
    options = info.get("options")
    if not isinstance(options, dict):
        raise StriderError(f"{run} is of an older version of Strider and cannot be resumed")
    for key in ("remount", "observe"):
        if options.get(key):
            raise StriderError(f"{run} was started with {key}, which this page does not run: {remedy}")
    if options.get("launcher") != _OWN_LAUNCHER:
        raise StriderError(f"{run} was started by another launcher than {_OWN_LAUNCHER}: {remedy}")
    confined_target(str(info.get("directory")), site.allowed)
    try:
        plan = Plan.model_validate_json(read_regular(directory / "plan.json", MOST_DOCUMENT_BYTES))
    except (OSError, ValueError) as error:
        raise StriderError(f"{directory / 'plan.json'} is damaged: the run cannot be resumed") from error
    for case in plan.cases:
        for named in named_by(case, site.policy.vocabulary):
            if reason := objection(named, site.policy):
                raise StriderError(f'case {case.case}: {named.key}: "{shortened(named.value)}" {reason}')
    return plan.suite.name
