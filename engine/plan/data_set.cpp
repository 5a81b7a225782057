#include "plan/data_set.hpp"

#include <algorithm>

#include "foundation/error.hpp"
#include "interfaces/own_folder.hpp"
#include "plan/case.hpp"
#include "plan/file_assignments.hpp"

namespace strider {

void refuse(const Case& test, const std::string& reason, const std::string& remedy) {
  throw InputError("dataset", "data set " + test.data_set.name + ": " + reason, remedy);
}

void check_place(const Case& test, const Interface& interface) {
  const std::string name(test.interface->name);
  const Capabilities& capabilities = test.interface->capabilities;
  if (!capabilities.stores()) refuse(test, "the interface " + name + " stores no data", "an interface such as posix");
  const bool past_the_mount = name == "mpiio" && test.interface_settings.text("prefix") == "listio:";
  if (capabilities.client == StorageClient::servers || past_the_mount ||
      dynamic_cast<const OwnFolder*>(&interface) != nullptr)
    refuse(test, "the interface " + name + " keeps its files on servers, not in the directory of the set",
           "an interface such as posix, with a mount of the volume as target");
  if (test.mount != MountKind::none)
    refuse(test, "a mount that lasts as long as the run cannot hold it",
           "mount = \"none\", with a mount of the volume as target");
}

namespace {

/// After each phase it must be known what its files hold.
void check_operations(const Case& test) {
  for (const Operation operation : test.operations)
    if (operation != Operation::write && operation != Operation::rewrite && operation != Operation::read &&
        operation != Operation::reread)
      refuse(test, std::string(name_of(operation)) + " leaves a part of its bytes as it was",
             "write, rewrite, read or reread");
  if (test.data_set.loose) return;
  if (test.runtime_s > 0 && writes_any(test))
    refuse(test, "with a runtime, phases that write end in the middle of a pass",
           "deadline instead of runtime, or operations that only read");
  const bool rewrites = std::count(test.operations.begin(), test.operations.end(), Operation::rewrite) > 0;
  if (test.deadline_s > 0 && rewrites)
    refuse(test, "a rewrite that its deadline ends leaves a part of the bytes as it was", "deadline = 0");
  if (test.sharing.kind == SharingKind::per_node)
    refuse(test, "the files of sharing = \"per-node\" depend on the nodes of a run", "a number of files");
  if (test.data_set.whole && writes_any(test))
    refuse(test, "only cases that read access whole files", "operations = [\"read\"]");
  if (test.data_set.first_file > 0 && writes_any(test))
    refuse(test, "only cases that read can begin with another file than the first", "first_file = 0");
}

/// IOR makes its data for blocks and transfers of whole words.
void check_packet(const Case& test) {
  if (!test.data_set.packet) return;
  const auto wrong = [](const std::string& reason, const std::string& remedy) {
    throw InputError("manifest", "manifest.packet: " + reason, remedy);
  };
  if (!test.data_set.used())
    wrong("only files of a data set hold data in IOR's form", "a name as dataset, or no packet");
  const bool of_ior = test.pattern->name == "segmented" &&
                      (test.sharing.kind == SharingKind::shared || test.sharing.kind == SharingKind::per_rank);
  if (!of_ior && writes_any(test))
    wrong("IOR cannot write files of this pattern and sharing",
          "pattern = \"segmented\" with sharing = \"shared\" or \"per-rank\", or no packet");
  if (!of_ior && !test.data_set.packet->complete())
    wrong("with another pattern or sharing than IOR's, the case does not say how IOR wrote the files",
          "packet.transfer, packet.block and packet.tasks, or pattern = \"segmented\"");
  const Packet packet = *packet_of(test, 0);
  if (packet.transfer_bytes % 8 != 0 || packet.block_bytes % packet.transfer_bytes != 0)
    wrong("IOR's data fits neither transfers of " + std::to_string(packet.transfer_bytes) + " bytes in blocks of " +
              std::to_string(packet.block_bytes),
          "a transfer that is a multiple of 8 bytes, and a block that is a multiple of the transfer");
}

/// Files of an own format are read as they were written, since their bytes lie where the format puts them.
void check_format(const Case& test) {
  const std::string name(test.interface->name);
  const bool own = test.interface->capabilities.format == FileFormat::own;
  if (test.data_set.format == (own ? name : "")) return;
  const std::string format = test.data_set.format.empty() ? "plain files" : "files of " + test.data_set.format;
  refuse(test, "it has " + format + ", which the interface " + name + " cannot read as data",
         test.data_set.format.empty() ? "an interface that writes plain files, such as posix"
                                      : "interface = \"" + test.data_set.format + "\"");
}

void check_extent(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                  const DataSetState& state) {
  const std::uint64_t first = test.data_set.first_file;
  if (first + assignments.files() > state.file_count())
    refuse(test,
           "the case has " + std::to_string(assignments.files()) + " files, the set " +
               std::to_string(state.file_count()) + (first > 0 ? " after the first " + std::to_string(first) : ""),
           "sharing with fewer files, or fewer clients");
  const bool own = test.interface->capabilities.format == FileFormat::own;
  for (std::uint64_t file = 0; file < assignments.files(); ++file) {
    const std::uint64_t wanted = pattern.file_size(assignments.ranks_of(file)), there = state.bytes_of(first + file);
    if (own ? wanted != there : wanted > there)
      refuse(test,
             "the case accesses " + std::to_string(wanted) + " bytes of " + test.data_set.file_name(first + file) +
                 ", which has " + std::to_string(there),
             own ? "the pattern and sizes of its writer" : "smaller sizes or fewer clients");
  }
}

/// After it, the files must hold one generation.
void check_rewrite(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
                   const DataSetState& state) {
  bool whole = test.data_set.first_file == 0 && assignments.files() == state.file_count() &&
               writes_every_byte(test, pattern, assignments);
  for (std::uint64_t file = 0; file < assignments.files(); ++file)
    whole = whole && pattern.file_size(assignments.ranks_of(file)) == state.bytes_of(file);
  if (!whole)
    refuse(test, "rewrite must write each byte of each of its files, so that they hold one generation",
           "the pattern and clients with which it was made");
}

}  // namespace

std::uint64_t DataSetState::file_count() const {
  std::uint64_t count = 0;
  for (const EqualFiles& some : files) count += some.count;
  return count;
}

std::uint64_t DataSetState::bytes_of(std::uint64_t file) const {
  for (const EqualFiles& some : files) {
    if (file < some.count) return some.bytes;
    file -= some.count;
  }
  return 0;
}

std::uint64_t DataSetState::largest_file() const {
  std::uint64_t largest = 0;
  for (const EqualFiles& some : files) largest = std::max(largest, some.bytes);
  return largest;
}

std::string DataSet::file_name(std::uint64_t file) const {
  const std::string number = std::to_string(file);
  const std::string folder = directories ? number + "/" : "";
  if (digits == 0) return folder + prefix + suffix;
  return folder + prefix + std::string(digits - std::min<std::size_t>(digits, number.size()), '0') + number + suffix;
}

std::optional<Packet> packet_of(const Case& test, std::uint64_t file) {
  const std::optional<PacketForm>& form = test.data_set.packet;
  if (!form) return std::nullopt;
  Packet packet{.type = form->type,
                .signature = form->signature,
                .transfer_bytes = form->transfer_bytes,
                .block_bytes = form->block_bytes,
                .tasks = form->tasks};
  if (packet.transfer_bytes == 0) packet.transfer_bytes = test.pattern_settings.number("transfer");
  if (packet.block_bytes == 0) packet.block_bytes = test.pattern_settings.number_or("block", packet.transfer_bytes);
  if (packet.tasks == 0) packet.tasks = test.sharing.kind == SharingKind::per_rank ? 1 : test.clients;
  if (packet.tasks == 1) packet.first_rank = static_cast<std::uint32_t>(file);
  return packet;
}

bool writes_any(const Case& test) { return std::any_of(test.operations.begin(), test.operations.end(), writes); }

bool writes_every_byte(const Case& test, const Pattern& pattern, const FileAssignments& assignments) {
  std::vector<std::uint64_t> written(assignments.files());
  for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
    const FileAssignment assignment = assignments.assignment(rank);
    written[assignment.file] += pattern.bytes(assignment.place, Direction::write);
  }
  for (std::uint64_t file = 0; file < assignments.files(); ++file) {
    const std::uint32_t ranks = assignments.ranks_of(file);
    if (written[file] != pattern.file_size(ranks) || !pattern.disjoint(ranks)) return false;
  }
  return true;
}

