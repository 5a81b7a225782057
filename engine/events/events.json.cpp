#include "events/events.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <utility>

#include "events/record.json.hpp"
#include "foundation/clock.hpp"
#include "foundation/error.hpp"
#include "foundation/whole_transfer.hpp"
#include "interfaces/modules.hpp"

namespace strider {
namespace {

std::string utc_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  char text[40] = {};
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text;
}

std::string line_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

OrderedJson begin(const char* event, double time_s, const PhaseName& name) {
  OrderedJson json = {{"event", event}, {"time_s", time_s}};
  append(json, &name);
  return json;
}

/// A line of an event that is about a phase.
template <Record Type>
std::string line_of(const char* event, double time_s, const PhaseName& name, const Type& record) {
  OrderedJson json = begin(event, time_s, name);
  append(json, &record);
  return line_of(json);
}

}  // namespace

ObservationStream::ObservationStream(const std::string& path, const std::string& host, double interval_s)
    : out_(std::cout.rdbuf()), path_(path) {
  if (path != "-") {
    file_.open(path, std::ios::trunc);
    out_.rdbuf(file_.rdbuf());
  }
  if (!file_) throw_errno("open", path);
  const OrderedJson head{{"format", "strider-observed"},
                         {"version", 1},
                         {"host", host},
                         {"started", utc_now()},
                         {"interval_s", interval_s}};
  if (!(out_ << line_of(head) << std::flush)) throw_errno("write", path_);
}

void ObservationStream::observed(double elapsed_s, const CounterGroups& groups) {
  const OrderedJson line{{"end", utc_now()}, {"elapsed_s", elapsed_s}, {"counters", json_of(groups)}};
  if (!(out_ << line_of(line) << std::flush)) throw_errno("write", path_);
}

EventStream::EventStream(const std::string& path) : path_(path), origin_ns_(static_cast<std::int64_t>(monotonic_ns())) {
  if (path.empty()) return;
  file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file_) throw_errno("open", path);
  struct stat found{};
  if (::fstat(file_.get(), &found) != 0) throw_errno("fstat", path);
  path_ = std::filesystem::absolute(path).string();  // operations may change the working directory
  if (!S_ISREG(found.st_mode)) return;
  size_ = static_cast<std::uint64_t>(found.st_size);
  inode_ = found.st_ino;
}

/// Where the file has bytes that this stream did not write, its starter has ended the run, or begun it anew.
void EventStream::note_others(int file) {
  struct stat found{};
  if (inode_ == 0 || ::fstat(file, &found) != 0) return;
  over_ = over_ || found.st_ino != inode_ || static_cast<std::uint64_t>(found.st_size) > size_;
}

