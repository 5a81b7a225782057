"""The rates that the form assumes for its estimate."""

from typing import Any

import pytest

from strider.suite.estimate import AssumedRates
from strider.web import checking, questions


@pytest.mark.parametrize(("asked", "assumed"), [(500, 500), (0, 1), (-3, 1)])
def test_a_plan_assumes_the_operations_a_second_that_were_asked_for(
    asked: int, assumed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[AssumedRates] = []
    monkeypatch.setattr(questions, "apply", lambda *_: None)
    monkeypatch.setattr(checking, "answer", lambda _, rates, __: seen.append(rates))
    site: Any = type("Site", (), {"vocabulary": None})()
    questions._answer(questions.SuiteQuestion(text="", bytes_s="4KiB", operations_s=asked), site)
    assert seen == [AssumedRates(4096, assumed)]
