// strider-listio-copy put|get VOLUME FOLDER: copies all files of a folder into the root of a volume, or back.
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "listio/client/client.hpp"

namespace strider::listio {
namespace {

void put(Client& client, const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const File file = client.open(entry.path().filename(), Creation::if_missing);
    client.truncate(file, 0);
    if (!bytes.empty()) client.write(file, std::as_bytes(std::span(bytes)), 0);
  }
}

void get(Client& client, const std::filesystem::path& folder) {
  for (const DirectoryPage::Name& entry : client.read_directory("")) {
    if (entry.kind != EntryKind::file) continue;
    const File file = client.open(entry.name);
    std::string bytes(client.size(file), '\0');
    if (!bytes.empty()) client.read(file, std::as_writable_bytes(std::span(bytes)), 0);
    std::ofstream(folder / entry.name, std::ios::binary) << bytes;
  }
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  const std::string verb = count == 4 ? words[1] : "";
  if (verb != "put" && verb != "get") {
    std::fputs("usage: strider-listio-copy put|get VOLUME FOLDER\n", stderr);
    return 2;
  }
  try {
    strider::listio::Client client(strider::listio::read_volume(words[2]));
    (verb == "put" ? strider::listio::put : strider::listio::get)(client, words[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-listio-copy: %s\n", error.what());
    return 1;
  }
  return 0;
}
