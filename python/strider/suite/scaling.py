"""Divides the sizes of a suite by one number, so that it fits a smaller machine."""

from collections.abc import Sequence

from strider.suite.document import Document
from strider.suite.expand import Origin
from strider.suite.mistakes import Mistakes
from strider.suite.plan import PlannedCase
from strider.suite.vocabulary import ShapeKey, Vocabulary

KEY = "scale_down"


def scaled_down(
    cases: Sequence[tuple[PlannedCase, Origin]],
    divisor: int,
    vocabulary: Vocabulary,
    document: Document,
    mistakes: Mistakes,
) -> list[tuple[PlannedCase, Origin]]:
    """Divides the sizes of the patterns or trees of some cases, and their idle time.

    Args:
        cases: The cases and where they stand.
        divisor: The number; 1 changes nothing.
        vocabulary: The parameters.
        document: The suite file.
        mistakes: Where a size that cannot be divided is noted.
    """
    if divisor == 1:
        return list(cases)
    return [
        (_scaled(case, origin, divisor, vocabulary, document, mistakes), origin) for case, origin in cases
    ]


def _scaled(
    case: PlannedCase,
    origin: Origin,
    divisor: int,
    vocabulary: Vocabulary,
    document: Document,
    mistakes: Mistakes,
) -> PlannedCase:
    key: ShapeKey = "tree" if case.tree else "pattern"
    workload = vocabulary.workload(key)
    shape = dict(case.shape)
    for name, value in shape.items():
        parameter = workload.shape_parameter(str(shape["name"]), name)
        if parameter is None or parameter.kind != "bytes" or not isinstance(value, int):
            continue
        shape[name], rest = divmod(value, divisor)
        if rest:
            path = origin.keys.get(name, origin.case)
            mistakes.add(
                document.value(path),
                f"{name}: {value} bytes cannot be divided by {KEY} = {divisor}: choose a multiple, or "
                f"another {KEY}",
            )
    settle = case.get("settle")
    idle = {"settle": settle / divisor} if isinstance(settle, int | float) else {}
    return case.model_copy(update={key: shape, **idle})
