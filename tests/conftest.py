"""What holds for every test: the engine, and nothing missing where a run must be complete."""

import gc
import os
import shutil
import signal
from collections.abc import Generator

import pytest

from strider import engine as engines
from strider.engine import Engine
from strider.errors import StriderError

SHORTER = {"STRIDER_REPORT": "no", "STRIDER_CEILINGS": "none"}
"""Settings of the runs of tests: half of the processor time."""
MACHINE = "machine: "
"""How the reason of a skip begins that no package can cure, such as rights or a kernel's features."""


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The real engine."""
    try:
        return engines.find()
    except StriderError as error:
        pytest.skip(f"needs the engine: {error}")


@pytest.fixture
def whole_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a test write reports and measure the machine's ceilings, as those of users do."""
    for name in SHORTER:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def strace() -> str:
    """The system call tracer."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("needs strace (Debian package strace)")
    return found


def is_excused(reason: str) -> bool:
    """Whether a test may be skipped for this reason where everything that can be installed is installed."""
    return reason.removeprefix("Skipped: ").startswith(MACHINE)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skip into a failure, unless the machine itself is the reason."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not is_excused(reason):
        report.outcome = "failed"
        report.longrepr = (
            f"{reason}\nNothing that can be installed may be missing here (STRIDER_REQUIRE_ALL=1). "
            f"If no package can cure this, begin the reason with {MACHINE!r}."
        )


class RequireAll:
    """Refuses skips of tests and of whole modules."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A test that skips itself, or is marked so."""
        report = yield
        refuse_skip(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """A module that skips itself."""
        report = yield
        refuse_skip(report)
        return report


def pytest_collection_finish() -> None:
    """Keeps collected tests out of the search for cycles of objects, which took 8 % of the processor time."""
    gc.freeze()
    gc.set_threshold(100_000)


def pytest_configure(config: pytest.Config) -> None:
    """Shortens runs, refuses skips where the environment asks for it, and restores signals.

    A shell ignores SIGINT for its background jobs, and `nohup` SIGHUP; all that the tests start
    would ignore them as well.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.environ.update(SHORTER)
    if os.environ.get("STRIDER_REQUIRE_ALL") == "1":
        config.pluginmanager.register(RequireAll(), "require-all")
