#include "interfaces/interface.hpp"

namespace strider {
namespace {

class NullFile final : public File {
 public:
  void write(const Request&) override {}
  void read(const Request&) override {}
  void sync() override {}
  void close() override {}
};

class Null final : public Interface {
 public:
  explicit Null(const Settings&) {}
  std::unique_ptr<File> open(const OpenRequest&) override { return std::make_unique<NullFile>(); }
  void remove(const std::string&) override {}
};

}  // namespace

extern const InterfaceEntry null_entry{"null",
                                       "Moves no bytes: what is measured is Strider's own cost.",
                                       {.storage = false, .collective = false},
                                       {},
                                       make_interface<Null>};

}  // namespace strider
