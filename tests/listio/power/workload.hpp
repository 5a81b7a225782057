#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "listio/client/client.hpp"
#include "power/forgetful.hpp"
#include "power/model.hpp"

namespace strider::listio {

/// What holds for power cuts from boundary `first` on, until the next moment.
struct Moment {
  std::uint64_t first = 0;
  Model model;
};

/// A client that works at random.
class Workload {
 public:
  /// Makes the directories that it uses.
  Workload(Client& client, const Forgetful& forgetful, std::uint64_t seed);

  void step();
  // Single steps, of a file that has a name.

  void write(const std::string& path, FileId file);
  void sync(const std::string& path, FileId file);
  Model& model() { return moments_.back().model; }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::vector<Moment> take_moments() { return std::move(moments_); }

 private:
  std::string any_path();
  void create(const std::string& path);
  void truncate(const std::string& path, FileId file);
  void rename(const std::string& from, const std::string& to);
  void rename_directory();
  void unlink(const std::string& path);
  void sync_names();
  void write_anew(const std::string& path, FileId file);

  Client& client_;
  const Forgetful& forgetful_;
  std::mt19937_64 random_;
  std::vector<Moment> moments_;
};

}  // namespace strider::listio
