"""Storage with known properties: a file system that takes a known time, a disk of a known rate."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from calibrate import FIRST, Mount
from harness import wait_for

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def delayfs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of the file system with a known delay, built."""
    if not Path("/dev/fuse").exists():
        pytest.skip("machine: the kernel has no FUSE (/dev/fuse)")
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        pytest.skip("needs libfuse3 (Debian packages libfuse3-dev and pkg-config)")
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("needs a C compiler")
    program = tmp_path_factory.mktemp("delayfs") / "delayfs"
    words = [compiler, "-O2", str(HERE / "delayfs.c"), "-o", str(program), *found.stdout.split()]
    subprocess.run(words, check=True)
    return program


@pytest.fixture
def mount_delayfs(delayfs: Path, tmp_path: Path) -> Iterator[Mount]:
    """Mounts the file system, any number of times; all are unmounted at the end."""
    with ExitStack() as mounts:

        def mount(delay_us: int, suffix: str = "") -> Path:
            return mounts.enter_context(_mounted(delayfs, tmp_path / f"delay-{delay_us}", delay_us, suffix))

        yield mount


@contextmanager
def _mounted(program: Path, folder: Path, delay_us: int, suffix: str) -> Iterator[Path]:
    behind, point = folder / "behind", folder / "mounted"
    behind.mkdir(parents=True)
    point.mkdir()
    process = subprocess.Popen(
        [*FIRST, program, behind, point, str(delay_us), suffix],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for(lambda: point.is_mount() or process.poll() is not None, "the file system to be mounted")
        if process.poll() is not None:
            pytest.skip(f"machine: FUSE file systems may not be mounted: {process.communicate()[0].strip()}")
        yield point
    finally:
        words = ["umount"] if shutil.which("fusermount3") is None else ["fusermount3", "-u"]
        if process.poll() is None and subprocess.run([*words, point], check=False).returncode != 0:
            subprocess.run(["umount", "--lazy", point], check=False)
        try:
            process.wait(timeout=10)
        finally:
            process.kill()
            process.communicate()
