#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "listio/client/client.hpp"

namespace strider::listio {

/// Compares the data files of all servers, which have to be added first, with the names of the volume.
class Checker {
 public:
  explicit Checker(std::uint32_t servers) : data_(servers) {}

  void add_data(std::uint32_t server, const DataPage& page);
  void add_directory() { ++report_.directories; }
  void add_file(const std::string& path, const Entry& entry);
  /// Of a file whose entry cannot be read.
  void add_damaged(const std::string& path);
  /// What is left over is orphaned.
  CheckReport report() const;

 private:
  std::vector<std::map<FileId, std::uint64_t>> data_;  ///< sizes of data files that no name claims, by server
  CheckReport report_;
};

}  // namespace strider::listio
