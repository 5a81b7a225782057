"""The engine records the options as typed, or they are rejected with the choices."""

import pytest

from strider.errors import StriderError
from strider.launch import Watching, watching


def test_the_usual_is_all_counters_and_timelines() -> None:
    assert watching(counters="all", timeline="auto", timeline_interval="100ms") == Watching()


# proves measuring: timeline-option
def test_the_engine_gets_it_as_options() -> None:
    words = watching(counters="basic", timeline="node", timeline_interval="0.25s", ceilings="none").words()
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert options == {
        "--counters": "basic",
        "--timeline": "node",
        "--timeline-interval": "0.250000000",
        "--ceilings": "none",
    }


@pytest.mark.parametrize(
    ("counters", "timeline", "interval", "message"),
    [
        ("some", "auto", "1s", 'unknown --counters "some": choose one of none, basic, all'),
        ("all", "all", "1s", 'unknown --timeline "all": choose one of none, node, rank, auto'),
        ("all", "auto", "soon", "--timeline-interval: "),
        ("all", "auto", "0s", "must be between 1 ms and 1 hour"),
        ("all", "auto", "2h", "--timeline-interval"),
    ],
)
def test_what_is_no_choice_is_refused(counters: str, timeline: str, interval: str, message: str) -> None:
    with pytest.raises(StriderError, match=message):
        watching(counters=counters, timeline=timeline, timeline_interval=interval)
