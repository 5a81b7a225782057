#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interfaces/directory.hpp"
#include "interfaces/listio/volume_client.hpp"

namespace strider {

/// The metadata operations of a volume. A name is looked up by its whole path, in one request to the manager.
class ListioDirectory final : public Directory {
 public:
  /// `prefix`: what all names begin with.
  ListioDirectory(listio::Client& client, std::string prefix) : client_(client), prefix_(std::move(prefix)) {}

  void make_directory(const char* path) override { client_.make_directory(whole(path), 0700); }
  void remove_directory(const char* path) override { client_.remove_directory(whole(path)); }
  void list(const char* path, EntryVisitor& visitor) override {
    for (const auto& name : client_.read_directory(whole(path))) visitor.entry(name.name.c_str());
  }
  void make_node(const char* path) override { client_.open(whole(path), listio::Creation::exclusive, 0600); }

  Handle open(const char* path, OpenMode mode) override {
    const auto creation = mode == OpenMode::create ? listio::Creation::exclusive : listio::Creation::never;
    listio::File file = client_.open(whole(path), creation, 0600);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i]) continue;
      files_[i] = std::move(file);
      return static_cast<Handle>(i);
    }
    files_.emplace_back(std::move(file));
    return static_cast<Handle>(files_.size() - 1);
  }
  void write(Handle file, std::span<const std::byte> data, const char*) override { client_.write(of(file), data, 0); }
  std::uint64_t read(Handle file, std::span<std::byte> to, const char*) override {
    return client_.read(of(file), to, 0);
  }
  void sync(Handle file, const char*) override { client_.sync(of(file)); }
  std::uint64_t seek_end(Handle file, const char*) override { return client_.size(of(file)); }
  void close(Handle file, const char*) override { files_[static_cast<std::size_t>(file)].reset(); }

  ItemState state(const char* path) override {
    const listio::FileStat found = client_.stat(whole(path));
    const bool is_file = found.kind == listio::EntryKind::file;
    // A file has one name: the service has no links.
    return {is_file ? ItemType::file : ItemType::directory, found.bytes, 1};
  }
  void truncate(const char* path, std::uint64_t bytes) override { client_.truncate(client_.open(whole(path)), bytes); }
  void rename(const char* from, const char* to) override { client_.rename(whole(from), prefix_ + to); }
  void unlink(const char* path) override { client_.unlink(whole(path)); }

 private:
  const std::string& whole(const char* path) {
    path_.assign(prefix_).append(path);
    return path_;
  }
  const listio::File& of(Handle file) const { return *files_[static_cast<std::size_t>(file)]; }

  listio::Client& client_;
  std::string prefix_, path_;
  std::vector<std::optional<listio::File>> files_;
};

/// What it offers. Nothing is open at a server, so `make_node` is what `open` does too.
constexpr MetadataCalls listio_calls{MetadataCall::make_directory, MetadataCall::remove_directory,
                                     MetadataCall::list,           MetadataCall::make_node,
                                     MetadataCall::open,           MetadataCall::seek,
                                     MetadataCall::state,          MetadataCall::truncate,
                                     MetadataCall::rename,         MetadataCall::unlink};

}  // namespace strider
