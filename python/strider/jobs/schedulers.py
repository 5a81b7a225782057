"""Schedulers, by the executors of PSI/J: it renders their scripts, and knows their commands and answers.

The commands are started here instead of by PSI/J, so that each has a deadline and an edited script can be
submitted. PSI/J would also poll in a thread and report a job as failed when it does not understand the line
of another job.
"""

import io
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from psij import Job as PsijJob
from psij import JobState, SubmitException
from psij.executors.batch.batch_scheduler_executor import BatchSchedulerExecutor, InvalidJobStateError

from strider.errors import ExitCode, StriderError

COMMAND_LIMIT_S = 30.0
_KNOWN_REASON = "NonZeroExitCode"

_CONSTRAINT = re.compile(r"""^(#SBATCH --constraint=")'([^'"\n]*)'(")$""", re.MULTILINE)
_SMALLER = "lower --nodes or --per-node, or choose another --partition"
_SLURM_REFUSALS = {
    r"\bqos policy": "lower --nodes, --per-node or --time, wait for the end of other jobs, or choose another "
    "--qos",
    r"\bqos\b": "choose one that sacctmgr show qos lists, with --qos",
    r"\breservation\b": "choose one that scontrol show reservation lists, with --reservation",
    r"\bfeature\b": "choose features that sinfo --format=%f lists, with --constraint",
    r"\baccount\b": "choose one that sacctmgr show associations lists, with --account",
    r"\binvalid partition\b": "choose one that sinfo lists, with --partition",
    r"\btime limit\b": "lower --time, or choose another --partition",
    r"\bpartition\b": "choose another one that sinfo lists, with --partition",
    r"\bnodes?\b": _SMALLER,
    r"\bprocessors\b": _SMALLER,
}
"""Remedies by patterns of a refusal, in lower case; the first one holds."""
_SLURM_REASONS = {
    "Dependency": "the job before it has not ended",
    "Priority": "jobs of higher priority wait",
    "Resources": "its nodes are busy",
    "PartitionTimeLimit": "the partition allows less time: cancel it, and submit with a smaller --time",
    "PartitionNodeLimit": "the partition has fewer usable nodes: cancel it, and submit with fewer --nodes",
    "PartitionConfig": "its nodes have fewer processors: cancel it, and submit with a smaller --per-node",
    "PartitionDown": "the partition starts no jobs: wait, or choose another --partition",
    "JobHeldUser": "held: scontrol release starts it",
    "JobHeldAdmin": "held by an administrator",
    "InvalidAccount": "cancel it, and submit with another --account",
}
"""Meanings of reasons for waiting."""
_SLURM_LIMITS = {"QOS": "a limit of the QOS", "Assoc": "a limit of the account"}
"""Meanings of reasons for waiting by their beginnings."""

_CLUSTERS = {
    "slurm": (
        ["scontrol", "show", "config"],
        re.compile(r"^ClusterName[ \t]*=[ \t]*([\w.-]{1,128})", re.M | re.A),
    ),
    "lsf": (["lsid"], re.compile(r"^My cluster name is ([\w.-]{1,128})", re.M | re.A)),
}
"""Commands that name a cluster. A job of PBS has its server in its number."""

State = Literal["waiting", "running", "ended", "unknown"]
_STATES: dict[JobState, State] = {
    JobState.NEW: "waiting",
    JobState.QUEUED: "waiting",
    JobState.ACTIVE: "running",
}


@dataclass(frozen=True)
class Seen:
    """What a scheduler says of a job.

    Attributes:
        state: `ended` also for a job that it no longer knows; `unknown` where it does not answer.
        reason: Why the job waits, or why the state is unknown; empty where nothing is known.
    """

    state: State
    reason: str = ""


class Scheduler(Protocol):
    """A scheduler."""

    def script(self, job: PsijJob) -> str:
        """The script of a job."""

    def submit(self, job: PsijJob, script: Path) -> str:
        """Submits a script; returns the number of its job."""

    def look(self, numbers: list[str]) -> dict[str, Seen]:
        """The state of jobs by their numbers."""

    def cancel(self, number: str) -> None:
        """Ends a job, or takes it from the queue; no error if it has ended."""


