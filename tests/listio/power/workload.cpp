#include "power/workload.hpp"

#include <array>
#include <utility>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t longest_file = 40000;
constexpr std::size_t most_files = 8;

}  // namespace

Workload::Workload(Client& client, const Forgetful& forgetful, std::uint64_t seed)
    : client_(client), forgetful_(forgetful), random_(seed) {
  for (const char* const directory : {"a", "b", "a/c"}) client_.make_directory(directory);
  client_.sync_names();
  moments_.push_back({forgetful_.boundaries(), {}});
}

std::string Workload::any_path() {
  static constexpr std::array<const char*, 4> directories{"", "a/", "b/", "a/c/"};
  return directories[below(4)] + ("f" + std::to_string(below(10)));
}

void Workload::step() {
  const auto named = model().named();
  const std::uint64_t choice = below(100);
  if (named.size() < 2 || (choice < 15 && named.size() < most_files)) return create(any_path());
  const auto& [path, file] = *std::next(named.begin(), static_cast<std::ptrdiff_t>(below(named.size())));
  if (choice < 50) write(path, file);
  else if (choice < 58) truncate(path, file);
  else if (choice < 68) rename(path, any_path());
  else if (choice < 71) rename_directory();
  else if (choice < 78) unlink(path);
  else if (choice < 82) sync_names();
  else sync(path, file);
}

void Workload::create(const std::string& path) {
  if (model().named().contains(path)) return;
  try {
    model().create(client_.open(path, Creation::exclusive).id, path);
  } catch (const IoError&) {  // its directory has another name
  }
}

void Workload::write(const std::string& path, FileId file) {
  const std::uint64_t offset = below(longest_file), length = 1 + below(8000);
  Bytes bytes(length);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(1 + below(255));
  model().write(file, offset, bytes);
  client_.write(client_.open(path, Creation::never), bytes, offset);
}

void Workload::truncate(const std::string& path, FileId file) {
  const std::uint64_t bytes = below(longest_file);
  model().truncate(file, bytes);
  client_.truncate(client_.open(path, Creation::never), bytes);
}

void Workload::rename(const std::string& from, const std::string& to) {
  if (from == to) return;
  try {
    client_.rename(from, to);
  } catch (const IoError&) {  // a directory is missing
    return;
  }
  model().rename(from, to);
}

void Workload::rename_directory() {
  const bool is_there = client_.stat("a").kind == EntryKind::directory;
  if (!is_there) return;
  // There and back: other steps find it. Both lead to syncs of the directory above only.
  client_.rename("a", "z");
  model().rename("a", "z");
  client_.rename("z", "a");
  model().rename("z", "a");
}

void Workload::unlink(const std::string& path) {
  model().unlink(path);
  client_.unlink(path);
}

/// As the error says: a server was started again, and may have lost unsynced data.
void Workload::write_anew(const std::string& path, FileId file) {
  const std::uint64_t size = model().content(file).size();
  const File open = client_.open(path, Creation::never);
  model().truncate(file, size);
  client_.truncate(open, size);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(1 + below(255));
  if (size == 0) return;
  model().write(file, 0, bytes);
  client_.write(open, bytes, 0);
}

void Workload::sync(const std::string& path, FileId file) {
  try {
    client_.sync(client_.open(path, Creation::never));
  } catch (const LostChanges&) {
    write_anew(path, file);
    client_.sync(client_.open(path, Creation::never));
  }
  Model next = model();
  next.sync(file);
  moments_.push_back({forgetful_.boundaries(), std::move(next)});
}

void Workload::sync_names() {
  try {
    client_.sync_names();
  } catch (const LostChanges&) {
    client_.sync_names();
  }
  Model next = model();
  next.sync_names();
  moments_.push_back({forgetful_.boundaries(), std::move(next)});
}

}  // namespace strider::listio
