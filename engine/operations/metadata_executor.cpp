#include "operations/metadata_executor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "foundation/random.hpp"
#include "plan/steps.hpp"

namespace strider {
namespace {

constexpr std::string_view attribute_value = "strider";

/// The name of the item that an operation works on, or that it makes.
ItemName name_for(Operation operation, const Population& population) {
  switch (operation) {
    case Operation::link: return ItemName::hard_link;
    case Operation::symlink:
    case Operation::readlink: return ItemName::symbolic_link;
    case Operation::mkdir: return ItemName::directory;
    case Operation::stat_directory:
    case Operation::chdir:
    case Operation::rename_directory:
    case Operation::rmdir: return population.directory_name();
    default: return population.file_name();
  }
}

ItemName renamed(ItemName name) {
  switch (name) {
    case ItemName::file: return ItemName::renamed_file;
    case ItemName::renamed_file: return ItemName::file;
    case ItemName::directory: return ItemName::renamed_directory;
    default: return ItemName::directory;
  }
}

class CountEntries final : public EntryVisitor {
 public:
  void entry(const char*) override { ++count; }
  std::uint64_t count = 0;
};

/// Asks for the state of each entry as well.
class StatEntries final : public EntryVisitor {
 public:
  StatEntries(Directory& directory, const char* path) : directory_(directory) {
    path_.append(path);
    path_.append('/');
    way_ = path_.size();
  }
  void entry(const char* name) override {
    path_.cut(way_);
    path_.append(name);
    directory_.state(path_.c_str());
    ++count;
  }
  std::uint64_t count = 0;

