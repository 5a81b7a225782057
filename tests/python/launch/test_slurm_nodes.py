"""Which nodes of a Slurm step are lost, by their answers."""

import os
import socket

import pytest

from strider.launch.slurm_nodes import Answer, Connections, lost_nodes, proven_lost

PROMPT = Answer("n1", "answers", 0.3)
SLOW = Answer("n1", "answers", 9.0)
GONE = Answer("n3", "unreachable", 11.0, "Communication connection failure")
LATE = Answer("n3", "late", 16.0)
UNKNOWN = Answer("n3", "unknown", 1.0)


@pytest.mark.parametrize(
    ("answers", "lost"),
    [
        ([PROMPT, GONE], ["n3"]),
        ([SLOW, GONE], ["n3"]),
        ([PROMPT, LATE], ["n3"]),
        ([SLOW, LATE], []),
        ([PROMPT, UNKNOWN], []),
        ([GONE, LATE], []),
        ([PROMPT], []),
        ([], []),
    ],
    ids=[
        "a node that cannot be reached",
        "also on a slow machine",
        "a node that is late where others are prompt",
        "not where others are slow as well",
        "another refusal",
        "no node answers",
        "all answer",
        "no question",
    ],
)
def test_a_node_is_lost_only_if_others_answer(answers: list[Answer], lost: list[str]) -> None:
    assert [answer.node for answer in lost_nodes(answers)] == lost


OTHER_LATE = Answer("n4", "late", 16.0)


@pytest.mark.parametrize(
    ("answers", "before", "is_dropped", "is_silent", "proven"),
    [
        ([PROMPT, GONE, OTHER_LATE], [], True, False, ["n3"]),
        ([PROMPT, OTHER_LATE], [], True, True, []),
        ([PROMPT, OTHER_LATE], ["n4"], False, True, ["n4"]),
        ([PROMPT, GONE, OTHER_LATE], ["n4"], False, True, ["n4"]),
        ([PROMPT, OTHER_LATE], ["n4"], True, False, []),
        ([PROMPT, GONE], [], False, True, []),
        ([PROMPT], ["n3"], True, True, []),
    ],
    ids=[
        "the node that cannot be reached, not the late one",
        "a connection does not say which node is late",
        "twice late while nothing proceeds",
        "each node by itself",
        "late while the run goes on",
        "without a connection that ended, once is not enough",
        "a node that answers again",
    ],
)
def test_a_node_is_named_only_by_evidence_against_itself(
    answers: list[Answer], before: list[str], is_dropped: bool, is_silent: bool, proven: list[str]
) -> None:
    found = proven_lost(answers, before, is_dropped=is_dropped, is_silent=is_silent)
    assert [answer.node for answer in found] == proven


def test_a_connection_that_ends_is_noticed_but_not_one_that_came_for_a_moment() -> None:
    watch, lasting = Connections(), socket.socket()

    def polls() -> list[bool]:
        return [watch.dropped(os.getpid()) for _ in range(Connections.POLLS)]

    assert not any(polls())
    with socket.socket():
        assert not watch.dropped(os.getpid())
    assert not any(polls())
    lasting.close()
    assert polls().count(True) == 1
