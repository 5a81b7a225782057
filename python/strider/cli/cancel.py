"""`strider cancel`: ends a job, and its run in order."""

from typing import TYPE_CHECKING, Annotated

import typer

from strider.console import echo
from strider.errors import StriderError
from strider.running.options import StoreOption
from strider.text import printable

if TYPE_CHECKING:
    from strider.jobs import Cancelled, Job


def cancel(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="Job, its number at the scheduler, its run, or latest.")
    ],
    store: StoreOption = None,
) -> None:
    """End a job: interrupt its run, keep the results, remove its files, then end it at the scheduler.

    A job that waits is taken from the queue. If the run does not end within 90 s, the scheduler ends the job;
    strider clean then removes what is left in the target.
    """
    from strider.jobs import cancel as end
    from strider.jobs import find
    from strider.listing.names import store_of

    place = store_of(store).absolute()
    found = find(place, job)
    if found is None:
        raise StriderError(f'there is no job "{job}" in {place}: check the name, or give --store')
    for line in outcome_lines(found, end(found)):
        echo(line)


def outcome_lines(job: "Job", done: "Cancelled") -> list[str]:
    """Returns the result of a cancellation, one line each."""
    if done.was.is_over:
        return [f"job {job.id} has ended already: nothing to cancel"]
    lines = []
    if done.withdrawn:
        lines.append(f"taken from the queue: {', '.join(done.withdrawn)}")
    if done.run_ended:
        lines.append(f"run {job.record.run} was interrupted: its results are kept, its files are removed")
    if done.ended:
        is_local = job.record.options.executor == "local"
        ended = "processes were ended" if is_local else "ended by the scheduler"
        lines.append(
            f"{ended}: {', '.join(done.ended)}; the run did not end in time: check the target with "
            "strider clean"
        )
    if done.elsewhere:
        lines.append(
            f"job {job.id} was not ended from here ({printable(done.elsewhere)}): its run ends once it "
            "finds the request in the store; if it does not, use strider cancel there"
        )
        return lines
    return [*lines, f"job {job.id} is cancelled"]
