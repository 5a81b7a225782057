#include "listio/client/volume_check.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>
#include <unordered_set>

#include "foundation/error.hpp"
#include "listio/client/ask.hpp"
#include "listio/client/copy_matching.hpp"

namespace strider::listio {
namespace {

constexpr int tries = 3;
constexpr const char* check_call = "check";

/// Files of which something is to be made good, in one line.
struct Many {
  std::uint64_t count = 0;
  std::string first;
  void add(const std::string& path) {
    if (count++ == 0) first = path;
  }
};

/// A single pass over the volume.
///
/// The order makes it safe while others change names. Data files are listed first: a file whose data are listed has had
/// a copy of its entry, which is there until its name is removed; so data without a copy afterwards is orphaned. A file
/// that is renamed gets a new copy with its new path; only the renaming of directories can hide a name from the walk,
/// and the manager counts those.
class Pass {
 public:
  /// `out`: servers whose data are old.
  Pass(Driver& driver, const std::vector<std::uint32_t>& out)
      : driver_(driver), data_(driver.servers()), second_(driver.servers()) {
    report_.out = out;
  }

  CheckReport run() {
    const auto before = ask<NamesState>(driver_, check_call, "", NamesStateRequest{});
    const bool has_two = driver_.volume().copies > 1;
    for (std::uint32_t server = 0; server < data_.size(); ++server) {
      if (!is_out(server)) list_data(server);
      if (has_two && !is_out(second_of(server).server)) list_second(server);
    }
    list_copies();
    walk();
    for (const FileId file : copies_)
      if (!named_.contains(file)) check_copy(file);
    match();
    find_orphans();
    describe();
    const auto after = ask<NamesState>(driver_, check_call, "", NamesStateRequest{});
    report_.generation = after.generation;
    report_.is_settled = before.generation == after.generation;
    report_.set_aside = after.set_aside;
    return std::move(report_);
  }

 private:
  template <typename Request, typename Use>
  void for_each_page(const Place& place, const Use& use) {
    std::uint64_t cookie = 0;
    do {
      const auto page = ask<DataPage>(driver_, check_call, "", Request{cookie}, place);
      for (const auto& each : page.files) use(each);
      cookie = page.cookie;
    } while (cookie != 0);
  }

  bool is_out(std::uint32_t server) const { return std::ranges::binary_search(report_.out, server); }
  /// Copies of the data of this server, which the next one has.
  Place second_of(std::uint32_t server) const { return {next_server(server, driver_.servers()), {DataCopy::second}}; }
  void list_second(std::uint32_t server) {
    for_each_page<ListDataRequest>(second_of(server), [&](const DataPage::DataFile& each) {
      second_[server].emplace(each.file, each);
      ++report_.data_files;
      report_.bytes += each.bytes;
    });
  }

  void list_data(std::uint32_t server) {
    for_each_page<ListDataRequest>({server, {}}, [&](const DataPage::DataFile& each) {
      data_[server].emplace(each.file, each);
      ++report_.data_files;
      report_.bytes += each.bytes;
    });
  }

  void list_copies() {
    for_each_page<ListCopiesRequest>({0, {}}, [&](const DataPage::DataFile& each) { copies_.push_back(each.file); });
  }

  void walk() {
    std::vector<std::string> directories{""};
    while (!directories.empty()) {
      const std::string directory = std::move(directories.back());
      directories.pop_back();
      std::uint64_t cookie = 0;
      do {
        DirectoryPage page;
        if (!is_there(
                [&] { page = ask<DirectoryPage>(driver_, check_call, directory, ListRequest{directory, cookie}); }))
          break;
        for (const auto& [name, kind, inode] : page.names) {
          const std::string path = directory.empty() ? name : directory + "/" + name;
          if (kind == EntryKind::link) continue;  // it has no data
          if (kind == EntryKind::directory) ++report_.directories;
          if (kind == EntryKind::directory) directories.push_back(path);
          else check_entry(path);
        }
        cookie = page.cookie;
      } while (cookie != 0);
    }
  }

  /// Whether a name was not removed or renamed meanwhile.
  template <typename Action>
  static bool is_there(const Action& action) {
    try {
      action();
      return true;
    } catch (const IoError& error) {
      if (error.details().error_number != ENOENT && error.details().error_number != ENOTDIR) throw;
      return false;
    }
  }

