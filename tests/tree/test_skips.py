"""Where everything must run, a skip that a package could cure is a failure."""

from pathlib import Path

import pytest

CONFTEST = (Path(__file__).resolve().parents[1] / "conftest.py").read_text(encoding="utf-8")
TESTS = """
import pytest
{module}
def test_tool():
    pytest.skip("fio is not installed")

@pytest.mark.skipif(True, reason="fio is not installed")
def test_marked():
    pass

def test_machine():
    pytest.skip("machine: mounting needs root")

@pytest.mark.xfail(reason="known")
def test_expected_failure():
    assert False
"""


def outcomes(pytester: pytest.Pytester, module: str = "") -> dict[str, int]:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS.format(module=module))
    return pytester.runpytest_subprocess("-p", "no:cacheprovider").parseoutcomes()


def test_skips_stay_skips_on_a_users_machine(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STRIDER_REQUIRE_ALL", raising=False)
    assert outcomes(pytester) == {"skipped": 3, "xfailed": 1}


def test_only_the_machine_excuses_where_all_must_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIDER_REQUIRE_ALL", "1")
    assert outcomes(pytester) == {"failed": 1, "errors": 1, "skipped": 1, "xfailed": 1}


def test_a_module_that_skips_itself_is_an_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIDER_REQUIRE_ALL", "1")
    assert outcomes(pytester, module="pytest.importorskip('no_such_module')") == {"errors": 1}
