"""Requirements of the fuzzer's tests on the machine."""

import shutil

import pytest


@pytest.fixture(scope="session")
def strace() -> str:
    """The system call tracer."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("needs strace (Debian package strace)")
    return found
