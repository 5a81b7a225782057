#include "listio/client/scrub.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>

#include "foundation/error.hpp"
#include "listio/client/volume_check.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t slices_per_s = 10;  // of a server with a limited rate

using Clock = std::chrono::steady_clock;

/// How far one server has come.
struct Walk {
  std::uint32_t server = 0;
  DataCopy copy = DataCopy::first;
  std::vector<DataPage::DataFile> files;
  std::size_t file = 0;
  std::uint64_t block = 0, bytes = 0;
  bool is_over() const { return file == files.size(); }
};

class Scrub {
 public:
  Scrub(Client& client, const ScrubOptions& options) : client_(client), options_(options) {
    const std::uint64_t slice = options.bytes_per_s / slices_per_s / block_bytes;
    blocks_ = options.bytes_per_s == 0
                  ? VerifyRequest::most_blocks
                  : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(slice, 1, VerifyRequest::most_blocks));
    for (std::uint32_t server = 0; server < client.volume().servers.size(); ++server) {
      walks_.push_back(list(server, DataCopy::first));
      if (client.volume().copies > 1) walks_.push_back(list(server, DataCopy::second));
    }
  }

  ScrubReport run(std::vector<FilledServer> filled, const std::function<void(const ScrubProgress&)>& progress) {
    report_.filled = std::move(filled);
    const Clock::time_point begin = Clock::now();
    for (std::vector<VerifiedSlice> slices = next(); !slices.empty(); slices = next()) {
      client_.verify(slices);
      for (const VerifiedSlice& slice : slices) take(slice);
      progress(report_.verified);
      pace(begin);
    }
    if (client_.volume().copies > 1) repair();
    if (!findings_.empty()) find_names("");
    for (auto& [place, finding] : findings_) report_.findings.push_back(std::move(finding));
    return std::move(report_);
  }

 private:
  using Place = std::tuple<std::uint32_t, DataCopy, FileId>;

  Walk list(std::uint32_t server, DataCopy copy) {
    Walk walk{server, copy, {}};
    std::uint64_t cookie = 0;
    do {
      const DataPage page = client_.list_data(server, cookie, copy);
      for (const DataPage::DataFile& file : page.files) {
        if (file.health == Health::sound) walk.files.push_back(file);
        else finding({server, copy, file.file}).damage = problem_of(file);
        if (file.health == Health::sound) report_.verified.all_bytes += file.bytes;
      }
      report_.verified.all_files += page.files.size();
      report_.verified.files += page.files.size();
      cookie = page.cookie;
    } while (cookie != 0);
    report_.verified.files -= walk.files.size();
    return walk;
  }

  std::vector<VerifiedSlice> next() const {
    std::vector<VerifiedSlice> slices;
    for (const Walk& walk : walks_)
      if (!walk.is_over())
        slices.push_back({walk.server, walk.copy, {walk.files[walk.file].file, walk.block, blocks_}, {}, {}});
    return slices;
  }

  void take(const VerifiedSlice& slice) {
    Walk& walk = *std::ranges::find_if(
        walks_, [&](const Walk& each) { return each.server == slice.server && each.copy == slice.copy; });
    const auto& [file, first, blocks] = slice.request;
    walk.bytes += slice.found.bytes;
    report_.verified.bytes += slice.found.bytes;
    if (!slice.damage.empty()) finding({slice.server, slice.copy, file}).damage = slice.damage;
    if (!slice.found.damaged.empty()) {
      std::vector<ByteRun>& all = finding({slice.server, slice.copy, file}).damaged;
      all.insert(all.end(), slice.found.damaged.begin(), slice.found.damaged.end());
    }
    walk.block = first + blocks;
    if (slice.damage.empty() && walk.block < slice.found.end_block) return;
    ++walk.file;
    walk.block = 0;
    ++report_.verified.files;
    // Files grow, and go.
    report_.verified.all_bytes = std::max(report_.verified.all_bytes, report_.verified.bytes);
  }

  /// Waits until the fastest server has kept to its rate.
  void pace(Clock::time_point begin) const {
    if (options_.bytes_per_s == 0) return;
    const std::uint64_t most = std::ranges::max(walks_, {}, &Walk::bytes).bytes;
    const double seconds = static_cast<double>(most) / static_cast<double>(options_.bytes_per_s);
    std::this_thread::sleep_until(begin +
                                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }

  /// From the other copies, before ranges are those of files.
  void repair() {
    std::vector<DamagedCopy> damaged;
    for (const auto& [place, found] : findings_) {
      const bool is_whole = !found.damage.empty();
      damaged.push_back({found.server, found.copy, found.file, is_whole ? std::vector<ByteRun>{} : found.damaged});
    }
    if (damaged.empty()) return;
    for (FilledServer& filled : client_.fill(damaged)) {
      for (auto& [place, found] : findings_)
        if (found.server == filled.server && filled.reason.empty())
          found.is_repaired = std::ranges::find(filled.unreadable, found.file) == filled.unreadable.end();
      report_.filled.push_back(std::move(filled));
    }
  }

  ScrubFinding& finding(const Place& place) {
    ScrubFinding& found = findings_[place];
    std::tie(found.server, found.copy, found.file) = place;
    return found;
  }

  void find_names(const std::string& directory) {
    for (const auto& [name, kind, inode] : client_.read_directory(directory)) {
      const std::string path = directory.empty() ? name : directory + "/" + name;
      if (kind == EntryKind::directory) find_names(path);
      if (kind == EntryKind::file) find_name(path);
    }
  }

  void find_name(const std::string& path) try {
    const File file = client_.open(path);
    const auto servers = static_cast<std::uint32_t>(client_.volume().servers.size());
    for (std::uint32_t server = 0; server < file.striping.servers(); ++server)
      for (const Place& place :
           {Place{server, DataCopy::first, file.id}, Place{next_server(server, servers), DataCopy::second, file.id}}) {
        const auto found = findings_.find(place);
        if (found == findings_.end()) continue;
        found->second.path = path;
        found->second.damaged = in_file(file, server, found->second.damaged);
      }
  } catch (const IoError&) {
    // Removed meanwhile, or a damaged entry, which `check` reports.
  }

  /// Where bytes of a data file are in its file: neighbours in one run.
  static std::vector<ByteRun> in_file(const File& file, std::uint32_t server, std::span<const ByteRun> damaged) {
    std::vector<ByteRun> runs;
    for (const ByteRun& run : damaged)
      for (std::uint64_t at = run.offset; at < run.end();) {
        const std::uint64_t offset = file.striping.file_offset({server, at});
        const std::uint64_t length = std::min(run.end() - at, file.striping.rest_of_strip(offset));
        if (!runs.empty() && runs.back().end() == offset) runs.back().length += length;
        else runs.push_back({offset, length});
        at += length;
      }
    return runs;
  }

  Client& client_;
  ScrubOptions options_;
  std::uint32_t blocks_ = 0;
  ScrubReport report_;
  std::map<Place, ScrubFinding> findings_;
  std::vector<Walk> walks_;
};

}  // namespace

ScrubReport scrub(Client& client, const ScrubOptions& options,
                  const std::function<void(const ScrubProgress&)>& progress) {
  if (client.volume().checksums == "off" && client.volume().copies > 1) return {{}, {}, client.fill()};
  if (client.volume().checksums == "off")
    throw InputError("checksums", "the volume has no checksums",
                     "make a new volume with --checksums crc32c, and copy the files to it");
  std::vector<FilledServer> filled = client.fill();
  return Scrub(client, options).run(std::move(filled), progress);
}

}  // namespace strider::listio
