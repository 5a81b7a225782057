"""Every option of mdtest, and what becomes of it; `workload` and `suite` read those that are understood.

mdtest has letters, and a few long options (here `aliases`); the names are those that `mdtest -v` prints.
"""

from strider.importers.options import Option

_GPU = "Strider's buffers are in main memory"
_COMMANDS = "Strider runs no commands between phases"
_RANKS = "strider export --rows ranks writes what each rank did"

OPTIONS = (
    Option("api", "a", "text"),
    Option("branch_factor", "b", "size"),
    Option(
        "no_barriers",
        "B",
        refusal="a phase begins when all tasks have ended the one before (mdtest itself refuses it, too)",
    ),
    Option("collective_creates", "c"),
    Option("create_only", "C"),
    Option("dirpath", "d", "text"),
    Option("dirs_only", "D"),
    Option("read_bytes", "e", "size"),
    Option("read_only", "E"),
    Option("first", "f", "size"),
    Option("files_only", "F"),
    Option(
        "global_dir_layout",
        "g",
        refusal="set the layout of the target directory, for instance with lfs setdirstripe; "
        "directories inherit it",
    ),
    Option(
        "random_buffer_offset",
        "G",
        "size",
        note="data that is checked identifies itself by run, file and offset, and differs in every run",
        unused=(-1,),
    ),
    Option(
        "help",
        "h",
        refusal="strider mdtest --help tells about it, and docs/importing.md about the options",
        aliases=("help",),
    ),
    Option("iterations", "i", "size"),
    Option("items_per_dir", "I", "size"),
    Option("make_node", "k"),
    Option("last", "l", "size"),
    Option("leaf_only", "L"),
    Option("items", "n", "size"),
    Option("nstride", "N", "size"),
    Option(
        "pre_delay",
        "p",
        "size",
        note="the pause is before each phase, with mdtest before the first one of directories and of files",
    ),
    Option("print_rate_and_time", "P"),
    Option("print_all_proc", aliases=("print-all-procs",), note=_RANKS),
    Option("remove_only", "r"),
    Option("randomize", "R"),
    Option("random_seed", kind="size", aliases=("random-seed",)),
    Option("stride", "s", "size"),
    Option(
        "shared_file",
        "S",
        refusal="each task works on items of its own; without -S all tasks share the directories",
    ),
    Option(
        "time_unique_dir_overhead",
        "t",
        note="tasks do not change to their directories, so there is no such time",
    ),
    Option("stat_only", "T"),
    Option("unique_dir_per_task", "u"),
    Option("rename_dirs", "U"),
    Option("verbose", "v", note="strider show, strider report and engine.log in the run directory tell more"),
    Option(
        "verbosity",
        "V",
        "size",
        note="strider show, strider report and engine.log in the run directory tell more",
    ),
    Option("write_bytes", "w", "size"),
    Option("stone_wall_timer_seconds", "W", "size"),
    Option(
        "stoneWallingStatusFile",
        "x",
        "text",
        refusal="a run keeps no state for the next one: measure all phases in one run",
    ),
    Option("verify_read", "X", aliases=("verify-read",)),
    Option(
        "verify_write",
        aliases=("verify-write",),
        refusal="a file is not read back while it is open: take -X, which checks it in the phase of reading",
    ),
    Option("sync_file", "y"),
    Option(
        "call_sync",
        "Y",
        refusal="the caches of a node are not flushed after a phase: take -y, which syncs each file "
        "when it is written",
    ),
    Option("depth", "z", "size"),
    Option("print_time", "Z"),
    Option(
        "dataPacketType",
        kind="text",
        aliases=("dataPacketType",),
        note="data that is checked identifies itself; other data is the same in each file",
    ),
    Option("prologue", kind="text", aliases=("run-cmd-before-phase",), refusal=_COMMANDS),
    Option("epilogue", kind="text", aliases=("run-cmd-after-phase",), refusal=_COMMANDS),
    Option("allocateBufferOnGPU", kind="size", aliases=("allocateBufferOnGPU",), refusal=_GPU),
    Option("GPUid", kind="size", aliases=("GPUid",), refusal=_GPU, unused=(-1,)),
    Option("gpuDirect", aliases=("gpuDirect",), refusal=_GPU),
    Option(
        "warningAsErrors",
        aliases=("warningAsErrors",),
        note="an operation that fails is an error anyway, and ends its test",
    ),
    Option("saveRankDetailsCSV", kind="text", aliases=("saveRankPerformanceDetails",), note=_RANKS),
    Option(
        "savePerOpDataCSV",
        kind="text",
        aliases=("savePerOpDataCSV",),
        note="single operations are not kept, only the histogram of their latencies",
    ),
    Option("showRankStatistics", aliases=("showRankStatistics",), note=_RANKS),
    Option(
        "odirect",
        aliases=("posix.odirect",),
        refusal="small files are written and read through the system's cache",
    ),
)
"""By their letters, then those without one."""

BY_LETTER = {option.letter: option for option in OPTIONS if option.letter}
BY_NAME = {name.lower(): option for option in OPTIONS for name in option.aliases}