  void check_entry(const std::string& path) {
    EntryCheck check;
    if (!is_there([&] { check = ask<EntryCheck>(driver_, check_call, path, CheckEntryRequest{path}); })) return;
    if (check.entry.kind != EntryKind::file) return;
    ++report_.files;
    if (check.state == EntryState::damaged) {
      damaged_.push_back({path, check.text});
      damage_.push_back(check.damage);
      return;
    }
    named_.insert(check.entry.file);
    if (check.state == EntryState::unchecked) unchecked_.add(path);
    else if (check.copy == CopyState::missing) without_copy_.add(path);
    else if (check.copy != CopyState::whole)
      report_.problems.push_back(path + ": the copy of its name entry is damaged");
    if (check.state == EntryState::unchecked || check.copy != CopyState::whole)
      report_.repairs.push_back({NameRepair::rewrite_copy, 0, path});
    add_file(path, check.entry);
  }

  /// The rest of the data files belongs to no name.
  void add_file(const std::string& path, const Entry& entry) {
    if (entry.layout.servers > data_.size()) {
      report_.problems.push_back(path + ": is striped over " + std::to_string(entry.layout.servers) +
                                 " servers, more than the volume has");
      return;
    }
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t server = 0; server < entry.layout.servers; ++server) {
      const auto& known = is_out(server) ? second_[server] : data_[server];
      const auto size = known.find(entry.file);
      sizes.push_back(size == known.end() ? 0 : size->second.bytes);
    }
    for (std::uint32_t server = 0; server < entry.layout.servers; ++server) {
      const auto found = data_[server].find(entry.file);
      if (found == data_[server].end()) continue;
      const std::string problem = problem_of(found->second);
      if (!problem.empty()) report_.problems.push_back(path + ": server " + std::to_string(server) + ": " + problem);
      data_[server].erase(found);
    }
    for (std::uint32_t server = 0; server < entry.layout.servers; ++server) {
      const auto found = second_[server].find(entry.file);
      if (found == second_[server].end()) continue;
      const std::string problem = problem_of(found->second);
      if (!problem.empty())
        report_.problems.push_back(path + ": server " + std::to_string(second_of(server).server) +
                                   ": of the second copy, " + problem);
      second_[server].erase(found);
    }
    try {
      Striping(entry.layout.servers, entry.layout.strip_bytes, entry.layout.first).file_bytes(sizes);
    } catch (const InputError& error) {
      report_.problems.push_back(path + ": " + error.what());
    }
  }

  /// Of a file that the walk has not found.
  void check_copy(FileId file) {
    const auto check = ask<CopyCheck>(driver_, check_call, "", CheckCopyRequest{file});
    if (check.state == CopyState::damaged) {
      report_.problems.push_back(
          "file " + digits_of(file) +
          ": no name has it, and the copy of its entry is damaged; --repair puts the copy aside");
      report_.repairs.push_back({NameRepair::set_aside_copy, file, ""});
    } else if (check.state == CopyState::whole && !check.is_named) {
      unnamed_.push_back({file, check.path});
    }
  }

  void match() {
    const auto matches = match_copies(damaged_, unnamed_);
    std::set<std::size_t> matched;
    for (std::size_t i = 0; i < damaged_.size(); ++i) {
      const std::string& path = damaged_[i].path;
      const std::string problem = path + ": its name entry is damaged: " + damage_[i];
      if (matches[i]) {
        matched.insert(*matches[i]);
        report_.problems.push_back(problem + "; --repair rewrites it from its copy");
        report_.repairs.push_back({NameRepair::rewrite_entry, unnamed_[*matches[i]].file, path});
      } else {
        report_.problems.push_back(problem + "; it has no copy, --repair puts it aside");
        report_.repairs.push_back({NameRepair::set_aside_entry, 0, path});
      }
    }
    for (std::size_t i = 0; i < unnamed_.size(); ++i) {
      if (matched.contains(i)) continue;
      report_.problems.push_back(unnamed_[i].path + ": its name is lost (file " + digits_of(unnamed_[i].file) +
                                 "); --repair restores it below lost+found");
      report_.repairs.push_back({NameRepair::restore, unnamed_[i].file, unnamed_[i].path});
    }
  }

