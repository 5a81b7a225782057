"""Every option of IOR, and what becomes of it; `workload` and `suite` read those that are understood."""

from strider.importers.options import Option

_GPU = "Strider's buffers are in main memory"
_STRIPING = "set the striping of the target directory, for instance with lfs setstripe; the files inherit it"
_VENDOR = "Strider sets no file-system-specific hints"
_HDF5 = "Strider's interface hdf5 has no such option"

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
        note="Strider has no barriers between open, transfer and close; it reports the longest time "
        "of any task for each",
    ),
    Option("setTimeStampSignature", "G", "number"),
    Option("showHelp", "h", refusal="use strider ior --help; docs/importing.md describes the options of IOR"),
    Option(
        "showHints", "H", aliases=("mpiio.showHints",), note="strider report always shows the hints in force"
    ),
    Option("repetitions", "i", "number"),
    Option("individualDataSets", "I", refusal=_HDF5),
    Option(
        "outlierThreshold",
        "j",
        "number",
        note="Strider does not warn of slow tasks; strider report shows the slowest and the fastest rank",
    ),
    Option("setAlignment", "J", "size", refusal="use hdf5.alignment in a suite", unused=(1,)),
    Option("keepFile", "k"),
    Option("keepFileWithError", "K"),
    Option("dataPacketType", "l", "text"),
    Option("multiFile", "m"),
    Option(
        "memoryPerNode",
        "M",
        "text",
        refusal="Strider does not occupy memory to shrink caches; use files larger than memory, or "
        "--posix.odirect",
        unused=("0", "0%"),
    ),
    Option(
        "memoryPerTask",
        kind="size",
        refusal="Strider does not occupy memory to shrink caches; use files larger than memory, or "
        "--posix.odirect",
    ),
    Option("noFill", "n", refusal=_HDF5),
    Option("numTasks", "N", "number"),
    Option("numNodes", kind="number"),
    Option("numTasksOnNode0", kind="number"),
    Option("testFile", "o", "text"),
    Option("preallocate", "p", aliases=("mpiio.preallocate",)),
    Option(
        "useSharedFilePointer",
        "P",
        refusal="Strider has no shared file pointers, and those of IOR do not work",
    ),
    Option("quitOnError", "q", note="an error ends its test; the other tests go on"),
    Option("taskPerNodeOffset", "Q", "number"),
    Option("readFile", "r"),
    Option("checkRead", "R"),
    Option("segmentCount", "s", "size"),
    Option(
        "useStridedDatatype",
        "S",
        aliases=("mpiio.useStridedDatatype",),
        refusal="use -V, or the pattern vector in a suite",
    ),
    Option("transferSize", "t", "size"),
    Option("maxTimeDuration", "T", "number"),
    Option("uniqueDir", "u"),
    Option("hintsFileName", "U", "text", aliases=("mpiio.hintsFileName",)),
    Option(
        "verbose",
        "v",
        note="for details, see strider show, strider report and engine.log in the run directory",
    ),
    Option("useFileView", "V", aliases=("mpiio.useFileView",)),
    Option("writeFile", "w"),
    Option("checkWrite", "W"),
    Option(
        "singleXferAttempt",
        "x",
        note="Strider completes a short transfer, as IOR does without this option",
    ),
    Option("reorderTasksRandomSeed", "X", "number"),
    Option("dualMount", "y", refusal="a run has one target directory"),
    Option(
        "fsyncPerWrite",
        "Y",
        note="Strider calls fsync once after each write; IOR 4.1 twice, and with -e once more at the end",
    ),
    Option("randomOffset", "z"),
    Option("randomSeed", kind="number", aliases=("random-offset-seed",), unused=(-1,)),
    Option("randomPrefill", kind="size"),
    Option("reorderTasksRandom", "Z"),
    Option("stoneWallingWearOut"),
    Option(
        "stoneWallingWearOutIterations",
        kind="number",
        refusal="each task completes as many transfers as the fastest task",
    ),
    Option("stoneWallingStatusFile", kind="text"),
    Option("minTimeDuration", kind="number"),
    Option("interIODelay", kind="number"),
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
    Option("storeFileOffset", note="verified data encodes run, file and offset"),
    Option(
        "dryRun",
        refusal="write a suite with strider ior --suite FILE, and show its plan with strider plan FILE",
    ),
    Option("warningAsErrors", note="Strider lists differences from IOR as notes, never as errors"),
    Option("summaryAlways", note="Strider always prints the summary"),
    Option("summaryFile", kind="text"),
    Option("summaryFormat", kind="text"),
    Option("saveRankPerformanceDetailsCSV", kind="text"),
    Option(
        "savePerOpDataCSV",
        kind="text",
        note="Strider does not store single operations, only the histogram of their latencies",
    ),
    Option("platform", kind="text", note="strider report already names the machine"),
    Option("debug", kind="text", note="Strider does not print it"),
)
"""In the order of IOR's manual."""

BY_LETTER = {option.letter: option for option in OPTIONS if option.letter}
BY_NAME = {name.lower(): option for option in OPTIONS for name in option.names}
