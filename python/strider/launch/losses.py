"""Looks for a lost node or rank during a run."""

from dataclasses import dataclass, field
from pathlib import Path

from strider.launch.deaths import end_of, is_lost
from strider.launch.process import EngineProcess
from strider.launch.slurm_nodes import Asking, Connections, end_step, lost_nodes, proven_lost, srun_of
from strider.launch.state import RunState, Unanswered
from strider.processes import descendants

POLL_S = 1.0
SILENCE_S = 5.0
"""Nodes are asked when a run has made no progress for this time in seconds."""
PAUSE_S = 10.0
"""Time in seconds between questions to nodes that answered."""


@dataclass
class LossWatch:
    """Looks for a lost node or rank: in the output of the launcher, and by asking the nodes of a Slurm step.

    A node is lost if it cannot be reached and a connection of `srun` ended, or if it twice does not answer
    while the run makes no progress: Slurm can restart its daemon on a node with active ranks.

    Attributes:
        process: The launcher.
        log: Its output.
    """

    process: EngineProcess
    log: Path
    _next_s: float = 0.0
    _next_question_s: float = 0.0
    _asking: Asking | None = None
    _connections: Connections = field(default_factory=Connections)
    _is_dropped: bool = False
    _silent: frozenset[str] = frozenset()

    def seen(self, now_s: float, state: RunState) -> bool:
        """Returns whether a node or rank is lost; notes in the state a node that does not answer."""
        if now_s < self._next_s:
            return False
        self._next_s = now_s + POLL_S
        if is_lost(end_of(self.log)):
            return True
        return self.process.launcher.is_srun and self._is_unanswered(now_s, state)

    def close(self) -> None:
        """Ends an open question."""
        if self._asking:
            self._asking.stop()
            self._asking = None

    def _is_unanswered(self, now_s: float, state: RunState) -> bool:
        processes = [self.process.process.pid, *descendants(self.process.process.pid)]
        srun = srun_of(processes)
        drops = srun is not None and self._connections.dropped(srun)
        self._is_dropped = self._is_dropped or drops
        if self._asking:
            return self._asking.is_over() and self._conclude(now_s, self._asking, state)
        is_silent = now_s - state.last_progress > SILENCE_S
        if drops or (is_silent and now_s >= self._next_question_s):
            self._asking = Asking(processes)
            self._asking.start()
        return False

    def _conclude(self, now_s: float, asking: Asking, state: RunState) -> bool:
        """Returns whether a node is lost."""
        names, before = frozenset(answer.node for answer in lost_nodes(asking.answers)), self._silent
        self._asking, self._silent = None, names
        self._next_question_s = now_s + (0.0 if names else PAUSE_S)
        is_silent = now_s - state.last_progress > SILENCE_S
        lost = proven_lost(asking.answers, before, is_dropped=self._is_dropped, is_silent=is_silent)
        if asking.step is None or not lost:
            self._is_dropped = self._is_dropped and bool(names)
            return False
        state.unanswered = Unanswered([answer.node for answer in lost], lost[0].reason)
        end_step(asking.step)
        return True
