#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "listio/client/client.hpp"
#include "power/model.hpp"
#include "power/workload.hpp"

namespace strider::listio {

/// Files by path, with their content.
using Contents = std::map<std::string, std::pair<FileId, Bytes>>;
/// All files of a volume; those that `read` cannot read are in `damaged`.
Contents contents(Client& client, std::set<std::string>& damaged, const std::function<Bytes(const File&)>& read);
/// As a client reads it.
Bytes content(Client& client, const File& file);

/// Findings on images of the disk. For several threads at once.
class Seen {
 public:
  void complain(const std::string& text);
  /// Checks and repairs a volume. Returns findings and repairs, for messages.
  std::vector<std::string> check(Client& client, const std::string& image);
  /// Compares files of a volume that was repaired with those that may be there; `report` is complained about too if
  /// that fails.
  void compare(const std::string& image, const Model& model, const Contents& found,
               const std::set<std::string>& damaged, const std::vector<std::string>& report);
  bool is_right() const { return mistakes_.empty(); }
  /// A line of JSON, with further fields such as `"promises": 4, `.
  void print(const std::string& fields) const;

 private:
  std::mutex mutex_;
  std::uint64_t images_ = 0, clean_ = 0, repaired_ = 0, repairs_ = 0;
  std::vector<std::string> mistakes_;
};

struct Images {
  std::string folder;
  std::uint64_t boundaries;
  std::uint64_t every;             ///< boundaries: the others are left out
  std::vector<std::string> kinds;  ///< ends of the names of images
};

/// Calls `look` for the images, by so many threads, with the model of their time, and removes them. Leaves out those
/// before the first moment.
void look_at_images(const Images& images, const std::vector<Moment>& moments, unsigned threads, Seen& seen,
                    const std::function<void(const std::string& image, const Model& model)>& look);

}  // namespace strider::listio
