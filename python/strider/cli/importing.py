"""Common parts of the verbs that accept other benchmarks' input."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from strider.console import echo
from strider.errors import ExitCode, StriderError

if TYPE_CHECKING:
    from strider.cli.options import TaskOptions
    from strider.importers import Imported
    from strider.importers.imported import Grades, ResultFile
    from strider.importers.options import Surroundings
    from strider.running.options import RankOptions, RunOptions
    from strider.statistics import OperationSummary
    from strider.store import Run


def surroundings(tasks: "TaskOptions", ranks: "RankOptions", *, keeps_files: bool = False) -> "Surroundings":
    """Returns the task layout for another benchmark: tasks per node as given, of the places, or from Slurm.

    Args:
        tasks: Number of tasks, or else that of the places, or 1; tasks on each node.
        ranks: Hosts and nodes of the command line.
        keeps_files: Whether tests use files under the other benchmark's names.

    Raises:
        StriderError: The tasks do not fit into the places.
    """
    from strider.importers.options import Surroundings

    places = ranks.places()
    count = tasks.tasks or places.ranks or 1
    mapped = places.mapping(count).per_node
    per_node = tasks.tasks_per_node or mapped or _tasks_per_node(count, os.environ)
    return Surroundings(count, per_node, os.environ, keeps_files)


def run_or_write(imported: "Imported", suite: Path | None, options: "RunOptions") -> None:
    """Runs another benchmark's input, or writes the equivalent suite to a file."""
    if suite is not None:
        write_suite(imported, suite)
    else:
        run_imported(imported, options)


def run_imported(imported: "Imported", options: "RunOptions") -> None:
    """Runs another benchmark's input, prints results in its format and exits with the run's exit code.

    Raises:
        StriderError: The run cannot be started, or a file that the input requests cannot be written.
    """
    from strider.running.conducting import run_document

    print_notes(imported)
    for file in imported.files:
        file.check() if file.check else _check_writable(file)
    with _target(imported):
        run_document(
            imported.document,
            options,
            lambda run: _lines(imported, run),
            manifests=imported.manifests,
        )


@contextmanager
def _target(imported: "Imported") -> Iterator[None]:
    """Makes the target directory if the other benchmark would, and removes it at the end if it is empty."""
    target = Path(imported.document.data["suite"]["target"]).expanduser()
    if not imported.makes_target or target.exists():
        yield
        return
    try:
        target.mkdir()
    except OSError as error:
        raise StriderError(f"cannot make {target}: {error.strerror}", ExitCode.CANNOT_RUN) from error
    try:
        yield
    finally:
        with suppress(OSError):
            target.rmdir()


def _check_writable(file: "ResultFile") -> None:
    """Raises an error if a file of results could not be written after the run."""
    path = file.path
    if path.is_dir():
        raise StriderError(f"{file.place.text}: {path} is a directory: name a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = "no permission to write" if path.parent.exists() else f"{path.parent} does not exist"
        raise StriderError(f"{file.place.text}: cannot write {path}: {reason}", ExitCode.CANNOT_RUN)


def _write(file: "ResultFile", run: "Run", grades: "Grades") -> None:
    """Writes a file of results. A device or a pipe is not replaced."""
    from strider.text_file import write_whole

    text = "".join(f"{line}\n" for line in file.render(run, grades))
    if file.path.exists() and not file.path.is_file():
        file.path.write_text(text, encoding="utf-8")
    else:
        write_whole(file.path, text)


def _lines(imported: "Imported", run: "Run") -> Iterator[str]:
    """Yields the results in the other benchmark's format.

    Writes the files that the input requests. Strider's remarks and the result of verification go to stderr,
    so that scripts find nothing on stdout that the other benchmark would not print.
    """
    from strider.statistics import summarize

    summaries = summarize(run)
    grades = _grades(summaries)
    for file in imported.files:
        file.write(run) if file.write else _write(file, run, grades)
    yield from imported.render(run, grades)
    remarks = (*imported.remarks(run, grades), *verification(run, summaries))
    sys.stderr.write("".join(f"strider: {line}\n" for line in remarks))


def verification(run: "Run", summaries: "Sequence[OperationSummary]") -> Iterator[str]:
    """Yields the results of verification in words, if the input asks for it.

    Args:
        run: The results.
        summaries: Summaries of the run.
    """
    from strider.report.words.wording import metadata_check_line, verification_line

    if any(case.common_parameters.get("verify", "off") != "off" for case in run.cases.values()):
        yield from filter(None, [verification_line(run, summaries), metadata_check_line(summaries)])


def _grades(summaries: "Sequence[OperationSummary]") -> "Grades":
    return {
        (summary.case.number, summary.operation): str(summary.trust) for summary in summaries if summary.trust
    }


def write_suite(imported: "Imported", output: Path | None) -> None:
    """Writes the converted suite to a file or to stdout.

    Raises:
        StriderError: The file exists, or cannot be written.
    """
    print_notes(imported)
    if output is None:
        sys.stdout.write(imported.document.text)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(imported.document.text)
    except FileExistsError as error:
        raise StriderError(f"{output} exists: choose another name, or remove it") from error
    except OSError as error:
        raise StriderError(f"cannot write {output}: {error.strerror}", ExitCode.CANNOT_RUN) from error


def print_notes(imported: "Imported") -> None:
    """Prints differences from the other benchmark on stderr."""
    for note in imported.notes:
        echo(f"strider: note: {note}", stream=sys.stderr)


def _tasks_per_node(tasks: int, environment: Mapping[str, str]) -> int | None:
    """Returns the tasks per node of a Slurm allocation; None outside an allocation."""
    nodes = environment.get("SLURM_JOB_NUM_NODES", "")
    return -(-tasks // int(nodes)) if nodes.isdigit() and int(nodes) > 1 else None
