"""A number of a plan around a power of two is accepted, or refused with its key and a remedy.

`STRIDER_VALUE_REQUESTS=N` checks N plans.
"""

import copy
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from strider.cli import main
from strider.engine import Engine, Json
from test_mount_values import MOST_KIB

PLANS = int(os.environ.get("STRIDER_VALUE_REQUESTS", "400"))
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


def any_number(random: Random) -> int:
    number = (1 << random.randrange(65)) + random.randrange(-1, 2)
    return -number if random.random() < 0.1 else number


def says_what_to_do(error: Json) -> bool:
    """Whether it has a key, and a remedy or what the value must be."""
    return bool(error.get("key") and (error["remedy"] or " must " in error["message"]))


def test_no_number_in_a_plan_ends_the_check_or_takes_its_memory(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
            holder[key] = value = any_number(random)
            where = f"{plan['cases'][0].get('pattern')} {key} = {value}"
        else:
            where = "as planned"
        file.write_text(json.dumps(plan))
        with output.open("wb") as out:
            process = subprocess.Popen([engine.path, "check", file], stdout=out, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        text = output.read_text()
        if number < len(plans):
            least = max(least, usage.ru_maxrss)
            assert code == 0, text
        most = max(most, usage.ru_maxrss)
        errors = json.loads(text)["errors"] if code in (0, 2) else [{}]
        if (code == 2) != bool(errors) or not all(map(says_what_to_do, errors)):
            complaints.append(f"{where}: exit code {code}: {str(errors or text)[:300]}")
    print(f"{PLANS} plans; KiB more of a check: {most - least}")
    assert not complaints, "\n".join(complaints[:30]) + f"\n{len(complaints)} of {PLANS}"
    assert most - least <= MOST_KIB
