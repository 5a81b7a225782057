"""A number of a plan around a power of two is accepted, or refused with its key and a remedy.

`STRIDER_VALUE_REQUESTS=N` checks N plans.
"""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from strider.cli import main
from strider.engine import Engine, Json
from test_mount_values import MOST_KIB

PLANS = int(os.environ.get("STRIDER_VALUE_REQUESTS", "400"))
RANK_BYTES = 5
"""Memory of the check for each rank of a case."""
PATTERNS = ("segmented", "strided", "sequential", "random", "nested-strided", "subarray", "btio")
SUITE = """
[suite]
name = "s"
target = "{target}"
clients = 4
repetitions = 2
"""
CASE = """
[[case]]
interface = "posix"
{shape}
"""


def plan_of(folder: Path, shape: str, capsys: pytest.CaptureFixture[str]) -> Json:
    file = folder / "suite.toml"
    file.write_text(SUITE.format(target=folder) + CASE.format(shape=shape))
    capsys.readouterr()
    assert main(["plan", str(file), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def numbers(value: Json) -> Iterator[tuple[Json, Json]]:
    """Each holder of a number, with its key; not the number of the case and the versions."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        if type(value[key]) in (int, float) and key not in ("version", "case"):
            yield value, key
        yield from numbers(value[key])


class Checks:
    """Checks plans by a small process: the largest memory of a child counts that of its parent."""

    SOURCE = """
import os, sys
for line in sys.stdin:
    program, plan, output = line.rstrip("\\n").split("\\t")
    to_file = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    actions = [to_file, (os.POSIX_SPAWN_DUP2, 1, 2)]
    child = os.posix_spawn(program, [program, "check", plan], os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss, flush=True)
"""

    def __init__(self) -> None:
        words = [sys.executable, "-S", "-c", self.SOURCE]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def check(self, engine: Engine, plan: Path, output: Path) -> tuple[int, int]:
        """The exit code, and the largest resident memory in KiB."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{engine.path}\t{plan}\t{output}\n")
        self.process.stdin.flush()
        code, resident_kib = map(int, self.process.stdout.readline().split())
        return code, resident_kib

    def __enter__(self) -> "Checks":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


@pytest.fixture
def checks() -> Iterator[Checks]:
    with Checks() as made:
        yield made


def any_number(random: Random) -> int:
    number = (1 << random.randrange(65)) + random.randrange(-1, 2)
    return -number if random.random() < 0.1 else number


def clients_of(plan: Json) -> int:
    """Ranks of the case, of as many as a plan may have."""
    return min(max(0, int(plan["cases"][0]["clients"])), 1 << 24)


def says_what_to_do(error: Json) -> bool:
    """Whether it has a key, and a remedy or the allowed value."""
    return bool(error.get("key") and (error["remedy"] or " must " in error["message"]))


def test_no_number_in_a_plan_ends_the_check_or_takes_its_memory(
    engine: Engine, checks: Checks, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(39)
    shapes = [f'pattern = "{name}"' for name in PATTERNS] + ['tree = "balanced"\nitems = 16']
    plans = [plan_of(tmp_path, shape, capsys) for shape in shapes]
    file, output = tmp_path / "plan.json", tmp_path / "output"
    complaints: list[str] = []
    least = most = 0
    for number in range(PLANS):
        plan = copy.deepcopy(plans[number % len(plans)])
        if number >= len(plans):
            holder, key = random.choice([*numbers(plan)])
            value = any_number(random)
            if number == len(plans):  # once took memory for so many ranks
                holder, key, value = plan["cases"][0], "per_node", 1 << 24
            holder[key] = value
            where = f"{plan['cases'][0].get('pattern')} {key} = {value}"
        else:
            where = "as planned"
        file.write_text(json.dumps(plan))
        code, resident_kib = checks.check(engine, file, output)
        text = output.read_text()
        if number < len(plans):
            least = max(least, resident_kib)
            assert code == 0, text
        most = max(most, resident_kib)
        if number >= len(plans) and resident_kib - least > MOST_KIB + (RANK_BYTES * clients_of(plan) >> 10):
            complaints.append(f"{where}: {resident_kib - least} KiB")
        errors = json.loads(text)["errors"] if code in (0, 2) else [{}]
        if (code == 2) != bool(errors) or not all(map(says_what_to_do, errors)):
            complaints.append(f"{where}: exit code {code}: {str(errors or text)[:300]}")
    print(f"{PLANS} plans; KiB more of a check: {most - least}")
    assert not complaints, "\n".join(complaints[:30]) + f"\n{len(complaints)} of {PLANS}"
