"""Bytes of a plan, and their time."""

from dataclasses import replace

import pytest

from strider.engine import CheckedCase, CheckedPhase, Engine
from strider.suite import Changes
from strider.suite.checked import CheckedPlan, check
from strider.suite.document import parse
from strider.suite.estimate import PHASE_S, VERIFIED_BYTES_S, AssumedRates, ProbedRates, estimate
from strider.suite.load import build
from strider.suite.plan_rows import tables, totals
from strider.units import parse_seconds

MIB = 1 << 20
ASSUMED = AssumedRates(100 * MIB, 1000)
MEASURED = ProbedRates(10 * MIB, 20 * MIB, 40 * MIB, 80 * MIB, 64 * MIB, frozenset({"read", "reread"}))
PROBED = replace(ASSUMED, probed=MEASURED)


def planned(engine: Engine, keys: str, block: str = "40MiB") -> CheckedPlan:
    text = (
        '[suite]\nname = "s"\nrepetitions = 1\n[[case]]\ninterface = "posix"\npattern = "segmented"\n'
        f'transfer = "1MiB"\nblock = "{block}"\n{keys}\n'
    )
    return check(build(parse(text, "s.toml"), engine.description, Changes(), target="optional"), engine)


@pytest.mark.parametrize(
    ("keys", "prepared_mib"),
    [
        ('operations = ["write", "read"]', 0),
        ('operations = ["read"]', 40),
        ('operations = ["rewrite"]', 40),
        ('operations = ["read", "reread"]\ncache = "warm"', 40 + 2 * 40),
        ('operations = ["write", "read"]\nverify = "full"', 40),
        ('operations = ["read"]\nrepetitions = 3\nwarmup = 1', 4 * 40),
    ],
)
def test_unmeasured_phases_count(engine: Engine, keys: str, prepared_mib: int) -> None:
    found = estimate(planned(engine, keys), ASSUMED)
    assert found.prepared_bytes == prepared_mib * MIB
    measured_s = found.bytes / ASSUMED.bytes_s
    assert found.seconds > measured_s + prepared_mib / 100


def test_an_interface_that_stores_nothing_prepares_nothing(engine: Engine) -> None:
    plan = planned(engine, 'operations = ["read"]')
    plan.suite.plan.cases[0].interface["name"] = "null"
    needs = CheckedCase(case=1, phases=[CheckedPhase(operation="read", bytes=MIB, requests=1, ranks=1)])
    found = estimate(replace(plan, check=plan.check.model_copy(update={"cases": [needs]})), ASSUMED)
    assert found.prepared_bytes == 0


@pytest.mark.parametrize(
    ("keys", "seconds"),
    [
        ('operations = ["write"]', 40 / 10),
        ('operations = ["write"]\nsync = "none"', 40 / 40),
        ('operations = ["write"]\nsync = "none"\nposix.direct = true', 40 / 10),
        ('operations = ["write", "read"]', 40 / 10 + 40 / 80),
        ('operations = ["write", "read"]\ncache = "cold"', 40 / 10 + 40 / 20),
        ('operations = ["write", "read"]\nposix.direct = true', 40 / 10 + 40 / 20),
    ],
)
def test_probed_rates_are_those_of_storage_or_of_memory(engine: Engine, keys: str, seconds: float) -> None:
    plan = planned(engine, keys)
    phases = len(plan.check.cases[0].phases)
    assert estimate(plan, PROBED).seconds == pytest.approx(seconds + phases * PHASE_S)


def test_files_larger_than_memory_are_read_from_storage(engine: Engine) -> None:
    plan = planned(engine, 'operations = ["write", "read"]', block="80MiB")
    assert estimate(plan, PROBED).seconds == pytest.approx(80 / 10 + 80 / 20 + 2 * PHASE_S)


def test_verification_takes_time(engine: Engine) -> None:
    off, full = (
        estimate(planned(engine, f'operations = ["write"]\nverify = "{v}"'), PROBED) for v in ("off", "full")
    )
    # The data is generated, and the whole file is read and checked.
    more_s = 40 / 80 + 2 * 40 * MIB / VERIFIED_BYTES_S + PHASE_S
    assert full.seconds == pytest.approx(off.seconds + more_s)


def test_an_estimate_of_a_probe_says_how_far_it_may_be_off(engine: Engine) -> None:
    plan = planned(engine, 'operations = ["read"]')
    work, _, time = totals(plan, PROBED)
    assert work == "1 case, 1 phase on 1 rank, 40 MiB transferred in total, 40 MiB to create and check files"
    assert time == (
        "takes about 13 s (4 s to 38 s); a probe writes 10 MiB/s, reads 20 MiB/s, "
        "reads 80 MiB/s from memory, does 1 000 metadata operations/s"
    )
    assert totals(plan, ASSUMED)[2] == "takes about 9 s, if the target transfers 100 MiB/s"


