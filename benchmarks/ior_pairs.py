"""Compares the system calls of `strider ior` and `strider mdtest` with those of the real programs.

Runs each command line with both under strace, and compares the tasks' calls on the test files: of IOR,
each task's transfers with their offsets and lengths in their order, and its syncs; of mdtest, the number of
calls of each kind on items, also of phases apart, each in a run of its own on the tree of the first. The real
programs are not part of Strider: give their paths.

    python benchmarks/ior_pairs.py --ior PATH --mdtest PATH --mpiexec PATH
"""

import argparse
import hashlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from strider import engine as engines
from strider.importers import ior, mdtest
from strider.importers.options import Surroundings
from strider.suite import Changes
from strider.suite.load import build

_READERS = {"ior": ior.read_command, "mdtest": mdtest.read_command}
_CALLS = "lseek,read,write,pread64,pwrite64,fsync,fdatasync"
_ITEM_CALLS = (
    "open,openat,openat2,creat,mknod,mknodat,stat,newfstatat,statx,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "rename,renameat,renameat2"
)
_LINE = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)")
_TREE = re.compile(r"(mdtest_tree|tree|case\d+)\.\d")
"""The top directories of trees, of mdtest and of Strider."""
_FILE = re.compile(r"(?P<descriptor>\d+)<(?P<path>[^>]*)>")

IOR = """
-w
-w -r
-w -r -F
-w -e
-w -F -e
-w -Y -b 256k -t 64k
-w -Y -e -F -b 256k -t 64k
-w -r -s 4 -b 256k -t 64k
-w -r -s 4 -b 256k -t 64k -F
-w -r -C -b 256k -t 64k -O numTasksOnNode0=1
-w -r -C -F -b 256k -t 64k -O numTasksOnNode0=1
-w -r -C -Q 2 -b 256k -t 64k -O numTasksOnNode0=1
-w -r -C -C -b 256k -t 64k -O numTasksOnNode0=1
-w -r -i 3 -b 128k -t 64k
-w -r -i 2 -F -b 128k -t 64k -e
-w -t 47008 -b 47008 -s 20
-w -r -t 47008 -b 47008 -s 20 -C -O numTasksOnNode0=1
-w -r -t 8 -b 64
-w -r -t 1m -b 1m
-w -r -t 1m -b 4m -F
-w -r -N 2 -b 256k -t 64k
-w -r -N 1 -b 256k -t 64k -F
-w -r -z -F -b 512k -t 64k
-w -r -z -F -b 512k -t 64k -e -s 2
-w -r -g -b 256k -t 64k
-w -r -G 27 -b 256k -t 64k
-w -r -a POSIX -b 192k -t 64k -s 3
-w -r -O transferSize=64k,blockSize=128k,segmentCount=5
-w -r -O useO_DIRECT=1 -b 256k -t 64k
-w -r --posix.odirect -F -b 256k -t 64k
-w -r -O interIODelay=100 -b 128k -t 64k
-w -T 1 -i 2 -b 128k -t 64k
""".strip().splitlines()
MDTEST = """
-n 10 -F
-n 10 -D
-n 10
-n 10 -F -u
-n 12 -z 1 -b 2 -F
-n 12 -z 1 -b 2 -L -F
-n 10 -F -w 100
-n 10 -F -w 100 -e 100
-I 5 -z 1 -b 2 -F -i 2
-n 10 -F -k
-n 10 -F -N 1
-n 10 -F -Y
""".strip().splitlines()
APART = """
-n 10 -F : -C : -T : -E : -r
-n 12 -F -u -L : -C : -T : -r
-n 12 -z 1 -b 2 -L -F -w 100 -e 100 : -C : -T : -E -X : -r
-n 10 -D : -C : -T : -U : -T : -r
-n 10 : -C : -T : -r
-F -n 40 -u -L -P -G 27 -N 1 --dataPacketType=timestamp -Y -x status : -C -W 5 : -T : -r
-F -n 40 -t -w 3901 -e 3901 -P -G 27 -N 1 --dataPacketType=timestamp -Y -x status : -C -W 5 : -T : -E -X : -r
""".strip().splitlines()
"""Options of all phases, and those of each phase in a run of its own."""
KEPT = """
-b 256k -t 64k : -w -k : -r -k : -r
-b 256k -t 64k -F : -w -k -e : -r -k -C -O numTasksOnNode0=1 : -r
-b 256k -t 64k -F -u : -w -k : -r -k : -r
-b 256k -t 64k -s 2 -G 27 : -w -k : -w -E -k : -r -R -k
-b 256k -t 64k -F -G 27 -l o : -w -k : -w -k -E -e : -r -R -k
-b 256k -t 64k -i 2 -m : -w -k : -r -k
-t 47008 -b 47008 -s 10 -G 27 -l i : -w -k -i 2 : -r -R
""".strip().splitlines()
"""Options of IOR that are the same, and those of each invocation on the files of the one before."""


