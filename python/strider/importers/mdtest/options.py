"""Every option of mdtest, and what becomes of it; `workload` and `suite` read those that are understood.

mdtest has letters, and a few long options (here `aliases`); the names are those that `mdtest -v` prints.
"""

from strider.importers.options import Option

_GPU = "Strider's buffers are in main memory"
_COMMANDS = "Strider runs no commands between phases"
_RANKS = "use strider export --rows ranks for the results of each rank"

OPTIONS = (
    Option("api", "a", "text"),
    Option("branch_factor", "b", "size"),
    Option(
        "no_barriers",
        "B",
        refusal="each phase begins when all tasks have ended the previous one (mdtest rejects this "
        "option too)",
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
        note="verified data encodes run, file and offset, so it differs in every run",
        unused=(-1,),
    ),
    Option(
        "help",
        "h",
        refusal="use strider mdtest --help; docs/importing.md describes the options of mdtest",
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
        note="Strider pauses before each phase, mdtest only before the first phase of directories "
        "and of files",
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
        note="tasks do not change their working directory, so Strider has no such time",
    ),
    Option("stat_only", "T"),
    Option("unique_dir_per_task", "u"),
    Option("rename_dirs", "U"),
    Option(
        "verbose",
        "v",
        note="for details, see strider show, strider report and engine.log in the run directory",
    ),
    Option(
        "verbosity",
        "V",
        "size",
        note="for details, see strider show, strider report and engine.log in the run directory",
    ),
    Option("write_bytes", "w", "size"),
    Option("stone_wall_timer_seconds", "W", "size"),
    Option(
        "stoneWallingStatusFile",
        "x",
        "text",
    ),
    Option("verify_read", "X", aliases=("verify-read",)),
    Option(
        "verify_write",
        aliases=("verify-write",),
        refusal="Strider does not read a file back while it is open: use -X, which verifies files in "
        "the read phase",
    ),
    Option("sync_file", "y"),
    Option("call_sync", "Y"),
    Option("depth", "z", "size"),
    Option("print_time", "Z"),
    Option(
        "dataPacketType",
        kind="text",
        aliases=("dataPacketType",),
        note="verified data encodes run, file and offset; other data is the same in each file",
    ),
    Option("prologue", kind="text", aliases=("run-cmd-before-phase",), refusal=_COMMANDS),
    Option("epilogue", kind="text", aliases=("run-cmd-after-phase",), refusal=_COMMANDS),
    Option("allocateBufferOnGPU", kind="size", aliases=("allocateBufferOnGPU",), refusal=_GPU),
    Option("GPUid", kind="size", aliases=("GPUid",), refusal=_GPU, unused=(-1,)),
    Option("gpuDirect", aliases=("gpuDirect",), refusal=_GPU),
    Option(
        "warningAsErrors",
        aliases=("warningAsErrors",),
        note="a failed operation is always an error, and ends its test",
    ),
    Option("saveRankDetailsCSV", kind="text", aliases=("saveRankPerformanceDetails",), note=_RANKS),
    Option(
        "savePerOpDataCSV",
        kind="text",
        aliases=("savePerOpDataCSV",),
        note="Strider does not store single operations, only the histogram of their latencies",
    ),
    Option("showRankStatistics", aliases=("showRankStatistics",), note=_RANKS),
    Option(
        "odirect",
        aliases=("posix.odirect",),
        refusal="Strider writes and reads small files through the page cache",
    ),
)
"""By their letters, then those without one."""

BY_LETTER = {option.letter: option for option in OPTIONS if option.letter}
BY_NAME = {name.lower(): option for option in OPTIONS for name in option.aliases}
