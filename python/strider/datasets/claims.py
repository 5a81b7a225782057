"""The data sets of an active run: makes their folders, and records the run's changes in their markers."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from strider.datasets import removal
from strider.datasets.binding import KEY, MANIFEST, is_of_user, names_of, writes
from strider.datasets.folder import SetFolder, make, opened, path_of
from strider.datasets.marker import Marker, Owner, Use, Writer, now
from strider.datasets.trees import KeptTree, Population
from strider.engine import CheckedCase, Json
from strider.errors import ExitCode, StriderError
from strider.suite import CheckedPlan, PlannedCase

Event = Mapping[str, Json]


@dataclass
class Claim:
    """A data set in an active run.

    Attributes:
        folder: Its folder.
        marker: Its marker before the run wrote anything.
        is_written: Whether a case of the run writes it.
        writes: Phases of the run that write it, at most.
        orders: The order of each case of the run that uses it, by number.
    """

    folder: SetFolder
    marker: Marker
    is_written: bool
    writes: int
    orders: dict[int, str]


@dataclass
class Claims:
    """All data sets of a run.

    Attributes:
        run: The run's id.
        checked: Its plan.
        each: The claims by name.
        is_started: Whether the engine may have written to them.
    """

    run: str
    checked: CheckedPlan
    each: dict[str, Claim] = field(default_factory=dict)
    is_started: bool = False

    def words(self) -> list[str]:
        """Returns the engine's options."""
        return [
            word for name, claim in self.each.items() for word in ("--dataset", f"{name}={claim.folder.path}")
        ]

    def directories(self) -> list[tuple[Path, int]]:
        """Returns path and descriptor of each folder."""
        return [(claim.folder.path, claim.folder.descriptor) for claim in self.each.values()]

    def descriptors(self) -> list[int]:
        """Returns descriptors of the folders, which ranks may write to."""
        return [claim.folder.descriptor for claim in self.each.values()]

    def started(self) -> None:
        """Notes that the engine has started: from now on only its events report writes."""
        self.is_started = True

    def finish(self, events: Mapping[str, Event]) -> None:
        """Records the end of the run in the markers of the sets that it may have written.

        Args:
            events: The last `data_set` event of each set, by name.

        Raises:
            StriderError: A marker cannot be written.
        """
        for name, claim in self.each.items():
            if claim.is_written:
                self._finish(claim, events.get(name))

    def _finish(self, claim: Claim, event: Event | None) -> None:
        if event is None and claim.marker.state == "making":
            # The run ended before the first write.
            removal.discard(claim.folder)
        elif event is None:
            claim.folder.write(claim.marker)
        elif _has_emptied(claim, event):
            removal.discard(claim.folder)
        elif event["state"] == "writing":
            # The files hold parts of two generations; the marker of an update says so already.
            last = int(event["generation"])
            claim.folder.write(_being_written(claim, self.run).with_(last_generation=last))
        else:
            claim.folder.write(_written(claim, self.run, event).with_(case=self._case(event)))

    def _case(self, event: Event) -> dict[str, Json]:
        """Returns the case that wrote a set, as its readers need it."""
        case = next(each for each in self.checked.suite.plan.cases if each.case == event["case"])
        own = {"interface": case.interface["name"], "clients": case.clients}
        own["tree" if case.tree else "pattern"] = case.shape
        return {**own, **{key: case.get(key) for key in ("sharing", "order", "seed")}}


@contextmanager
def claimed(checked: CheckedPlan, target: Path, run: str, descriptor: int | None = None) -> Iterator[Claims]:
    """Opens the data sets of a plan for a run; makes new ones, and marks those that it writes.

    The caller calls `finish` when the engine has ended. If it cannot, the markers name the unfinished phase.

    Args:
        checked: The plan, bound to its data sets.
        target: The directory with the data sets.
        run: The run's id.
        descriptor: The open target, to be used instead of its path.

    Raises:
        StriderError: A set has changed since the plan was made, or cannot be written.
    """
    claims = Claims(run, checked)
    with ExitStack() as stack:
        try:
            for name in names_of([case for case in checked.suite.plan.cases if not is_of_user(case)]):
                claims.each[name] = _claim(checked, target, run, name, descriptor, stack)
            yield claims
        finally:
            if not claims.is_started:
                claims.finish({})


