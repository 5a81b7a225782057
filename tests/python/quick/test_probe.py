"""The rates that a probe finds."""

from pathlib import Path

import pytest

from builders import MIB, CaseSpec, RunBuilder
from quick_builders import place
from strider.quick.probe import has_space, has_space_for_names, probed
from strider.store import load


def test_its_rates_are_those_of_the_phases(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "run"))
    assert run.end
    found = probed(run, run.end.time_s + 0.7)
    assert [found.write_bytes_s, found.read_bytes_s] == [sample.rate_mib_s * MIB for sample in run.samples]
    assert found.start_s == pytest.approx(0.7)
    assert found.why == ""


def test_an_error_is_the_reason_for_a_missing_rate(tmp_path: Path) -> None:
    run = load(RunBuilder([CaseSpec(wrong_data=True)], repetitions=1).write(tmp_path / "run"))
    assert probed(run, 1.0).why == run.errors[0].message


def test_data_needs_64_mib_and_names_24() -> None:
    assert has_space(place(free_bytes=64 * MIB))
    assert not has_space(place(free_bytes=64 * MIB - 1))
    assert has_space_for_names(place(free_bytes=24 * MIB))
    assert not has_space_for_names(place(free_bytes=24 * MIB - 1))
