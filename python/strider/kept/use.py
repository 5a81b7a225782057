"""How a case uses kept files, as it stands in the manifest of the case."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from strider.engine import Json
from strider.kept.guard import Existing
from strider.kept.names import FileNames
from strider.suite import PlannedCase, Suite

KEY = "kept"
"""Key of a manifest; the engine does not read it."""
PREFIX = ".kept-"
"""Beginning of the names of their data sets, which no set of a user has."""

Keeps = Literal["always", "if wrong", "never"]


class KeptUse(BaseModel):
    """The files of a case.

    Attributes:
        name: Name of the data set in the plan.
        place: `own`: the case writes them, or reads those of an earlier case, in the run's folder; `here`:
            they exist, and are used where they are.
        folder: Their directory.
        base: See `FileNames`, also for the next three.
        files: Number of files.
        writes: Whether the case writes them.
        keeps: Whether they stay after the case.
        removes_first: Whether files that Strider wrote earlier under these names are removed before the run.
        shape: What decides which bytes the first requests of each task are.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    place: Literal["own", "here"]
    folder: str
    base: str
    per_rank: bool = False
    unique: bool = False
    suffix: str = ""
    files: int
    writes: bool
    keeps: Keeps
    removes_first: bool = False
    shape: str = ""

    @property
    def names(self) -> FileNames:
        """The names of the files."""
        return FileNames(Path(self.folder), self.base, self.per_rank, self.unique, self.suffix)

    @classmethod
    def of(cls, case: PlannedCase) -> "KeptUse | None":
        """Returns how a case uses kept files; None if it has none."""
        document = (case.get("manifest") or {}).get(KEY)
        return cls.model_validate(document) if document else None


def manifest_of_new(
    use: KeptUse,
    seed: int,
    *,
    made_before: bool,
    requests: int = 0,
    packet: dict[str, Json] | None = None,
) -> dict[str, Json]:
    """Returns the manifest of files in the run's folder.

    Args:
        use: The files.
        seed: Seed of their data, the same for all cases that use them.
        made_before: Whether an earlier case writes them.
        requests: Requests that each task reads at most; 0: all.
        packet: Their data, if it is in IOR's form.
    """
    return {
        "seed": seed,
        "loose": True,
        **({"made_before": True} if made_before else {}),
        **({"requests": requests} if requests else {}),
        **({"packet": packet} if packet else {}),
        KEY: use.model_dump(),
    }


def manifest_of_existing(
    use: KeptUse, existing: Existing, requests: int = 0, packet: dict[str, Json] | None = None
) -> dict[str, Json]:
    """Returns the manifest of files that are used where they are.

    Args:
        use: The files.
        existing: The files under their names; all of them exist.
        requests: Requests that each task reads at most; 0: all.
        packet: Their data, if it is in IOR's form.
    """
    names = existing.names
    entry = existing.marker.by_number().get(0) if existing.marker else None
    seed, generation = (entry.seed, entry.generation) if entry else (secrets.randbits(63), 1)
    return {
        "seed": seed,
        "generation": generation,
        "last_generation": generation,
        "prefix": names.prefix,
        "digits": names.digits,
        "suffix": names.suffix,
        "directories": names.unique,
        "files": _groups([existing.files[number].st_size for number in sorted(existing.files)]),
        "loose": True,
        **({"requests": requests} if requests else {}),
        **({"packet": packet} if packet else {}),
        KEY: use.model_dump(),
    }


def _groups(sizes: list[int]) -> list[list[int]]:
    """Returns number and size of consecutive files of one size."""
    groups: list[list[int]] = []
    for size in sizes:
        if groups and groups[-1][1] == size:
            groups[-1][0] += 1
        else:
            groups.append([1, size])
    return groups


def with_manifests(suite: Suite, manifests: Mapping[int, dict[str, Json]]) -> Suite:
    """Returns the suite with the manifests of its cases with kept files.

    Args:
        suite: The suite.
        manifests: The manifests by the number of the case.
    """
    cases = [
        case.model_copy(update={"manifest": manifests[case.case]}) if case.case in manifests else case
        for case in suite.plan.cases
    ]
    return replace(suite, plan=suite.plan.model_copy(update={"cases": cases}))
