"""An engine's description fits its own messages."""

import json
import subprocess

from strider.engine import Engine
from strider.store.described import Description, Parameter


def test_each_default_is_a_value_of_its_kind(engine: Engine) -> None:
    done = subprocess.run([engine.path, "describe"], capture_output=True, check=True)
    description = Description.model_validate(json.loads(done.stdout))
    owners = [*description.interfaces, *description.patterns, *description.trees]
    parameters = (
        [one for owner in owners for one in owner.parameters] + description.case + description.tree_case
    )
    assert len(parameters) > 50
    assert [one for one in parameters if not one.takes(one.default)] == []


def test_levels_are_counts_or_pairs() -> None:
    levels = Parameter(name="levels", kind="levels")
    assert all(map(levels.takes, ([4, 16], [[16], [8, 2]])))
    assert not any(map(levels.takes, ([["4"]], 4, [4.5])))
