import re
import subprocess
from pathlib import Path

import pytest

from strider import engine as engines
from strider.engine import Engine
from strider.errors import ExitCode, StriderError


def test_the_description_is_understood(engine: Engine) -> None:
    names = {interface.name for interface in engine.description.interfaces}
    assert {"posix", "mpiio", "null"} <= names
    assert {"clients", "operations", "repetitions"} <= {
        parameter.name for parameter in engine.description.case
    }


def test_the_version_names_the_mpi_library_and_its_launcher(engine: Engine) -> None:
    assert engine.version.mpi.library
    assert Path(engine.version.mpi.mpiexec).name.startswith("mpiexec")


def test_the_variable_chooses_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = tmp_path / "strider-engine"
    binary.touch(mode=0o755)
    monkeypatch.setenv("STRIDER_ENGINE", str(binary))
    assert engines.find().path == binary


def test_a_variable_that_names_no_program_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STRIDER_ENGINE", str(tmp_path / "missing"))
    with pytest.raises(StriderError, match="is not an executable file") as caught:
        engines.find()
    assert caught.value.exit_code == ExitCode.CANNOT_RUN


def test_without_an_engine_the_message_says_how_to_build_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRIDER_ENGINE", raising=False)
    monkeypatch.setattr(engines, "candidates", list)
    with pytest.raises(StriderError, match=r"run ./strider in the checkout"):
        engines.find()


def script(path: Path, text: str) -> Engine:
    """A program that stands in for an engine that misbehaves."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return Engine(path)


def test_an_unknown_version_of_the_format_is_refused(tmp_path: Path) -> None:
    engine = script(tmp_path / "engine", """echo '{"format": "strider-description", "version": 2}'""")
    with pytest.raises(StriderError, match=r"incompatible versions.*version.*rebuild the engine"):
        _ = engine.description


def test_an_engine_that_fails_is_quoted(tmp_path: Path) -> None:
    engine = script(tmp_path / "engine", "echo 'strider-engine: no such library' >&2; exit 3")
    with pytest.raises(StriderError, match="describe: no such library") as caught:
        _ = engine.description
    assert caught.value.exit_code == ExitCode.CANNOT_RUN


def test_an_engine_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StriderError, match="cannot start"):
        _ = Engine(tmp_path / "missing").version


@pytest.mark.parametrize(
    "program", ["strider-engine", "strider-listio", "strider-listio-server", "strider-listio-mount"]
)
def test_no_program_is_linked_with_libfabric(engine: Engine, program: str) -> None:
    """It is loaded at first use: its libraries sleep for 0.17 s at the start of each process."""
    path = engine.path.with_name(program)
    if not path.exists():
        pytest.skip(f"{program} is not built: libcrypto or libfuse3 is missing")
    done = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    assert "libc.so" in done.stdout
    assert "libfabric" not in done.stdout


def _usage_of(engine: Engine) -> dict[str, set[str]]:
    """The options of each verb, as the usage lists them."""
    said = subprocess.run([engine.path, "help"], capture_output=True, text=True, check=False).stderr
    lines = re.split(r"\n(?=\s+(?:strider-engine|mpiexec) )", said.partition(": ")[2])
    verbs = ((line.split("strider-engine ")[1].split()[0], line) for line in lines)
    return {verb: set(re.findall(r"--[a-z-]+", line)) for verb, line in verbs}


def test_an_unknown_option_is_refused_with_the_options_of_its_verb(engine: Engine) -> None:
    """They are those of the usage. A mistyped option that is ignored would measure with a default."""
    usage = _usage_of(engine)
    assert {"run", "observe", "version"} <= set(usage)
    for verb, options in usage.items():
        words = [str(engine.path), verb, "--tmeline", "none"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"unknown option --tmeline of {verb}: " in done.stderr
        assert set(re.findall(r"--[a-z-]+", done.stderr)) - {"--tmeline"} == options
