"""Why an engine ended that did not say so itself."""

import socket
import time
from pathlib import Path

import pytest

from strider.launch.deaths import cause_of_death, end_of, is_banner, is_lost, lost_nodes, silent_nodes
from strider.launch.state import FirstEnd, RunState, Unanswered

AMONG = frozenset({7, 23742})


def state(*, progress: str = "") -> RunState:
    """A run in its second case."""
    found = RunState(4)
    found.add({"event": "case", "case": 2})
    if progress:
        counts = {"bytes_done": 0, "bytes_total": 8, "elapsed_s": 0.0, "planned_phases": 4}
        found.add({"event": "progress", "case": 2, "operation": progress, **counts})
    return found


@pytest.mark.parametrize(
    ("returncode", "words"),
    [
        (9, "a rank was killed (signal 9) in case 2, possibly out of memory: check dmesg"),
        (137, "a rank was killed (signal 9) in case 2, possibly out of memory: check dmesg"),
        (139, "a rank crashed (signal 11, SIGSEGV) in case 2: see engine.log of the run"),
        (15, "a rank was ended by signal 15 (SIGTERM) in case 2: check who sent the signal"),
        (-9, "the launcher was killed (signal 9) in case 2: check who sent the signal, and dmesg"),
        (3, "the engine exited early (exit status 3) in case 2"),
        (255, "the engine exited early (exit status 255) in case 2"),
        (None, "the engine exited early (exit status None) in case 2"),
    ],
)
def test_launchers_say_by_their_exit_status_what_happened(returncode: int | None, words: str) -> None:
    assert cause_of_death(returncode, state()) == words


# The output of the launchers, as recorded.
MPICH = """\
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 23742 RUNNING AT n3
=   EXIT CODE: {status}
=   CLEANING UP REMAINING PROCESSES
"""
OPEN_MPI = """\
prterun noticed that process rank 2 with PID 28782 on node n3 exited on
signal 11 (Segmentation fault).
"""
UCX = "[n3:9540 :0:9540] Caught signal 11 (Segmentation fault: kill(2) or raise(3) at address 0x163c)\n"
SRUN = "srun: error: n3: task 2: Killed\nsrun: launch/slurm: _step_signal: Terminating StepId=1.0\n"
OPEN_MPI_NODE = """\
PRTE has lost communication with a remote daemon.

  HNP daemon   : [prterun-client-29334@0,0] on node client
  Remote daemon: [prterun-client-29334@0,3] on node n3
"""


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            MPICH.format(status=9),
            "a rank on n3 (process 23742) was killed (signal 9) in case 2, possibly out of memory: "
            "check dmesg on n3",
        ),
        (
            OPEN_MPI,
            "rank 2 on n3 (process 28782) crashed (signal 11, SIGSEGV) in case 2: see engine.log of the run",
        ),
        (
            UCX,
            "a rank on n3 (process 9540) crashed (signal 11, SIGSEGV) in case 2: see engine.log of the run",
        ),
        (
            SRUN,
            "rank 2 on n3 was killed (signal 9) in case 2, possibly out of memory: check dmesg on n3",
        ),
        (MPICH.format(status=3), "the engine exited early (exit status 255) in case 2"),
    ],
    ids=["MPICH", "Open MPI", "UCX", "srun", "an exit status of the engine"],
)
def test_the_launcher_names_node_rank_and_signal(log: str, words: str) -> None:
    assert cause_of_death(255, state(), log) == words
    assert is_lost(log) == ("signal" in words)


def test_the_first_rank_that_was_lost_is_named() -> None:
    later = MPICH.format(status=15).replace("n3", "n4")
    assert "on n3" in cause_of_death(255, state(), MPICH.format(status=9) + later)


@pytest.mark.parametrize(
    "log",
    [
        "Connection to n3 closed by remote host.\r\n",
        "Timeout, server n3 not responding.\r\n",
        OPEN_MPI_NODE,
        "srun: error: Node failure on n3\n",
    ],
    ids=["ssh", "ssh with keepalive", "Open MPI", "srun"],
)
def test_a_lost_node_is_named_even_if_the_launcher_had_to_be_killed(log: str) -> None:
    assert lost_nodes(log) == ["n3"]
    assert is_lost(log)
    assert cause_of_death(-9, state(), log).startswith("node n3 was lost in case 2: ")


def test_a_message_that_only_mentions_a_connection_is_no_lost_nodes() -> None:
    assert lost_nodes("xrootd: Connection to n3 closed by remote host.\nConnection to n3 closed.\n") == []


def test_it_is_said_where_the_run_was() -> None:
    assert "in case 2 write," in cause_of_death(9, state(progress="write"))
    assert "before the first case," in cause_of_death(9, RunState(4))