class Batch:
    """A scheduler with scripts: Slurm, PBS, LSF.

    Args:
        executor: PSI/J's executor.
    """

    def __init__(self, executor: BatchSchedulerExecutor) -> None:
        self._executor = executor

    def script(self, job: PsijJob) -> str:
        """The script as PSI/J renders it."""
        text = io.StringIO()
        # PSI/J offers the context of its templates to its own submission only.
        context = self._executor._create_script_context(job)
        self._executor.generate_submit_script(job, context, text)
        return text.getvalue()

    def submit(self, job: PsijJob, script: Path) -> str:
        """Submits a script, whoever wrote it.

        Raises:
            StriderError: The scheduler refuses it.
        """
        done = _ask(self._executor.get_submit_command(job, script))
        if done.returncode:
            said = _said(done)
            remedy = self._remedy(said)
            raise StriderError(
                f"the job was not submitted: {said}{': ' if remedy else ''}{remedy}", ExitCode.CANNOT_RUN
            )
        try:
            return str(self._executor.job_id_from_submit_output(done.stdout))
        except (SubmitException, LookupError) as error:
            raise StriderError(
                f"unknown answer to a submission: {_said(done)}", ExitCode.CANNOT_RUN
            ) from error

    def look(self, numbers: list[str]) -> dict[str, Seen]:
        """The state of jobs by their numbers."""
        try:
            done = _ask(self._executor.get_status_command(numbers))
        except StriderError as error:
            return dict.fromkeys(numbers, Seen("unknown", error.message))
        try:
            output, reasons = self._answer(done.stdout, numbers)
            found = self._executor.parse_status_output(done.returncode, output)
        # PSI/J asserts that it knows each state, and raises errors of all kinds at unknown answers.
        except (AssertionError, RuntimeError, LookupError, ValueError) as error:
            why = _said(done) if done.returncode else str(error) or "unknown answer"
            return dict.fromkeys(numbers, Seen("unknown", why[:200]))
        return {
            number: Seen(
                _STATES.get(found[number].state, "ended"), reasons.get(number) or found[number].message or ""
            )
            if number in found
            else Seen("ended")
            for number in numbers
        }

    def _remedy(self, said: str) -> str:
        """Returns what to do about a refused submission; empty if that is unknown."""
        return ""

    def _answer(self, output: str, numbers: list[str]) -> tuple[str, dict[str, str]]:
        """Returns the answer about jobs in the form that PSI/J reads, and reasons that PSI/J leaves out."""
        return output, {}

    def cancel(self, number: str) -> None:
        """Ends a job, or takes it from the queue; no error if it has ended.

        Raises:
            StriderError: The scheduler refuses.
        """
        done = _ask(self._executor.get_cancel_command(number))
        if not done.returncode:
            return
        try:
            self._executor.process_cancel_command_output(done.returncode, _said(done))
        except InvalidJobStateError:
            return
        except SubmitException as error:
            if self.look([number])[number].state != "ended":
                raise StriderError(f"job {number} was not cancelled: {error}", ExitCode.CANNOT_RUN) from error


class Slurm(Batch):
    """Slurm: its answer has the reasons for waiting, and jobs of other kinds."""

    def script(self, job: PsijJob) -> str:
        """The script as PSI/J renders it, without the shell's quotes that it adds between its own."""
        return _CONSTRAINT.sub(r"\1\2\3", super().script(job))

    def _remedy(self, said: str) -> str:
        found = (remedy for words, remedy in _SLURM_REFUSALS.items() if re.search(words, said.lower()))
        return next(found, "")

    def _answer(self, output: str, numbers: list[str]) -> tuple[str, dict[str, str]]:
        head, *lines = output.split("\n") if output else [""]
        rows = [row for row in map(str.split, lines) if len(row) > 1 and row[0] in numbers]
        reasons = {number: _explained(" ".join(rest)) for number, _, *rest in rows if rest != ["None"]}
        # PSI/J reads the reason of failed jobs only, and asserts that it knows it.
        return "\n".join(
            [head, *(f"{number} {state} {_KNOWN_REASON}" for number, state, *_ in rows)]
        ), reasons


def _explained(reason: str) -> str:
    """Returns a reason of Slurm with its meaning, and with a remedy where the job would wait for ever."""
    limits = (meaning for begin, meaning in _SLURM_LIMITS.items() if reason.startswith(begin))
    meaning = _SLURM_REASONS.get(reason) or next(limits, "")
    return f"{reason} ({meaning})" if meaning else reason


def cluster_name(executor: str) -> str:
    """Returns the name of the cluster that an executor's commands reach; empty if unknown."""
    if executor == "slurm" and (name := os.environ.get("SLURM_CLUSTER_NAME", "")):
        return name
    words, pattern = _CLUSTERS.get(executor, ([], None))
    if pattern is None:
        return ""
    try:
        found = pattern.search(_ask(words).stdout)
    except StriderError:
        return ""
    return found[1] if found else ""


def _ask(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command of a scheduler, without a shell.

    Raises:
        StriderError: It is missing, or takes too long.
    """
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise StriderError(
            f"{words[0]} timed out after {COMMAND_LIMIT_S:g} s: check the scheduler", ExitCode.CANNOT_RUN
        ) from None
    except OSError as error:
        raise StriderError(
            f"cannot start {words[0]}: {error.strerror}: load the scheduler's module, or choose another "
            "--executor",
            ExitCode.CANNOT_RUN,
        ) from error


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(f"{done.stderr}\n{done.stdout}".split())[:500] or f"exit code {done.returncode}"