  void find_orphans() {
    std::map<FileId, std::vector<Place>> left;
    for (std::uint32_t server = 0; server < data_.size(); ++server) {
      for (const auto& [file, found] : data_[server]) left[file].push_back({server, {}});
      for (const auto& [file, found] : second_[server]) left[file].push_back(second_of(server));
    }
    for (const auto& [file, places] : left) {
      if (ask<CopyCheck>(driver_, check_call, "", CheckCopyRequest{file}).state != CopyState::missing) continue;
      for (const Place& place : places)
        if (is_left(place, file)) report_.orphans.push_back({place.server, file, place.target.copy});
    }
  }

  /// Whether the client that removed the name has not removed the data since.
  bool is_left(const Place& place, FileId file) {
    try {
      const auto stat = ask<DataStat>(driver_, check_call, "", DataStatRequest{file}, place);
      return stat.bytes > 0 || stat.modified_ns != 0;
    } catch (const IoError& error) {
      if (error.details().error_number != EIO) throw;
      return true;  // damaged data
    }
  }

  void describe() {
    if (unchecked_.count > 0)
      report_.problems.push_back(std::to_string(unchecked_.count) + " name entries have no checksum, such as " +
                                 unchecked_.first + ": an older release wrote them; --repair adds it");
    if (without_copy_.count > 0)
      report_.problems.push_back(std::to_string(without_copy_.count) + " name entries have no copy, such as " +
                                 without_copy_.first + "; --repair writes it");
  }

  Driver& driver_;
  std::vector<std::map<FileId, DataPage::DataFile>> data_;    ///< data files that no name claims, by server
  std::vector<std::map<FileId, DataPage::DataFile>> second_;  ///< their copies, by the server of the first one
  std::vector<FileId> copies_;
  std::unordered_set<FileId> named_;
  std::vector<DamagedEntry> damaged_;
  std::vector<std::string> damage_;  ///< of each of them
  std::vector<UnnamedCopy> unnamed_;
  Many unchecked_, without_copy_;
  CheckReport report_;
};

std::string done(const CheckReport::Repair& repair, const std::string& now) {
  switch (repair.repair) {
    case NameRepair::rewrite_entry: return repair.path + ": name entry rewritten from its copy";
    case NameRepair::rewrite_copy: return repair.path + ": copy of the name entry written";
    case NameRepair::set_aside_entry: return repair.path + ": name entry moved to server-0/" + now;
    case NameRepair::set_aside_copy:
      return "file " + digits_of(repair.file) + ": copy of its name entry moved to server-0/" + now;
    case NameRepair::restore: return repair.path + ": restored as " + now;
  }
  return "";
}

}  // namespace

std::string problem_of(const DataPage::DataFile& file) {
  const std::string bytes = std::to_string(file.bytes), recorded = std::to_string(file.recorded_bytes);
  switch (file.health) {
    case Health::sound: break;
    case Health::missing: return "its data file is missing; it had " + recorded + " bytes";
    case Health::too_short:
    case Health::too_long: return "its data file has " + bytes + " bytes instead of " + recorded;
    case Health::no_checksums: return "its data file has no checksums";
    case Health::damaged_checksums: return "the checksums of its data file are damaged, or of another file";
  }
  return "";
}

CheckReport check_volume(Driver& driver, Copies& copies) {
  CheckReport report;
  for (int i = 0; i < tries && !report.is_settled; ++i)
    report = copies.repeat(check_call, "", [&](const Deadline&) { return Pass(driver, copies.view().out).run(); });
  if (report.is_settled) return report;
  // What seems to be lost may have been renamed.
  report.repairs.clear();
  report.problems = {"directories were renamed during each of " + std::to_string(tries) +
                     " checks: repeat the check when that has ended"};
  return report;
}

std::vector<std::string> repair_names(Driver& driver, const CheckReport& report) {
  std::vector<std::string> lines;
  for (const CheckReport::Repair& each : report.repairs) {
    const RepairNameRequest request{each.repair, report.generation, each.file, each.path};
    try {
      lines.push_back(done(each, ask<LinkText>(driver, "repair", each.path, request).text));
    } catch (const IoError& error) {
      const int number = error.details().error_number;
      // Nothing is left to repair: a client has removed the file, or replaced it.
      if (number == ENOENT || number == EEXIST) continue;
      if (number == ECONNRESET || number == ETIMEDOUT || number == ECONNREFUSED) throw;
      const std::string why = number == EAGAIN ? "a directory was renamed meanwhile; repeat the repair" : error.what();
      lines.push_back((each.path.empty() ? "file " + digits_of(each.file) : each.path) + ": not repaired: " + why);
    }
  }
  return lines;
}

}  // namespace strider::listio
