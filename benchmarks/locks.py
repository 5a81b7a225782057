"""What locks of a list-I/O volume cost, and what overlapping writers do to lists without them.

    .strider/venv/bin/python benchmarks/locks.py [TRANSPORT [ROUNDS [TRIALS]]]

TRANSPORT is cma (default) or tcp. Prints the round trips of a lock with its unlock (two requests), of a
fetch-and-add and of the size of a file (one request each) to an otherwise idle server: the median and the
lower quartile of ROUNDS windows of 50 calls. Then three writers write the same list of 16 pieces of 3000
bytes on three servers, TRIALS times, while a reader reads it as often, without locks and with them: how many
of the lists read are of more than one write. Builds `strider-locks` and `strider-listio-server` beside the
engine.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from common import Json, build

from strider import engine as engines
from strider.listio import VOLUME_FILE, ServerOptions, serve, stop


def measure(transport: str, rounds: str, trials: str) -> list[Json]:
    """Runs three servers and the client; returns the client's output."""
    engine = engines.find()
    program = build("strider-locks", "strider-listio-server") / "benchmarks/listio/strider-locks"
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "volume"
        serve(engine, directory, ServerOptions(servers=3, transport=transport))
        try:
            words = [str(program), str(directory / VOLUME_FILE), rounds, trials]
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
        finally:
            stop(directory)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(transport: str = "cma", rounds: str = "100", trials: str = "10000") -> None:
    times: dict[str, list[float]] = defaultdict(list)
    for line in measure(transport, rounds, trials):
        if "what" in line:
            times[line["what"]].append(line["us"])
        else:
            kind = "with locks" if line["locks"] else "without locks"
            print(f"{kind}: {line['torn']} of {line['reads']} lists torn during {line['writes']} writes")
    for what, each in times.items():
        lower = statistics.quantiles(each, n=4)[0]
        print(f"{what}, {transport}: median {statistics.median(each):.1f} µs, quartile {lower:.1f} µs")


if __name__ == "__main__":
    main(*sys.argv[1:])
