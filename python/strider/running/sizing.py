"""Sizes that a suite leaves open: probes the target, and chooses them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from strider.running.options import RunOptions
from strider.running.prepared import Prepared, Sized, prepare_as_written

if TYPE_CHECKING:
    from strider.engine import Engine, Json
    from strider.store import Run
    from strider.suite import Suite
    from strider.suite.document import Document
    from strider.suite.estimate import AssumedRates
    from strider.suite.sizes import Sizes


def with_chosen_sizes(
    suite: "Suite",
    engine: "Engine",
    options: RunOptions,
    is_one_node: bool = True,
    sizes: "Sizes | None" = None,
    earlier: "Run | None" = None,
) -> Sized:
    """Checks a suite after its open sizes are chosen; a suite without any needs no access to the target.

    Args:
        suite: The suite.
        engine: The engine.
        options: Options of the run, for the probe.
        is_one_node: Whether all ranks run on this host.
        sizes: Sizes chosen before, such as those of another target.
        earlier: A run of the suite whose sizes are taken.

    Raises:
        StriderError: The suite is invalid, a size does not fit, or the target cannot be probed.
    """
    from strider.suite import check
    from strider.suite import sizes as chosen

    known = dict(sizes or {})
    if earlier is not None:
        known |= chosen.sizes_of(suite, earlier.plan.cases, earlier.id)
    partly = chosen.with_sizes(suite, known)
    found = {**known, **_chosen(partly, engine, options, is_one_node)}
    checked = check(chosen.with_sizes(suite, found), engine)
    groups = chosen.groups_of(suite)
    if groups and suite.plan.target:
        chosen.require_space(suite, checked, _free_bytes(Path(suite.plan.target)))
    own = {group: size for group, size in found.items() if group in groups}
    checked = replace(checked, sizes=chosen.choices(suite, own))
    return Sized(checked, own, list(chosen.sentences(suite, own)))


def prepare(
    document: "Document",
    options: RunOptions,
    sizes: "Sizes | None" = None,
    earlier: "Run | None" = None,
    adjust: "Callable[[Suite], Suite] | None" = None,
    manifests: "Mapping[int, dict[str, Json]] | None" = None,
) -> Prepared:
    """Checks a suite and the options of its run; probes the target if a size is `auto`.

    Args:
        document: The suite.
        options: Options of the run.
        sizes: Sizes chosen before for this suite; others are chosen here.
        earlier: A run of the suite whose sizes are taken.
        adjust: Changes the plan before it is checked.
        manifests: Manifests of cases with files that stay under a user's names, by the case's number.

    Raises:
        StriderError: One of them is invalid.
    """

    def size(suite: "Suite", engine: "Engine", is_one_node: bool) -> Sized:
        return with_chosen_sizes(suite, engine, options, is_one_node, sizes, earlier)

    return prepare_as_written(document, options, adjust, manifests, size)


def without_probe(suite: "Suite", engine: "Engine") -> Sized:
    """Checks a suite without access to the target: sizes of `auto` stay open.

    Raises:
        StriderError: The suite is invalid.
    """
    from strider.launch.job_limits import memory
    from strider.suite import sizes as chosen

    checked, known = chosen.without_probe(suite, engine, chosen.Node(memory().total_bytes))
    return Sized(checked, known, list(chosen.sentences(suite, known)))


def _chosen(suite: "Suite", engine: "Engine", options: RunOptions, is_one_node: bool) -> "Sizes":
    """Returns the sizes that are open; the target is probed once for each number of clients with `auto`."""
    from strider.launch import check_target
    from strider.launch.job_limits import memory
    from strider.running.probing import rates_for
    from strider.suite.sizes import Node, choose

    @cache
    def rates(clients: int) -> "AssumedRates":
        return rates_for(check_target(suite.plan.target), engine.description, options, clients)

    return choose(
        suite, engine, Node(memory().total_bytes, is_one_node), rates if suite.plan.target else None
    )


def _free_bytes(target: Path) -> int:
    """Returns the bytes that test files may have: at most the free memory if they are in memory."""
    from strider.launch import check_target
    from strider.launch.job_limits import memory
    from strider.launch.machine import mount_of, space_of
    from strider.launch.preflight import SPARE_BYTES
    from strider.quick.look import kind_of

    path = check_target(str(target))
    mount, free = mount_of(path), space_of(path).free_bytes
    if mount and kind_of(mount.kind) == "memory":
        free = min(free, memory().available_bytes)
    return free - SPARE_BYTES
