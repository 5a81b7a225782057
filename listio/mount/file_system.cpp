#include "listio/mount/file_system.hpp"

#include <cerrno>
#include <random>
#include <string_view>
#include <utility>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr std::string_view aside_prefix = ".strider-removed-";

std::string aside_name() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string name(aside_prefix);
  for (int i = 0; i < 16; ++i) name += digits[random() % digits.size()];
  return name;
}

}  // namespace

FileSystem::FileSystem(Client& served, MountOptions chosen) : client(served), options(std::move(chosen)) {}

FileSystem::Found FileSystem::look(Nodes::Number node) {
  const Nodes::Identity is = nodes.identity(node);
  const auto is_it = [&](const FileStat& found) { return is.id == 0 || identity_of(found).id == is.id; };
  try {
    const std::string path = nodes.path(node);
    if (FileStat found = client.stat(path); is_it(found)) return {path, found};
  } catch (const IoError& error) {
    const int number = error.details().error_number;
    const bool may_be_elsewhere = number == ESTALE || ((number == ENOENT || number == ENOTDIR) && !nodes.is_gone(node));
    if (!may_be_elsewhere) throw;
  }
  const int gone = is.kind == EntryKind::directory ? ENOENT : ESTALE;
  if (is.id == 0 || is.kind == EntryKind::link) throw IoError({"find", "", 0, 0, gone});
  try {
    const std::string path = client.locate(is.id, is.kind);
    const FileStat found = client.stat(path);
    if (!is_it(found)) throw IoError({"find", path, 0, 0, gone});
    nodes.move(node, path);
    return {path, found};
  } catch (const IoError& error) {
    if (error.details().error_number != ENOENT) throw;
    throw IoError({"find", "", 0, 0, gone});
  }
}

std::optional<FileStat> FileSystem::look_nameless(Nodes::Number node) {
  for (const auto& [number, handle] : handles_) {
    if (handle.node != node) continue;
    FileStat stat = handle.stat;
    stat.bytes = client.size(handle.file);
    return stat;
  }
  return {};
}

std::uint64_t FileSystem::opened(File file, Nodes::Number node, const FileStat& stat) {
  nodes.open(node);
  handles_[next_handle_] = {std::move(file), node, stat, false, name_losses_};
  return next_handle_++;
}

void FileSystem::closed(std::uint64_t number) {
  const Nodes::Number node = handle(number).node;
  handles_.erase(number);
  const std::string path = nodes.has_path(node) ? nodes.path(node) : "";
  nodes.close(node);
  if (!asides_.contains(path) || nodes.is_open(path)) return;
  asides_.erase(path);
  nodes.remove(path);
  client.unlink(path);
}

void FileSystem::sync_file(Handle& handle) {
  try {
    client.sync(handle.file);
  } catch (const LostChanges& lost) {
    remember(lost, handle.file.id);
  }
  const bool has_lost_names = std::exchange(handle.name_losses, name_losses_) != name_losses_;
  if (std::exchange(handle.has_lost_data, false) || has_lost_names) throw IoError(*lost_);
}

void FileSystem::sync_names(std::uint64_t& name_losses) {
  try {
    client.sync_names();
  } catch (const LostChanges& lost) {
    remember(lost, 0);
  }
  if (std::exchange(name_losses, name_losses_) != name_losses_) throw IoError(*lost_);
}

void FileSystem::remember(const LostChanges& lost, FileId file) {
  lost_ = lost;
  if (lost.has_names()) ++name_losses_;
  if (!lost.has_data()) return;
  for (auto& [number, handle] : handles_) handle.has_lost_data |= handle.file.id == file;
}

void FileSystem::unlink(const std::string& path) {
  if (nodes.is_open(path)) {
    put_aside(path);
    return;
  }
  client.unlink(path);
  nodes.remove(path);
}

void FileSystem::rename(const std::string& from, const std::string& to) {
  const bool replaces_open = from != to && nodes.is_open(to);
  const std::string aside = replaces_open ? put_aside(to) : "";
  try {
    client.rename(from, to);
  } catch (...) {
    if (replaces_open) {
      client.rename(aside, to);
      nodes.rename(aside, to);
      asides_.erase(aside);
    }
    throw;
  }
  nodes.rename(from, to);
}

std::string FileSystem::put_aside(const std::string& path) {
  std::string aside = aside_name();
  client.rename(path, aside);
  nodes.rename(path, aside);
  asides_.insert(aside);
  return aside;
}

std::span<std::byte> FileSystem::buffer(std::size_t bytes) {
  if (buffer_.size() < bytes) buffer_.resize(bytes);
  return std::span(buffer_).first(bytes);
}

bool FileSystem::is_aside(const std::string& path) { return path.starts_with(aside_prefix); }

}  // namespace strider::listio