@dataclass(frozen=True)
class Pair:
    """A command line of one program, run by both.

    Attributes:
        program: `ior` or `mdtest`.
        arguments: Its options, without the file or directory.
        real: Path of the real program.
        mpiexec: Starts the real program.
        tasks: Number of tasks.
    """

    program: str
    arguments: str
    real: str
    mpiexec: str
    tasks: int

    def difference(self, folder: Path) -> str:
        """Returns how the two differ; empty if they do not."""
        words = [*shlex.split(self.arguments), *self._place]
        real = [self.mpiexec, "-n", str(self.tasks), self.real, *words]
        own = self._engine_command(words, folder)
        found = [self._traced(command, folder / name) for name, command in (("real", real), ("own", own))]
        return "" if found[0] == found[1] else f"real: {found[0]}\n  own: {found[1]}"

    def difference_apart(self, folder: Path) -> str:
        """Returns in which phase of several runs over one tree the two differ; empty if in none."""
        same, *phases = self.arguments.split(" : ")
        own = [
            sys.executable,
            "-m",
            "strider",
            self.program,
            "-n",
            str(self.tasks),
            "-q",
            "--store",
            str(folder / "store"),
        ]
        programs = {"real": [self.mpiexec, "-n", str(self.tasks), self.real], "own": [*own, "--"]}
        for phase in phases:
            words = [*shlex.split(f"{same} {phase}"), *self._place]
            found = {
                name: self._traced([*command, *words], folder / name) for name, command in programs.items()
            }
            if found["real"] != found["own"]:
                return f"{phase}: " + "\n  ".join(f"{name}: {calls}" for name, calls in found.items())
            left = {name: _files(folder / name / "target", self.arguments) for name in programs}
            if self.program == "ior" and left["real"] != left["own"]:
                return f"{phase}: " + "\n  ".join(f"{name} leaves {files}" for name, files in left.items())
        return ""

    @property
    def _place(self) -> list[str]:
        return ["-o", "./file"] if self.program == "ior" else ["-d", "items"]

    def _engine_command(self, words: list[str], folder: Path) -> list[str]:
        """Returns the engine's command for the suite of these words; its files are in `target/items`."""
        engine = engines.find()
        imported = _READERS[self.program](words, Surroundings(self.tasks))
        file, plan = folder / "plan.json", build(imported.document, engine.description, Changes()).plan
        file.write_text(plan.to_json())
        options = ["--directory", "items", "--events", str(folder / "events.jsonl"), "--data-seed", "1"]
        further = ["--run", "pairs", "--marker", "unknown", "--counters", "none"]
        launcher = [engine.version.mpi.mpiexec, "-n", str(plan.ranks)]
        return [*launcher, str(engine.path), "run", str(file), *options, *further]

    def _traced(self, command: list[str], folder: Path) -> object:
        target = folder / "target"
        (target / "items").mkdir(parents=True, exist_ok=True)
        for trace in folder.glob("trace.*"):
            trace.unlink()
        calls = _CALLS if self.program == "ior" else _ITEM_CALLS
        options = ["-ff", "--seccomp-bpf", "-y", "-s", "0", "-e", "signal=none", "-e", f"trace={calls}"]
        done = subprocess.run(
            ["strace", *options, "-o", str(folder / "trace"), *command],
            cwd=target,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr[-300:]}"
        traces = [path.read_text(errors="replace").splitlines() for path in sorted(folder.glob("trace.*"))]
        if self.program == "mdtest":
            return dict(sorted(sum((_items(lines, target) for lines in traces), Counter()).items()))
        ordered = "-z" not in self.arguments.split()
        tasks = [moved for lines in traces if (moved := list(_transfers(lines, target)))]
        return sorted(tasks if ordered else map(sorted, tasks))


