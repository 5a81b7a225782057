"""Every option of IOR, and what becomes of it; `workload` and `suite` read those that are understood."""

from strider.importers.options import Option

_GPU = "Strider's buffers are in main memory"
_STRIPING = "set the striping of the target directory, for instance with lfs setstripe; the files inherit it"
_VENDOR = "Strider gives no hints of this kind"
_OUTPUT = "strider show, report and export give the results of a run in other forms"

OPTIONS = (
    Option("api", "a", "text"),
    Option("refNum", "A", "number"),
    Option("blockSize", "b", "size"),
    Option("collective", "c"),
    Option("reorderTasks", "C", aliases=("reorderTasksConstant",)),
    Option("interTestDelay", "d", "number"),
    Option("deadlineForStonewalling", "D", "number"),
    Option("fsync", "e"),
    Option("useExistingTestFile", "E"),
    Option("filePerProc", "F"),
    Option(
        "intraTestBarriers",
        "g",
        note="there are no barriers between opening, transfer and closing; "
        "each of their times is the longest of any task",
    ),
    Option(
        "setTimeStampSignature",
        "G",
        "number",
        note="data that is checked identifies itself by run, file and offset, and differs in every run",
    ),
    Option(
        "showHelp", "h", refusal="strider ior --help tells about it, and docs/importing.md about the options"
    ),
    Option(
        "showHints", "H", aliases=("mpiio.showHints",), note="strider report shows the hints in force anyway"
    ),
    Option("repetitions", "i", "number"),
    Option("individualDataSets", "I", refusal="it is an option of HDF5"),
    Option(
        "outlierThreshold",
        "j",
        "number",
        note="there are no warnings; strider report shows the slowest and the fastest rank",
    ),
    Option("setAlignment", "J", "size", refusal="it is an option of HDF5", unused=(1,)),
    Option("keepFile", "k", note="Strider removes its test files at the end of a run"),
    Option("keepFileWithError", "K", note="Strider removes its test files at the end of a run"),
    Option(
        "dataPacketType",
        "l",
        "text",
        note="data that is checked identifies itself; other data is the same in each transfer",
    ),
    Option("multiFile", "m", note="each repetition writes its files anew anyway"),
    Option(
        "memoryPerNode",
        "M",
        "text",
        refusal="Strider does not occupy memory to shrink caches; "
        "take files larger than memory, or --posix.odirect",
        unused=("0", "0%"),
    ),
    Option(
        "memoryPerTask",
        kind="size",
        refusal="Strider does not occupy memory to shrink caches; "
        "take files larger than memory, or --posix.odirect",
    ),
    Option("noFill", "n", refusal="it is an option of HDF5"),
    Option("numTasks", "N", "number"),
    Option("numNodes", kind="number"),
    Option("numTasksOnNode0", kind="number"),
    Option("testFile", "o", "text"),
    Option("preallocate", "p", aliases=("mpiio.preallocate",)),
    Option(
        "useSharedFilePointer",
        "P",
        refusal="there are no shared file pointers (IOR has none that work either)",
    ),
    Option("quitOnError", "q", note="an error ends its test, and the others go on"),
    Option("taskPerNodeOffset", "Q", "number"),
    Option("readFile", "r"),
    Option("checkRead", "R"),
    Option("segmentCount", "s", "size"),
    Option(
        "useStridedDatatype",
        "S",
        aliases=("mpiio.useStridedDatatype",),
        refusal="take -V, or the pattern vector in a suite",
    ),
    Option("transferSize", "t", "size"),
    Option(
        "maxTimeDuration",
        "T",
        "number",
        note="all repetitions are made; Ctrl-C ends a run and keeps what was measured",
    ),
    Option("uniqueDir", "u", note="all files are in one directory, which matters to opening alone"),
    Option("hintsFileName", "U", "text", aliases=("mpiio.hintsFileName",)),
    Option("verbose", "v", note="strider show, strider report and engine.log in the run directory tell more"),
    Option("useFileView", "V", aliases=("mpiio.useFileView",)),
    Option("writeFile", "w"),
    Option("checkWrite", "W"),
    Option(
        "singleXferAttempt",
        "x",
        note="a transfer that the system cuts short is completed, as without this option",
    ),
    Option("reorderTasksRandomSeed", "X", "number"),
    Option("dualMount", "y", refusal="a run has one target directory"),
    Option("fsyncPerWrite", "Y"),
    Option("randomOffset", "z"),
    Option("randomSeed", kind="number", aliases=("random-offset-seed",), unused=(-1,)),
    Option(
        "randomPrefill",
        kind="size",
        refusal="files are not filled beforehand; run a suite with rewrite instead",
    ),
    Option("reorderTasksRandom", "Z"),
    Option("stoneWallingWearOut"),
    Option(
        "stoneWallingWearOutIterations",
        kind="number",
        refusal="the tasks complete as many as the fastest had",
    ),
    Option("stoneWallingStatusFile", kind="text", refusal="a run keeps no state for the next one"),
    Option("minTimeDuration", kind="number", refusal="choose -b and -s so that a test takes long enough"),
    Option("interIODelay", kind="number", refusal="there are no pauses between transfers"),
    Option("useO_DIRECT", "B", aliases=("posix.odirect",)),
    Option("posix.rangelocks", refusal="Strider takes no locks"),
    Option("posix.lustre.stripecount", kind="number", aliases=("lustreStripeCount",), refusal=_STRIPING),
    Option("posix.lustre.stripesize", kind="size", aliases=("lustreStripeSize",), refusal=_STRIPING),
    Option(
        "posix.lustre.startost", kind="number", aliases=("lustreStartOST",), refusal=_STRIPING, unused=(-1,)
    ),
    Option("posix.lustre.pool", kind="text", refusal=_STRIPING),
    Option("posix.lustre.ignorelocks", aliases=("lustreIgnoreLocks",), refusal=_VENDOR),
    Option("posix.gpfs.hintaccess", aliases=("gpfsHintAccess",), refusal=_VENDOR),
    Option("posix.gpfs.releasetoken", aliases=("gpfsReleaseToken",), refusal=_VENDOR),
    Option("posix.gpfs.finegrainwritesharing", refusal=_VENDOR),
    Option("posix.gpfs.finegrainreadsharing", refusal=_VENDOR),
    Option("posix.gpfs.createsharing", refusal=_VENDOR),
    Option(
        "posix.beegfs.NumTargets",
        kind="number",
        aliases=("beegfsNumTargets",),
        refusal=_STRIPING,
        unused=(-1,),
    ),
    Option(
        "posix.beegfs.ChunkSize", kind="size", aliases=("beegfsChunkSize",), refusal=_STRIPING, unused=(-1,)
    ),
    Option("gpuDirect", refusal=_GPU),
    Option("allocateBufferOnGPU", kind="number", refusal=_GPU),
    Option("GPUid", kind="number", refusal=_GPU, unused=(-1,)),
    Option("storeFileOffset", note="data that is checked identifies itself by run, file and offset"),
    Option(
        "dryRun", refusal="strider ior --suite FILE writes a suite, and strider plan FILE shows what it means"
    ),
    Option("warningAsErrors", note="what Strider does otherwise than IOR is only noted"),
    Option("summaryAlways", note="the summary is always printed"),
    Option("summaryFile", kind="text", note=_OUTPUT),
    Option("summaryFormat", kind="text", note=_OUTPUT, unused=("default",)),
    Option(
        "saveRankPerformanceDetailsCSV", kind="text", note="strider export --rows ranks writes such a file"
    ),
    Option("savePerOpDataCSV", kind="text", note="single operations are not kept, only their histogram"),
    Option("platform", kind="text", note="the report already names the machine"),
    Option("debug", kind="text", note="it is shown nowhere"),
)
"""In the order of IOR's manual."""

BY_LETTER = {option.letter: option for option in OPTIONS if option.letter}
BY_NAME = {name.lower(): option for option in OPTIONS for name in option.names}
