"""What a user asks of a scheduler: checked words, none of which can be mistaken for another option."""

import math
import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from strider.errors import StriderError
from strider.suite.checked import CheckedPlan
from strider.suite.estimate import AssumedRates, estimate
from strider.units import format_seconds

EXECUTORS = ("slurm", "pbs", "lsf", "flux", "local")
CHAINING = ("slurm", "pbs")
"""Executors whose scripts, as PSI/J renders them, can name a job to wait for."""
MOST_JOBS = 20
"""Jobs of the scheduler for one run, unless the user asks for more."""
LEAST_MARGIN_S = 60.0
MARGIN_SHARE = 0.1
"""Time that a job keeps for its start and its end: a share of its time, and at least so many seconds."""
LEAST_TIME_S = 60.0
_RATE_BYTES_S, _OPERATIONS_S = 200 << 20, 10_000
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_UNIT_TIME = re.compile(r"([0-9]{1,6})(s|m|min|h|d)")
_CLOCK_TIME = re.compile(r"(?:([0-9]{1,4})-)?([0-9]{1,4}):([0-9]{2})(?::([0-9]{2}))?")

_SLURM_ONLY = ("qos", "constraint")
"""Options that PSI/J passes on to Slurm alone."""
Word = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?$")]
"""A name of the site, such as a partition: no space, no quote, no option."""
Features = Annotated[str, Field(pattern=r"^([A-Za-z0-9(\[][A-Za-z0-9._+,&|*:()\[\]-]{0,255})?$")]
"""Features of nodes as Slurm combines them, such as `haswell|[rack1*2&rack2*2]`: no space, no quote."""


class JobOptions(BaseModel):
    """Resources of a job.

    Attributes:
        executor: Scheduler by its name in PSI/J.
        nodes: Number of nodes.
        per_node: Ranks on each node; 0 for as many as the suite needs.
        time_s: Time of each job of the scheduler in seconds; 0 for the scheduler's default.
        margin_s: Part of it that is not for measuring; 0 for the default.
        partition: Partition or queue; empty for the default.
        account: Account or project; empty for the default.
        qos: Quality of service of Slurm; empty for the default.
        constraint: Features of nodes of Slurm; empty for none.
        reservation: Reservation; empty for none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    executor: str = "slurm"
    nodes: int = Field(default=1, ge=1, le=1_000_000)
    per_node: int = Field(default=0, ge=0, le=100_000)
    time_s: float = 0.0
    margin_s: float = 0.0
    partition: Word = ""
    account: Word = ""
    qos: Word = ""
    constraint: Features = ""
    reservation: Word = ""

    @field_validator("executor")
    @classmethod
    def _known(cls, executor: str) -> str:
        if executor not in EXECUTORS:
            raise ValueError(f"choose one of {', '.join(EXECUTORS)}")
        return executor

    @property
    def usable_s(self) -> float:
        """Returns the seconds of one job in which the run may begin repetitions; 0 without a limit."""
        if not self.time_s:
            return 0.0
        margin_s = self.margin_s or max(LEAST_MARGIN_S, MARGIN_SHARE * self.time_s)
        # Also a job of a minute measures for some time.
        return self.time_s - (margin_s if self.margin_s else min(margin_s, self.time_s / 2))

    def on_each_node(self, ranks: int) -> int:
        """Returns the number of ranks on each node.

        Args:
            ranks: Ranks of the suite.

        Raises:
            StriderError: They do not fit the nodes.
        """
        per_node = self.per_node or math.ceil(ranks / self.nodes)
        if per_node * self.nodes < ranks:
            raise StriderError(
                f"the suite has {ranks} ranks, but --nodes {self.nodes} with --per-node {per_node} have room "
                f"for {per_node * self.nodes}: raise --nodes or --per-node"
            )
        return per_node


def parse_options(**typed: str | int) -> JobOptions:
    """Returns the checked options of a job.

    Args:
        typed: Attributes of `JobOptions`; `time` and `margin` as typed in place of `time_s` and `margin_s`.

    Raises:
        StriderError: One is invalid.
    """
    time_s = parse_time("--time", str(typed.pop("time", "")))
    margin_s = parse_time("--margin", str(typed.pop("margin", "")))
    if time_s and time_s < LEAST_TIME_S:
        raise StriderError(
            f"--time {format_seconds(time_s)}: a job needs {format_seconds(LEAST_TIME_S)} or more"
        )
    if margin_s and margin_s >= time_s:
        raise StriderError("--margin must be shorter than --time")
    executor = str(typed.get("executor", "slurm"))
    for name in _SLURM_ONLY:
        if typed.get(name) and executor != "slurm":
            raise StriderError(f"--{name} is an option of Slurm: leave it out with --executor {executor}")
    try:
        return JobOptions.model_validate({**typed, "time_s": time_s, "margin_s": margin_s})
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        why = (
            f"use letters, digits and {'. _ + - , & | * : ( ) [ ]' if option == 'constraint' else '. _ + -'}"
            if first["type"] == "string_pattern_mismatch"
            else first["msg"].removeprefix("Value error, ")
        )
        raise StriderError(f'--{option} "{first["input"]!s:.80}": {why}') from None


def parse_time(option: str, text: str) -> float:
    """Returns the seconds of a time such as `30m`, `1:30:00`, `1-12:00:00` or `90` (minutes, as in Slurm).

    Args:
        option: Its option, for the message.
        text: The time; empty for 0.

    Raises:
        StriderError: It is not a time.
    """
    if not text:
        return 0.0
    if text.isascii() and text.isdigit() and len(text) <= 6:
        return float(text) * 60
    if found := _UNIT_TIME.fullmatch(text):
        return float(found[1]) * _UNITS[found[2]]
    if found := _CLOCK_TIME.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    raise StriderError(
        f'{option} "{text:.40}" is not a time: write for example 30m, 2h, 1:30:00 or 1-12:00:00'
    )


def estimated_s(checked: CheckedPlan) -> float:
    """Returns the estimated time of a run in seconds, at the rates that `strider plan` assumes."""
    seconds = estimate(checked, AssumedRates(_RATE_BYTES_S, _OPERATIONS_S)).seconds
    return min(seconds, checked.suite.plan.time_limit_s or seconds)


def jobs_needed(options: JobOptions, estimate_s: float, typed: int | None) -> int:
    """Returns how many jobs of the scheduler a run may take.

    Without `--jobs` these are twice as many as its estimate needs, because rates are assumed; the job that
    completes the run cancels the rest.

    Args:
        options: Resources of each job.
        estimate_s: Estimated time of the run in seconds.
        typed: `--jobs`; None if it was not given.

    Raises:
        StriderError: The scheduler cannot order so many, or they are too many to be meant.
    """
    needed = math.ceil(estimate_s / options.usable_s) if options.usable_s else 1
    if typed is None and needed > MOST_JOBS:
        raise StriderError(
            f"the suite needs about {format_seconds(estimate_s)}, {needed} jobs of "
            f"{format_seconds(options.time_s)}: raise --time, or allow so many with --jobs {needed}"
        )
    jobs = typed or (1 if needed <= 1 else min(MOST_JOBS, 2 * needed))
    if jobs > 1 and not options.time_s:
        raise StriderError("--jobs needs --time: the time of each job")
    if jobs > 1 and options.executor not in CHAINING:
        if typed is None:
            return 1
        raise StriderError(
            f"--jobs {jobs}: PSI/J renders no dependencies for {options.executor}: use --time for the whole "
            "suite, and strider resume for what is missing"
        )
    return jobs
