"""A test that is run once more says at the end how it failed at first; one that fails each time fails."""

from pathlib import Path

import pytest

CONFTEST = (Path(__file__).resolve().parents[1] / "conftest.py").read_text(encoding="utf-8")
TESTS = """
from pathlib import Path

def test_disturbed(tmp_path_factory):
    before = Path("ran")
    has_run = before.exists()
    before.touch()
    assert has_run, "the machine was busy"

def test_wrong():
    assert False, "always"
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_how_it_failed_at_first_is_shown(pytester: pytest.Pytester, workers: int) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--reruns", "1", "-n", str(workers))
    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "rerun": 2}
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    text = result.stdout.str()
    assert "the machine was busy" in text[text.index("run once more") :]