@pytest.mark.parametrize(
    ("limit", "repetitions", "sentence"),
    [
        ("8s", "50", "the time limit of 8 s is shorter: it will probably end the run before all repetitions"),
        ("50s", "{ min = 8, max = 500, until = 0.05 }", "the time limit of 50 s may end the run before the"),
        ("1h", "50", ""),
        ("0s", "50", ""),
    ],
)
def test_a_time_limit_shorter_than_the_estimate_is_stated(
    engine: Engine, limit: str, repetitions: str, sentence: str
) -> None:
    checked = planned(engine, f'operations = ["write"]\nrepetitions = {repetitions}')
    checked.suite.plan.time_limit_s = parse_seconds(limit)
    *_, last = totals(checked, ASSUMED)
    assert last.startswith(sentence or "takes about")


@pytest.mark.parametrize("rates", [ASSUMED, PROBED])
def test_a_runtime_is_the_time_of_each_phase_whatever_the_rate(engine: Engine, rates: AssumedRates) -> None:
    plan = planned(engine, 'operations = ["write", "read"]\nruntime = "10s"\nrepetitions = 3')
    total = estimate(plan, rates)
    assert total.seconds == pytest.approx(6 * (10 + PHASE_S))
    (table,) = tables(plan, engine.description)
    assert "40 MiB a pass" in table.rows[0]


def test_a_runtime_is_accepted_where_ranks_were_not_to_catch_up(engine: Engine) -> None:
    planned(engine, 'operations = ["write"]\nruntime = "10s"\nwear_out = false')


def test_a_runtime_moves_what_the_rate_gives(engine: Engine) -> None:
    keys = 'operations = ["write", "read"]\nruntime = "10s"'
    assert estimate(planned(engine, keys), ASSUMED).bytes == 2 * 10 * ASSUMED.bytes_s
    limited = estimate(planned(engine, keys + '\nrate_limit = "1MiB"'), ASSUMED)
    assert limited.bytes == 2 * 10 * MIB


def test_a_deadline_limits_time_and_bytes(engine: Engine) -> None:
    """40 MiB at 10 MiB/s are 4 s: 1 s leaves time for 10 MiB."""
    slow = AssumedRates(10 * MIB, 1000)
    plan = planned(engine, 'operations = ["write"]\ndeadline = "1s"\nrepetitions = 3')
    found = estimate(plan, slow)
    assert found.bytes == 3 * 10 * MIB
    assert found.seconds == pytest.approx(3 * (1 + PHASE_S))
    (table,) = tables(plan, engine.description)
    assert "at most 40 MiB" in table.rows[0]
    in_time = estimate(planned(engine, 'operations = ["write"]\ndeadline = "5s"'), slow)
    assert in_time.bytes == 40 * MIB
    assert in_time.seconds == pytest.approx(4 + PHASE_S)


def test_phases_after_a_write_with_a_deadline_access_what_it_has_written(engine: Engine) -> None:
    """Writes of 10 MiB/s in 1 s; reads of 80 MiB/s, and the check of the file, find 10 of 40 MiB."""
    keys = 'operations = ["write", "read"]\ndeadline = "1s"\nverify = "full"'
    found = estimate(planned(engine, keys), PROBED)
    assert found.bytes < 2 * 10 * MIB
    assert found.prepared_bytes == pytest.approx(10 * MIB, rel=0.05)
    first_read = estimate(planned(engine, 'operations = ["read"]\ndeadline = "1s"'), PROBED)
    assert (first_read.bytes, first_read.prepared_bytes) == (40 * MIB, 40 * MIB)


def test_every_rank_makes_a_request_whatever_the_deadline(engine: Engine) -> None:
    found = estimate(
        planned(engine, 'operations = ["write"]\nclients = 2\ndeadline = "1ms"'), AssumedRates(MIB, 1)
    )
    assert found.bytes == 2 * MIB
    assert found.seconds == pytest.approx(2 + PHASE_S)


def test_a_deadline_limits_operations_on_names(engine: Engine) -> None:
    text = (
        '[suite]\nname = "s"\nrepetitions = 1\n[[case]]\ninterface = "posix"\ntree = "balanced"\n'
        'items = 5000\noperations = ["create", "stat"]\ndeadline = "1s"\n'
    )
    suite = build(parse(text, "s.toml"), engine.description, Changes(), target="optional")
    assert estimate(check(suite, engine), ASSUMED).requests == 2 * ASSUMED.operations_s
