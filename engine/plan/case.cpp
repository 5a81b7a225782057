#include "plan/case.hpp"

namespace strider {
namespace {

constexpr Parameter clients{"clients", Kind::count, "1", "Ranks that take part in the case.", 1, most_ranks};
constexpr Parameter repetitions{
    "repetitions", Kind::repetitions, "3",
    "How often the case is measured: a number, or { min, max, until = \"5%\" }: until the 95 % interval of the mean "
    "rate is at most that much to each side."};
constexpr Parameter warmup{"warmup", Kind::count, "0", "Repetitions run before the measured ones and marked as such.",
                           0,        1000};
constexpr Parameter order{"order",
                          Kind::choice,
                          "\"forward\"",
                          "Sequence in which a rank visits its requests.",
                          no_limit,
                          no_limit,
                          "forward|backward|random"};
constexpr Parameter shift{
    "shift",
    Kind::count,
    "1",
    "Ranks by which readback = \"shift\" moves; use at least the number of ranks on a node to avoid that node's cache.",
    0,
    1e6};
constexpr Parameter deadline{
    "deadline", Kind::seconds, "0", "Stop issuing requests after this time (stonewall); 0: never.", 0, 1e7};
constexpr Parameter wear_out{"wear_out", Kind::flag, "true",
                             "After the deadline every rank completes as many requests as the fastest had."};
constexpr Parameter settle{"settle", Kind::seconds, "0", "Idle time before each phase.", 0, 86400};
constexpr Parameter seed{"seed", Kind::count, "1", "Fixes every random choice of pattern and order."};

constexpr Parameter arrivals{
    "arrivals",
    Kind::choice,
    "\"closed\"",
    "When requests come: each after the one before it (closed loop), or in open loop at arrival_rate, whether those "
    "before are done or not: at equal intervals (\"fixed\") or at random (\"poisson\"). Latency is then from when a "
    "request came.",
    no_limit,
    no_limit,
    "closed|fixed|poisson"};
constexpr Parameter arrival_rate{
    "arrival_rate",
    Kind::count,
    "0",
    "Requests per second of all ranks together that come in open loop, with arrivals = \"fixed\" or \"poisson\".",
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
    {"sharing", Kind::sharing, "\"shared\"",
     "One file for all (\"shared\"), one for each rank (\"per-rank\") or node (\"per-node\"), or a number of files "
     "dealt to consecutive ranks."},
    {"readback", Kind::choice, "\"same\"",
     "Whose data a rank reads: its own, that of the rank `shift` further, or a random other's.", no_limit, no_limit,
     "same|shift|shuffle"},
    shift,
    {"sync", Kind::choice, "\"end\"",
     "When data is forced to stable storage: never, at the end of a writing phase, after each request.", no_limit,
     no_limit, "none|end|each"},
    {"verify", Kind::choice, "\"off\"",
     "\"full\": data that identifies itself is generated for every write and every byte read is checked and digested, "
     "within the timed phase (prepare_s says how long that took).",
     no_limit, no_limit, "off|full"},
    deadline,
    wear_out,
    settle,
    {"depth", Kind::count, "1", "Requests that each rank keeps in flight, with interfaces that can (queue depth).", 1,
     65536},
    {"think", Kind::seconds, "0",
     "Time that each rank computes after it has issued a request (think time), while those in flight go on.", 0, 3600},
    {"cache", Kind::choice, "\"as-is\"",
     "What the nodes' memory holds of the files before a phase that reads: whatever is there, nothing (\"cold\": they "
     "are synced and dropped) or all of it (\"warm\": read once before, unmeasured).",
     no_limit, no_limit, "as-is|cold|warm"},
    seed,
    {"rate_limit", Kind::bytes, "0",
     "Upper limit of bytes per second of all ranks together, such as \"200MiB\"; 0: no limit.", 0, 1e15},
    arrivals,
    arrival_rate,
};

constexpr Parameter tree_parameters[] = {
    clients,
    {"operations", Kind::operations, "[\"create\", \"stat\", \"unlink\"]",
     "Phases of each repetition, in this order. What one needs and no earlier one has made is made first, unmeasured; "
     "what is left at the end is removed, unmeasured too."},
    repetitions,
    warmup,
    order,
    {"sharing", Kind::sharing, "\"shared\"",
     "One tree for all (\"shared\"), one for each rank (\"per-rank\") or node (\"per-node\"), or a number of trees "
     "dealt to consecutive ranks."},
    {"readback", Kind::choice, "\"same\"",
     "Whose items a rank visits unless it makes new ones: its own, those of the rank `shift` further, or of a random "
     "other.",
     no_limit, no_limit, "same|shift|shuffle"},
    shift,
    {"sync", Kind::choice, "\"none\"", "\"each\": what create and small-write write is forced to stable storage.",
     no_limit, no_limit, "none|each"},
    {"verify", Kind::choice, "\"off\"", "\"full\": files hold data that identifies itself, and small-read checks it.",
     no_limit, no_limit, "off|full"},
    deadline,
    wear_out,
    settle,
    seed,
    {"mix", Kind::weights, "{}",
     "What the operation mix draws from: operations and their weights, such as { stat = 60, small-read = 25, create = "
     "10, unlink = 5 }."},
    {"mix_operations", Kind::count, "0", "Requests of each rank in a mix; 0: as many as it has files.", 0, 1e15},
    {"open_files", Kind::count, "512", "Files of each rank that open keeps open, at most.", 1, 1e6},
    {"rate_limit", Kind::count, "0", "Upper limit of requests per second of all ranks together; 0: no limit.", 0, 1e12},
    arrivals,
    arrival_rate,
};

}  // namespace

std::span<const Parameter> case_parameters() { return data_parameters; }
std::span<const Parameter> tree_case_parameters() { return tree_parameters; }

}  // namespace strider
