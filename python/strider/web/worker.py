"""The process that answers questions: a line of JSON in, a line of JSON out.

`python -m strider.web.worker FOLDER`: the folder is for its temporary files. The process removes it when it
ends, since the server may have been killed. The first line has the server's site. Nothing of this
process outlives the server: it ends with its input, and ends itself if a question takes longer than
its deadline.
"""

import atexit
import json
import os
import resource
import shutil
import signal
import sys
from pathlib import Path
from typing import BinaryIO

from strider.engine import Engine, Json
from strider.errors import ExitCode, StriderError

MOST_MEMORY_BYTES = 2 << 30
"""Of address space, for this process, and for each engine that it asks."""


def main() -> None:
    """Answers until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when
    folder = Path(sys.argv[1])
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    signal.signal(signal.SIGALRM, lambda *_: _give_up(folder))
    # Whatever else prints does not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _serve(sys.stdin.buffer, answers)


def _give_up(folder: Path) -> None:
    """Ends this process and the engine that it waits for."""
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def _serve(questions: BinaryIO, answers: BinaryIO) -> None:
    from strider.web.questions import QUESTIONS
    from strider.web.site import Site

    first = questions.readline()
    if not first:
        return
    ground = json.loads(first)
    site = Site(
        Engine(Path(ground["engine"]), ground["deadline_s"]),
        Path(ground["store"]),
        tuple(map(Path, ground["allowed"])),
        allowed_places=frozenset((key, value) for key, value in ground["allowed_places"]),
    )
    for line in questions:
        signal.alarm(int(2 * ground["deadline_s"]))
        kind, asked = json.loads(line)
        model, answer = QUESTIONS[kind]
        said: dict[str, Json]
        try:
            said = {"answer": answer(model.model_validate(asked), site)}
        except StriderError as error:
            said = {"message": error.message, "code": error.exit_code}
        except MemoryError:
            much = f"{MOST_MEMORY_BYTES >> 30} GiB of memory"
            said = {"message": f"the suite needs more than {much}: reduce the number of cases", "last": True}
        except Exception as error:  # a bug costs one answer and not the page
            said = {"message": f"internal error ({error!r:.300}): please report it", "last": True}
        answers.write(json.dumps({"code": ExitCode.CANNOT_RUN, **said}).encode() + b"\n")
        answers.flush()
        signal.alarm(0)
        if "last" in said:
            return


if __name__ == "__main__":
    main()
