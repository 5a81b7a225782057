"""The page of the manual: the tables of each part, with the commit on which they were measured.

Parts can be measured one by one: the other parts of the page stay, with their own commits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grids import Grid

_HEAD = """\
# Statistics, measured

<!-- written by benchmarks/statistics/bench.py (make statistics); changes are lost -->

Error rates of Strider's intervals, comparisons, headlines and sentences, measured on simulated
runs with known truth. `make statistics` measures all of it and writes this page. Each part can be
measured alone (`bench.py --only PART --write`) and names the commit on which it was measured. Each
table names its number of trials. Tables of few trials show gross errors only: of 10 runs, 0 or 10 %
may each be 1 %. [Measuring](../measuring.md) explains the methods, [Comparing](../comparing.md) the
verdicts.
"""
_PROMISES = "## Promises that do not hold"
_MARK = re.compile(r"^<!-- (part|claims): ([a-z-]+) -->$", re.MULTILINE)
_SOURCE = re.compile(r"^\| ([a-z-]+) \| (\S+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Measured:
    """A part as it was measured.

    Attributes:
        commit: On which commit.
        trials: Runs of each kind.
        seed: Of all chance.
        tables: In Markdown.
        claims: What does not hold.
    """

    commit: str
    trials: int
    seed: int
    tables: str
    claims: Sequence[str] = ()

    @classmethod
    def of(cls, grids: Sequence[Grid], commit: str, trials: int, seed: int) -> Measured:
        """The part that some tables are."""
        claims = [claim for grid in grids for claim in grid.claims if not claim.startswith("not tried")]
        return cls(commit, trials, seed, "\n".join(grid.markdown() for grid in grids), claims)


def page(parts: Mapping[str, Measured]) -> str:
    """The page with some parts, in their order."""
    sources = Grid(
        "Parts",
        "What was measured on which commit, with how many runs of each kind.",
        ["part", "commit", "runs", "seed"],
        [[name, one.commit, str(one.trials), str(one.seed)] for name, one in parts.items()],
    )
    blocks = [f"<!-- part: {name} -->\n\n{one.tables}" for name, one in parts.items()]
    open_ = [
        f"<!-- claims: {name} -->\n\n" + "".join(f"- {claim}\n" for claim in one.claims)
        for name, one in parts.items()
        if one.claims
    ]
    return "\n".join([_HEAD, sources.markdown(), *blocks, *([f"{_PROMISES}\n", *open_] if open_ else [])])


def parts_of(text: str) -> dict[str, Measured]:
    """The parts of a page; empty where it is not one of parts."""
    body, _, promises = text.partition(_PROMISES)
    tables, claims = _sections(body), _sections(promises)
    return {
        name: Measured(
            commit,
            int(trials),
            int(seed),
            tables[name] + "\n",
            [line.removeprefix("- ") for line in claims.get(name, "").splitlines()],
        )
        for name, commit, trials, seed in _SOURCE.findall(body)
        if name in tables
    }


def _sections(text: str) -> dict[str, str]:
    """What follows each mark, up to the next one."""
    pieces = _MARK.split(text)
    return {name: content.strip() for name, content in zip(pieces[2::3], pieces[3::3], strict=True)}
