"""A remount command is split into words once, here, and only where it would be run."""

import pytest

from strider.errors import StriderError
from strider.launch import remount_words
from strider.suite import Plan


def plan(cache: str, mount: str = "none") -> Plan:
    """A plan of one case."""
    case = {
        "case": 1,
        "name": "",
        "clients": 1,
        "operations": ["read"],
        "interface": {"name": "posix"},
        "pattern": {"name": "segmented"},
        "repetitions": {"min": 1, "max": 1, "until": 0.0},
        "cache": cache,
        "mount": mount,
    }
    return Plan.model_validate(
        {
            "suite": {"name": "s", "description": ""},
            "target": "/mnt",
            "ranks": 1,
            "ranks_per_node": 0,
            "seed": 1,
            "interleave": "random",
            "stall_timeout_s": 600.0,
            "cases": [case],
        }
    )


def test_words_are_split_as_a_shell_does_and_nothing_is_expanded() -> None:
    assert remount_words("sh 'my script' $HOME; *", plan("cold")) == ["sh", "my script", "$HOME;", "*"]
    assert remount_words(None, plan("as-is")) == []


@pytest.mark.parametrize(
    ("text", "cache", "said"),
    [
        ("sh 'open", "cold", "No closing quotation"),
        ("  ", "cold", "is empty"),
        ("mount", "warm", 'needs cases with cache = "cold"'),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(text: str, cache: str, said: str) -> None:
    with pytest.raises(StriderError, match=said):
        remount_words(text, plan(cache))


def test_the_target_stays_while_a_mount_is_in_it() -> None:
    with pytest.raises(StriderError, match="cannot be remounted while case 1 has a mount in it"):
        remount_words("mount", plan("cold", "listio"))