def test_the_banner_of_mpich_is_distinguished_from_messages() -> None:
    log = """\
strider-engine: out of memory
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   EXIT CODE: 9
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""
    assert [line for line in log.splitlines() if not is_banner(line)] == ["strider-engine: out of memory"]


@pytest.mark.parametrize("returncode", [15, 255, -15, 1])
def test_a_limit_of_open_files_is_named_whatever_the_launcher_ends_by(
    returncode: int, tmp_path: Path
) -> None:
    log = tmp_path / "engine.log"
    log.write_bytes(b"x" * 100_000 + b"\n[mpiexec] pipe error (Too many open files)\n\xff")
    words = cause_of_death(returncode, state(), end_of(log))
    assert words.startswith("the launcher or a rank reached the limit of open files in case 2 (ulimit -n is ")
    ucx = "socket create failed: try to increase the limit by setting the max open files limit (ulimit -n)"
    assert "reached the limit of open files" in cause_of_death(returncode, state(), ucx)
    assert cause_of_death(15, state(), end_of(tmp_path / "absent")).startswith(
        "a rank was ended by signal 15"
    )


def with_nodes(*nodes: tuple[str, dict[int, int]]) -> RunState:
    """A run in a phase of its second case, with the processes of the ranks on each node."""
    found = state(progress="write")
    found.nodes = [
        {"name": name, "ranks": len(processes), "processes": [list(pair) for pair in processes.items()]}
        for name, processes in nodes
    ]
    return found


def test_a_rank_has_its_number_where_the_launcher_reports_only_its_process() -> None:
    known = with_nodes(("n1", {0: 23742, 1: 7}), ("n3", {2: 23741, 3: 23742}))
    words = cause_of_death(255, known, MPICH.format(status=11))
    assert words.startswith("rank 3 on n3 (process 23742) crashed (signal 11, SIGSEGV) in case 2 write")
    assert words.endswith(". The other 3 ranks could not continue without it")


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ({2: 23742}, "rank 2 on n3 (process 23742) was killed (signal 9) in case 2 write"),
        (
            {2: 23741, 3: 23742},
            "rank 3 on n3 (process 23742) or another rank there was killed (signal 9) in case 2 write",
        ),
    ],
)
def test_of_several_ranks_on_another_node_the_killed_one_is_not_certain(
    ranks: dict[int, int], words: str
) -> None:
    known = with_nodes(("n1", {0: 1, 1: 2}), ("n3", ranks))
    assert cause_of_death(255, known, MPICH.format(status=9)).startswith(words)


KILLED = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
TERMINATED = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal 15)\n"


@pytest.mark.parametrize(
    ("first", "text", "words"),
    [
        (FirstEnd(7, 9, AMONG), KILLED, "2 on n3 (process 7) was killed (signal 9) in case 2"),
        (FirstEnd(7, 6, AMONG), TERMINATED, "2 on n3 (process 7) crashed (signal 6, SIGABRT) in case 2"),
        (FirstEnd(7, 3 << 8, AMONG), KILLED, "2 on n3 (process 7) ended first in case 2 (exit status 3): "),
        (FirstEnd(7, None, AMONG), KILLED, "2 on n3 (process 7) was killed (signal 9) in case 2"),
        (FirstEnd(7, None, AMONG), TERMINATED, "2 on n3 (process 7) ended first in case 2: "),
        (FirstEnd(23742, None, AMONG), TERMINATED, "1 on n3 (process 23742) was killed (signal 9) in case"),
        (FirstEnd(8, 9, frozenset({8})), KILLED, "1 on n3 (process 23742) or another rank there was killed"),
    ],
)
def test_the_rank_that_ended_first_comes_before_the_one_that_the_launcher_names(
    first: FirstEnd, text: str, words: str
) -> None:
    """The launcher itself kills the other ranks by signal 9, and combines the bits of all signals."""
    known = with_nodes(("n3", {1: 23742, 2: 7}))
    known.current, known.first_end = None, first
    assert cause_of_death(255, known, MPICH.format(status=9) + text).startswith(f"rank {words}")


def test_a_signal_that_the_launcher_did_not_send_is_that_of_its_rank() -> None:
    known = with_nodes(("n3", {1: 23742, 2: 7}))
    known.first_end = FirstEnd(7, 9, AMONG)
    said = cause_of_death(255, known, MPICH.format(status=11))
    assert said.startswith("rank 1 on n3 (process 23742) crashed")


Nodes = list[tuple[str, dict[int, int]]]


@pytest.mark.parametrize(
    "nodes",
    [
        [("alpha", {0: 23742}), ("beta", {1: 23742})],
        [("n3", {0: 5, 1: 6})],
    ],
    ids=["two hosts of other names", "no such process"],
)
def test_a_rank_has_no_number_where_its_process_is_not_certain(
    nodes: list[tuple[str, dict[int, int]]],
) -> None:
    assert cause_of_death(255, with_nodes(*nodes), MPICH.format(status=9)).startswith("a rank on n3 ")


def test_the_ranks_of_a_lost_node_are_named_and_what_that_meant_for_the_others() -> None:
    known = with_nodes(("n1.cluster", {0: 1, 1: 2}), ("n3.cluster", {2: 3, 3: 4}))
    words = cause_of_death(-9, known, "Timeout, server n3 not responding.\r\n")
    assert words.startswith("node n3 (ranks 2, 3) was lost in case 2 write: ")
    assert words.endswith(". The other 2 ranks could not continue without it")


def test_a_node_that_does_not_answer_comes_before_what_followed_from_it() -> None:
    known = with_nodes(("n1", {0: 1}), ("n3", {1: 2}))
    known.unanswered = Unanswered(["n3"], "Communication connection failure")
    words = cause_of_death(-9, known, SRUN.replace("n3", "n1"))
    assert words == (
        "node n3 does not answer srun in case 2 write (Communication connection failure), and the other "
        "nodes do; check that n3 and slurmd there are up. The other ranks waited for it"
    )


def test_an_end_without_a_loss_has_no_consequence() -> None:
    assert "other rank" not in cause_of_death(3, with_nodes(("n1", {0: 1, 1: 2})))


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        " ",
        "\r\n",
        "=\n",
        "= ",
        "1",
        "[a:1\n",
        "[a:1] Caught signal ",
        " on node ",
        "srun: error: a: task 1: A",
    ],
)
@pytest.mark.parametrize(
    "begin",
    ["", "[a:", "= PID ", "rank 1 with PID 1 on node a exited on ", "Remote daemon: ", "srun: error: "],
)
def test_the_time_for_a_log_is_proportional_to_its_length(begin: str, piece: str) -> None:
    def time_s(length: int) -> float:
        log = begin + piece * (length // len(piece))
        times = []
        for _ in range(5):
            start = time.process_time()
            is_lost(log)
            times.append(time.process_time() - start)
        return min(times)

    assert time_s(1 << 14) < 24 * max(time_s(1 << 11), 20e-6)


def test_a_number_without_an_end_does_not_end_the_watch() -> None:
    number = "9" * 5000
    logs = [
        f"[n1:{number}] Caught signal 9 (x",
        f"[n1:1] Caught signal {number} ",
        f"=   PID {number} RUNNING AT n1\n=   EXIT CODE: 9\n",
        f"=   PID 1 RUNNING AT n1\n=   EXIT CODE: {number}\n",
        f"srun: error: n1: task {number}: Killed",
    ]
    for log in logs:
        is_lost(log)


def on_nodes(*names: str) -> RunState:
    """A run with two ranks on each node, in its second case."""
    found = state()
    found.nodes = [
        {"name": name, "ranks": 2, "processes": [[2 * number, 70 + number], [2 * number + 1, 80 + number]]}
        for number, name in enumerate(names)
    ]
    return found


def timeouts(*names: str) -> str:
    return "".join(f"Timeout, server {name} not responding.\n" for name in names)


def test_all_hosts_lost_at_once_mean_the_own_link() -> None:
    said = cause_of_death(255, on_nodes("n1", "n2", "n3"), timeouts("n2", "n1", "n3"))
    assert said == (
        "this host lost its connection to n2 (ranks 2, 3), n1 (ranks 0, 1) and n3 (ranks 4, 5) in case 2: "
        "check the network link of this host"
    )
    own = on_nodes(socket.gethostname(), "n2", "n3")
    assert cause_of_death(255, own, timeouts("n2", "n3")).startswith("this host lost its connection to n2 (")


def test_each_lost_node_is_named_with_its_ranks() -> None:
    said = cause_of_death(255, on_nodes("n1", "n2", "n3", "n4"), timeouts("n2", "n4"))
    assert said == (
        "nodes n2 (ranks 2, 3) and n4 (ranks 6, 7) were lost in case 2: their launcher daemons or the "
        "connections to them ended; check that they are up and reachable. The other 4 ranks could not "
        "continue without them"
    )
    many = [f"n{number}" for number in range(20)]
    said = cause_of_death(255, on_nodes(*many), timeouts(*many[:19]))
    assert " and 11 more were lost in case 2" in said


def test_a_lost_daemon_may_have_been_on_any_node() -> None:
    log = "[mpiexec@n1] control_cb (pm/pmiserv/pmiserv_cb.c:208): assert (!closed) failed\n"
    said = cause_of_death(255, on_nodes(*(f"n{number}" for number in range(1, 12))), log)
    assert "on one of n1, n2, n3, n4, n5, n6, n7, n8 and 3 more" in said


def test_ranks_may_go_on_only_where_nothing_answers() -> None:
    log = f"{timeouts('n2')}Connection to n3 closed by remote host.\n{OPEN_MPI_NODE}"
    assert lost_nodes(log) == ["n2", "n3"]
    assert silent_nodes(log, state()) == ["n2", "n3"]
    assert silent_nodes("Connection to n3 closed by remote host.\n", state()) == []
    waiting = state()
    waiting.unanswered = Unanswered(["n9"], "")
    assert silent_nodes("", waiting) == ["n9"]
