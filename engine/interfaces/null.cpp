#include "interfaces/interface.hpp"

namespace strider {
namespace {

class NullFile final : public File {
 public:
  void write(const Request&) override {}
  void read(const Request&) override {}
  void sync() override {}
  void close() override {}
  std::uint64_t size() override { return 0; }
};

class NullDirectory final : public Directory {
 public:
  void make_directory(const char*) override {}
  void remove_directory(const char*) override {}
  void change_directory(const char*) override {}
  void list(const char*, EntryVisitor&) override {}
  void make_node(const char*) override {}
  Handle open(const char*, OpenMode) override { return 0; }
  void write(Handle, std::span<const std::byte>, const char*) override {}
  std::uint64_t read(Handle, std::span<std::byte> to, const char*) override { return to.size(); }
  void sync(Handle, const char*) override {}
  std::uint64_t seek_end(Handle, const char*) override { return 0; }
  void close(Handle, const char*) override {}
  ItemState state(const char*) override { return {}; }
  void access(const char*) override {}
  void set_mode(const char*, unsigned) override {}
  void set_times(const char*) override {}
  void truncate(const char*, std::uint64_t) override {}
  void rename(const char*, const char*) override {}
  void link(const char*, const char*) override {}
  void make_symbolic_link(const char*, const char*) override {}
  std::string_view read_symbolic_link(const char*, std::span<char>) override { return {}; }
  void set_attribute(const char*, std::string_view) override {}
  std::string_view get_attribute(const char*, std::span<char>) override { return {}; }
  void unlink(const char*) override {}
};

class Null final : public Interface {
 public:
  explicit Null(const Settings&) {}
  std::unique_ptr<File> open(const OpenRequest&) override { return std::make_unique<NullFile>(); }
  void remove(const std::string&) override {}
  std::unique_ptr<Directory> open_directory(const std::string&) override { return std::make_unique<NullDirectory>(); }
};

}  // namespace

extern const InterfaceEntry null_entry{"null",
                                       "Moves no bytes, to measure Strider's own overhead.",
                                       {.metadata = MetadataCalls::all()},
                                       {},
                                       make_interface<Null>};

}  // namespace strider
