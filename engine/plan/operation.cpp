#include "plan/operation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace strider {
namespace {

using M = MetadataOperation;
constexpr M items_of(OperatesOn operates_on, MetadataCalls calls) {
  M operation;
  operation.operates_on = operates_on;
  operation.calls = calls;
  operation.needs = operates_on == OperatesOn::files         ? Things{Thing::tree, Thing::files}
                    : operates_on == OperatesOn::directories ? Things{Thing::tree, Thing::directories}
                                                             : Things{Thing::tree};
  return operation;
}
constexpr M mixable(M operation) {
  operation.mixes = M::Mixes::yes;
  return operation;
}
constexpr M changing(M operation) {
  operation.population = M::Population::changes;
  return operation;
}
constexpr M with_contents(M operation) {
  operation.contents = M::Contents::some;
  return operation;
}
constexpr M needing(M operation, Thing thing) {
  operation.needs.add(thing);
  return operation;
}
/// Makes `thing` anew, of the rank's own.
constexpr M making(M operation, Thing thing, Things needs) {
  operation.makes = {thing};
  operation.avoids.add(thing);
  operation.needs = needs;
  operation.owner = M::Owner::own;
  return changing(operation);
}
constexpr M avoiding(M operation, Things things) {
  operation.avoids.add(things);
  return operation;
}
constexpr M removing(M operation, Things things) {
  operation.removes = things;
  return changing(operation);
}
constexpr M own(M operation) {
  operation.owner = M::Owner::own;
  return operation;
}

constexpr M files(MetadataCalls calls) { return items_of(OperatesOn::files, calls); }
constexpr M directories(MetadataCalls calls) { return items_of(OperatesOn::directories, calls); }
constexpr M tree(MetadataCalls calls) { return items_of(OperatesOn::tree, calls); }
constexpr Things in_files{Thing::hard_links, Thing::symbolic_links, Thing::open_files};
constexpr Things in_trees{Thing::files, Thing::directories, Thing::hard_links, Thing::symbolic_links,
                          Thing::open_files};
constexpr M new_files(MetadataCalls calls) {
  return avoiding(making(files(calls), Thing::files, {Thing::tree}), in_files);
}

constexpr OperationEntry operations[] = {
    {Operation::write, "write", "write", "Write a new file."},
    {Operation::rewrite, "rewrite", "write", "Write the same bytes of an existing file again."},
    {Operation::read, "read", "read", "Read a file."},
    {Operation::reread, "reread", "read", "Read the same bytes again, right after a read."},
    {Operation::read_modify_write, "read-modify-write", "both",
     "Read the data of each request, change it and write it back."},
    {Operation::read_write, "read-write", "both",
     "Read some requests and write the others: each is drawn at random, with read_share."},

    {Operation::make_tree, "make-tree", "metadata", "Make the directories of the tree.",
     avoiding(making(tree({MetadataCall::make_directory}), Thing::tree, {}), in_trees)},
    {Operation::create, "create", "metadata",
     "Create a file that does not exist, write file_size bytes into it, and close it.",
     mixable(new_files({MetadataCall::open}))},
    {Operation::mknod, "mknod", "metadata", "Make an empty file without opening it.",
     new_files({MetadataCall::make_node})},
    {Operation::open, "open", "metadata",
     "Open a file for reading and keep it open; each rank keeps at most open_files open.",
     [] {
       M operation = files({MetadataCall::open});
       operation.makes = {Thing::open_files};
       operation.avoids = {Thing::open_files};
       return operation;
     }()},
    {Operation::lseek, "lseek", "metadata", "Seek to the end of an open file.",
     needing(files({MetadataCall::open, MetadataCall::seek}), Thing::open_files)},
    {Operation::close, "close", "metadata", "Close an open file.",
     [] {
       M operation = needing(files({MetadataCall::open}), Thing::open_files);
       operation.removes = {Thing::open_files};
       return operation;
     }()},
    {Operation::open_close, "open-close", "metadata", "Open a file for reading and close it.",
     mixable(files({MetadataCall::open}))},
    {Operation::stat, "stat", "metadata",
     "Query a file's attributes (stat); its type, size and number of links are checked.",
     mixable(files({MetadataCall::state}))},
    {Operation::access, "access", "metadata", "Query whether a file may be read (access).",
     mixable(files({MetadataCall::access}))},
    {Operation::chmod, "chmod", "metadata", "Set a file's mode.", mixable(files({MetadataCall::set_mode}))},
    {Operation::utime, "utime", "metadata", "Set a file's times to now.", mixable(files({MetadataCall::set_times}))},
    {Operation::truncate, "truncate", "metadata", "Truncate a file to half of its size.",
     with_contents(changing(files({MetadataCall::truncate})))},
    {Operation::expand, "expand", "metadata", "Make a file twice as large by truncate; 4 KiB if it was empty.",
     changing(files({MetadataCall::truncate}))},
    {Operation::small_write, "small-write", "metadata", "Open a file, write file_size bytes, close it.",
     mixable(with_contents(changing(files({MetadataCall::open}))))},
    {Operation::small_read, "small-read", "metadata",
     "Open a file, read file_size bytes, close it; the length is checked, and the contents with verify = \"full\".",
     mixable(with_contents(files({MetadataCall::open})))},
    {Operation::setxattr, "setxattr", "metadata", "Set an extended attribute of a file.", mixable(changing([] {
       M operation = files({MetadataCall::attributes});
       operation.makes = {Thing::attributes};
       return operation;
     }()))},
    {Operation::getxattr, "getxattr", "metadata", "Get an extended attribute of a file; its value is checked.",
     needing(files({MetadataCall::attributes}), Thing::attributes)},
    {Operation::rename, "rename", "metadata",
     "Rename a file within its directory; the next rename restores the first name.",
     changing(files({MetadataCall::rename}))},
    {Operation::link, "link", "metadata", "Make a hard link to a file.",
     making(files({MetadataCall::link}), Thing::hard_links, {Thing::tree, Thing::files})},
    {Operation::symlink, "symlink", "metadata", "Make a symbolic link to a file.",
     making(files({MetadataCall::symbolic_link}), Thing::symbolic_links, {Thing::tree, Thing::files})},
    {Operation::readlink, "readlink", "metadata", "Read a symbolic link; its target is checked.",
     needing(files({MetadataCall::symbolic_link}), Thing::symbolic_links)},
    {Operation::unlink, "unlink", "metadata", "Remove a file.",
     mixable(
         avoiding(removing(files({MetadataCall::unlink}), {Thing::files, Thing::attributes}), {Thing::open_files}))},
    {Operation::mkdir, "mkdir", "metadata", "Make a directory as an item.",
     making(directories({MetadataCall::make_directory}), Thing::directories, {Thing::tree})},
    {Operation::stat_directory, "stat-directory", "metadata",
     "Query a directory's attributes (stat); its type is checked.", directories({MetadataCall::state})},
    {Operation::chdir, "chdir", "metadata", "Change the working directory of the process to a directory.",
     directories({MetadataCall::change_directory})},
    {Operation::rename_directory, "rename-directory", "metadata",
     "Rename a directory; the next rename restores the first name.", changing(directories({MetadataCall::rename}))},
    {Operation::rmdir, "rmdir", "metadata", "Remove a directory that is an item.",
     removing(directories({MetadataCall::remove_directory}), {Thing::directories})},
    {Operation::readdir, "readdir", "metadata", "Read all entries of a directory of the tree; their number is checked.",
     tree({MetadataCall::list})},
    {Operation::readdir_stat, "readdir-stat", "metadata",
     "Read all entries of a directory of the tree and query the attributes of each (stat).",
     tree({MetadataCall::list, MetadataCall::state})},
    {Operation::remove_tree, "remove-tree", "metadata", "Remove the directories of the tree.",
     own(avoiding(removing(tree({MetadataCall::remove_directory}), {Thing::tree}), in_trees))},
    {Operation::mix, "mix", "metadata", "Draw the operation of each request at random by the weights of mix.",
     own(avoiding(removing(files({MetadataCall::open, MetadataCall::unlink}), {Thing::attributes}), in_files))},
};

constexpr std::array<std::string_view, thing_count> thing_names{
    "tree", "files", "directories", "hard-links", "symbolic-links", "attributes", "open-files"};

}  // namespace

