// Cuts the power of a volume's servers after each sync that they do, and checks the remaining data.
//
//   strider-listio-power-cut MOUNT SOCKET IMAGES SEED COUNT
//
// MOUNT is a file system that discards unsynced data (tests/forgetfs), SOCKET its control. A client makes, writes,
// renames, removes and syncs files at random until there are COUNT images of the disk in IMAGES. Then a volume is
// started on each image: a check has to find nothing, or repair all, and each file has to be as promised. Prints
// a line of JSON; the exit code is 1 if a promise was broken.
#include <exception>
#include <iostream>

#include "listio/client/client.hpp"
#include "power/forgetful.hpp"
#include "power/look.hpp"
#include "power/workload.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr std::uint32_t servers = 3;
constexpr std::uint64_t strip_bytes = 4096;
constexpr std::uint64_t few_bytes = 65536;
constexpr unsigned threads = 2;

void look(const std::string& image, ServerOptions options, const Model& model, Seen& seen) {
  options.directory = image + "/volume";
  const Service service(servers, options, strip_bytes);
  Client client(service.volume(), {});
  const std::vector<std::string> report = seen.check(client, image);
  std::set<std::string> damaged;
  const Contents found = contents(client, damaged, [&](const File& file) { return content(client, file); });
  seen.compare(image, model, found, damaged, report);
}

int run(const std::string& mount, const std::string& socket, const std::string& images, std::uint64_t seed,
        std::uint64_t count) {
  const Forgetful forgetful(socket);
  ServerOptions options;
  options.directory = mount + "/volume";
  options.buffer_bytes = few_bytes;
  options.secret = make_secret();
  options.volume = {make_volume_id(), 1};
  std::vector<Moment> moments;
  {
    const Service service(servers, options, strip_bytes);
    Client client(service.volume(), {});
    forgetful.command("snapshots " + images);
    Workload workload(client, forgetful, seed);
    while (forgetful.boundaries() < count) workload.step();
    forgetful.command("snapshots");
    moments = workload.take_moments();
  }
  Seen seen;
  look_at_images({.folder = images, .boundaries = count, .every = 1, .kinds = {"", "-torn"}}, moments, threads, seen,
                 [&](const std::string& image, const Model& model) { look(image, options, model, seen); });
  seen.print("\"promises\": " + std::to_string(moments.size()) + ", ");
  return seen.is_right() ? 0 : 1;
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  if (count != 6) return 2;
  try {
    return strider::listio::run(words[1], words[2], words[3], std::stoull(words[4]), std::stoull(words[5]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
