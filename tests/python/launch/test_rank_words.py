"""What ranks print about the end of a run."""

import pytest

from strider.launch.rank_words import interruption, not_waiting

OVER = "strider-engine: rank 2 on n3: the run is over for strider run: its folder /t/s was removed: this rank"
RANKS = [(rank, f"n{rank + 1}") for rank in range(4)]
WAITED = "strider-engine: rank {} on n{} waited 5 s for the other ranks\n"


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "interrupted by a signal to the launcher or the ranks, not to strider"),
        (
            "strider-engine: rank 2 on n3 received SIGTERM from process 7\n",
            "interrupted: rank 2 on n3 received SIGTERM from process 7 there",
        ),
        (f"{OVER} stops, and more\n", "stopped by rank 2 on n3: its folder /t/s was removed there"),
    ],
)
def test_the_rank_that_ends_a_run_is_named(log: str, words: str) -> None:
    assert interruption(log).startswith(words)


def test_the_rank_that_the_others_wait_for_is_named() -> None:
    log = "".join(WAITED.format(rank, rank + 1) for rank in (0, 1, 3))
    assert not_waiting(log, RANKS) == "rank 2 on n3"


@pytest.mark.parametrize("waiting", [(), (0,), (0, 1, 2, 3)])
def test_no_rank_is_named_without_a_majority_that_waits(waiting: tuple[int, ...]) -> None:
    assert not_waiting("".join(WAITED.format(rank, rank + 1) for rank in waiting), RANKS) == ""
