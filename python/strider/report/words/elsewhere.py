"""Sentences on reads of data that another node wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from strider.report.words.wording import plural
from strider.statistics.elsewhere import ReadElsewhere
from strider.store.model import Run

_MOST_NODES = 8
_MOST_SENTENCES = 6


def elsewhere_sentences(run: Run, found: Sequence[ReadElsewhere]) -> list[str]:
    """Returns one sentence for all cases whose nodes read alike: the readers, and the writers of the data."""
    alike: defaultdict[str, list[ReadElsewhere]] = defaultdict(list)
    names = _names(run)
    for one in found:
        alike[_in_words(one.writers, names)].append(one)
    sentences = [f"{_cases(own)}: {words}." for words, own in alike.items()]
    more = len(sentences) - _MOST_SENTENCES
    return [*sentences[:_MOST_SENTENCES], *([f"{more} more arrangements of nodes."] if more > 0 else [])]


def _cases(own: Sequence[ReadElsewhere]) -> str:
    first = own[0].case
    further = f" and {plural(len(own) - 1, 'further case')}" if len(own) > 1 else ""
    return f"Read back, {first.interface_name}, {first.in_words}{further}"


def _in_words(writers: dict[int, tuple[int, ...]], names: Sequence[str]) -> str:
    parts = [
        f"{names[node]} read what {_joined([names[one] for one in own])} wrote"
        for node, own in writers.items()
    ]
    more = len(parts) - _MOST_NODES
    return "; ".join([*parts[:_MOST_NODES], *([f"{plural(more, 'more node')}"] if more > 0 else [])])


def _joined(names: Sequence[str]) -> str:
    if len(names) > _MOST_NODES:
        return f"{', '.join(names[:_MOST_NODES])} and {len(names) - _MOST_NODES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _names(run: Run) -> list[str]:
    """Returns the names of the nodes, with their numbers where names repeat."""
    nodes = run.start.nodes if run.start else []
    counts = Counter(node.name for node in nodes)
    return [node.name if counts[node.name] == 1 else f"{node.name} ({n})" for n, node in enumerate(nodes)]
