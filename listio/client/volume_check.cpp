#include "listio/client/volume_check.hpp"

#include "foundation/error.hpp"

namespace strider::listio {

void Checker::add_data(std::uint32_t server, const DataPage& page) {
  for (const auto& [file, bytes] : page.files) {
    data_[server].emplace(file, bytes);
    ++report_.data_files;
    report_.bytes += bytes;
  }
}

void Checker::add_damaged(const std::string& path) {
  ++report_.files;
  report_.problems.push_back(path + ": its directory entry is damaged; its data cannot be found");
}

void Checker::add_file(const std::string& path, const Entry& entry) {
  ++report_.files;
  if (entry.layout.servers > data_.size()) {
    report_.problems.push_back(path + ": is striped over " + std::to_string(entry.layout.servers) +
                               " servers, more than the volume has");
    return;
  }
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t server = 0; server < entry.layout.servers; ++server) {
    const auto found = data_[server].find(entry.file);
    sizes.push_back(found == data_[server].end() ? 0 : found->second);
    if (found != data_[server].end()) data_[server].erase(found);
  }
  try {
    Striping(entry.layout.servers, entry.layout.strip_bytes, entry.layout.first).file_bytes(sizes);
  } catch (const InputError& error) {
    report_.problems.push_back(path + ": " + error.what());
  }
}

CheckReport Checker::report() const {
  CheckReport report = report_;
  for (std::uint32_t server = 0; server < data_.size(); ++server)
    for (const auto& [file, bytes] : data_[server]) report.orphans.push_back({server, file});
  return report;
}

}  // namespace strider::listio
