"""Data sets on disk for tests, without an engine."""

from pathlib import Path

from strider.datasets.folder import opened, path_of
from strider.datasets.marker import Marker, Owner, Use


def use() -> Use:
    """Returns a use by a run."""
    return Use(run="r", at="2026-01-01T00:00:00Z")


def made(target: Path, name: str, sizes: list[int]) -> Path:
    """Makes a complete data set of zeros; returns its folder."""
    path = path_of(target, name)
    path.mkdir()
    for number, size in enumerate(sizes):
        (path / f"data.{number}").write_bytes(bytes(size))
    with opened(target, name) as folder:
        folder.write(
            Marker(
                id="abc",
                name=name,
                state="complete",
                owner=Owner.me(),
                made=use(),
                written=use(),
                seed=5,
                generation=1,
                last_generation=1,
                files=[(1, size) for size in sizes],
            )
        )
    return path
