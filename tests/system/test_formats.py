"""The page on file formats matches the engine's output, key by key."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import EngineRun, Json, case, extents_text, plan, run_engine, tree_case
from strider.engine import Engine

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
EVENTS = (
    "run",
    "case",
    "repetition",
    "progress",
    "sample",
    "rank",
    "counters",
    "ceilings",
    "timeline",
    "values",
    "error",
    "end",
)
FREE = ("facts", "parts", "counters", "causes", "rates")
"""Objects whose keys are data, and those that have a test of their own."""


def documented(beginning: str) -> set[str]:
    """Paths of the keys in the one example of the page that begins so; it may have … and alternatives."""
    (start,) = (match.start() for match in re.finditer(re.escape(beginning), PAGE))
    found: set[str] = set()
    above: list[str] = []
    key = ""
    for token in re.finditer(r'"([^"]*)"\s*(:)?|[{}]', PAGE[start:]):
        if token[0] == "{":
            above.append(key)
        elif token[0] == "}":
            key = above.pop()
            if not above:
                break
        elif token[2]:
            key = token[1]
            found.add(".".join([*above[1:], key]))
    return {path for path in found if path.partition(".")[0] not in FREE or "." not in path}


def paths(value: Json, *above: str, closed: tuple[str, ...] = FREE) -> Iterator[str]:
    """Paths of the keys of a document; not those within the objects named in `closed`."""
    if isinstance(value, list):
        for entry in value:
            yield from paths(entry, *above, closed=closed)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield ".".join([*above, key])
            if key not in closed:
                yield from paths(inner, *above, key, closed=closed)


@pytest.fixture(scope="module")
def eventful_run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> EngineRun:
    """A run with every kind of event."""
    work = tmp_path_factory.mktemp("formats")
    (work / "target" / "case2.0").mkdir(parents=True)
    # Small requests, so that the phase surely takes longer than the time between two progress events.
    long = case(
        "segmented",
        pattern_transfer=4096,
        pattern_block=4 << 30,
        clients=2,
        verify="full",
        values=3,
        deadline=1.2,
        wear_out=False,
        cache="cold",
    )
    in_the_way = case("segmented", pattern_transfer=4096, pattern_block=4096, operations=["write"])
    arriving = case("segmented", pattern_transfer=512, pattern_block=4096, operations=["write"])
    return run_engine(
        engine,
        plan(
            [
                long,
                in_the_way,
                {**arriving, "arrivals": "poisson", "arrival_rate": 1000},
                {**arriving, "runtime": 0.01},
            ]
        ),
        work,
        options=["--ceilings", "all"],
    )


@pytest.mark.parametrize("kind", EVENTS)
# proves measuring: timer, timer-cost
def test_an_event_has_the_keys_of_the_page(eventful_run: EngineRun, kind: str) -> None:
    events = eventful_run.of(kind)
    assert events, eventful_run.stderr
    found = {path for event in events for path in paths(event)}
    # The page says of this one that every event has it.
    assert found | {"time_s"} == documented(f'{{"event":"{kind}"') | {"time_s"}
    assert all("time_s" in event for event in events)


def counters_of_page() -> dict[str, set[str]]:
    """The values of each source of counters that the page lists."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|[^|]*\|$", PAGE.partition("## 7. Counters")[2], re.M)
    return {source: set(re.findall(r"`(\w+)`", values)) for source, values in rows}


# proves measuring: counters, counters-kinds
def test_the_counters_have_the_sources_and_values_of_the_page(eventful_run: EngineRun) -> None:
    (example,) = re.findall(r'"counters":\[\{(.*?)\}\]\}$', PAGE, re.M)
    keys = re.findall(r'"(source|instance|values)":', example)
    groups = [group for event in eventful_run.of("counters") for group in event["counters"]]
    assert groups
    documented_values = counters_of_page()
    for group in groups:
        assert list(group) == keys
        assert set(group["values"]) <= documented_values[group["source"]]
    for source in ("cpu", "kernel", "memory"):
        (first, *_) = (group for group in groups if group["source"] == source)
        assert set(first["values"]) == documented_values[source]


def test_the_kinds_of_errors_are_those_of_the_page(eventful_run: EngineRun) -> None:
    (kinds,) = re.findall(r'"kind":("io"[a-z"|]+)', PAGE)
    assert {event["kind"] for event in eventful_run.of("error")} <= set(re.findall("[a-z]+", kinds))


