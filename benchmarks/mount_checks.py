"""Programs on mounts of a list-I/O volume: does the mount lose, change or hide anything?

    .strider/venv/bin/python benchmarks/mount_checks.py [--only fio,tree,listing] [--target DIR]
        [--size 64m] [--entries 100000] [--listings 20]

Starts a volume of four servers in DIR (default: the directory of temporary files) and mounts it with and
without --cache. Prints a row for each check: action, errors, seconds.

fio      four jobs write --size in random order, buffered and with O_DIRECT, and read it back (crc32c)
tree     git clones this repository, a compiler builds foundation/ in the clone, tar copies the tree; each is
         compared with the same work in a local directory
listing  a directory of --entries files is read while another mount adds and removes names: names that stay
         appear once; memory of the mount's process before and after
"""

import argparse
import filecmp
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from strider import engine as engines
from strider.listio import MountOptions, ServerOptions, check, mount, serve, stop, unmount

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Mounted:
    """A mounted volume."""

    directory: Path
    pid: int

    def memory_mib(self) -> float:
        """Resident memory of its process."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        (kib,) = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
        return int(kib) / 1024


@dataclass
class Volume:
    """A volume for the checks."""

    engine: engines.Engine
    place: Path
    rows: list[tuple[str, int, float]] = field(default_factory=list)

    @contextmanager
    def mounted(self, caches: bool) -> Iterator[Mounted]:
        """A mount, until the end of the context."""
        directory = Path(tempfile.mkdtemp(dir=self.place))
        pid = mount(self.engine, self.place / "volume", directory, MountOptions(caches=caches))
        try:
            yield Mounted(directory, pid)
        finally:
            unmount(directory)

    def row(self, what: str, errors: int, begin: float) -> None:
        """Adds a row to the table."""
        self.rows.append((what, errors, time.monotonic() - begin))
        print(f"{what}: {errors} errors", file=sys.stderr)


def run(*words: object, folder: Path) -> str:
    """Runs a program, which must succeed; returns its output."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{words[0]} failed in {folder} ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def fio(volume: Volume, chosen: argparse.Namespace) -> None:
    """Random writes and their verification."""
    for caches in (False, True):
        for direct in (0, 1):
            with volume.mounted(caches) as mounted:
                begin = time.monotonic()
                words = ["--name=v", "--rw=randwrite", "--bs=4k", f"--size={chosen.size}", "--numjobs=4"]
                checks = ["--verify=crc32c", "--verify_fatal=0", "--do_verify=1", "--verify_state_save=0"]
                output = ["--output-format=json", f"--directory={mounted.directory}", f"--direct={direct}"]
                done = subprocess.run(
                    ["fio", *words, *checks, *output], capture_output=True, text=True, check=False
                )
                jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
                errors = sum(job["error"] != 0 for job in jobs) + done.stderr.count("verify:")
                moved = sum(job[way]["io_bytes"] for job in jobs for way in ("write", "read")) >> 20
                name = (
                    f"fio, {'O_DIRECT' if direct else 'buffered'}{', --cache' if caches else ''}: {moved} MiB"
                )
                volume.row(name, errors + (done.returncode != 0), begin)
                for path in mounted.directory.iterdir():
                    path.unlink()


def work(folder: Path) -> None:
    """The actions on the mount and locally."""
    run("git", "clone", "--quiet", ROOT, "clone", folder=folder)
    clone = folder / "clone"
    (folder / "built").mkdir()
    for source in sorted((clone / "foundation").glob("*.cpp")):
        words = (
            "-std=c++20",
            "-O1",
            "-I.",
            "-c",
            f"foundation/{source.name}",
            "-o",
            f"../built/{source.stem}.o",
        )
        run("c++", *words, folder=clone)
    (folder / "main.cpp").write_text(
        '#include <cstdio>\nint main() { std::puts("works"); }\n', encoding="utf-8"
    )
    run("c++", "main.cpp", "-o", "main", folder=folder)
    (folder / "copy").mkdir()
    run("tar", "-cf", "tree.tar", "--exclude=.git", "--sort=name", "clone", folder=folder)
    run("tar", "-xf", "tree.tar", "-C", "copy", folder=folder)


