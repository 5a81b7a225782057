"""Workloads by intent, each a suite to begin with and a small picture of its access pattern."""

from dataclasses import dataclass, field

from strider.engine import Json
from strider.web import checking
from strider.web.fields import written
from strider.web.picture import picture
from strider.web.site import Site


@dataclass(frozen=True)
class Workload:
    """A workload.

    Attributes:
        name: Its address, and the name of its suite.
        title: The intent, as a user says it.
        about: The measurement, in one sentence.
        case: The case, as TOML.
        drawn: Values of the case and those in the picture, where few requests show more.
    """

    name: str
    title: str
    about: str
    case: str
    drawn: dict[str, str] = field(default_factory=dict)

    def suite(self, target: str) -> str:
        head = f'[suite]\nname = "{self.name}"\ndescription = {written(self.title)}\n'
        return f"{head}target = {written(target)}\nrepetitions = 5\n\n[[case]]\n{self.case}"


WORKLOADS = (
    Workload(
        "checkpoint",
        "Many ranks write one checkpoint",
        "One shared file, a contiguous part for each rank; synced at the end, then read by another rank.",
        'interface = ["posix", "mpiio"]\npattern = "segmented"\nclients = 4\ntransfer = "4MiB"\n'
        'block = "256MiB"\nreadback = "shift"\ncache = "cold"\n',
        {"256MiB": "16MiB"},
    ),
    Workload(
        "own-files",
        "Each rank writes a file of its own",
        "A file for each rank: many streams, no shared locks.",
        'interface = "posix"\npattern = "segmented"\nsharing = "per-rank"\nclients = 4\ntransfer = "4MiB"\n'
        'block = "256MiB"\ncache = "cold"\n',
        {"256MiB": "16MiB"},
    ),
    Workload(
        "records",
        "Ranks take turns in one file",
        "Records of all ranks alternate along a shared file, as in logs of time steps.",
        'interface = ["posix", "mpiio"]\npattern = "strided"\nclients = 4\ntransfer = "64KiB"\ncount = 4000\n'
        'cache = "cold"\n',
        {"4000": "6"},
    ),
    Workload(
        "array",
        "Ranks write blocks of an array",
        "A two-dimensional array in row order: the rows of each block are small pieces far apart.",
        'interface = ["posix", "mpiio"]\npattern = "subarray"\nclients = 4\ndims = [8192, 8192]\n'
        'grid = [2, 2]\nelement = "8B"\ncache = "cold"\n',
        {"8192": "8"},
    ),
    Workload(
        "random-reads",
        "A program reads at random, 4 KiB each",
        "Random reads of one file past the page cache, as those of a data base or of training data.",
        'interface = "posix"\nposix.direct = true\npattern = "random"\nclients = 4\ntransfer = "4KiB"\n'
        'size = "1GiB"\ncount = 20000\noperations = ["read"]\n',
        {"1GiB": "256KiB", "20000": "8"},
    ),
    Workload(
        "data-base",
        "A data base reads and writes at random",
        "Random requests of 4 KiB past the page cache: 70 % read, the others write, at the same time.",
        'interface = "posix"\nposix.direct = true\npattern = "random"\nclients = 4\ntransfer = "4KiB"\n'
        'size = "1GiB"\noperations = ["read-write"]\nread_share = 70\nruntime = "5s"\n',
        {"1GiB": "256KiB"},
    ),
    Workload(
        "log",
        "A service appends and commits",
        "Small writes that are synced one by one: the latency of a commit.",
        'interface = "posix"\npattern = "segmented"\nsharing = "per-rank"\nclients = 4\ntransfer = "4KiB"\n'
        'block = "4MiB"\nsync = "each"\noperations = ["write"]\n',
        {"4MiB": "48KiB"},
    ),
    Workload(
        "restart",
        "All ranks read the same input",
        "Every rank reads the whole file, as at the start of a job.",
        'interface = ["posix", "mpiio"]\npattern = "sequential"\nclients = 4\ntransfer = "4MiB"\n'
        'size = "512MiB"\noperations = ["read"]\ncache = "cold"\n',
        {"512MiB": "32MiB"},
    ),
    Workload(
        "small-files",
        "A job reads small files",
        "Creates many small files, then looks them up, reads and removes them.",
        'interface = "posix"\ntree = "balanced"\nclients = 4\nitems = 5000\nfile_size = 4096\n'
        'readback = "shift"\noperations = ["create", "stat", "small-read", "unlink"]\n',
        {"5000": "6"},
    ),
)


def gallery(site: Site) -> Json:
    """Titles and pictures of all workloads.

    Returns:
        A list with `name`, `title`, `about` and `picture`.
    """
    return [
        {"name": one.name, "title": one.title, "about": one.about, "picture": _picture(one, site)}
        for one in WORKLOADS
    ]


def find(name: str) -> Workload | None:
    """A workload by its name."""
    return next((one for one in WORKLOADS if one.name == name), None)


def _picture(workload: Workload, site: Site) -> Json:
    text = workload.suite("")
    for value, few in workload.drawn.items():
        text = text.replace(value, few)
    return picture(site.engine, checking.checked_plan(text, site).suite.plan, 1, None)
