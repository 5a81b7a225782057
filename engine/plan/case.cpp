#include "plan/case.hpp"

namespace strider {
namespace {

/// An event with the values of a rank stays smaller than readers accept.
constexpr double most_recorded_requests = 100'000;

constexpr Parameter clients{"clients", Kind::count,
                            "1",       "Ranks that take part in the case; with nodes and per_node, their product.",
                            1,         most_ranks};
constexpr Parameter placement{
    "placement",
    Kind::choice,
    "\"pack\"",
    "Nodes of the ranks: node after node, each filled before the next (pack), or a rank on each node in turn (spread).",
    no_limit,
    no_limit,
    "pack|spread"};
constexpr Parameter nodes{
    "nodes", Kind::count, "0", "Nodes of the ranks, with equally many ranks each; 0: as many as the placement needs.",
    0,       most_ranks};
constexpr Parameter per_node{"per_node", Kind::count,
                             "0",        "Most ranks of the case on each node; 0: as many as the run has there.",
                             0,          most_ranks};
constexpr Parameter group{
    "group", Kind::text, "\"\"",
    "Group of ranks on which the case runs. Cases of different groups also run at the same time, each on the ranks of "
    "its group, and the report compares that with each alone. Empty: the case only runs alone."};
constexpr Parameter start{
    "start", Kind::seconds,
    "0",     "Time between the common start of all groups and the first measured phase of this case.",
    0,       86400};
constexpr Parameter repetitions{"repetitions", Kind::repetitions, "3",
                                "Number of measured repetitions: a number, or { min, max, until = \"5%\" }, which "
                                "repeats at least min (or 8) times, "
                                "until the 95 % interval of the mean rate extends at most ±5 % around the mean."};
constexpr Parameter warmup{"warmup", Kind::count, "0", "Repetitions before the measured ones, marked as warm-up.",
                           0,        1000};
constexpr Parameter order{"order",
                          Kind::choice,
                          "\"forward\"",
                          "Order in which a rank issues its requests.",
                          no_limit,
                          no_limit,
                          "forward|backward|random"};
constexpr Parameter shift{"shift",
                          Kind::count,
                          "1",
                          "Distance in ranks for readback = \"shift\"; use at least the number of ranks per node to "
                          "avoid reads from the writing node's cache.",
                          0,
                          1e6};
constexpr Parameter deadline{
    "deadline", Kind::seconds, "0", "Stop issuing requests after this time (stonewall); 0: never.", 0, 1e7};
constexpr Parameter runtime{"runtime",
                            Kind::seconds,
                            "0",
                            "Repeat the requests of each phase until this time is over, such as \"10s\"; with sync = "
                            "\"end\", written data is synced after each pass; 0: each request once.",
                            0,
                            1e7};
constexpr Parameter ramp{
    "ramp", Kind::seconds,
    "0",    "First part of runtime: its requests are issued and verified, but count in no rate or latency.",
    0,      1e7};
constexpr Parameter wear_out{
    "wear_out", Kind::flag, "true",
    "After the deadline, every rank completes as many requests as the fastest rank had completed by then."};
constexpr Parameter settle{"settle", Kind::seconds, "0", "Idle time before each phase.", 0, 86400};
constexpr Parameter mount{
    "mount",
    Kind::choice,
    "\"none\"",
    "Location of the files: in the target (none), or on a mount of the run's list-I/O volume (listio), for interfaces "
    "of the kernel's file system. The mount has no page cache and lasts as long as the run.",
    no_limit,
    no_limit,
    "none|listio"};
constexpr Parameter mount_servers{
    "mount_servers", Kind::count, "0", "Servers over which files on the mount are striped; 0: all.", 0, 1024};
constexpr Parameter dataset{
    "dataset", Kind::text, "\"\"",
    "Data set that holds the files of the case, in the folder strider-data-NAME of the target; its files outlive the "
    "run (strider data). Empty: the files are made for each repetition and removed after it."};
constexpr Parameter seed{"seed", Kind::count, "1", "Seed of all random choices of pattern and order."};

constexpr Parameter arrivals{
    "arrivals",
    Kind::choice,
    "\"closed\"",
    "Arrival of requests: each when the one before it is done (closed loop), or at arrival_rate without waiting for "
    "earlier ones (open loop), at equal intervals (\"fixed\") or at random (\"poisson\"). In open loop, latency counts "
    "from the arrival of a request.",
    no_limit,
    no_limit,
    "closed|fixed|poisson"};
constexpr Parameter arrival_rate{
    "arrival_rate",
    Kind::count,
    "0",
    "Requests per second of all ranks together that arrive in open loop (arrivals = \"fixed\" or \"poisson\").",
    0,
    1e9};

constexpr Parameter data_parameters[] = {
    clients,
    {"operations", Kind::operations, "[\"write\", \"read\"]",
     "Phases of each repetition, in this order. A case that begins by reading or re-writing gets its files prepared "
     "first, unmeasured."},
    repetitions,
    warmup,
    order,
    placement,
    nodes,
    per_node,
    group,
    start,
    {"sharing", Kind::sharing, "\"shared\"",
     "One file for all (\"shared\"), one for each rank (\"per-rank\") or node (\"per-node\"), or a number of files "
     "dealt to consecutive ranks."},
    {"readback", Kind::choice, "\"same\"",
     "Data that a rank reads: its own (same), that of the rank `shift` further on (shift), or that of a random other "
     "rank (shuffle).",
     no_limit, no_limit, "same|shift|shuffle"},
    shift,
    {"sync", Kind::choice, "\"end\"",
     "When data is forced to stable storage: never (none), at the end of a writing phase (end), or after each request "
     "(each).",
     no_limit, no_limit, "none|end|each"},
    {"verify", Kind::choice, "\"off\"",
     "\"full\": every write has self-identifying data, and every byte read is checked and digested. Both happen within "
     "the timed phase; prepare_s is the time that they took.",
     no_limit, no_limit, "off|full"},
    {"values", Kind::count, "0",
     "Requests of each rank, from the first one on, of which read and reread record the first, middle and last value "
     "(4 "
     "bytes each), for comparison between interfaces; 0: none. Written data is then self-identifying also with verify "
     "= \"off\".",
     0, most_recorded_requests},
    deadline,
    wear_out,
    runtime,
    ramp,
    settle,
    {"depth", Kind::count, "1", "Requests that each rank keeps in flight (queue depth), if the interface can.", 1,
     65536},
    {"think", Kind::seconds, "0",
     "Think time: each rank computes for this time after it has issued a request, while requests in flight continue.",
     0, 3600},
    {"read_share", Kind::count, "0",
     "Percentage of the requests of read-write that read, such as 70; the others write. What is read is never written "
     "in the same phase, so that it can be verified.",
     0, 99},
    {"cache", Kind::choice, "\"as-is\"",
     "State of the page cache for the files before a phase that reads: unchanged (\"as-is\"), empty (\"cold\": the "
     "files are synced and dropped) or full (\"warm\": the files are read once before, unmeasured).",
     no_limit, no_limit, "as-is|cold|warm"},
    mount,
    mount_servers,
    dataset,
    seed,
    {"rate_limit", Kind::bytes, "0",
     "Upper limit of bytes per second of all ranks together, such as \"200MiB\"; 0: no limit.", 0, 1e15},
    arrivals,
    arrival_rate,
};

constexpr Parameter tree_parameters[] = {
    clients,
    {"operations", Kind::operations, "[\"create\", \"stat\", \"unlink\"]",
     "Phases of each repetition, in this order. Items that a phase needs and no earlier phase has created are created "
     "first, unmeasured. Items left at the end are removed, also unmeasured."},
    repetitions,
    warmup,
    order,
    placement,
    nodes,
    per_node,
    group,
    start,
    {"sharing", Kind::sharing, "\"shared\"",
     "One tree for all (\"shared\"), one for each rank (\"per-rank\") or node (\"per-node\"), or a number of trees "
     "dealt to consecutive ranks."},
    {"readback", Kind::choice, "\"same\"",
     "Items that a rank works on, except in operations that create new ones: its own (same), those of the rank `shift` "
     "further on (shift), those of a rank that is further on in each kind of operation (growing-shift: `shift` in "
     "queries, twice as far in reads, three times in removals), or those of a random other rank (shuffle).",
     no_limit, no_limit, "same|shift|growing-shift|shuffle"},
    shift,
    {"sync", Kind::choice, "\"none\"",
     "\"each\": data written by create and small-write is forced to stable storage; \"node\": at the end of each phase "
     "on files or directories, each rank calls sync, which flushes the caches of its node, within the measured time.",
     no_limit, no_limit, "none|each|node"},
    {"verify", Kind::choice, "\"off\"", "\"full\": files hold self-identifying data, and small-read checks it.",
     no_limit, no_limit, "off|full"},
    deadline,
    {"deadline_of", Kind::choice, "\"all\"",
     "Phases that the deadline ends: all on files or directories (all), or only those that create them (creation).",
     no_limit, no_limit, "all|creation"},
    wear_out,
    settle,
    mount,
    mount_servers,
    dataset,
    seed,
    {"mix", Kind::weights, "{}",
     "Operations of the mix and their weights, such as { stat = 60, small-read = 25, create = 10, unlink = 5 }."},
    {"mix_operations", Kind::count, "0", "Requests of each rank in a mix; 0: as many as the rank has files.", 0, 1e15},
    {"open_files", Kind::count, "512", "Most files of each rank that the operation open keeps open.", 1, 1e6},
    {"rate_limit", Kind::count, "0", "Upper limit of requests per second of all ranks together; 0: no limit.", 0, 1e12},
    arrivals,
    arrival_rate,
};

}  // namespace

std::span<const Parameter> case_parameters() { return data_parameters; }
std::span<const Parameter> tree_case_parameters() { return tree_parameters; }

}  // namespace strider
