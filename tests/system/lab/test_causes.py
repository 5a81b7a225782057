"""The bench of causes: ways to break a run on four hosts, with the sentences that come, and that do not."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import strider_command
from strider.engine import Engine
from strider.lab import Record

LIMIT_S = 120
HOSTS = "n1,n2,n3,n4"
SUITE = """\
[suite]
name = "causes"
target = "{target}"
repetitions = 1
[[case]]
interface = "posix"
{pattern}
clients = 4
operations = ["write"]
"""
STRIDED = 'pattern = "strided"\ntransfer = "4KiB"\ncount = 8'
NEVER = (r"  ", r" on [,.:]", r"parse_error", r"Traceback")
"""What no run may say."""
HEALTHY = (r"error", r"lost", r"cannot", r"does not answer", r"clock")


@pytest.fixture
def shared(engine: Engine) -> Iterator[Path]:
    """A folder that all hosts see, with a target."""
    if not engine.version.mpi.library.startswith("MPICH"):
        pytest.skip("needs an engine with MPICH")
    with tempfile.TemporaryDirectory(prefix="strider-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "data").mkdir()
        yield Path(folder)


@pytest.mark.parametrize(
    ("way", "says", "never"),
    [
        ("nothing", r"", HEALTHY),
        (
            "store",
            r"host n1 cannot read the store \S+/store \(No such file or directory\)",
            ("hangs", "host n2"),
        ),
        ("list", r"(host n\d cannot read \S+/list\.csv \(No such .*\s(strider: )?){4}", ("hangs",)),
        ("target", r"host n1: \S+ is missing: mount or create it there", ("hangs",)),
        ("name", r"host nosuch does not answer .*: check its name", ("host n1",)),
    ],
)
def test_what_is_missing_before_a_run_is_named(
    nodes: Record, shared: Path, way: str, says: str, never: tuple[str, ...]
) -> None:
    own = Path(nodes.endpoints[0].native["disk"])  # of each host
    script = f"mkdir -p {own}/data; echo rank,request,file_offset,length >{own}/list.csv; "
    script += "".join(f"echo {rank},0,{4096 * rank},4096 >>{own}/list.csv; " for rank in range(4))
    target = own / "data" if way == "target" else shared / "data"
    pattern = f'pattern = "list"\nfile = "{own}/list.csv"' if way == "list" else STRIDED
    (shared / "s.toml").write_text(SUITE.format(target=target, pattern=pattern))
    store = own / "store" if way == "store" else shared / "store"
    hosts = "n1,nosuch" if way == "name" else HOSTS
    words = strider_command(
        "run", shared / "s.toml", "--store", store, "--hosts", hosts, "--ceilings", "none", "-q"
    )
    around = [*nodes.enter, "sh", "-c", f'{script} exec "$@"', "x"]
    done = subprocess.run([*around, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode == 0) == (way == "nothing"), done.stderr
    assert re.search(says, done.stderr), done.stderr
    for other in (*NEVER, *never):
        assert not re.search(other, done.stderr), done.stderr