def _transfers(lines: list[str], target: Path) -> Iterator[tuple[str, int, int]]:
    """Yields the calls of a process on test files: the call, the offset and the length; of a sync 0 and 0."""
    position: dict[str, int] = {}
    synced = False
    for line in lines:
        found = _LINE.match(line)
        file = _FILE.match(found["arguments"]) if found else None
        if found is None or file is None or not _is_test_file(file["path"], target):
            continue
        name, result, descriptor = found["name"], int(found["result"]), file["descriptor"]
        numbers = [int(number) for number in re.findall(r", (\d+)\b", found["arguments"])]
        match name:
            case "lseek":
                position[descriptor] = result
            case "read" | "write":
                yield name, position.get(descriptor, 0), result
                position[descriptor] = position.get(descriptor, 0) + result
            case "pread64" | "pwrite64":
                yield name[1:-2], numbers[-1], result
            case _ if not synced:
                yield "fsync", 0, 0
        # With -Y, IOR 4.1 calls fsync twice after each write, and once more with -e.
        synced = "sync" in name


def _is_test_file(path: str, target: Path) -> bool:
    name = path.rpartition("/")[2].removesuffix(" (deleted)")
    own = r"file(\.\d{8})?(\.\d+)?|case\d+\.\d+|data\.\d+"
    return path.startswith(f"{target}/") and re.fullmatch(own, name) is not None


def _files(target: Path, arguments: str) -> dict[str, tuple[int, str]]:
    """Returns size and digest of the test files, by name; with a signature only, both have the same data."""
    found = {}
    for path in sorted(target.rglob("file*")):
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest() if "-G" in arguments.split() else ""
        found[str(path.relative_to(target))] = (len(data), digest)
    return found


def _items(lines: list[str], target: Path) -> Counter[str]:
    """Returns the number of successful calls of each kind on items of mdtest, files and directories."""
    kinds: Counter[str] = Counter()
    for line in lines:
        found = _LINE.match(line)
        if found is None or int(found["result"]) < 0:
            continue
        name, arguments = found["name"], found["arguments"]
        path = re.search(r'"([^"]*)"', arguments)
        words = (path[1] if path else "").split("/")
        whole = f"{arguments} {'/'.join(words)}"
        is_item = re.match(r"(file|dir)\.|[fdre]\d", words[-1]) and any(map(_TREE.match, words[:-1]))
        if is_item and (str(target) in whole or not (path and path[1].startswith("/"))):
            kinds[_kind(name, arguments)] += 1
    return kinds


def _kind(name: str, arguments: str) -> str:
    if name.startswith("open") or name == "creat":
        return "create" if "O_CREAT" in arguments or name == "creat" else "open"
    if name == "unlinkat":
        return "rmdir" if "AT_REMOVEDIR" in arguments else "unlink"
    kinds = {"stat": "stat", "newfstatat": "stat", "statx": "stat"}
    return kinds.get(name, name.removesuffix("at2").removesuffix("at"))


def main() -> int:
    """Runs all pairs; prints a line for each, and returns whether one differs."""
    parser = argparse.ArgumentParser(description="Compare system calls with those of IOR and mdtest")
    parser.add_argument("--ior", help="path of the real ior")
    parser.add_argument("--mdtest", help="path of the real mdtest")
    parser.add_argument("--mpiexec", default="mpiexec", help="starts the real programs")
    parser.add_argument("--tasks", type=int, default=3, help="tasks (default: 3)")
    parser.add_argument("--only", default="", help="only command lines with this text")
    given = parser.parse_args()
    pairs = [
        Pair(program, arguments, real, given.mpiexec, given.tasks)
        for program, real, lines in (
            ("ior", given.ior, [*IOR, *KEPT]),
            ("mdtest", given.mdtest, [*MDTEST, *APART]),
        )
        for arguments in (lines if real else ())
        if given.only in arguments
    ]
    different = 0
    for pair in pairs:
        with tempfile.TemporaryDirectory() as folder:
            is_apart = " : " in pair.arguments
            difference = (pair.difference_apart if is_apart else pair.difference)(Path(folder))
        different += bool(difference)
        print(f"{'differs' if difference else 'same'}: {pair.program} {pair.arguments}", flush=True)
        if difference:
            print(f"  {difference[:2000]}", flush=True)
    print(f"{len(pairs)} pairs, {different} differ")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
