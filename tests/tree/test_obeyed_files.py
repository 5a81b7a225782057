"""Files that name processes, programs, hosts or paths are read by `strider.own_files` alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "python" / "strider"
ROOMS = ["lab", "listio", "jobs", "web/jobs.py", "web/batch.py", "launch/ownership.py"]
"""Where such files are read."""
READS = {
    "read_text",
    "read_bytes",
    "open",
    "open_regular",
    "open_below",
    "read_regular",
    "model_validate_json",
}

OTHER_FILES = {
    "lab/mounts.py::below": "the kernel's list of mounts",
    "lab/mounts.py::namespaces": "the kernel's list of mounts",
    "lab/nodes.py::_write_settings": "a key that this lab has just made",
    "lab/processes.py::_that": "processes of the kernel",
    "lab/processes.py::name_of": "processes of the kernel",
    "lab/processes.py::marked": "processes of the kernel",
    "lab/record.py::read": "parses what own_files returned",
    "lab/site.py::_read": "the end of a log, for a message",
    "lab/site.py::daemon": "a log to write",
    "lab/site.py::free_ports": "a setting of the kernel",
    "lab/slurm.py::_start_munge": "a key to write",
    "lab/system.py::_may_mount": "the rights of this process",
    "listio/hosts.py::read_hosts": "parses what own_files returned",
    "listio/mounts.py::mounted": "the kernel's list of mounts",
    "listio/mounts.py::start_mount": "the end of a log, for a message",
    "listio/servers.py::_last_lines": "the end of a log, for a message",
    "listio/servers.py::_process_record": "parses what own_files returned",
    "listio/volume.py::choose_transport": "a setting of the kernel",
    "listio/volume.py::read_volume": "parses what own_files returned",
    "jobs/condition.py::is_sealed": "whether a run has ended, for a message",
    "jobs/inside.py::_documents": "whether a process has ended, without effect on it",
    "jobs/inside.py::note_process": "a record to write",
    "jobs/record.py::_end_of": "the end of a log, for a message",
    "jobs/record.py::read": "parses what own_files returned",
    "launch/ownership.py::require_own": "the folder, checked when it is open",
    "launch/ownership.py::_read_own": "checked when it is open, below an open folder",
    "web/jobs.py::_started": "a log to write",
    "web/jobs.py::_take_over": "a lock",
    "web/jobs.py::kept": "parses what own_files returned",
}
"""Functions that read or write other files, and which."""


def reading_functions(file: Path) -> Iterator[str]:
    """The functions of a source that open, read or parse a file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
            names = {
                call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls
            }
            if names & READS:
                yield f"{file.relative_to(SOURCES)}::{node.name}"


def found(rooms: list[str]) -> set[str]:
    files = [
        file
        for room in rooms
        for file in ((SOURCES / room).rglob("*.py") if "." not in room else [SOURCES / room])
    ]
    return {function for file in files for function in reading_functions(file)}


def test_each_function_that_reads_a_file_is_listed_with_its_reason() -> None:
    """One that is not: read the file by `own_files.read_own`, or list it here if it commands nothing."""
    assert found(ROOMS) == set(OTHER_FILES)


def test_a_function_that_reads_otherwise_is_found(tmp_path: Path) -> None:
    source = SOURCES / "own_files.py"
    assert "own_files.py::read_own" in set(reading_functions(source))