void check_data_set(const Case& test, const Pattern& pattern, const Interface& interface,
                    const FileAssignments& assignments) {
  const DataSet& set = test.data_set;
  check_packet(test);
  if (!set.used()) return;
  check_place(test, interface);
  check_operations(test);
  if (!set.known || set.made_before) return;
  if (set.state.exists() && test.operations.front() == Operation::write)
    refuse(test, "it exists, and write makes new files", "rewrite, or strider data remove " + set.name);
  check_use(test, pattern, assignments, set.state);
}

void check_use(const Case& test, const Pattern& pattern, const FileAssignments& assignments,
               const DataSetState& state) {
  const Operation first = test.operations.front();
  if (first == Operation::write) return;  // all files are new
  if (!state.exists()) refuse(test, "it does not exist yet", "strider data make " + test.data_set.name);
  if (state.incomplete && first != Operation::rewrite)
    refuse(test, "a phase that wrote it did not end", "rewrite it first, or remove it and make it again");
  check_format(test);
  if (test.data_set.loose && (first == Operation::rewrite || test.data_set.requests > 0)) return;
  if (!state.dense()) {
    if (test.geometry != state.geometry)
      refuse(test, "some of its bytes were never written, so only its writer's pattern, clients, sharing and order fit",
             "those of its writer, which strider data list shows");
    return;
  }
  check_extent(test, pattern, assignments, state);
  if (writes_any(test) && !test.data_set.loose) check_rewrite(test, pattern, assignments, state);
}

}  // namespace strider