bool EventStream::is_over() {
  if (!file_) return false;
  // A fresh descriptor: network file systems look at the server again only then.
  const Descriptor fresh(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const bool gone = !fresh && errno == ENOENT && inode_ != 0;
  const std::lock_guard lock(mutex_);
  if (fresh) note_others(fresh.get());
  // Names of a network file system may be gone for a moment.
  misses_ = gone ? misses_ + 1 : 0;
  over_ = over_ || misses_ >= 2;
  return over_;
}

double EventStream::time_s() const {
  return static_cast<double>(static_cast<std::int64_t>(monotonic_ns()) - origin_ns_) * 1e-9;
}

void EventStream::resume(const Continuation& continuation) {
  start_s_ = continuation.elapsed_s;
  origin_ns_ -= static_cast<std::int64_t>(continuation.elapsed_s * 1e9);
  samples_ = continuation.samples;
  errors_ = continuation.errors;
}

void EventStream::keep(std::int64_t origin_ns, std::function<void(std::string)> relay) {
  keeps_ = true;
  relay_ = std::move(relay);
  origin_ns_ = origin_ns;
}

EventStream::Kept EventStream::take_kept() {
  keeps_ = false;
  relay_ = nullptr;
  return {std::exchange(kept_, {}), std::exchange(samples_, 0), std::exchange(errors_, 0)};
}

void EventStream::add(const Kept& kept) {
  write_line(kept.lines);
  samples_ += kept.samples;
  errors_ += kept.errors;
}

void EventStream::write_line(const std::string& line) {
  if (keeps_) kept_ += line;
  if (!file_) return;
  const std::lock_guard lock(mutex_);
  note_others(file_.get());
  if (over_) return;
  const Transferred moved = transfer_whole(line.size(), [&](std::uint64_t done) {
    ++write_calls_;
    return moved_or_error(::write(file_.get(), line.data() + done, line.size() - done));
  });
  written_bytes_ += moved.bytes;
  size_ += moved.bytes;
  if (moved.bytes < line.size()) throw stopped_transfer({"write", path_, 0, line.size(), moved.error_number});
}

void EventStream::run(const RunInfo& info) {
  OrderedJson nodes = OrderedJson::array();
  for (const NodeInfo& node : info.nodes)
    nodes.push_back({{"name", node.name},
                     {"ranks", node.ranks},
                     {"clock_offset_s", node.clock_offset_s},
                     {"clock_error_s", node.clock_error_s},
                     {"time_of_day_offset_s", node.time_of_day_offset_s},
                     {"cpus", node.cpus},
                     {"numa_nodes", node.numa_nodes},
                     {"affinity_cpus_min", node.affinity_cpus_min},
                     {"affinity_cpus_max", node.affinity_cpus_max},
                     {"processes", node.processes}});
  write_line(line_of({{"event", "run"},
                      {"version", 1},
                      {"time_s", start_s_},
                      {"run", info.run},
                      {"engine", engine_version()},
                      {"started", utc_now()},
                      {"mpi", info.mpi_library},
                      {"ranks", info.ranks},
                      {"nodes", nodes},
                      {"timer", info.timer},
                      {"timer_cost_ns", info.timer_cost_ns},
                      {"data_seed", std::to_string(info.data_seed)},
                      {"confinement", {{"state", info.confinement.state}, {"missing", info.confinement.missing}}}}));
}

void EventStream::case_begins(const PhaseName& name) {
  OrderedJson json = begin("case", time_s(), name);
  json.erase("operation");
  write_line(line_of(json));
}

void EventStream::repetition_ends(const PhaseName& name, const RepetitionEnd& end) {
  OrderedJson json = begin("repetition", time_s(), name);
  json.erase("operation");
  OrderedJson rates = OrderedJson::object();
  for (const auto& [operation, rate] : end.rates) rates[operation] = rate;
  json.update({{"elapsed_s", end.elapsed_s}, {"failed", end.failed}, {"rates", rates}});
  write_line(line_of(json));
}

void EventStream::progress(const PhaseName& name, const Progress& progress) {
  OrderedJson json = begin("progress", time_s(), name);
  json.update({{"bytes_done", progress.bytes_done},
               {"bytes_total", progress.bytes_total},
               {"requests_done", progress.requests_done},
               {"requests_total", progress.requests_total},
               {"elapsed_s", progress.elapsed_s},
               {"observed_ranks", progress.observed_ranks},
               {"done_phases", progress.done_phases},
               {"planned_phases", progress.planned_phases}});
  if (relay_) relay_(line_of(json));
  else write_line(line_of(json));
}

void EventStream::sample(const PhaseName& name, const Sample& sample) {
  if (!file_ && !keeps_) return;
  write_line(line_of("sample", time_s(), name, sample));
  ++samples_;
}

void EventStream::rank(const PhaseName& name, const RankRow& row) { write_line(line_of("rank", time_s(), name, row)); }

void EventStream::counters(const PhaseName& name, const NodeCounters& counters) {
  write_line(line_of("counters", time_s(), name, counters));
}

void EventStream::ceilings(const CeilingReport& report) {
  OrderedJson ceilings = OrderedJson::array();
  for (const Ceiling& ceiling : report.ceilings)
    ceilings.push_back({{"name", ceiling.name},
                        {"unit", ceiling.unit},
                        {"value", ceiling.value ? OrderedJson(*ceiling.value) : OrderedJson(nullptr)},
                        {"spread", ceiling.spread ? OrderedJson(*ceiling.spread) : OrderedJson(nullptr)},
                        {"about", ceiling.about}});
  const auto of_clients = [&](std::uint32_t value) {
    return report.clients ? OrderedJson(value) : OrderedJson(nullptr);
  };
  write_line(line_of({{"event", "ceilings"},
                      {"time_s", time_s()},
                      {"moment", report.moment == CeilingMoment::start ? "start" : "end"},
                      {"node", report.node ? OrderedJson(*report.node) : OrderedJson(nullptr)},
                      {"clients", of_clients(report.clients.value_or(0))},
                      {"nodes", of_clients(report.shares.nodes)},
                      {"ranks_per_node_max", of_clients(report.shares.most)},
                      {"elapsed_s", report.elapsed_s},
                      {"ceilings", ceilings}}));
}

void EventStream::clock(const PhaseName& name, const ClockRow& row) {
  write_line(line_of("clock", time_s(), name, row));
}

void EventStream::timeline(const PhaseName& name, const TimelineRow& row) {
  write_line(line_of("timeline", time_s(), name, row));
}

void EventStream::values(const PhaseName& name, const ValuesRow& row) {
  write_line(line_of("values", time_s(), name, row));
}

namespace {

OrderedJson json_of(const TreeReport& tree) {
  return {{"present", tree.present},
          {"files", tree.files},
          {"directories", tree.directories},
          {"hard_links", tree.hard_links},
          {"symbolic_links", tree.symbolic_links},
          {"file_bytes", tree.file_bytes},
          {"written_bytes", tree.written_bytes},
          {"generation", tree.generation},
          {"visits", tree.order_hash},
          {"renamed_files", tree.renamed_files},
          {"renamed_directories", tree.renamed_directories},
          {"renamed_when_linked", tree.renamed_when_linked}};
}

}  // namespace

void EventStream::data_set(const PhaseName& name, const DataSetReport& report) {
  OrderedJson json = begin("data_set", time_s(), name);
  json.update({{"data_set", report.name},
               {"state", report.state == DataSetReport::State::writing ? "writing" : "written"},
               {"generation", report.generation},
               {"geometry", report.geometry},
               {"format", report.format},
               {"files", report.files},
               {"parts", report.parts}});
  if (report.tree) json["tree"] = json_of(*report.tree);
  write_line(line_of(json));
}

void EventStream::error(const PhaseName& name, const ErrorInfo& error) {
  write_line(line_of("error", time_s(), name, error));
  ++errors_;
}

void EventStream::end(const std::string& status) {
  write_line(line_of(
      {{"event", "end"}, {"time_s", time_s()}, {"status", status}, {"samples", samples_}, {"errors", errors_}}));
}

}  // namespace strider
