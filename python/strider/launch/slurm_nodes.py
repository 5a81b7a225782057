"""The nodes of a Slurm step, asked in the middle of a run: `srun` does not report a node that is gone.

Slurm's controller notices a silent node after SlurmdTimeout, by default five minutes. The `srun` of the step
says nothing. A second `srun` on a single node fails after some ten seconds if the node is gone.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from strider.text import printable

QUESTION_S = 3.0
"""Time limit of a question to Slurm's controller in seconds."""
ASK_S = 16.0
"""Time limit of a node's answer in seconds; `srun` gives up after some ten if nothing listens there."""
PROMPT_S = 5.0
"""Where the others take longer to answer, in seconds, a node that does not answer in time is not lost."""
AT_ONCE = 16
MOST_NODES = 512
"""No question in larger steps."""
_UNREACHABLE = re.compile(
    r"failed on node (?P<node>\S+): "
    r"(?P<reason>Communication connection failure|Unable to contact slurmd|Socket timed out[^\n]*|"
    r"Connection (?:refused|timed out|reset by peer)|No route to host|Zero Bytes were transmitted[^\n]*)"
)


@dataclass(frozen=True)
class Step:
    """A step of a Slurm job.

    Attributes:
        job: Number of its job.
        name: Its name for `scancel`, such as 12.0.
        nodes: Names of its nodes.
    """

    job: str
    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The answer of a node.

    Attributes:
        node: Its name.
        kind: Whether it answered, cannot be reached, or neither is known.
        took_s: Time in seconds.
        reason: Why it cannot be reached, in the words of `srun`.
    """

    node: str
    kind: str
    took_s: float
    reason: str = ""


def step_of(processes: Collection[int]) -> Step | None:
    """Returns the step that one of these processes, an `srun` on this host, started, or None."""
    words = ["scontrol", "--oneliner", "show", "step", *filter(None, [os.environ.get("SLURM_JOB_ID")])]
    for line in _said(words).splitlines():
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        pid = fields.get("SrunHost:Pid", "").rpartition(":")[2]
        if pid.isdigit() and int(pid) in processes:
            name = fields["StepId"]
            nodes = tuple(_said(["scontrol", "show", "hostnames", fields.get("NodeList", "")]).split())
            return Step(name.partition(".")[0], name, nodes)
    return None


def end_step(step: Step) -> None:
    """Ends the step on the nodes that are left: a killed `srun` does not."""
    _said(["scancel", step.name])


def lost_nodes(answers: Collection[Answer]) -> list[Answer]:
    """Returns the nodes that are lost, given that others answer.

    A node that is only late counts if all others were prompt: else the machine is slow, not the node.
    """
    prompt = [answer for answer in answers if answer.kind == "answers"]
    if not prompt:
        return []
    slowest_s = max(answer.took_s for answer in prompt)
    late = [answer for answer in answers if answer.kind == "late"] if slowest_s < PROMPT_S else []
    return [*(answer for answer in answers if answer.kind == "unreachable"), *late]


def proven_lost(
    answers: Collection[Answer], before: Collection[str], *, is_dropped: bool, is_silent: bool
) -> list[Answer]:
    """Returns the nodes that are proven to be lost.

    A connection of `srun` that ended does not say which node had it. It is evidence only against a node that
    cannot be reached: one that is late may be slow while another one is lost.

    Args:
        answers: The answers of all nodes.
        before: Names of the nodes that were lost by the previous answers.
        is_dropped: Whether a connection of `srun` ended.
        is_silent: Whether the run makes no progress.
    """
    return [
        answer
        for answer in lost_nodes(answers)
        if (is_dropped and answer.kind == "unreachable") or (is_silent and answer.node in before)
    ]


@dataclass
class Asking:
    """A question to all nodes of a step, in threads of its own.

    Attributes:
        processes: Where the `srun` of the step is.
        step: The step; None until it is known, or if none is found.
        answers: Answers of all nodes at the end.
    """

    processes: Collection[int]
    step: Step | None = None
    answers: list[Answer] = field(default_factory=list)
    _stopped: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def start(self) -> None:
        """Begins to ask."""
        self._thread = Thread(target=self._ask, daemon=True)
        self._thread.start()

    def is_over(self) -> bool:
        """Returns whether all answers are there."""
        return self._thread is None or not self._thread.is_alive()

    def stop(self) -> None:
        """Ends the question and its processes."""
        self._stopped.set()
        if self._thread:
            self._thread.join()

    def _ask(self) -> None:
        step = step_of(self.processes)
        if step is None or not 1 < len(step.nodes) <= MOST_NODES:
            return
        self.step = step
        with ThreadPoolExecutor(AT_ONCE) as pool:
            self.answers = list(pool.map(lambda node: self._ask_node(step, node), step.nodes))

    def _ask_node(self, step: Step, node: str) -> Answer:
        options = ["--overlap", "--ntasks=1", "--nodes=1", "--mpi=none", "--input=none", "--cpu-bind=none"]
        words = ["srun", f"--jobid={step.job}", f"--nodelist={node}", *options, "true"]
        begin = time.monotonic()
        with _running(words) as child:
            while child.poll() is None and time.monotonic() < begin + ASK_S and not self._stopped.is_set():
                time.sleep(0.05)
            took_s = time.monotonic() - begin
            if child.returncode == 0:
                return Answer(node, "answers", took_s)
            if child.returncode is None:
                return Answer(node, "unknown" if self._stopped.is_set() else "late", took_s)
            said = child.stderr.read().decode("utf-8", "replace") if child.stderr else ""
        found = _UNREACHABLE.search(said)
        if found and found["node"] == node:
            return Answer(node, "unreachable", took_s, printable(found["reason"]))
        return Answer(node, "unknown", took_s)


class Connections:
    """Watches the connections of an `srun`: one ends when the daemon of a step's node does.

    The smallest number of the last polls counts, as messages of Slurm have connections of their own.
    """

    POLLS = 10

    def __init__(self) -> None:
        self._seen: list[int] = []

    def dropped(self, pid: int) -> bool:
        """Returns whether fewer are open than before."""
        now = _sockets(pid)
        usual = min(self._seen, default=0) if len(self._seen) == self.POLLS else 0
        if now < usual:
            self._seen.clear()
            return True
        self._seen = [*self._seen, now][-self.POLLS :]
        return False


def srun_of(processes: Collection[int]) -> int | None:
    """Returns the first of these processes that is an `srun`."""
    for pid in sorted(processes):
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "srun":
                return pid
    return None


def _sockets(pid: int) -> int:
    count = 0
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                count += str(link.readlink()).startswith("socket:")
    return count


def _running(words: list[str]) -> "_Child":
    return _Child(
        [shutil.which(words[0]) or words[0], *words[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


class _Child(subprocess.Popen[bytes]):
    """A process that does not outlive its `with`."""

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        if self.stderr:
            self.stderr.close()


def _said(words: list[str]) -> str:
    """Returns the output of a command of Slurm; empty if it fails or takes too long."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=QUESTION_S, check=True, text=True
        )
        return done.stdout
    return ""
