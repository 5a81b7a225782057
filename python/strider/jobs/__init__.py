"""Jobs: suites that a scheduler runs, through PSI/J; used by the page and the command line.

A job has a folder in the store with its record, its suite, its scripts and its output. So each command, and
the next server of the page, finds the jobs of earlier ones. A job is one run; if that does not fit the time
of one job of the scheduler, several of them run after one another, and each resumes the run.
"""

from strider.jobs.cancelling import Cancelled, cancel, cancel_rest
from strider.jobs.condition import Condition, condition, conditions
from strider.jobs.following import follow, planned_state
from strider.jobs.inside import ended_earlier, has_ended_last, interrupted_on_request, note_process
from strider.jobs.options import JobOptions, estimated_s, jobs_needed, parse_options
from strider.jobs.record import Job, all_jobs, find, read
from strider.jobs.reservation import Reservation, reserve
from strider.jobs.submission import Order, example, submit

__all__ = [
    "Cancelled",
    "Condition",
    "Job",
    "JobOptions",
    "Order",
    "Reservation",
    "all_jobs",
    "cancel",
    "cancel_rest",
    "condition",
    "conditions",
    "ended_earlier",
    "estimated_s",
    "example",
    "find",
    "follow",
    "has_ended_last",
    "interrupted_on_request",
    "jobs_needed",
    "note_process",
    "parse_options",
    "planned_state",
    "read",
    "reserve",
    "submit",
]
