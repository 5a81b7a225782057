#include "listio/client/volume.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "foundation/descriptor.hpp"
#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr int format = 1;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError("volume", path + ": " + why, "name the file that was written when the volume was started");
}

}  // namespace

Volume read_volume(const std::string& path) {
  std::ifstream file(path);
  if (!file) refuse(path, std::generic_category().message(errno));
  std::stringstream text;
  text << file.rdbuf();
  try {
    const auto json = nlohmann::json::parse(text.str());
    if (json.at("strider-listio-volume") != format) refuse(path, "is a volume file of another release of Strider");
    Volume volume;
    volume.file = std::filesystem::absolute(path);
    volume.servers = json.at("servers").get<std::vector<std::string>>();
    volume.transport = json.at("transport").get<std::string>();
    volume.strip_bytes = json.at("strip_bytes").get<std::uint64_t>();
    volume.server_bytes_per_s = json.value("server_bytes_per_s", std::uint64_t{0});
    volume.secret = secret_of(json.at("secret").get<std::string>());
    if (json.contains("id")) volume.state.id = volume_id_of(json.at("id").get<std::string>());
    volume.state.epoch = json.value("epoch", std::uint64_t{0});
    volume.checksums = json.value("checksums", volume.checksums);
    volume.copies = json.value("copies", volume.copies);
    if (volume.copies != 1 && (volume.copies != 2 || volume.servers.size() < 2))
      refuse(path, "names " + std::to_string(volume.copies) + " copies of the data");
    if (volume.servers.empty()) refuse(path, "names no servers");
    return volume;
  } catch (const nlohmann::json::parse_error& error) {
    // Content of a file that is no volume does not belong in a message.
    refuse(path, "is not a volume file: invalid JSON at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::exception& error) {
    refuse(path, std::string("is not a volume file: ") + error.what());
  }
}

void refresh(Volume& volume) {
  if (volume.file.empty()) return;
  try {
    const Volume now = read_volume(volume.file);
    if (now.state.id != volume.state.id || now.secret != volume.secret || now.copies != volume.copies ||
        now.servers.size() != volume.servers.size())
      return;
    volume.servers = now.servers;
    volume.state = now.state;
  } catch (const InputError&) {  // NOLINT(bugprone-empty-catch): the known one may still be right
  }
}

void write_volume(const std::string& path, const Volume& volume) {
  const nlohmann::json json{{"strider-listio-volume", format},
                            {"servers", volume.servers},
                            {"transport", volume.transport},
                            {"strip_bytes", volume.strip_bytes},
                            {"server_bytes_per_s", volume.server_bytes_per_s},
                            {"secret", to_hex(volume.secret)},
                            {"id", to_hex(volume.state.id)},
                            {"epoch", volume.state.epoch},
                            {"checksums", volume.checksums},
                            {"copies", volume.copies}};
  const std::string text = json.dump(1) + "\n", fresh = path + ".new";
  ::unlink(fresh.c_str());
  Descriptor file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool written = file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file.close() != 0 || !written || std::rename(fresh.c_str(), path.c_str()) != 0)
    throw InputError("volume", path + ": " + std::generic_category().message(errno),
                     "name a file in a directory in which you may write");
}

}  // namespace strider::listio
