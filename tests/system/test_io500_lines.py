"""The command lines of IO500's phases, short and small, in its order over one state."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from sets import measured
from strider.engine import Engine
from strider.importers import ior, mdtest
from strider.importers.options import Surroundings
from strider.store import Run, load

IOR = "--dataPacketType=timestamp -g -G 1337 -k -e -C -Q 1"
STATUS = "-O stoneWallingStatusFile"
MDTEST = "--dataPacketType=timestamp -P -G 1337 -N 1 -F"


@dataclass(frozen=True)
class Io500:
    """A directory for data and results of IO500.

    Attributes:
        folder: The directory.
    """

    folder: Path

    def run(self, program: str, options: str) -> Run:
        """Runs a command line with two tasks; it must succeed, and nothing may be wrong."""
        reads = {"ior": ior.read_command, "mdtest": mdtest.read_command}
        words = shlex.split(options.replace("D/", f"{self.folder}/").replace("R/", f"{self.folder}/"))
        imported = reads[program](words, Surroundings(tasks=2, keeps_files=True))
        for file in imported.files:
            if file.check:
                file.check()
        outcome = measured(imported.document, manifests=imported.manifests)
        assert outcome.exit_code == 0, outcome.errors
        run = load(outcome.directory.path)
        for file in imported.files:
            if file.write:
                file.write(run)
        assert all(sample.valid for sample in run.samples)
        return run

    def requests(self, program: str, options: str) -> dict[str, int]:
        """Returns the requests of each operation that a command line measures."""
        samples = self.run(program, options).samples
        return {sample.operation: sample.requests for sample in samples if sample.measured}

    def count(self, name: str) -> int:
        """Returns the number in a status file."""
        return int((self.folder / name).read_text(encoding="ascii"))


@pytest.fixture
def io500(memory_folder: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Io500:
    """A directory in memory."""
    if not engine.description.trees:
        pytest.skip("this engine has no trees")
    monkeypatch.setenv("STRIDER_STORE", str(memory_folder / "store"))
    for name in ("ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"):
        (memory_folder / name).mkdir()
    return Io500(memory_folder)


def test_its_lines_run_in_its_order_over_one_state(io500: Io500) -> None:
    ior_easy = (
        f"{IOR} -o D/ior-easy/ior_file_easy -O stoneWallingStatusFile=R/ior-easy.stonewall -t 2m -b 32m -F"
    )
    ior_hard = (
        f"{IOR} -o D/ior-hard/file -O stoneWallingStatusFile=R/ior-hard.stonewall -t 47008 -b 47008 -s 300"
    )
    md_easy = f"{MDTEST} -n 2000 -u -L -d D/mdtest-easy -x R/mdtest-easy.stonewall"
    md_hard = f"{MDTEST} -n 1000 -t -w 3901 -e 3901 -d D/mdtest-hard -x R/mdtest-hard.stonewall"
    wall = "-w -D 1 -O stoneWallingWearOut=1"

    written = {"easy": io500.requests("ior", f"{ior_easy} {wall} -a POSIX")["write"]}
    created = {"easy": io500.requests("mdtest", f"{md_easy} -C -Y -W 1")["create"]}
    written["hard"] = io500.requests("ior", f"{ior_hard} {wall}")["write"]
    created["hard"] = io500.requests("mdtest", f"{md_hard} -C -Y -W 1")["create"]
    for name in ("easy", "hard"):
        assert written[name] == 2 * io500.count(f"ior-{name}.stonewall")
        assert created[name] == 2 * io500.count(f"mdtest-{name}.stonewall")
    assert io500.requests("ior", f"{ior_easy} -r -R") == {"read": written["easy"]}
    assert io500.requests("mdtest", f"{md_easy} -T") == {"stat": created["easy"]}
    assert io500.requests("ior", f"{ior_hard} -r -R") == {"read": written["hard"]}
    assert io500.requests("mdtest", f"{md_hard} -T") == {"stat": created["hard"]}
    assert io500.requests("mdtest", f"{md_easy} -r")["unlink"] == created["easy"]
    assert io500.requests("mdtest", f"{md_hard} -E -X") == {"small-read": created["hard"]}
    assert io500.requests("mdtest", f"{md_hard} -r")["unlink"] == created["hard"]
    random = f"{IOR} -o D/ior-easy/ior_file_easy -F -r -D 1 -z -z -t=4096 -b=4096 -s=1000".replace(
        "-Q 1", "-Q 2"
    )
    assert 0 < io500.requests("ior", f"{random} -O stoneWallingWearOut=1")["read"] <= 2000
    assert not [*(io500.folder / "mdtest-easy").iterdir(), *(io500.folder / "mdtest-hard").iterdir()]
