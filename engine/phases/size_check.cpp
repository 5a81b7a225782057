#include "phases/size_check.hpp"

#include <fcntl.h>

#include "foundation/descriptor.hpp"

namespace strider {
namespace {

constexpr RequestShape plain_shape{.contiguous = true, .regular = false, .plain = true};

}  // namespace

CheckedFile checked_file(const RunContext& context, const PhaseTask& task, const FileAssignment& assignment) {
  return {context.directory + "/" + file_name(*task.test, assignment.file), assignment};
}

Cooperation plain_cooperation(const TransferTask& task) { return task.interface->cooperation(plain_shape); }

std::unique_ptr<File> open_plain(const TransferTask& task, const CheckedFile& file, const FileGroup& group,
                                 std::span<std::byte> memory) {
  return task.interface->open({.path = file.path,
                               .access = Access::read,
                               .creation = Creation::existing,
                               .file_size = task.pattern->file_size(file.assignment.place.ranks),
                               .place = file.assignment.place,
                               .group = &group.get(),
                               .shape = plain_shape,
                               .regular = {},
                               .depth = 1,
                               .memory = memory});
}

void SizeCheck::compare(File& file, const CheckedFile& checked) {
  const std::uint64_t bytes = file.size();
  judge(checked, bytes, Way::interface, file.server_of(bytes));
  if (checked.leads()) ++part_.verification->files;
}

void SizeCheck::compare_on_mount(const CheckedFile& checked) {
  const Capabilities& interface = task_.test->interface->capabilities;
  if (!checked.leads() || interface.client != StorageClient::kernel) return;
  // Opened rather than asked for by its name: network file systems ask the server only then.
  Descriptor descriptor(::open(checked.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor && errno == ENOENT) return;  // a driver of the interface keeps it elsewhere
  judge(checked, OpenFile(std::move(descriptor), checked.path).size(), Way::mount, "");
}

void SizeCheck::compare_anew(const CheckedFile& checked) {
  const Cooperation cooperation = plain_cooperation(task_);
  const FileGroup group(task_, FileGroup::opening(cooperation), checked.assignment, context_.stall_timeout_s);
  if (cooperation == Cooperation::independent && !checked.leads()) return;
  try {
    const auto file = open_plain(task_, checked, group, task_.memory);
    if (checked.leads()) compare(*file, checked);
    file->close();
    compare_on_mount(checked);
  } catch (const IoError& error) {
    part_.findings.push_back(describe_error(error, rank_, context_.nodes.host));
    ++part_.verification->mismatches;
  }
}

void SizeCheck::judge(const CheckedFile& checked, std::uint64_t bytes, Way way, const std::string& server) {
  WriteRecord::Size wanted = task_.record->size_of(checked.assignment.file);
  // On the mount a format has its own bytes too.
  if (way == Way::mount && task_.test->interface->capabilities.format == FileFormat::own)
    wanted.most = ~std::uint64_t{0};
  if (bytes >= wanted.least && bytes <= wanted.most) return;
  ++part_.verification->mismatches;
  part_.findings.push_back(describe_size({.expected = bytes < wanted.least ? wanted.least : wanted.most,
                                          .found = bytes,
                                          .seen_by = way == Way::mount ? "the mount" : task_.test->interface->name},
                                         rank_, context_.nodes.host, checked.path));
  set_server(part_.findings.back(), server);
}

}  // namespace strider
