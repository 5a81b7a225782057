"""The passes of phases with a runtime, over the repetitions of a case."""

import math
from pathlib import Path

from builders import CaseSpec, RunBuilder
from strider.statistics.runtime import summarize_runtime
from strider.store import Sample, load


def samples(folder: Path, runtime: float) -> list[Sample]:
    case = CaseSpec(operations=("write",), common={"runtime": runtime})
    return load(RunBuilder([case]).write(folder)).samples


def test_passes_are_the_extremes_of_all_repetitions(tmp_path: Path) -> None:
    first, second = samples(tmp_path, 2.0)[:2]
    assert second.runtime is not None
    faster = second.runtime.model_copy(update={"passes_max": 9.0, "ramp_bytes": 128 << 20})
    found = summarize_runtime([first, second.model_copy(update={"runtime": faster})])
    assert found is not None
    assert (found.runtime_s, found.ramp_s, found.passes_min, found.passes_max) == (2.0, 0.5, 2.5, 9.0)
    assert found.ramp_mib_s == (64 + 128) / 2 / 0.5


def test_without_a_ramp_it_has_no_rate(tmp_path: Path) -> None:
    (sample, *_) = samples(tmp_path, 2.0)
    assert sample.runtime is not None
    found = summarize_runtime(
        [sample.model_copy(update={"runtime": sample.runtime.model_copy(update={"ramp_s": 0.0})})]
    )
    assert found is not None
    assert math.isnan(found.ramp_mib_s)


def test_without_a_runtime_there_is_none(tmp_path: Path) -> None:
    assert summarize_runtime(samples(tmp_path, 0.0)) is None
