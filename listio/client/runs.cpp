#include "listio/client/runs.hpp"

#include <algorithm>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr std::string_view prefix = "strider-", infix = ".case", marker = ".strider";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char each) { return each >= '0' && each <= '9'; });
}

/// The run that an entry of the root belongs to; on a mount, a run has a folder with its marker. Empty: none.
std::string run_of(Client& client, const std::string& name, EntryKind kind) {
  if (kind == EntryKind::directory && name.starts_with(prefix))
    for (const auto& [inner, inner_kind, inode] : client.read_directory(name))
      if (inner == marker && inner_kind == EntryKind::file) return name;
  return std::string(strider::listio::run_of(name));
}

/// How many names that were.
std::uint64_t remove_with_all_below(Client& client, const std::string& path, EntryKind kind) {
  if (kind == EntryKind::file) {
    client.unlink(path);
    return 1;
  }
  std::uint64_t removed = 1;
  for (const auto& [name, below, inode] : client.read_directory(path))
    removed += remove_with_all_below(client, path + "/" + name, below);
  client.remove_directory(path);
  return removed;
}

}  // namespace

std::string_view run_of(std::string_view name) {
  const std::size_t end = name.rfind(infix);
  if (!name.starts_with(prefix) || end == std::string_view::npos || end <= prefix.size()) return {};
  const std::string_view numbers = name.substr(end + infix.size());
  const std::size_t dot = std::min(numbers.find('.'), numbers.size());
  // Below a tree of a case whose files have no directories, names continue after a comma.
  const std::string_view second = numbers.substr(std::min(dot + 1, numbers.size()));
  const bool is_ours = is_number(numbers.substr(0, dot)) && is_number(second.substr(0, second.find(',')));
  return is_ours ? name.substr(0, end) : std::string_view();
}

std::map<std::string, std::uint64_t> find_runs(Client& client) {
  std::map<std::string, std::uint64_t> runs;
  for (const auto& [name, kind, inode] : client.read_directory(""))
    if (const std::string run = run_of(client, name, kind); !run.empty()) ++runs[run];
  return runs;
}

std::uint64_t remove_run(Client& client, const std::string& run) {
  std::uint64_t removed = 0;
  for (const auto& [name, kind, inode] : client.read_directory(""))
    if (!run.empty() && run_of(client, name, kind) == run) removed += remove_with_all_below(client, name, kind);
  if (removed == 0)
    throw InputError("run", "the volume has no files of run '" + run + "'",
                     "name a run that strider listio check lists");
  return removed;
}

}  // namespace strider::listio
