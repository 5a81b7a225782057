"""Which nodes of a Slurm step are lost, by their answers."""

import os
import socket

import pytest

from strider.launch.slurm_nodes import Answer, Connections, lost_nodes

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
