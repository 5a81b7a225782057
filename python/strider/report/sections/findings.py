"""Conclusions of a run: the highest trusted rates, findings by their evidence, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strider.card import Card, read_card
from strider.limits import Said, said
from strider.report.blocks import (
    Alert,
    Block,
    Cards,
    Conclusion,
    Conclusions,
    Heading,
    Section,
    Text,
)
from strider.report.results.results import Results
from strider.report.sections.rates import places_of
from strider.report.words.advice import advice
from strider.report.words.caches import cache_remarks
from strider.report.words.headlines import best_rates, headline_remark
from strider.report.words.remarks import said_elsewhere
from strider.report.words.steadiness import steadiness
from strider.report.words.wording import problems
from strider.statistics import OperationSummary

#: Maximum number of metadata operations among the highest rates.
_MAXIMUM_HEADLINES = 12
#: Reasons for a low grade that a longer card removes.
_OF_LENGTH = frozenset({"short", "spread"})
_LONG_BUDGET_S = 300.0


def _page(results: Results) -> list[Block]:
    card = read_card(results.run.directory)
    found, next_steps = _findings(results), _next(results, card)
    after: list[Block] = [Heading("What to do next"), Conclusions(next_steps)] if next_steps else []
    return [
        *wrong(results),
        *(_headlines(results) if card is None else []),
        *([Conclusions(found)] if found else []),
        *after,
    ]


def wrong(results: Results) -> list[Block]:
    """Returns the problems of a run, to be read before its results."""
    found = problems(results.run, results.summaries, results.comparisons, results.value_comparisons)
    return [Alert("Read this first", found)] if found else []


def _headlines(results: Results) -> list[Block]:
    summaries = [*results.data, *_few(results.metadata)]
    best = best_rates(summaries, results.facets, places_of(results))
    missing = headline_remark(results.summaries)
    found: list[Block] = [Text("Highest trusted rates:"), Cards(best)] if best else []
    return [*found, *([Text(missing)] if missing else [])]


def _few(summaries: Sequence[OperationSummary]) -> Sequence[OperationSummary]:
    """Returns the metadata summaries for the highest rates; empty if there are too many."""
    few = len({summary.operation for summary in summaries}) <= _MAXIMUM_HEADLINES
    return summaries if few else []


def _findings(results: Results) -> list[Conclusion]:
    """Returns findings by definition, then those of the best grades, then reservations."""
    summaries, at = results.summaries, places_of(results)
    ordered = sorted(_reported(results), key=_evidence)
    limits = f"{results.anchor}-limits" if results.run.ceilings else ""
    cached = [one.case.number for one in summaries if cache_remarks([one])]
    return [
        *(Conclusion(text, at.get(cached[0], ""), "results") for text in cache_remarks(summaries)),
        *(_conclusion(one, limits or at.get(_case_of(one), "")) for one in ordered),
        *(
            Conclusion(text, f"{results.anchor}-ranks", "ranks")
            for text in steadiness(results.run, summaries)
        ),
    ]


def _reported(results: Results) -> Iterator[Said]:
    """Yields the findings on limits, if ceilings or counters were measured."""
    summaries = results.summaries
    for one in said(results.analysis.verdicts, said_elsewhere(summaries)):
        if one.findings:
            yield one


def _case_of(one: Said) -> int:
    return one.verdicts[0].summary.case.number


def _conclusion(one: Said, to: str) -> Conclusion:
    return Conclusion(one.text, to, "evidence", one.grade)


def _evidence(one: Said) -> tuple[str, bool, int]:
    """Sorts by grade, then explanations before additions, then by the number of results."""
    return one.grade, not one.explains, -len(one.verdicts)


def _next(results: Results, card: Card | None) -> list[Conclusion]:
    if card is None:
        return advice(results.summaries, places_of(results))
    improved = [line for line in card.lines if line.grade in ("C", "D") and _OF_LENGTH & set(line.reasons)]
    missing = [one for one in card.not_measured if one.why == "no time"]
    if not improved and not missing:
        return []
    seconds = _LONG_BUDGET_S if card.budget.asked_s < _LONG_BUDGET_S else 2 * card.budget.asked_s
    gains = [
        *([f"narrower intervals for {len(improved)} of {len(card.lines)} numbers"] if improved else []),
        *([f"{len(missing)} more lines"] if missing else []),
    ]
    text = f"Measure longer, for {' and '.join(gains)}: strider quick {card.target} --budget {seconds:.0f}s"
    return [Conclusion(text, f"{results.anchor}-card", "card")]


SECTION = Section("findings", "Findings", _page, applies=lambda results: bool(results.run.cases))
