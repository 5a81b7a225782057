"""Checked suites with all that their runs need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from strider.running.options import RunOptions

if TYPE_CHECKING:
    from strider.engine import Engine, Json
    from strider.launch import RunInputs
    from strider.suite import Changes, CheckedPlan, Suite
    from strider.suite.document import Document
    from strider.suite.sizes import Sizes

    ChooseSizes = Callable[[Suite, Engine, bool], "Sized"]
    """From a suite, the engine, and whether all ranks run on this host."""


@dataclass(frozen=True)
class Sized:
    """A suite with all its sizes.

    Attributes:
        checked: The checked suite.
        sizes: The sizes that Strider chose.
        sentences: A line for each of them.
    """

    checked: "CheckedPlan"
    sizes: "Sizes"
    sentences: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A run that can start.

    Attributes:
        inputs: All that it needs.
        sizes: Sizes that the suite left open and Strider chose.
        chosen: A line for each of them.
        are_ranks_simulated: Whether no I/O is done.
    """

    inputs: "RunInputs"
    sizes: "Sizes" = field(default_factory=dict)
    chosen: "Sequence[str]" = ()
    are_ranks_simulated: bool = False

    @property
    def checked(self) -> "CheckedPlan":
        """Its checked suite."""
        return self.inputs.checked

    @property
    def store(self) -> Path:
        """Folder of its run directory."""
        return self.inputs.store


def changes_of(options: RunOptions) -> "Changes":
    """Returns the changes that the options of a run make in its suite."""
    from strider.suite import Changes

    places = options.places
    return Changes(
        options.settings,
        options.target,
        options.clients,
        places.nodes if places else None,
        places.per_node if places else None,
    )


def prepare_as_written(
    document: "Document",
    options: RunOptions,
    adjust: "Callable[[Suite], Suite] | None" = None,
    manifests: "Mapping[int, dict[str, Json]] | None" = None,
    size: "ChooseSizes | None" = None,
) -> Prepared:
    """Checks a suite without open sizes, and the options of its run.

    Args:
        document: The suite.
        options: Options of the run.
        adjust: Changes the plan before it is checked.
        manifests: Manifests of cases with files that stay under a user's names, by the case's number.
        size: Chooses open sizes and checks the suite; None if it has none.

    Raises:
        StriderError: One of them is invalid.
    """
    from strider import engine as engines
    from strider.datasets import bind
    from strider.kept import with_manifests
    from strider.launch import Bounds, Observing, RunInputs, parse_confine_mode, remount_words, watching
    from strider.launch.fitting import fitted
    from strider.launch.launchers import Places, choose
    from strider.listing.names import store_of
    from strider.suite import check
    from strider.suite.load import build

    watched = watching(
        counters=options.counters,
        timeline=options.timeline,
        timeline_interval=options.timeline_interval,
        ceilings=options.ceilings,
        observing=Observing.of(options.observe, options.observe_engine),
        per_rank=options.per_rank,
    )
    bounds = Bounds(
        parse_confine_mode(options.confine), [path.expanduser().resolve() for path in options.within]
    )
    engine = engines.find()
    suite = bind(with_manifests(build(document, engine.description, changes_of(options)), manifests or {}))
    suite, places = fitted(adjust(suite) if adjust else suite, options.launcher, options.places or Places())
    launcher = choose(options.launcher, engine.version.mpi, places)
    launcher.places.require_all_used(suite.plan.ranks)
    launcher.command(suite.plan.ranks)  # refuses ranks that do not fit
    is_one_node = launcher.reach == "this host"
    sized = size(suite, engine, is_one_node) if size else Sized(check(suite, engine), {}, ())
    inputs = RunInputs(
        checked=sized.checked,
        engine=engine,
        launcher=launcher,
        store=store_of(options.store),
        watching=watched,
        remount=remount_words(options.remount_command, suite.plan),
        bounds=bounds,
        run_id=options.run_id,
    )
    return Prepared(inputs=inputs, sizes=sized.sizes, chosen=sized.sentences)
