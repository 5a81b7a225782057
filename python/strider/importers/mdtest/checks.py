"""What mdtest itself would refuse, and what Strider cannot do."""

from collections.abc import Iterator

from strider.importers.mdtest.workload import Workload
from strider.suite.mistakes import Mistakes

INTERFACES = {"posix": "posix", "dummy": "null"}
"""mdtest's interfaces and Strider's."""

Objection = tuple[str, str]
"""The option at fault, and the error."""


def check(workload: Workload, mistakes: Mistakes) -> None:
    """Notes everything that keeps a test from being run."""
    workload.settings.refuse(mistakes)
    counts = list(_counts(workload))
    # The formulas need sound numbers.
    further = [] if counts else [*_items(workload), *_combinations(workload), *_limits(workload)]
    for option, message in (*counts, *further):
        mistakes.add(workload.settings.place(option), message)


def _counts(workload: Workload) -> Iterator[Objection]:
    least = {
        "items": 0,
        "items_per_dir": 0,
        "depth": 0,
        "branch_factor": 1,
        "iterations": 1,
        "first": 1,
        "last": 0,
        "stride": 1,
        "nstride": 0,
        "pre_delay": 0,
        "write_bytes": 0,
        "read_bytes": 0,
        "stone_wall_timer_seconds": 0,
    }
    for option, minimum in least.items():
        value = workload.settings.number(option, minimum)
        if value < minimum:
            yield option, f"{option} is {value}: it must be at least {minimum}"


def _items(workload: Workload) -> Iterator[Objection]:
    items, per_directory = workload.settings.number("items"), workload.settings.number("items_per_dir")
    if not items and not per_directory:
        yield (
            "items",
            "there are no items: give -n (items of each task) or -I (items of each task in each directory)",
        )
    elif not per_directory and items < workload.places:
        yield (
            "items",
            f"{items} items are too few for {workload.places} directories: give -n {workload.places} or more",
        )
    if items and per_directory:
        yield from _items_and_per_directory(workload)


def _items_and_per_directory(workload: Workload) -> Iterator[Objection]:
    items, per_directory = workload.settings.number("items"), workload.settings.number("items_per_dir")
    if workload.flag("unique_dir_per_task"):
        yield "items_per_dir", "with -u give either -n or -I, as in mdtest"
    elif items % per_directory:
        yield "items", f"-n must be a multiple of -I, as in mdtest: for instance -n {per_directory * 2}"
    elif workload.depth:
        yield (
            "depth",
            "with -n, -I and -z together, mdtest uses only a part of the trees that it creates: "
            "give either -n or -I",
        )


def _combinations(workload: Workload) -> Iterator[Objection]:
    """What mdtest does not take together."""
    written, read = workload.settings.number("write_bytes"), workload.settings.number("read_bytes")
    reads = "read" in workload.phases and workload.files
    if workload.flag("stone_wall_timer_seconds") and workload.branches > 1:
        yield "stone_wall_timer_seconds", "-W needs -b 1, as in mdtest"
    if workload.flag("make_node") and written:
        yield "make_node", "-k creates empty files: remove -w"
    if workload.flag("verify_read") and not (reads and read):
        yield (
            "verify_read",
            "-X needs files and a read phase (-E, or no phase option), and -e, the bytes to "
            "read from each file",
        )
    if reads and "create" in workload.phases and read > written:
        yield "read_bytes", f"-e must not be larger than -w, the size of a file: give -w {read}"
    if workload.flag("last") and workload.task_counts == []:
        yield "first", "-f must be at most -l"
    tasks, most = workload.surroundings.tasks, max(workload.task_counts, default=0)
    if most > tasks:
        yield (
            "last",
            f"-l needs {most} tasks, but only {tasks} are given: for example, use strider mdtest -n {most}",
        )


def _limits(workload: Workload) -> Iterator[Objection]:
    """What Strider cannot do."""
    if workload.flag("call_sync") and workload.flag("sync_file"):
        yield "sync_file", "-y and -Y are not supported together: keep one"
    api = workload.settings.text("api", "POSIX")
    if api.lower() not in INTERFACES:
        yield "api", f"interface {api} is not supported: use POSIX or DUMMY"
    if "@" in workload.settings.text("dirpath"):
        yield (
            "dirpath",
            "several directories are not supported, because a run has one target directory: "
            "measure each directory in its own run",
        )
    if workload.flag("collective_creates") and {"create", "remove"} & set(workload.phases):
        yield (
            "collective_creates",
            "-c is not supported, because each task creates and removes its own items: to "
            "measure the rate of one task, use strider mdtest -n 1",
        )
    written, read = workload.settings.number("write_bytes"), workload.settings.number("read_bytes")
    if workload.files and {"create", "read"} <= set(workload.phases) and 0 < read < written:
        yield (
            "read_bytes",
            f"Strider reads whole files: give -e {written}, or remove -e to only open and close them",
        )
    if not workload.files and list(workload.phases) == ["read"]:
        yield (
            "read_only",
            "mdtest does not read directories: remove -D, or use the operation readdir in a suite",
        )
