#include "plan/case.hpp"

namespace strider {
namespace {

constexpr OperationEntry operations[] = {
    {Operation::write, "write", "write", "Write a new file."},
    {Operation::rewrite, "rewrite", "write", "Write the same bytes again; the file exists."},
    {Operation::read, "read", "read", "Read a file."},
    {Operation::reread, "reread", "read", "Read at once again what was just read."},
    {Operation::read_modify_write, "read-modify-write", "both", "Each request: read it, change it, write it back."},
};

constexpr Parameter parameters[] = {
    {"clients", Kind::count, "1", "Ranks that take part in the case.", 1, 1e6},
    {"operations", Kind::operations, "[\"write\", \"read\"]",
     "Phases of each repetition, in this order. A case that begins by reading or re-writing gets its files prepared "
     "first, unmeasured."},
    {"repetitions", Kind::repetitions, "3",
     "How often the case is measured: a number, or { min, max, until = \"5%\" }: until the 95 % interval of the mean "
     "rate is at most that much to each side."},
    {"warmup", Kind::count, "0", "Repetitions run before the measured ones and marked as such.", 0, 1000},
    {"order", Kind::choice, "\"forward\"", "Sequence in which a rank visits its requests.", no_limit, no_limit,
     "forward|backward|random"},
    {"sharing", Kind::sharing, "\"shared\"",
     "One file for all (\"shared\"), one for each rank (\"per-rank\") or node (\"per-node\"), or a number of files "
     "dealt to consecutive ranks."},
    {"readback", Kind::choice, "\"same\"",
     "Whose data a rank reads: its own, that of the rank `shift` further, or a random other's.", no_limit, no_limit,
     "same|shift|shuffle"},
    {"shift", Kind::count, "1",
     "Ranks by which readback = \"shift\" moves; the ranks of a node or more to pass by its cache.", 0, 1e6},
    {"sync", Kind::choice, "\"end\"",
     "When data is forced to stable storage: never, at the end of a writing phase, after each request.", no_limit,
     no_limit, "none|end|each"},
    {"verify", Kind::choice, "\"off\"",
     "\"full\": data that identifies itself is generated for every write and every byte read is checked and digested, "
     "within the timed phase (prepare_s says how long that took).",
     no_limit, no_limit, "off|full"},
    {"deadline", Kind::seconds, "0", "Stop issuing requests after this time (stonewall); 0: never.", 0, 1e7},
    {"wear_out", Kind::flag, "true", "After the deadline every rank completes as many requests as the fastest had."},
    {"settle", Kind::seconds, "0", "Idle time before each phase.", 0, 86400},
    {"seed", Kind::count, "1", "Fixes every random choice of pattern and order."},
};

}  // namespace

std::span<const OperationEntry> all_operations() { return operations; }

std::string_view name_of(Operation operation) {
  for (const OperationEntry& entry : operations)
    if (entry.operation == operation) return entry.name;
  return "prefill";
}

std::span<const Parameter> case_parameters() { return parameters; }

}  // namespace strider
