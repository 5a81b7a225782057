"""Invented cards."""

from __future__ import annotations

from strider.card import Budget, Card, Machine, PlaceFacts
from strider.card.model import Latency, Line, Rate, RatioLine, Round

GB = 10**9


def place(kind: str = "local", **facts: object) -> PlaceFacts:
    known = {"local": "ext4", "memory": "tmpfs", "network": "nfs4", "fuse": "fuse.mergerfs"}
    values = {"fs": known[kind], "kind": kind, "device": "vda" if kind == "local" else "", "size": 252 * GB}
    return PlaceFacts.model_validate({**values, "free": 72 * GB, "direct": True, **facts})


def line(name: str, value: float = 1.0e9, grade: str = "A", half: float = 0.03, **more: object) -> Line:
    unit = "B/s" if "sequential" in name or name == "read.deep" or "cached" in name else "1/s"
    ends = {"low": value / (1 + half), "high": value * (1 + half)}
    rate = Rate.model_validate({"value": value, "unit": unit, **ends})
    rounds = [Round(at_s=n, seconds=1.1, requests=1000, rate=value) for n in range(5)]
    values = {"label": name, "interface": "posix", "grade": grade, "rounds": rounds}
    return Line.model_validate({"id": name, "rate": rate, **values, **more})


def ratio(name: str, value: float, half: float = 0.05, word: str | None = "faster") -> RatioLine:
    row, _, what = name.partition(".")
    ends = {"low": value / (1 + half), "high": value * (1 + half)}
    return RatioLine(id=name, row=row, what=what, value=value, pairs=5, word=word, **ends)


def append(p50: float = 198.0, **more: object) -> Line:
    values = {"latency_us": Latency(p50=p50, p99=271.0), **more}
    return line("append.fsync", 4900, **values)  # type: ignore[arg-type]


def card(*lines: Line, kind: str = "local", **more: object) -> Card:
    return Card.model_validate(
        {
            "target": "/scratch",
            "place": place(kind),
            "machine": Machine(cores=2, memory=24 * GB),
            "budget": Budget(asked_s=120, took_s=118.2, rounds=5),
            "lines": list(lines),
            "report": "/runs/2026-11-23-150000-quick-abcd/report.html",
            **more,
        }
    )
