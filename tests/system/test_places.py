"""A plan that was written by hand touches nothing but its own folder, whatever its places say."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from harness import DEADLINE_S, Json, case, check, plan, run_engine, strider_command
from strider.engine import Engine
from strider.listio.volume import VOLUME_FILE

PRECIOUS = b"what a user would miss"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user outside of the target."""
    file = tmp_path / "precious"
    file.write_bytes(PRECIOUS)
    return file


def overwriting(file: Path, end: str) -> Json:
    """A case that once wrote a file of the user's choice, since a NUL ends a path."""
    return case("segmented", "mpiio", interface_prefix=f"{file}{end}", operations=["write"])


@pytest.mark.parametrize("end", ["\0", "", ":", "\n"])
def test_a_prefix_of_mpiio_leads_to_no_other_file(
    engine: Engine, tmp_path: Path, precious: Path, end: str
) -> None:
    document = plan([overwriting(precious, end)])
    (error,) = check(engine, document, tmp_path)["errors"]
    assert error["key"] in ("mpiio.prefix", "interface")
    done = run_engine(engine, document, tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.of("sample") == []
    assert precious.read_bytes() == PRECIOUS
    assert sorted(path.name for path in done.directory.iterdir()) == []


def test_a_suite_with_such_a_prefix_is_refused(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "target").mkdir()
    suite = tmp_path / "s.toml"
    prefix = f'mpiio.prefix = "{precious}\\u0000"'
    suite.write_text(
        f'[suite]\nname = "s"\ntarget = "{tmp_path}/target"\n[[case]]\ninterface = "mpiio"\n'
        f'pattern = "segmented"\n{prefix}\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        strider_command("run", str(suite), "--store", str(tmp_path / "store")),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "s.toml:7: mpiio.prefix: " in done.stderr
    assert "contains U+0000" in done.stderr
    assert precious.read_bytes() == PRECIOUS


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root makes files of another user")
@pytest.mark.parametrize("way", ["another user's", "for all to write"])
def test_a_volume_of_another_user_above_the_target_does_not_count(
    engine: Engine, tmp_path: Path, way: str
) -> None:
    file = tmp_path / VOLUME_FILE
    file.write_text("{}", encoding="utf-8")
    document = plan([case("segmented", "listio", operations=["write"])])
    of_ours = run_engine(engine, document, tmp_path)
    assert "is not a volume file" in str(of_ours.of("error")), "a file of ours does"
    if way == "another user's":
        os.chown(file, 65534, 65534)
    else:
        file.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IWOTH)
    done = run_engine(engine, document, tmp_path)
    assert "no list-I/O volume found" in str(done.of("error"))
