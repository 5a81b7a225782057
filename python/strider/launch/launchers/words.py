"""Launchers and bindings in words, for `strider describe launchers` and `strider describe binding`."""

from pydantic import BaseModel, ConfigDict


class LaunchWords(BaseModel):
    """A value of `--launcher` or `--bind` in words.

    Attributes:
        name: The value.
        meaning: Its effect.
        words: The words or variables that the launcher gets.
        remark: What else is to be known; empty for nothing.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    meaning: str
    words: str
    remark: str = ""


LAUNCHER_WORDS = (
    LaunchWords(
        name="mpiexec",
        meaning="mpiexec of the engine's MPI library: this host, named hosts, or an allocation (default)",
        words="MPICH: -hosts a,b -ppn M; Open MPI: --host a:M,b:M; Intel MPI: -hosts a,b -ppn M",
        remark="reaches named hosts by ssh",
    ),
    LaunchWords(
        name="srun",
        meaning="srun of Slurm, inside an allocation",
        words="--nodes=N --ntasks-per-node=M --nodelist=a,b",
    ),
    LaunchWords(name="pals", meaning="mpiexec of HPE Cray PALS", words="--ppn M --hosts a,b"),
    LaunchWords(name="flux", meaning="flux run, inside an instance", words="-n R -N N --requires=host:a,b"),
    LaunchWords(
        name="jsrun",
        meaning="jsrun of IBM, inside an allocation",
        words="-n N -r 1 -a M -c ALL_CPUS",
        remark="takes no names of hosts",
    ),
    LaunchWords(
        name="COMMAND",
        meaning="any other command, with fields",
        words='"aprun -n {ranks} -N {per_node} -L {hosts}"; also {nodes}',
        remark="takes no --bind: write the launcher's own option into the command",
    ),
)
"""Values of `--launcher`; N: nodes, M: ranks on each, R: ranks (docs/howto/measure-with-16-nodes.md)."""

BINDING_WORDS = (
    LaunchWords(
        name="none",
        meaning="each rank may run on any core",
        words="MPICH: -bind-to none; Open MPI: --bind-to none; srun: --cpu-bind=none; flux: cpu-affinity=off",
    ),
    LaunchWords(
        name="core",
        meaning="each rank runs on a core of its own",
        words="MPICH: -bind-to core; Open MPI: --bind-to core:overload-allowed; srun: --cpu-bind=cores; "
        "flux: cpu-affinity=per-task",
    ),
    LaunchWords(
        name="numa",
        meaning="each rank runs on the cores of a NUMA node",
        words="MPICH: -bind-to numa; Open MPI: --bind-to numa:overload-allowed; srun: --cpu-bind=ldoms",
        remark="flux and jsrun refuse it",
    ),
)
"""Values of `--bind`; without it, the launcher decides."""
