"""`strider run --simulate`: a suite with simulated ranks."""

from pathlib import Path
from typing import NoReturn

from strider.errors import StriderError
from strider.running.conducting import conduct
from strider.running.options import RunOptions
from strider.running.prepared import Prepared


def _refuse_what_needs_ranks(options: RunOptions) -> None:
    """Refuses options on the place of ranks and on their files: there are none."""
    places = options.places
    given = {
        "--hosts, --hostfile, --nodes, --per-node and --bind": bool(
            places and (places.are_given or places.bind)
        ),
        "--observe": options.observe is not None,
        "--remount-command": options.remount_command is not None,
        "--within": bool(options.within),
        "--confine": options.confine != "auto",
    }
    for name, is_given in given.items():
        if is_given:
            raise StriderError(f"--simulate has no ranks and no target: leave {name} out")


def simulate_suite(file: Path, options: RunOptions, ranks: int) -> NoReturn:
    """Runs a suite with simulated ranks, prints its results and exits with the run's exit code.

    Args:
        file: The suite.
        options: Options from the command line.
        ranks: Number of simulated ranks; the clients of each case, unless options or its nodes have others.

    Raises:
        StriderError: The suite is invalid, or the run cannot be started.
    """
    from strider import engine as engines
    from strider.launch import RunInputs, watching, with_simulated_ranks
    from strider.launch.launchers import choose
    from strider.listing.names import store_of
    from strider.running.sizing import without_probe
    from strider.suite import Changes
    from strider.suite.document import read
    from strider.suite.load import build

    _refuse_what_needs_ranks(options)
    engine = engines.find()
    changes = Changes(options.settings, options.target, options.clients, simulated_ranks=ranks)
    suite = with_simulated_ranks(build(read(file), engine.description, changes, "optional"), ranks)
    checked = without_probe(suite, engine).checked
    watched = watching(
        counters="none",
        timeline="none",
        timeline_interval=options.timeline_interval,
        ceilings="none",
        per_rank=options.per_rank,
    )
    inputs = RunInputs(
        checked=checked,
        engine=engine,
        launcher=choose(options.launcher, engine.version.mpi),
        store=store_of(options.store),
        watching=watched,
    )
    conduct(Prepared(inputs=inputs, are_ranks_simulated=True), options)
