"""Runs a plan with simulated ranks, without I/O: what many ranks cost in the engine, store and report."""

from collections.abc import Mapping
from datetime import UTC, datetime

from strider.engine import Engine
from strider.errors import StriderError
from strider.launch import rundir
from strider.launch.confinement import Confinement, guard
from strider.launch.display import Display, Expendable
from strider.launch.inputs import RunInputs
from strider.launch.job_limits import processors
from strider.launch.process import Interruptions, start
from strider.launch.rank_rows import rank_rows
from strider.launch.rundir import RunDirectory
from strider.launch.runner import Outcome, Watch, attend, conclude, run_info, stall_limit_s
from strider.launch.state import RunState
from strider.own_files import make_store
from strider.suite import Plan, Suite
from strider.suite.estimate import planned_phases

NAME = "simulated"
"""First word of the suite's name, and with it part of the run's id."""
_MOST_PROCESSES = 8
_NOT_SIMULATED = {"group": "groups of ranks", "arrival_rate": "arrival rates", "dataset": "data sets"}
"""Parameters of cases that only real phases can have, with their values."""


def with_simulated_ranks(suite: Suite, ranks: int) -> Suite:
    """Returns a suite whose plan says that its ranks are simulated.

    Args:
        suite: The suite.
        ranks: Number of simulated ranks.

    Raises:
        StriderError: A case has more clients, or what cannot be simulated.
    """
    plan = suite.plan
    for parameter, noun in _NOT_SIMULATED.items():
        if any(case.get(parameter) for case in plan.cases):
            raise StriderError(
                f"--simulate: {noun} cannot be simulated ({parameter}): choose another suite, or leave "
                f"{parameter} out"
            )
    if plan.ranks > ranks:
        raise StriderError(
            f"--simulate {ranks}: a case has {plan.ranks} clients: simulate as many ranks, or choose fewer "
            "clients with -n"
        )
    title = plan.suite.model_copy(update={"name": f"{NAME}-{plan.suite.name}"})
    return Suite(
        suite.document, plan.model_copy(update={"suite": title, "ranks": ranks}), suite.origins, suite.changes
    )


def simulate(inputs: RunInputs, display: Display, interrupted: Interruptions) -> Outcome:
    """Runs a plan whose ranks are simulated; accesses no target.

    Args:
        inputs: The plan, by `with_simulated_ranks`, and all that its run needs; the launcher starts the
            processes that stand for the ranks. Of all records, only the rows of all ranks are made.
        display: Shows the progress.
        interrupted: Termination signals: the first ends the run, the second kills the engine.

    Raises:
        StriderError: The run cannot be started.
    """
    engine, launcher, watching = inputs.engine, inputs.launcher, inputs.watching
    plan = inputs.checked.suite.plan
    processes = _processes_for(plan)
    started = datetime.now(UTC)
    run = rundir.new_run_id(plan.suite.name, started)
    display = Expendable(display)
    with rank_rows(watching.per_rank):
        make_store(inputs.store)
        info = run_info(inputs, inputs.store.absolute(), started, run)
        info |= {"launcher": launcher.command(processes), "simulated": {"processes": processes}}
        text = inputs.checked.suite.document.text
        directory = rundir.create(inputs.store, run, plan.to_json(), text, engine.description, info)
        state = RunState(planned_phases(inputs.checked), time_limit_s=plan.time_limit_s)
        try:
            directory.events.touch()
            program = [*_program(engine, directory, plan.ranks), *watching.per_rank_words()]
            process = start(launcher, processes, program, directory.log, Confinement(guard(engine.path)))
            watch = Watch(interrupted, display, _nothing_to_note, stall_limit_s(plan))
            ending = attend(process, state, directory, watch)
            return conclude(directory, state, ending, None)
        except OSError as error:
            raise rundir.cannot_write(directory, error) from error
        finally:
            display.close()


def _nothing_to_note(text: str) -> None:
    """Takes a note on clocks: simulated nodes have one."""


def _processes_for(plan: Plan) -> int:
    """Returns how many processes stand for the ranks; each of them has at least one rank of each case."""
    return min(_MOST_PROCESSES, processors(), *(case.clients for case in plan.cases))


def _program(engine: Engine, directory: RunDirectory, ranks: int) -> list[str]:
    """Returns the engine's command line. Its directory is the run's own, in which it writes only events."""
    options: Mapping[str, str] = {
        "--directory": str(directory.path),
        "--run": directory.run,
        "--events": str(directory.events),
        "--simulate": str(ranks),
        "--counters": "none",
        "--ceilings": "none",
        "--timeline": "none",
        "--unconfined": "the ranks are simulated",
    }
    words = [word for option in options.items() for word in option]
    return [str(engine.path.resolve()), "run", str(directory.plan), *words]