std::span<const OperationEntry> all_operations() { return operations; }

const OperationEntry* find_operation(std::string_view name) {
  const auto* found = std::find_if(std::begin(operations), std::end(operations),
                                   [&](const OperationEntry& entry) { return entry.name == name; });
  return found == std::end(operations) ? nullptr : found;
}

const OperationEntry& entry_of(Operation operation) {
  for (const OperationEntry& entry : operations)
    if (entry.operation == operation) return entry;
  throw std::logic_error("an operation that no suite can name");
}

std::uint32_t steps_of_shift(const OperationEntry& entry) {
  if (entry.metadata.removes.has(Thing::files) || entry.metadata.removes.has(Thing::directories)) return 3;
  const bool opens =
      entry.metadata.operates_on == OperatesOn::files && entry.metadata.calls.contains({MetadataCall::open});
  return opens ? 2 : 1;
}

std::string_view name_of(Operation operation) {
  return operation == Operation::prefill ? "prefill" : entry_of(operation).name;
}

std::string_view name_of(Thing thing) { return thing_names[static_cast<unsigned>(thing)]; }

std::optional<Thing> find_thing(std::string_view name) {
  const auto* found = std::find(thing_names.begin(), thing_names.end(), name);
  if (found == thing_names.end()) return std::nullopt;
  return static_cast<Thing>(found - thing_names.begin());
}

std::string_view name_of(OperatesOn operates_on) {
  switch (operates_on) {
    case OperatesOn::files: return "files";
    case OperatesOn::directories: return "directories";
    case OperatesOn::tree: return "tree";
    case OperatesOn::nothing: break;
  }
  return "";
}

}  // namespace strider
