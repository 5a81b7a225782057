#include "power/model.hpp"

#include <algorithm>

namespace strider::listio {
namespace {

constexpr const char* restored = "lost+found/";

std::string last_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Whether each byte is one that the file had at that place, or 0 where it is new since the last sync.
std::optional<std::uint64_t> first_wrong_byte(const FileModel& file, const Bytes& found) {
  for (std::uint64_t at = 0; at < found.size(); ++at) {
    const auto has = [&](const Bytes& content) { return at < content.size() && content[at] == found[at]; };
    if (has(file.stable) || std::ranges::any_of(file.since, has)) continue;
    const auto is_short = [&](const Bytes& content) { return at >= content.size(); };
    const bool was_a_hole = is_short(file.stable) || std::ranges::any_of(file.since, is_short);
    if (!was_a_hole || found[at] != std::byte{0}) return at;
  }
  return {};
}

std::string mistake_of(const FileModel& file, const Bytes& found) {
  std::uint64_t shortest = file.stable.size(), longest = shortest;
  for (const Bytes& content : file.since) {
    shortest = std::min<std::uint64_t>(shortest, content.size());
    longest = std::max<std::uint64_t>(longest, content.size());
  }
  // Of a truncation the half may be there: each byte that is missing then was in a hole at some time.
  bool is_half = file.was_truncated;
  for (std::uint64_t at = found.size(); at < shortest && is_half; ++at) {
    const auto is_a_hole = [&](const Bytes& content) { return content[at] == std::byte{0}; };
    is_half = is_a_hole(file.stable) || std::ranges::any_of(file.since, is_a_hole);
  }
  if ((found.size() < shortest && !is_half) || found.size() > longest) {
    std::string lengths = std::to_string(file.stable.size());
    for (const Bytes& content : file.since) lengths += ", " + std::to_string(content.size());
    return "has " + std::to_string(found.size()) + " bytes; it had " + lengths;
  }
  const auto wrong = first_wrong_byte(file, found);
  return wrong ? "has a byte that it never had, at " + std::to_string(*wrong) : "";
}

}  // namespace

void Model::create(FileId file, const std::string& path) {
  FileModel& made = files_[file];
  made.path = path;
  made.paths = {path};
  made.may_be_gone = true;
  changed(made);
}

void Model::write(FileId file, std::uint64_t offset, const Bytes& bytes) {
  FileModel& written = files_.at(file);
  if (written.now.size() < offset + bytes.size()) written.now.resize(offset + bytes.size());
  std::ranges::copy(bytes, written.now.begin() + static_cast<std::ptrdiff_t>(offset));
  changed(written);
}

void Model::truncate(FileId file, std::uint64_t bytes) {
  FileModel& cut = files_.at(file);
  cut.now.resize(bytes);
  cut.was_truncated = true;
  changed(cut);
}

void Model::rename(const std::string& from, const std::string& to) {
  unlink(to);
  for (auto& [number, file] : files_) {
    if (file.path != from && !file.path.starts_with(from + "/")) continue;
    file.path = to + file.path.substr(from.size());
    file.paths.insert(file.path);
  }
}

void Model::unlink(const std::string& path) {
  for (auto& [number, file] : files_) {
    if (file.path != path) continue;
    file.path.clear();
    file.may_be_gone = true;
  }
}

void Model::sync(FileId file) {
  FileModel& synced = files_.at(file);
  synced.was_truncated = false;
  synced.is_in_doubt = false;
  synced.stable = synced.now;
  synced.since.clear();
  sync_names();
}

void Model::sync_names() {
  for (auto& [number, file] : files_) {
    file.may_be_gone = file.path.empty();
    file.paths.clear();
    if (!file.path.empty()) file.paths.insert(file.path);
  }
}

void Model::doubt() {
  for (auto& [number, file] : files_) file.is_in_doubt |= !file.since.empty();
}

std::map<std::string, FileId> Model::named() const {
  std::map<std::string, FileId> named;
  for (const auto& [number, file] : files_)
    if (!file.path.empty()) named[file.path] = number;
  return named;
}

std::vector<std::string> Model::mistakes(const std::map<std::string, std::pair<FileId, Bytes>>& found,
                                         const std::set<std::string>& damaged) const {
  std::vector<std::string> mistakes;
  std::set<FileId> seen;
  for (const auto& [path, content] : found) {
    const auto known = files_.find(content.first);
    if (known == files_.end()) {
      mistakes.push_back(path + " is a file that the load did not create");
      continue;
    }
    const FileModel& file = known->second;
    seen.insert(content.first);
    const bool is_in_flux = file.paths.size() > 1 || file.may_be_gone;
    // A repair takes the empty entry of another new file for that of a file without a name, if they end alike.
    const auto ends_alike = [&](const std::string& own) { return last_name_of(own) == last_name_of(path); };
    const bool was_matched = file.may_be_gone && std::ranges::any_of(file.paths, ends_alike);
    if (!file.paths.contains(path) && !was_matched && !(is_in_flux && path.starts_with(restored)))
      mistakes.push_back(
          path + " is a name that was promised to be gone: " + (file.paths.empty() ? "removed" : *file.paths.begin()));
    const std::string mistake = mistake_of(file, content.second);
    if (!mistake.empty()) mistakes.push_back(path + " " + mistake);
  }
  for (const auto& [number, file] : files_)
    if (!seen.contains(number) && !file.may_be_gone)
      mistakes.push_back(*file.paths.begin() + " is lost" + (damaged.contains(*file.paths.begin()) ? ": damaged" : ""));
  for (const std::string& path : damaged) mistakes.push_back(path + " cannot be read after the repair");
  return mistakes;
}

std::vector<std::string> Model::mistakes_now(const std::map<std::string, std::pair<FileId, Bytes>>& found) const {
  std::vector<std::string> mistakes;
  std::map<std::string, FileId> left = named();
  for (const auto& [path, content] : found) {
    const auto& [number, bytes] = content;
    const auto known = left.find(path);
    if (known == left.end() || known->second != number) {
      mistakes.push_back(path + " is not the file that has this name");
      continue;
    }
    left.erase(known);
    const FileModel& file = files_.at(number);
    const auto [wrong, right] = std::ranges::mismatch(bytes, file.now);
    if (file.is_in_doubt) {
      const std::string mistake = mistake_of(file, bytes);
      if (!mistake.empty()) mistakes.push_back(path + " " + mistake);
    } else if (wrong != bytes.end() || right != file.now.end()) {
      mistakes.push_back(path + " differs from what was written, at " + std::to_string(wrong - bytes.begin()) +
                         "; it has " + std::to_string(bytes.size()) + " bytes of " + std::to_string(file.now.size()));
    }
  }
  for (const auto& [path, number] : left) mistakes.push_back(path + " is gone");
  return mistakes;
}

}  // namespace strider::listio