def keeping(checked: CheckedPlan) -> dict[int, bool]:
    """Returns, for each case in a data set, whether its files exist before the run."""
    return {
        case.case: bool((case.get(MANIFEST) or {}).get("generation"))
        for case in checked.suite.plan.cases
        if case.get(KEY)
    }


def _claim(
    checked: CheckedPlan, target: Path, run: str, name: str, descriptor: int | None, stack: ExitStack
) -> Claim:
    users = [pair for pair in checked.cases if pair[0].get(KEY) == name]
    manifest = users[0][0].get(MANIFEST) or {}
    is_made = not manifest.get("generation")
    if is_made:
        with _directory(target, descriptor) as above:
            make(above, path_of(target, name))
    folder = stack.enter_context(opened(target, name, descriptor))
    marker = _new_marker(name, run, manifest, *users[0]) if is_made else folder.read()
    written = sum(writes(case) for case, _ in users)
    orders = {case.case: str(case.get("order", "forward")) for case, _ in users}
    claim = Claim(folder, marker, is_made or written > 0, written, orders)
    if not is_made and _stored(marker.manifest()) != _stored(manifest):
        raise StriderError(
            f"{folder.path} has changed since the plan was made: start the run again", ExitCode.CANNOT_RUN
        )
    try:
        if claim.is_written:
            folder.write(_being_written(claim, run))
    except StriderError:
        if is_made:
            removal.discard(folder)
        raise
    return claim


@contextmanager
def _directory(target: Path, descriptor: int | None) -> Iterator[int]:
    """Yields a descriptor of the target."""
    above = os.open(target, os.O_RDONLY | os.O_DIRECTORY) if descriptor is None else os.dup(descriptor)
    try:
        yield above
    finally:
        os.close(above)


def _has_emptied(claim: Claim, event: Event) -> bool:
    """Returns whether a run has removed the trees of a set, and the folder has no other entry."""
    is_empty = event["state"] == "written" and not (event.get("tree") or {"present": ["files"]})["present"]
    return is_empty and not claim.folder.entries()


def _new_marker(
    name: str, run: str, manifest: Mapping[str, Json], case: PlannedCase, needs: CheckedCase
) -> Marker:
    """Returns the marker of a set that is about to be made; its files are those that the case will write."""
    return Marker(
        id=manifest["id"],
        name=name,
        state="making",
        writer=Writer.me(run),
        owner=Owner.me(),
        made=Use(run=run, at=now()),
        seed=manifest["seed"],
        prefix=manifest.get("prefix", "data."),
        files=[] if case.tree else [(needs.files, needs.largest_file_bytes)],
        tree=KeptTree.of_case(case.tree, case.clients, case.get("sharing"), case.get("order"))
        if case.tree
        else None,
    )


def _stored(manifest: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the part of a manifest that any other writer would have changed."""
    return {key: manifest.get(key) for key in ("id", "seed", "last_generation", "files", "tree")}


def _being_written(claim: Claim, run: str) -> Marker:
    state = "making" if claim.marker.state == "making" else "updating"
    # A killed run may have written any generation up to this one.
    last = claim.marker.last_generation + claim.writes
    tree = claim.marker.tree.model_copy(update={"is_exact": False}) if claim.marker.tree else None
    return claim.marker.with_(state=state, writer=Writer.me(run), last_generation=last, tree=tree)


def _written(claim: Claim, run: str, event: Event) -> Marker:
    """Returns the marker of a set after a complete phase."""
    return claim.marker.with_(
        state="complete",
        writer=None,
        written=Use(run=run, at=now()),
        generation=int(event["generation"]),
        last_generation=int(event["generation"]),
        geometry=int(event["geometry"]),
        file_format=str(event["format"]),
        # Trees have a record of their own, which does not number files.
        files=[] if claim.marker.tree else [(int(count), int(size)) for count, size in event["files"]],
        parts=[(int(requests), int(end)) for requests, end in event["parts"]],
        tree=_tree_after(claim, event),
    )


def _tree_after(claim: Claim, event: Event) -> KeptTree | None:
    tree = claim.marker.tree
    if tree is None:
        return None
    population = Population.model_validate(event["tree"])
    # Only the order of the case that made items says which of them there are.
    order = tree.order if population.visits == tree.population.visits else claim.orders[event["case"]]
    return tree.model_copy(update={"is_exact": True, "population": population, "order": order})