 private:
  Directory& directory_;
  PathText path_;
  std::size_t way_ = 0;
};

}  // namespace

MetadataExecutor::MetadataExecutor(const MetadataWork& work, const Timer& timer, Tally& tally, Watch& watch,
                                   Findings& findings)
    : work_(work),
      operates_on_(entry_of(work.operation).metadata.operates_on),
      timer_(timer),
      tally_(tally),
      loop_(timer, tally, watch),
      findings_(findings),
      directory_(*work.directory),
      population_(*work.population),
      paths_(*work.tree, work.top),
      others_(*work.tree, work.top) {}

Item MetadataExecutor::item_of(std::uint64_t number_in_order) const {
  std::array<std::uint64_t, 1> number{};
  work_.order->fill(number_in_order, number);
  return {work_.place.rank, (operates_on_ == OperatesOn::files ? population_.first_file : 0) + number[0]};
}

/// Paths first: what they cost is no latency of storage.
void MetadataExecutor::name(Operation operation, Item item) {
  item_ = item;
  const ItemName name = name_for(operation, population_);
  path_ = paths_.item(name, item);
  switch (operation) {
    case Operation::rename:
    case Operation::rename_directory: other_ = others_.item(renamed(name), item); break;
    case Operation::link: other_ = others_.item(population_.file_name(), item); break;
    case Operation::symlink: name_target(population_.file_name()); break;
    case Operation::readlink:
      name_target(population_.renamed_when_linked ? ItemName::renamed_file : ItemName::file);
      break;
    default: break;
  }
}

/// A link leads to a file beside it.
void MetadataExecutor::name_target(ItemName name) {
  target_.cut(0);
  Paths::append_name(*work_.tree, name, item_, target_);
}

FileData MetadataExecutor::contents_of_item() const {
  FileData::Identity identity = *work_.contents;
  identity.file = hash_numbers(work_.tree_number, item_.owner, item_.number, population_.rewrites.of(item_.number));
  return FileData(identity);
}

void MetadataExecutor::generate() {
  if (!work_.contents) return;
  const std::uint64_t begin = timer_.now();
  contents_of_item().fill(work_.memory.first(work_.tree->file_bytes()), 0);
  memory_is_spoilt_ = false;
  tally_.prepare_ticks += timer_.now() - begin;
}

/// Nothing in memory is right before a read, certainly not the ends.
void MetadataExecutor::prepare_to_read() {
  const std::uint64_t checked = std::min({population_.file_bytes, work_.tree->file_bytes(), population_.written_bytes});
  if (!work_.contents || work_.checks == MetadataWork::Checks::no || checked == 0) return;
  const std::uint64_t begin = timer_.now();
  if (!memory_is_spoilt_) spoil(work_.memory.first(work_.tree->file_bytes()));
  memory_is_spoilt_ = false;
  const FileData contents = contents_of_item();
  work_.memory[0] = ~contents.at(0);
  work_.memory[checked - 1] = ~contents.at(checked - 1);
  tally_.prepare_ticks += timer_.now() - begin;
}

/// Opens, acts, closes, also after an error.
template <typename Action>
void MetadataExecutor::with_file(OpenMode mode, const Action& action) {
  const Directory::Handle file = directory_.open(path_, mode);
  try {
    action(file);
  } catch (const IoError&) {
    try {
      directory_.close(file, path_);
    } catch (const IoError&) {  // what came first says more
    }
    throw;
  }
  directory_.close(file, path_);
}

void MetadataExecutor::write_into(OpenMode mode) {
  const std::uint64_t bytes = work_.tree->file_bytes();
  with_file(mode, [&](Directory::Handle file) {
    if (bytes == 0) return;
    directory_.write(file, work_.memory.first(bytes), path_);
    if (work_.sync == SyncPolicy::each) directory_.sync(file, path_);
    moved_bytes_ = bytes;
  });
}

void MetadataExecutor::read_back() {
  with_file(OpenMode::read, [&](Directory::Handle file) {
    moved_bytes_ = directory_.read(file, work_.memory.first(work_.tree->file_bytes()), path_);
  });
}

/// Exactly what is timed.
void MetadataExecutor::call(Operation operation) {
  switch (operation) {
    case Operation::make_tree:
    case Operation::mkdir: return directory_.make_directory(path_);
    case Operation::create: return write_into(OpenMode::create);
    case Operation::mknod: return directory_.make_node(path_);
    case Operation::open: return work_.open_files->push_back(directory_.open(path_, OpenMode::read));
    case Operation::lseek: offset_ = directory_.seek_end((*work_.open_files)[loop_.next()], path_); return;
    case Operation::close:
      return directory_.close(std::exchange((*work_.open_files)[loop_.next()], Directory::closed), path_);
    case Operation::open_close: return directory_.close(directory_.open(path_, OpenMode::read), path_);
    case Operation::stat:
    case Operation::stat_directory: state_ = directory_.state(path_); return;
    case Operation::access: return directory_.access(path_);
    case Operation::chmod: return directory_.set_mode(path_, item_.number % 2 == 0 ? 0640 : 0600);
    case Operation::utime: return directory_.set_times(path_);
    case Operation::truncate:
    case Operation::expand: return directory_.truncate(path_, size_after(operation, population_.file_bytes, 0));
    case Operation::small_write: return write_into(OpenMode::write);
    case Operation::small_read: return read_back();
    case Operation::setxattr: return directory_.set_attribute(path_, attribute_value);
    case Operation::getxattr: text_ = directory_.get_attribute(path_, text_buffer_); return;
    case Operation::rename:
    case Operation::rename_directory: return directory_.rename(path_, other_);
    case Operation::link: return directory_.link(other_, path_);
    case Operation::symlink: return directory_.make_symbolic_link(target_.c_str(), path_);
    case Operation::readlink: text_ = directory_.read_symbolic_link(path_, text_buffer_); return;
    case Operation::unlink: return directory_.unlink(path_);
    case Operation::chdir: return directory_.change_directory(path_);
    case Operation::remove_tree:
    case Operation::rmdir: return directory_.remove_directory(path_);
    case Operation::readdir: {
      CountEntries count;
      directory_.list(path_, count);
      entries_ = count.count;
      return;
    }
    case Operation::readdir_stat: {
      StatEntries count(directory_, path_);
      directory_.list(path_, count);
      entries_ = count.count;
      return;
    }
    default: return;
  }
}

void MetadataExecutor::expect(bool right, const char* what, std::uint64_t found, std::uint64_t expected) {
  if (right) return;
  findings_.add(
      {path_, std::string(what) + " is " + std::to_string(found) + " instead of " + std::to_string(expected)});
}

void MetadataExecutor::check_state(ItemType type) {
  if (state_.type != type)
    return findings_.add({path_, type == ItemType::file ? "this is not a regular file" : "this is not a directory"});
  if (type == ItemType::directory) return;
  expect(state_.size_bytes == population_.file_bytes, "the size", state_.size_bytes, population_.file_bytes);
  const std::uint64_t links = population_.present.has(Thing::hard_links) ? 2 : 1;
  if (population_.mixed) return;
  links_.look(path_, state_.links, links, [this](const LinkCounts::Wrong& wrong) {
    findings_.add({wrong.file, "the number of links is " + std::to_string(wrong.found) + " instead of " +
                                   std::to_string(wrong.expected)});
  });
}

void MetadataExecutor::check_contents() {
  const std::uint64_t wanted = std::min(population_.file_bytes, work_.tree->file_bytes());
  expect(moved_bytes_ == wanted, "the readable length", moved_bytes_, wanted);
  if (!work_.contents || moved_bytes_ != wanted) return;
  const std::uint64_t begin = timer_.now();
  const auto written = work_.memory.first(std::min(wanted, population_.written_bytes));
  const std::uint64_t right =
      contents_of_item().examine(written, 0, FileData::Sum::none, FileData::Then::spoil).right_bytes;
  if (right < written.size())
    findings_.add({path_, "the contents are wrong from byte " + std::to_string(right) + " on"});
  // It must not pass for the next file's contents.
  spoil(work_.memory.first(wanted).subspan(right < written.size() ? 0 : right));
  memory_is_spoilt_ = true;
  tally_.prepare_ticks += timer_.now() - begin;
}

void MetadataExecutor::check_link() {
  if (text_ != target_.view())
    findings_.add({path_, "the link points to \"" + std::string(text_) + "\" instead of \"" +
                              std::string(target_.view()) + "\""});
}

void MetadataExecutor::check_entries(std::uint64_t directory) {
  if (!population_.whole || population_.mixed) return;
  const Things& present = population_.present;
  const std::uint64_t kinds = (present.has(Thing::files) ? 1U : 0U) + (present.has(Thing::directories) ? 1U : 0U) +
                              (present.has(Thing::hard_links) ? 1U : 0U) +
                              (present.has(Thing::symbolic_links) ? 1U : 0U);
  const std::uint64_t wanted =
      work_.tree->subdirectories(directory) + kinds * work_.tree->items_in(directory) * work_.place.ranks;
  expect(entries_ == wanted, "the number of entries", entries_, wanted);
}

void MetadataExecutor::check(Operation operation) {
  switch (operation) {
    case Operation::stat: return check_state(ItemType::file);
    case Operation::stat_directory: return check_state(ItemType::directory);
    case Operation::small_read: return check_contents();
    case Operation::readlink: return check_link();
    case Operation::lseek:
      return expect(offset_ == population_.file_bytes, "the offset that lseek returned", offset_,
                    population_.file_bytes);
    case Operation::getxattr:
      if (text_ != attribute_value)
        findings_.add({path_, "the extended attribute has another value than the one that was set"});
      return;
    default: return;
  }
}

std::uint64_t MetadataExecutor::execute(Operation operation, Item item) {
  name(operation, item);
  moved_bytes_ = 0;
  if (operation == Operation::create || operation == Operation::small_write) generate();
  if (operation == Operation::small_read) prepare_to_read();
  const std::uint64_t begin = timer_.now();
  call(operation);
  const std::uint64_t end = timer_.now();
  if (work_.checks == MetadataWork::Checks::yes) check(operation);
  tally_.bytes += moved_bytes_;
  return end - begin;
}

std::uint64_t MetadataExecutor::execute_on_directory(Operation operation, std::uint64_t directory) {
  path_ = paths_.directory(directory);
  const std::uint64_t begin = timer_.now();
  call(operation);
  const std::uint64_t end = timer_.now();
  if (work_.checks == MetadataWork::Checks::yes &&
      (operation == Operation::readdir || operation == Operation::readdir_stat))
    check_entries(directory);
  return end - begin;
}

std::uint64_t MetadataExecutor::execute_number(std::uint64_t number) {
  if (operates_on_ != OperatesOn::tree) return execute(work_.operation, item_of(number));
  const std::uint64_t mine = dealt_directories(work_.place, work_.tree->directories());
  const bool backward = work_.operation == Operation::remove_tree;  // a directory goes before its parent
  return execute_on_directory(work_.operation, dealt_directory(work_.place, backward ? mine - 1 - number : number));
}

Stop MetadataExecutor::run(std::uint64_t last, std::uint64_t deadline_ticks, Pace& pace) {
  return loop_.run(last, deadline_ticks, pace,
                   [this](std::uint64_t number, std::uint64_t waited) { return waited + execute_number(number); });
}

}  // namespace strider
