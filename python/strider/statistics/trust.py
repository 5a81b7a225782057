"""How far a result can be trusted: a letter, and the words that say why it is not a better one.

`docs/trust.md` is the page about it. Each criterion gives the best letter that it allows; the weakest one
decides. None gets better by less data: fewer or shorter repetitions, a wider interval or more errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from strider.metadata import LOOKUPS
from strider.statistics.distribution import Distribution
from strider.statistics.exceeding import Exceeding, is_in_memory, is_networked, is_through_target
from strider.statistics.series import has_levels, has_trend
from strider.statistics.served import BOTH_WAYS, PROCESS, PreparationSummary, ServedSummary
from strider.store import Case, ErrorRow, Sample

Grade = Literal["A", "B", "C", "D"]

#: Phases of this length are ruled by storage: start-up and the first open, some milliseconds, are 1 % of it.
LONG_S = 1.0
#: Of shorter phases not even the order of magnitude holds: ranks start some milliseconds apart, and a single
#: write-back or scheduling delay of 10 to 50 ms is a large share.
SHORT_S = 0.2
#: Of three repetitions Student's t gives an interval at all; of five it is half as wide, and a level shift or
#: a trend can be seen.
MANY, FEW = 5, 3
#: Half-widths of the 95 % interval: differences of 10 % (A) or 30 % (B) between two results are real then.
NARROW, WIDE = 0.05, 0.15
#: Shares of the bytes read that came from storage: one page in a hundred is noise of the counter; a tenth
#: from memory, ten times as fast, raises the rate by 10 %, the width of an interval of grade B.
ALL_SERVED, MOST_SERVED = 0.99, 0.9
#: Below this share a read is one of memory.
HARDLY_SERVED = 0.1
#: The largest share of files in memory with which a client is proven cold.
COLD = 0.01
#: The source of `served` that counts exactly the bytes fetched by the ranks' own reads.
_EXACT = frozenset([PROCESS])
#: Operations of metadata that `sync = "each"` makes durable.
SYNCED = frozenset(["create", "small-write"])
#: Those that make or remove the directories of a tree, which no sync follows.
_OF_TREES = frozenset(["make-tree", "remove-tree"])

#: Reasons about what served the bytes. They do not matter to a sentence about the program, its processor
#: time, caches or memory.
OF_SOURCES = frozenset({"cache", "source?", "servers?", "memory", "not synced"})

_Finding = tuple[Grade, str]


class _Graded(Protocol):
    """Results of an operation of a case that decide its grade; `summary.OperationSummary` has them."""

    @property
    def case(self) -> Case: ...
    @property
    def operation(self) -> str: ...
    @property
    def samples(self) -> Sequence[Sample]: ...
    @property
    def n(self) -> int: ...
    @property
    def rate(self) -> Distribution | None: ...
    @property
    def rates(self) -> Sequence[float]: ...
    @property
    def errors(self) -> Sequence[ErrorRow]: ...
    @property
    def voided(self) -> int: ...
    @property
    def exceeding(self) -> Exceeding | None: ...
    @property
    def served(self) -> ServedSummary | None: ...
    @property
    def preparation(self) -> PreparationSummary | None: ...


@dataclass(frozen=True)
class Trust:
    """How far a result can be trusted.

    Attributes:
        grade: A and B carry headlines and verdicts; C and D are numbers alone.
        reasons: Short words of the criteria that decide, such as `short` or `cache`; none of an A.
        findings: Every criterion that allows no A, with the best letter that it allows.
    """

    grade: Grade
    reasons: Sequence[str] = ()
    findings: Sequence[_Finding] = ()

    @classmethod
    def of(cls, findings: Sequence[_Finding]) -> Trust:
        """The weakest of some findings; A without any."""
        grade: Grade = max((grade for grade, _ in findings), default="A")
        words = dict.fromkeys(word for own, word in findings if own == grade)
        return cls(grade, tuple(words), tuple(findings))

    def apart_from(self, words: Collection[str]) -> Trust:
        """The trust if some reasons did not matter, such as `verified` on both sides of a comparison."""
        return Trust.of([finding for finding in self.findings if finding[1] not in words])

    def __str__(self) -> str:
        """Such as `A` or `C short, spread`."""
        return " ".join(filter(None, [self.grade, ", ".join(self.reasons)]))


def is_trusted(trust: Trust | None) -> bool:
    """Whether a result may be in a headline, a verdict, a sentence or an exit code."""
    return trust is not None and trust.grade in ("A", "B")


def grade_of(summary: _Graded, file_system: str = "") -> Trust | None:
    """The trust in an operation of a case.

    Args:
        summary: The operation.
        file_system: Type of the target's file system; empty where unknown.

    Returns:
        None for the interface `null`: its rates are Strider's own.
    """
    if summary.case.interface_name == "null":
        return None
    return Trust.of(
        [
            *_of_simulation(summary),
            *_of_errors(summary),
            *_of_length([sample.elapsed_s for sample in summary.samples]),
            *_of_spread(summary.n, summary.rate.half_width if summary.rate else None),
            *_of_source(summary, file_system),
            *_of_clocks(summary),
            *_of_steadiness(summary.rates),
            *_of_verification(summary),
        ]
    )


def are_simulated(samples: Iterable[Sample]) -> bool:
    """Whether some samples are those of simulated ranks."""
    return any("simulated" in sample.flags for sample in samples)


def _of_simulation(summary: _Graded) -> Iterator[_Finding]:
    if are_simulated(summary.samples):
        yield "D", "simulated"


def _of_errors(summary: _Graded) -> Iterator[_Finding]:
    if summary.errors:
        yield "D", "errors"
    if summary.voided:
        yield "D", "void"


def _of_length(elapsed_s: Sequence[float]) -> Iterator[_Finding]:
    """What repetitions of these lengths allow.

    Long ones are counted, and short ones beside them do not matter: so no letter rises if one is left out.
    """
    long = sum(one >= LONG_S for one in elapsed_s)
    if not any(one >= SHORT_S for one in elapsed_s):
        yield "D", "short"
    elif long < FEW:
        yield "C", "short" if len(elapsed_s) >= FEW else _count(len(elapsed_s))
    elif long < MANY:
        yield "B", "short" if len(elapsed_s) >= MANY else _count(len(elapsed_s))


def _count(repetitions: int) -> str:
    return "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"


def _of_spread(n: int, half_width: float | None) -> Iterator[_Finding]:
    if half_width is None:
        yield "C", _count(n) if n < FEW else "spread"
    elif half_width > WIDE:
        yield "C", "spread"
    elif half_width > NARROW:
        yield "B", "spread"


def _of_source(summary: _Graded, file_system: str) -> Iterator[_Finding]:
    """The known sources and destinations of the bytes."""
    case = summary.case
    has_servers = bool(case.own_client) or is_networked(file_system)
    is_behind = has_servers or file_system.startswith("fuse")
    if summary.exceeding is not None:
        yield "D", "cache"
    if is_through_target(case) and is_in_memory(file_system):
        # This memory has no storage behind it, so the rate is one of memory, never of storage.
        yield "B", "memory"
    elif case.is_metadata:
        yield from _of_metadata(summary, has_servers, is_behind)
    else:
        if summary.operation in ("read", "reread", *BOTH_WAYS):
            yield from _of_reads(summary, "source?" if file_system and not is_behind else "servers?")
        if summary.operation in ("write", "rewrite", *BOTH_WAYS):
            direct = bool(case.interface.get("direct"))
            if not direct and case.common_parameters.get("sync", "end") == "none":
                yield "C", "not synced"
            elif is_behind:
                # They answer a sync; some answer from memory.
                yield "B", "servers?"


def _of_reads(summary: _Graded, unseen: str) -> Iterator[_Finding]:
    """Findings on the sources of the bytes that were read.

    Args:
        summary: The operation.
        unseen: Reason for a client without cached data whose reads no counter shows.
    """
    served, done = summary.served, summary.preparation
    if served is None or (served.is_most and served.share >= MOST_SERVED):
        shown = done is not None and done.policy == "cold" and done.cached_share is not None
        if shown and done is not None and (done.cached_share or 0.0) > COLD:
            yield "D", "cache"
        elif shown or summary.case.interface.get("direct"):
            yield "B", unseen
        else:
            yield "C", "source?"
    elif served.share < HARDLY_SERVED:
        yield "D", "cache"
    elif served.share < MOST_SERVED:
        yield "C", "cache"
    elif served.source not in _EXACT:
        yield "B", "servers?"
    elif served.share < ALL_SERVED:
        yield "B", "cache"


def _of_metadata(summary: _Graded, has_servers: bool, is_behind: bool) -> Iterator[_Finding]:
    """Clients may answer look-ups themselves; a change is at the servers, or in the node's memory.

    Args:
        summary: The operation.
        has_servers: Whether servers have the names.
        is_behind: Whether servers, or a daemon on this machine, answer the syncs.
    """
    parameters = summary.case.common_parameters
    operations = set(parameters.get("mix") or {}) if summary.operation == "mix" else {summary.operation}
    changes = operations - LOOKUPS
    if operations & LOOKUPS:
        yield "C", "source?"
    if changes and not _is_synced(parameters.get("sync"), changes):
        yield ("B", "servers?") if has_servers else ("C", "not synced")
    elif changes and is_behind:
        yield "B", "servers?"


def _is_synced(sync: object, changes: set[str]) -> bool:
    """Whether changes of metadata are on stable storage when the time of a phase ends."""
    of_files = sync == "each" and changes <= SYNCED
    return of_files or (sync == "node" and changes.isdisjoint(_OF_TREES))


def _of_clocks(summary: _Graded) -> Iterator[_Finding]:
    if any("clock" in sample.flags for sample in summary.samples):
        yield "C", "clock"


def _of_steadiness(rates: Sequence[float]) -> Iterator[_Finding]:
    if has_levels(rates):
        yield "C", "level"
    elif has_trend(rates):
        yield "C", "trend"


def _of_verification(summary: _Graded) -> Iterator[_Finding]:
    """Generating and checking data is part of the timed phase."""
    if not summary.case.is_metadata and summary.case.common_parameters.get("verify", "off") != "off":
        yield "C", "verified"