def printed(engine: Engine, *words: object, accept: int = 0) -> Json:
    """The document that the engine prints."""
    done = subprocess.run([engine.path, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == accept, done.stderr
    return json.loads(done.stdout)


def test_the_description_has_the_keys_of_the_page(engine: Engine) -> None:
    description = printed(engine, "describe")
    found = set(paths(description, closed=("parameters", "case", "tree_case", "results")))
    assert found == documented('{\n  "format": "strider-description"')


def parameters(description: Json) -> list[Json]:
    """All parameters of a description."""
    owners = [*description["patterns"], *description["interfaces"]]
    return [*description["case"], *(parameter for owner in owners for parameter in owner["parameters"])]


def test_a_parameter_has_the_keys_and_the_kinds_of_the_page(engine: Engine) -> None:
    found = parameters(printed(engine, "describe"))
    (line,) = re.findall(r"^PARAMETER is\s`\{(.*)\}`", PAGE, re.M)
    keys = re.findall(r'"(\w+)"', line)
    assert all(list(parameter) == keys for parameter in found)
    cells = re.findall(r"^\| (`[^|]+) \|", PAGE.partition("| kind |")[2].partition("\n\n")[0], re.M)
    kinds = re.findall(r"`(\w+)`", "\n".join(cell.split("|")[0] for cell in cells))
    assert {parameter["kind"] for parameter in found} <= set(kinds)


def test_the_common_parameters_are_those_of_the_page(engine: Engine) -> None:
    description = printed(engine, "describe")
    of_data, _, of_metadata = (
        " ".join(PAGE.split())
        .partition("The list `case` holds")[2]
        .partition("Numbers are finite")[0]
        .partition("The list `tree_case`")
    )
    common = set(re.findall("`([a-z_]+)`", of_data))
    assert common == {entry["name"] for entry in description["case"]}
    added = set(re.findall("`([a-z_]+)`", of_metadata))
    assert {entry["name"] for entry in description["tree_case"]} == (common | added) - {
        "runtime",
        "ramp",
        "depth",
        "think",
        "read_share",
        "cache",
        "values",
    }


def test_the_parts_of_a_mix_have_the_keys_of_the_page(engine: Engine, tmp_path: Path) -> None:
    mix = tree_case(["mix"], tree_items=20, mix={"stat": 3, "unlink": 1})
    done = run_engine(engine, plan([mix]), tmp_path)
    parts = done.sample(operation="mix")["parts"]
    (example,) = re.findall(r'^  "parts":\[\{(.*)\}\],$', PAGE, re.M)
    assert all(list(part) == re.findall(r'"(\w+)":', example) for part in parts)
    assert {"stat", "unlink"} <= {part["operation"] for part in parts}


def test_an_operation_of_a_mix_that_was_never_drawn_has_no_part(engine: Engine, tmp_path: Path) -> None:
    mix = tree_case(["mix"], tree_items=20, mix={"stat": 1_000_000, "unlink": 1}, clients=1, mix_operations=1)
    (part,) = run_engine(engine, plan([mix]), tmp_path).sample(operation="mix")["parts"]
    assert (part["operation"], part["requests"]) == ("stat", 1)


def test_a_check_has_the_keys_of_the_page(engine: Engine, tmp_path: Path) -> None:
    good = case("segmented", pattern_transfer=4096, pattern_block=8192)
    bad = case("segmented", pattern_transfer=8192, pattern_block=4096)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan([good, bad])), encoding="utf-8")
    assert set(paths(printed(engine, "check", file, accept=2))) == documented('{"format": "strider-check"')


def test_extents_begin_as_the_page_says(engine: Engine, tmp_path: Path) -> None:
    one = case("segmented", pattern_transfer=1 << 20, pattern_block=64 << 20, clients=3)
    comment, head, *_ = extents_text(engine, plan([one]), tmp_path, rank=2, operation="write").splitlines()
    (example,) = re.findall(r"`(# case .*)`", PAGE)
    assert comment.rpartition(" ")[0] == example.rpartition(" ")[0]
    assert f"(`{head}`)" in PAGE


def test_data_depends_on_the_keys_that_the_page_does_not_except(engine: Engine, tmp_path: Path) -> None:
    def one(**keys: Json) -> Json:
        return case("segmented", pattern_transfer=4096, pattern_block=8192, verify="full", clients=2, **keys)

    cases = [
        one(repetitions=2),
        one(interface="mpiio", name="other", warmup=1, settle=0.01, deadline=60),
        one(repetitions=2, order="backward"),
    ]
    done = run_engine(engine, plan(cases), tmp_path)
    same, also, other = (
        done.sample(case=number, operation="read", repetition=1)["digest"] for number in (1, 2, 3)
    )
    assert same == also != other