def differences(mounted: Path, local: Path) -> int:
    """How much of the work is not the same."""
    compared = subprocess.run(
        ["diff", "-r", "--no-dereference", "--exclude=.git", "--exclude=tree.tar", mounted, local],
        capture_output=True,
        text=True,
        check=False,
    )
    print(compared.stdout[:2000] + compared.stderr[:2000], end="", file=sys.stderr)
    found = len(compared.stdout.splitlines()) + len(compared.stderr.splitlines())
    found += not filecmp.cmp(mounted / "main", local / "main", shallow=False)
    found += run(mounted / "main", folder=mounted) != "works\n"
    clone = mounted / "clone"
    run("git", "fsck", "--full", folder=clone)
    found += len(run("git", "status", "--porcelain", folder=clone).splitlines())
    same = run("diff", "-r", "--exclude=.git", "clone", "copy/clone", folder=mounted)
    return found + len(same.splitlines())


def tree(volume: Volume, _: argparse.Namespace) -> None:
    """Clone, build, archive and compare."""
    with tempfile.TemporaryDirectory() as local:
        work(Path(local))
        for caches in (False, True):
            with volume.mounted(caches) as mounted:
                begin = time.monotonic()
                work(mounted.directory)
                errors = differences(mounted.directory, Path(local))
                files = sum(len(names) for _, _, names in os.walk(mounted.directory))
                volume.row(
                    f"clone, build, tar, diff{', --cache' if caches else ''}: {files} files", errors, begin
                )
                run("find", ".", "-mindepth", "1", "-delete", folder=mounted.directory)


def come_and_go(directory: Path, ends: threading.Event) -> None:
    """Adds and removes names until the end."""
    number = 0
    while not ends.is_set():
        (directory / f"passing {number}").touch()
        (directory / f"passing {number}").rename(directory / f"renamed {number}")
        if number >= 50:
            (directory / f"renamed {number - 50}").unlink()
        number += 1


def wrong_names(directory: Path, entries: int) -> int:
    """Names that stay and are missing, and names that appear twice."""
    seen = Counter(entry.name for entry in directory.iterdir())
    missing = sum(seen[f"entry {number}"] == 0 for number in range(entries))
    return missing + sum(count - 1 for count in seen.values())


def listing(volume: Volume, chosen: argparse.Namespace) -> None:
    """A large directory, and another mount that changes it."""
    with volume.mounted(caches=False) as reader, volume.mounted(caches=False) as writer:
        directory, entries = reader.directory / "large", chosen.entries
        directory.mkdir()
        begin = time.monotonic()
        for number in range(entries):
            (directory / f"entry {number}").touch()
        volume.row(f"{entries} files made ({reader.memory_mib():.0f} MiB)", 0, begin)
        begin = time.monotonic()
        errors = wrong_names(directory, entries)
        volume.row(f"one listing ({reader.memory_mib():.0f} MiB)", errors, begin)
        begin = time.monotonic()
        with os.scandir(directory) as names:
            sizes = [name.stat().st_size for name in names]
        volume.row(
            f"a listing with a stat of each ({reader.memory_mib():.0f} MiB)", entries - len(sizes), begin
        )
        ends = threading.Event()
        changing = threading.Thread(target=come_and_go, args=(writer.directory / "large", ends))
        changing.start()
        begin = time.monotonic()
        errors = sum(wrong_names(directory, entries) for _ in range(chosen.listings))
        ends.set()
        changing.join()
        volume.row(
            f"{chosen.listings} listings during changes ({reader.memory_mib():.0f} MiB)", errors, begin
        )
        begin = time.monotonic()
        run("find", ".", "-mindepth", "1", "-delete", folder=reader.directory)
        volume.row("all removed", 0, begin)


CHECKS: dict[str, Callable[[Volume, argparse.Namespace], None]] = {
    "fio": fio,
    "tree": tree,
    "listing": listing,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(CHECKS))
    parser.add_argument("--target", type=Path, default=None)
    parser.add_argument("--size", default="64m")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--listings", type=int, default=20)
    chosen = parser.parse_args()
    engine = engines.find()
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=chosen.target)))
        serve(engine, place / "volume", ServerOptions(servers=4))
        stack.callback(stop, place / "volume")
        volume = Volume(engine, place)
        for name in chosen.only.split(","):
            CHECKS[name](volume, chosen)
        left = check(engine, place / "volume")
        begin = time.monotonic()
        volume.row(
            f"left on the servers: {left['data_files']} data files",
            len(left["problems"]) + left["data_files"],
            begin,
        )
    table = Table("check", "errors", "seconds")
    for what, errors, seconds in volume.rows:
        table.add_row(what, str(errors), f"{seconds:.1f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
