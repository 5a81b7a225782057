"""Reports that take long are drawn in the background."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.web import drawing
from strider.web.drawing import Drawing


def in_a_loop(what: Coroutine[None, None, None]) -> None:
    """In a thread of its own: where browsers were tested before, this one has a loop that is running."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(asyncio.wait_for(what, 60))).result(timeout=90)


def test_a_slow_report_is_begun_once_and_then_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    async def seen() -> None:
        may_end = asyncio.Event()

        async def drawn(*words: str) -> str:
            begun.append(words[0])
            await may_end.wait()
            (tmp_path / "report.html").write_text("")
            return ""

        monkeypatch.setattr(drawing, "strider", drawn)
        monkeypatch.setattr(drawing, "SOON_S", 0.01)
        one = Drawing(tmp_path)
        (tmp_path / "events.jsonl").write_text("")
        first, second = await one.started(tmp_path), await one.started(tmp_path)
        assert first is not None
        assert second is not None
        assert second >= first
        may_end.set()
        while await one.started(tmp_path) is not None:
            pass
        assert await one.started(tmp_path) is None

    in_a_loop(seen())
    assert begun == ["report"]


def test_a_report_that_cannot_be_drawn_says_why_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failed(*_: str) -> str:
        raise StriderError("no space")

    async def seen() -> None:
        (tmp_path / "events.jsonl").write_text("")
        one = Drawing(tmp_path)
        for _ in range(2):
            with pytest.raises(StriderError, match="no space"):
                await one.started(tmp_path)

    monkeypatch.setattr(drawing, "strider", failed)
    in_a_loop(seen())
