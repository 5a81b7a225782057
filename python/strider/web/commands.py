"""Programs that the page asks: started without a shell, and ended where they take too long."""

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """The output of a program.

    Attributes:
        code: Its exit code; that of a signal is negative.
    """

    code: int
    out: str
    err: str


async def ask(*words: str, limit_s: float) -> Answer:
    """Runs a program to its end; it is killed where the caller is, or time is over.

    Raises:
        TimeoutError: It did not end within `limit_s` seconds.
        OSError: It cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(limit_s):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Answer(process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
