"""Reports and comparisons: drawn by the command line in a process of its own."""

import asyncio
import contextlib
import io
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from strider.errors import ExitCode, StriderError
from strider.web.commands import ask

DEADLINE_S = 300.0
"""For the report of a run of thousands of cases on a slow machine."""
SOON_S = 1.0
"""What takes longer is drawn in the background."""
MOST_SHOWN = 2000


class Drawing:
    """Draws one thing at a time, which leaves the processor to the measurement.

    Args:
        store: The store.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self._one = asyncio.Lock()
        self._reports: dict[Path, tuple[asyncio.Task[Path], float]] = {}

    async def started(self, directory: Path) -> float | None:
        """Begins to draw the report of a run in the background, unless it is there.

        Returns:
            The seconds that it has taken so far; None where it is there.

        Raises:
            StriderError: It cannot be drawn.
        """
        if directory not in self._reports:
            if _is_fresh(directory / "report.html", directory / "events.jsonl"):
                return None
            self._reports[directory] = asyncio.create_task(self.report(directory)), time.monotonic()
        task, began_s = self._reports[directory]
        await asyncio.wait({task}, timeout=SOON_S)
        if not task.done():
            return time.monotonic() - began_s
        self._reports.pop(directory, None)
        task.result()
        return None

    async def report(self, directory: Path) -> Path:
        """The report of a run, drawn now where it is not there or older than the run's end.

        Raises:
            StriderError: It cannot be drawn.
        """
        report = directory / "report.html"
        async with self._one:
            if not _is_fresh(report, directory / "events.jsonl"):
                await strider("report", str(directory), "--store", str(self._store))
        return report

    async def exports(self, directory: Path) -> bytes:
        """The figures of a run's report in each format and its tables as CSV: a ZIP file.

        Raises:
            StriderError: They cannot be drawn.
        """
        with tempfile.TemporaryDirectory(prefix="strider-exports-") as folder:
            kept = Path(folder) / directory.name
            options = [
                "--figures",
                str(kept / "figures"),
                "--format",
                "svg,png,pdf",
                "--tables",
                str(kept / "tables"),
            ]
            page = ["--output", str(Path(folder) / "report.html")]
            async with self._one:
                await strider("report", str(directory), "--store", str(self._store), *options, *page)
            return await asyncio.to_thread(_zipped, kept)

    async def comparison(self, runs: list[Path], by: str) -> str:
        """The page that compares two runs, or with `by` what differs in a key within one.

        Raises:
            StriderError: There is nothing to compare.
        """
        with tempfile.TemporaryDirectory(prefix="strider-compare-") as folder:
            page = Path(folder) / "compare.html"
            key = [f"--by={by}"] if by else []
            async with self._one:
                await strider("compare", *map(str, runs), *key, "-o", str(page))
            return page.read_text(encoding="utf-8")


def _zipped(folder: Path) -> bytes:
    """A folder as a ZIP file, in which it has its name; with nothing in it if it is not there."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder.parent))
    return content.getvalue()


def _is_fresh(report: Path, events: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return report.stat().st_mtime_ns >= events.stat().st_mtime_ns
    return report.exists() and not events.exists()


async def strider(*words: str) -> str:
    """The output of a command of Strider.

    Raises:
        StriderError: It fails, or takes too long.
    """
    try:
        answer = await ask(sys.executable, "-I", "-m", "strider", *words, limit_s=DEADLINE_S)
    except TimeoutError:
        raise StriderError(
            f"strider {words[0]} timed out after {DEADLINE_S:g} s: run it on the command line",
            ExitCode.CANNOT_RUN,
        ) from None
    if answer.code:
        code = ExitCode.BAD_INPUT if answer.code == ExitCode.BAD_INPUT else ExitCode.CANNOT_RUN
        raise StriderError(answer.err.strip()[-MOST_SHOWN:] or f"strider {words[0]} failed", code)
    return answer.out
