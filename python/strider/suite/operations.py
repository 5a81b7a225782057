"""The operations that a case may name: those of its kind."""

from typing import Literal

from strider.suite.values import OperationNames
from strider.suite.vocabulary import Vocabulary, Workload


def names_for(workload: Workload, vocabulary: Vocabulary, which: Literal["own", "any"]) -> OperationNames:
    """The names that values of a case may use.

    Args:
        workload: The kind of case.
        vocabulary: All that exist.
        which: Whether operations of the other kind are mistakes; they are none where the kind is in doubt.
    """
    mixing = [name for name, operation in vocabulary.metadata.operations.items() if operation.mixes]
    others = {
        name: _other_kind(name, workload)
        for kind in vocabulary.workloads
        for name in kind.operations
        if kind is not workload
    }
    if which == "any":
        return OperationNames([*workload.operations, *others], mixing)
    return OperationNames(list(workload.operations), mixing, others)


def _other_kind(name: str, workload: Workload) -> str:
    """Returns why an operation of the other kind is invalid in a case."""
    if workload.noun == "data":
        return (
            f'"{name}" is a metadata operation, but this case has a pattern: replace the pattern with a tree'
        )
    return f'"{name}" is a data operation, but this case has a tree: replace the tree with a pattern'
