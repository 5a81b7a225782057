"""For each sentence: its rate without a cause, and with its cause planted."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from multiprocessing import get_context

import numpy as np

from grids import Grid, Progress, Share
from scenes import PLANTED, Scene, planted, scenes
from walking import Sentence, said, sentences

COUNTS = (3, 5, 10)
#: Shares of runs: at most so many without a cause, at least so many with it.
FALSE, FOUND = 0.01, 0.95
#: Runs of a scene from which on other processes are worth their start.
_MANY = 50

#: Texts that state a count, a setting or a failure, or describe a figure: nothing is inferred from a sample,
#: so there is no rate of false alarms. By the beginning of `Sentence.name`, or a part of the text.
STATED: Mapping[str, str] = {
    "words/given_up": "counts errors",
    "words/wording: problems": "counts errors and void samples",
    "words/wording: metadata_check_line": "counts verified items",
    "words/wording: verification_line": "counts verified bytes",
    "words/wording: digest_line": "compares digests",
    "words/wording: _best": "a part of a headline, see the bias of headlines",
    "words/wording: best": "a part of a headline, see the bias of headlines",
    "No crossover shown": "says that nothing is shown",
    "no difference is shown": "says that nothing is shown",
    "no rank is slower": "says that nothing is shown",
    "shows no slow rank": "says that nothing is shown",
    "Uneven: ": "of a single repetition; not tried here",
    "cause and noise": "heads a table",
    "Highest trusted rates": "heads a part",
    "What to do next": "heads a part",
    "Read this first": "heads a part",
    "Rates of storage": "heads a part",
    "Ratios, with their": "heads a part",
    "words/advice": "advice that follows from grades and lengths",
    "Measure longer, for": "advice that follows from grades and lengths",
    "narrower intervals for": "advice that follows from grades and lengths",
    "words/headlines": "a part of a headline, or the grade for which there is none",
    "words/wording: notes": "counts repetitions",
    "words/latencies": "counts requests",
    "words/steadiness: _spell_text": "a detail of a straggler, where timelines are kept",
    "limits/evidence": "names an operation",
    "known less well than ±": "states the width of an interval",
    "(median; at most": "states the width of an interval",
    "takes about … repetitions": "states the width of an interval",
    "% take … repetitions": "states the width of an interval",
    "repetitions or more are needed": "counts repetitions",
    "sections/ranks": "describes a figure",
    "sections/listio: fits_of": "describes a figure",
    "words/remarks: _cache_remark": "compares two sizes",
    "words/remarks: _null_remark": "names the interface",
    "words/trust": "names a grade",
    "compare/": "says how sides were taken; verdicts are measured above",
    "sections/changes": "heads a table",
    "sections/counters": "heads a table",
    "sections/environment": "heads a table",
    "sections/errors": "counts errors",
    "sections/latency": "heads a table",
    "sections/limits": "heads a table",
    "sections/metadata": "heads a table",
    "sections/rates": "heads a table",
    "sections/summary": "counts or heads",
    "sections/verification": "heads a table",
    "sections/listio: registration_chart": "describes a figure",
    "sections/listio: _registration": "heads a table",
    "sections/listio: _totals": "heads a table",
    "sections/listio: _servers": "heads a table",
    "sections/listio: _method_chart": "describes a figure",
    "charts/metadata_charts": "describes a figure",
    "charts/rates": "describes a figure",
    "charts/sweep_charts": "describes a figure",
    "charts/timelines": "describes a figure",
    "charts/data_latencies": "describes a figure",
    "charts/rank_maps: _caption": "describes a figure",
    "charts/rank_maps: rank_map_of": "describes a figure",
}


@dataclass(frozen=True)
class Counts:
    """Number of runs of a scene with each sentence, and with each rule of each case."""

    scene: Scene
    n: int
    trials: int
    said: Counter[str]
    of_case: Counter[tuple[str, int]]


def observe(scene: Scene, n: int, trials: int, rng: np.random.Generator) -> Counts:
    """Makes so many runs of a scene and counts their sentences."""
    every: Counter[str] = Counter()
    of_case: Counter[tuple[str, int]] = Counter()
    for _ in range(trials):
        for name, cases in said(scene.made(n, rng)).items():
            every[name] += 1
            of_case.update((name, case) for case in cases)
    return Counts(scene, n, trials, every, of_case)


def _observe(
    position: int, n: int, trials: int, rng: np.random.Generator
) -> tuple[Counter[str], Counter[tuple[str, int]]]:
    """The counts of a scene by its position, for another process, which a scene cannot be sent to."""
    found = observe(scenes()[position], n, trials, rng)
    return found.said, found.of_case


def _observed(
    names: Collection[str], trials: int, rng: np.random.Generator, progress: Progress, counts: Sequence[int]
) -> Iterator[Counts]:
    """The counts of some scenes; many runs are made by a process for each processor."""
    every = scenes()
    tasks = [(place, n) for place, scene in enumerate(every) if scene.name in names for n in counts]
    progress.expect(sum(trials * _weight(every[place]) for place, _ in tasks))
    own = rng.spawn(len(tasks))
    if trials < _MANY:
        for (place, n), chance in zip(tasks, own, strict=True):
            yield observe(every[place], n, trials, chance)
        return
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        made = pool.map(_observe, *zip(*tasks, strict=True), repeat(trials), own)
        for (place, n), (said_of, of_case) in zip(tasks, made, strict=True):
            progress.step(f"sentences, {every[place].name}, n = {n}", trials * _weight(every[place]))
            yield Counts(every[place], n, trials, said_of, of_case)


def _weight(scene: Scene) -> int:
    """The time of a run beside others."""
    return 25 + 5 * len(scene.cases)


def false_alarms(
    trials: int, rng: np.random.Generator, progress: Progress, counts: Sequence[int] = COUNTS
) -> list[Grid]:
    """The table of sentences that appear without a cause, and that of sentences without a trial."""
    every = scenes()
    observed = list(
        _observed([scene.name for scene in every if scene.is_null], trials, rng, progress, counts)
    )
    false, seen = _without_cause(observed, trials, counts)
    tried = {key for scene in every for wanted, _ in scene.expected.values() for key in wanted_keys(wanted)}
    return [false, _untried(tried, seen)]


def found_with(group: str) -> Callable[[int, np.random.Generator, Progress], list[Grid]]:
    """The rows of the table of sentences with a group of causes, one of `PLANTED`."""

    def part(trials: int, rng: np.random.Generator, progress: Progress) -> list[Grid]:
        names = [scene.name for scene in planted(group)]
        by_scene: defaultdict[str, dict[int, Counts]] = defaultdict(dict)
        for one in _observed(names, trials, rng, progress, COUNTS):
            by_scene[one.scene.name][one.n] = one
        return [_with_cause(PLANTED[group], list(by_scene.values()), trials, COUNTS)]

    return part


def _without_cause(observed: Sequence[Counts], trials: int, counts: Sequence[int]) -> tuple[Grid, set[str]]:
    """Sentences of runs without a cause, each with the kind of run in which it is most frequent."""
    names = [one.scene.name for one in observed if one.scene.is_null and one.n == counts[0]]
    about = (
        f"Share of runs without a cause, in percent, in which a sentence is said: {trials} runs each for "
        f"every kind ({', '.join(names)}) and number of repetitions; the largest of all kinds, and its kind. "
        "At most 1 % is promised. Sentences that were never said in these runs are not shown."
    )
    grid = Grid("Sentences without a cause", about, ["sentence", *map(str, counts), "kind"])
    seen: set[str] = set()
    for sentence in sentences():
        key = _key(sentence)
        if stated(sentence):
            continue
        worst: dict[int, tuple[int, str]] = {}
        for one in observed:
            if one.scene.is_null and not any(part in sentence.text for part in one.scene.allowed):
                worst[one.n] = max(worst.get(one.n, (0, "")), (one.said[key], one.scene.name))
        if not any(hits for hits, _ in worst.values()):
            continue
        seen.add(key)
        shares = [Share(worst[n][0], trials) for n in counts]
        kind = max(worst.values())[1]
        grid.rows.append([_short(sentence), *(share.percent for share in shares), kind])
        grid.claims.extend(
            f"sentence, n = {n}, {worst[n][1]}: said without a cause in {share.percent} %: {_short(sentence)}"
            for n, share in zip(counts, shares, strict=True)
            if share.is_above(FALSE)
        )
    return grid, seen


def _with_cause(
    title: str, by_scene: Sequence[Mapping[int, Counts]], trials: int, counts: Sequence[int]
) -> Grid:
    about = (
        "Share of runs with a cause, in percent, in which its sentence is said, by the number of "
        f"repetitions; {trials} runs each. The cases of a run have one cause each; their rates "
        "differ by 5 % from repetition to repetition unless another noise is named."
    )
    grid = Grid(f"Sentences with their cause: {title}", about, ["cause", *map(str, counts)])
    for own in by_scene:
        scene = next(iter(own.values())).scene
        for cause, (wanted, case) in scene.expected.items():
            keys = wanted_keys(wanted)
            if not keys:
                grid.rows.append([f"{cause} (no sentence)", *["–"] * len(counts)])
                continue
            shares = [Share(_hits(own[n], keys, case), trials) for n in counts]
            grid.rows.append([cause, *(share.percent for share in shares)])
            grid.claims.extend(
                f"sentence, n = {n}: {cause} is named in only {share.percent} % of the runs that have it"
                for n, share in zip(counts, shares, strict=True)
                if share.is_below(FOUND)
            )
    return grid


def _hits(counts: Counts, keys: set[str], case: int) -> int:
    if all(key.startswith("rule: ") for key in keys):
        return max(counts.of_case[key, case] for key in keys)
    return max(counts.said[key] for key in keys)


def wanted_keys(wanted: str) -> set[str]:
    """The sentences that a cause calls for: a rule by its name, or all texts with one of some parts."""
    if wanted.startswith("rule: "):
        return {_key(one) for one in sentences() if one.name == wanted}
    parts = wanted.split("|")
    return {
        _key(one)
        for one in sentences()
        if one.pattern is not None and not stated(one) and any(part in one.text for part in parts)
    }


def _untried(tried: set[str], seen: set[str]) -> Grid:
    """Sentences without a trial, with the reason where there is one."""
    about = (
        "Sentences of the sources that no planted cause calls for. Those of the first rows infer something "
        "and have no trial yet; the others state what was counted or set, so that there is nothing to test."
    )
    grid = Grid("Sentences without a planted cause", about, ["sentence", "reason"])
    rest = [one for one in sentences() if _key(one) not in tried]
    missing = [one for one in rest if not stated(one)]
    for one in missing:
        never = "" if _key(one) in seen else ", never said without a cause"
        grid.rows.append([_short(one), f"not tried{never}"])
    grid.claims.extend(f"not tried: {_short(one)}" for one in missing)
    reasons: defaultdict[str, int] = defaultdict(int)
    for one in rest:
        if reason := stated(one):
            reasons[reason] += 1
    grid.rows.extend([f"{count} sentences", reason] for reason, count in sorted(reasons.items()))
    return grid


def stated(sentence: Sentence) -> str:
    """Why a sentence needs no trial; empty where it does."""
    return next(
        (why for start, why in STATED.items() if sentence.name.startswith(start) or start in sentence.text),
        "",
    )


def _key(sentence: Sentence) -> str:
    return sentence.name if sentence.pattern is None else sentence.text


def _short(sentence: Sentence) -> str:
    if sentence.pattern is None:
        return sentence.name
    text = re.sub(r"\s+", " ", sentence.text).strip(" ;,:")
    return text if len(text) <= 90 else text[:90].rpartition(" ")[0] + " …"
