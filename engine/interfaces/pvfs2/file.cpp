#include "interfaces/pvfs2/file.hpp"

#include <algorithm>

namespace strider {
namespace {

/// The attribute in which OrangeFS keeps a file's distribution.
constexpr const char* distribution_attribute = "system.pvfs2.md";
constexpr std::size_t largest_distribution = 4096;

std::uint64_t data_files_of(const Pvfs2Calls& calls, const std::string& path, PVFS_object_ref file) {
  PVFS_sysresp_getattr found{};
  Pvfs2Call{"PVFS_sys_getattr", path}.require(
      calls.attributes_of(path, file, PVFS_ATTR_SYS_TYPE | PVFS_ATTR_SYS_DFILE_COUNT, found));
  return static_cast<std::uint64_t>(found.attr.dfile_count);
}

/// The servers of a file's data files, in their order.
std::string servers_of(const Pvfs2Calls& calls, const std::string& path, PVFS_object_ref file, std::uint64_t count) {
  std::vector<PVFS_handle> handles(count);
  const Pvfs2Client& client = *calls.client;
  Pvfs2Call{"PVFS_mgmt_get_dfile_array", path}.require(
      client.run({"PVFS_mgmt_get_dfile_array", path}, [&](PVFS_sys_op_id* id) {
        return PVFS_imgmt_get_dfile_array(file, client.credential(), handles.data(), static_cast<int>(count), id,
                                          PVFS_HINT_NULL, nullptr);
      }));
  std::string names;
  for (const PVFS_handle handle : handles) {
    PVFS_BMI_addr_t address{};
    Pvfs2Call{"PVFS_mgmt_map_handle", path}.require(PVFS_mgmt_map_handle(client.system(), handle, &address));
    names += (names.empty() ? "" : " ") + client.name_of_server(address);
  }
  return names;
}

}  // namespace

Pvfs2Layout pvfs2_layout_of(const Pvfs2Calls& calls, const std::string& path, PVFS_object_ref file) {
  std::array<char, largest_distribution> encoded{};
  const std::int64_t bytes = calls.get_attribute(path, file, distribution_attribute, encoded);
  if (bytes < 0) throw IoError({"PVFS_sys_geteattr", path, 0, 0, static_cast<int>(-bytes)});
  const auto known = std::min(static_cast<std::size_t>(bytes), encoded.size());
  const auto found = decode_distribution(std::as_bytes(std::span(encoded).first(known)));
  if (!found)
    throw IoError({"PVFS_sys_geteattr", path, 0, 0, 0},
                  std::string("the attribute ") + distribution_attribute + " of the file is no distribution",
                  "use OrangeFS 2.9 or 2.10, whose attributes are known");
  Pvfs2Layout layout = *found;
  layout.data_files = data_files_of(calls, path, file);
  return layout;
}

void Pvfs2File::sync() {
  if (const int error = calls_.flush(path_, file_); error < 0) throw IoError({"PVFS_sys_flush", path_, 0, 0, -error});
}

/// As the servers have it now: a size that was asked for once would be kept for ten seconds.
std::uint64_t Pvfs2File::size() {
  PVFS_sysresp_getattr found{};
  Pvfs2Client::set_caches({caches_.names, 0});
  const PVFS_error error = calls_.attributes_of(path_, file_, PVFS_ATTR_SYS_SIZE, found);
  Pvfs2Client::set_caches(caches_);
  Pvfs2Call{"PVFS_sys_getattr", path_}.require(error);
  return static_cast<std::uint64_t>(found.attr.size);
}

Facts Pvfs2File::facts() const {
  if (Pvfs2Client::has_given_up()) return {};  // the error is known
  const Pvfs2Layout layout = pvfs2_layout_of(calls_, path_, file_);
  Facts facts{{"path in the file system", path_},
              {"data files", std::to_string(layout.data_files)},
              {"distribution", layout.distribution},
              {"servers", servers_of(calls_, path_, file_, layout.data_files)}};
  if (layout.stripe_size > 0) facts["stripe size"] = std::to_string(layout.stripe_size);
  return facts;
}

void Pvfs2File::move(enum PVFS_io_type type, const Request& request) {
  if (request.extents.size() < 2 || method_ == Pvfs2Method::multiple) {
    for (const Extent& extent : request.extents) move_extent(type, extent, request.memory);
    return;
  }
  for (std::size_t first = 0; first < request.extents.size(); first += largest_list)
    move_list(type, request.extents.subspan(first, std::min(largest_list, request.extents.size() - first)),
              request.memory);
}

void Pvfs2File::move_extent(enum PVFS_io_type type, const Extent& extent, std::byte* memory) {
  move_whole({"", "PVFS_sys_io", path_}, memory + extent.memory_offset, extent.length, extent.file_offset,
             [&](std::byte* place, std::uint64_t length, std::uint64_t offset) -> std::int64_t {
               Pvfs2Places in_memory;
               in_memory.contiguous(std::min(length, largest_piece));
               const Pvfs2Call call{"PVFS_sys_io", path_, offset, length};
               std::int64_t moved = 0;
               call.require(calls_.move(call,
                                        {.type = type,
                                         .file = file_,
                                         .in_file = PVFS_BYTE,
                                         .offset = static_cast<PVFS_offset>(offset),
                                         .memory = place,
                                         .in_memory = in_memory.get()},
                                        moved));
               return moved;
             });
}

/// One call for noncontiguous memory and a noncontiguous file.
void Pvfs2File::move_list(enum PVFS_io_type type, std::span<const Extent> extents, std::byte* memory) {
  std::array<std::int32_t, largest_list> lengths{};
  std::array<PVFS_size, largest_list> in_file{}, in_memory{};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(extents[i].length);
    in_file[i] = static_cast<PVFS_size>(extents[i].file_offset);
    in_memory[i] = static_cast<PVFS_size>(extents[i].memory_offset);
  }
  Pvfs2Places file_places, memory_places;
  const auto pieces = std::span(lengths).first(extents.size());
  file_places.list(pieces, in_file);
  memory_places.list(pieces, in_memory);
  const std::uint64_t bytes = bytes_of(extents), offset = extents[0].file_offset;
  const Pvfs2Call call{"PVFS_sys_io", path_, offset, bytes};
  std::int64_t moved = 0;
  call.require(calls_.move(call,
                           {.type = type,
                            .file = file_,
                            .in_file = file_places.get(),
                            .offset = 0,
                            .memory = memory,
                            .in_memory = memory_places.get()},
                           moved));
  if (static_cast<std::uint64_t>(moved) != bytes)
    throw call.failed(0, "the call moved " + std::to_string(moved) + " bytes: the file ends here");
}

}  // namespace strider
