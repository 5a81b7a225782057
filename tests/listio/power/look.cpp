#include "power/look.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <thread>

#include "foundation/error.hpp"
#include "foundation/json_text.hpp"

namespace strider::listio {

Bytes content(Client& client, const File& file) {
  Bytes bytes(client.size(file));
  client.read(file, bytes, 0);
  return bytes;
}

Contents contents(Client& client, std::set<std::string>& damaged, const std::function<Bytes(const File&)>& read) {
  Contents found;
  std::vector<std::string> directories{""};
  while (!directories.empty()) {
    const std::string directory = directories.back();
    directories.pop_back();
    for (const auto& [name, kind, inode] : client.read_directory(directory)) {
      const std::string path = directory.empty() ? name : directory + "/" + name;
      if (kind == EntryKind::directory) {
        directories.push_back(path);
        continue;
      }
      try {
        const File file = client.open(path, Creation::never);
        found[path] = {file.id, read(file)};
      } catch (const IoError& error) {
        damaged.insert(path + " (" + error.what() + ")");
      }
    }
  }
  return found;
}

void Seen::complain(const std::string& text) {
  const std::lock_guard lock(mutex_);
  mistakes_.push_back(text);
}

std::vector<std::string> Seen::check(Client& client, const std::string& image) {
  const CheckReport report = client.check();
  const std::vector<std::string> done = client.repair(report);
  if (!report.problems.empty())
    for (const std::string& problem : client.check().problems) complain(image + ": after the repair: " + problem);
  const std::lock_guard lock(mutex_);
  ++images_;
  ++(report.problems.empty() ? clean_ : repaired_);
  repairs_ += done.size();
  std::vector<std::string> lines;
  for (const std::string& problem : report.problems) lines.push_back("found: " + problem);
  for (const std::string& repair : done) lines.push_back("repaired: " + repair);
  return lines;
}

void Seen::compare(const std::string& image, const Model& model, const Contents& found,
                   const std::set<std::string>& damaged, const std::vector<std::string>& report) {
  const std::vector<std::string> mistakes = model.mistakes(found, damaged);
  for (const std::string& mistake : mistakes) complain(image + ": " + mistake);
  if (mistakes.empty()) return;
  for (const std::string& line : report) complain(image + ": " + line);
}

void Seen::print(const std::string& fields) const {
  std::cout << "{\"images\": " << images_ << ", \"clean\": " << clean_ << ", \"repaired\": " << repaired_
            << ", \"repairs\": " << repairs_ << ", " << fields << "\"mistakes\": [";
  for (std::size_t i = 0; i < mistakes_.size(); ++i) std::cout << (i > 0 ? ", " : "") << json_text(mistakes_[i]);
  std::cout << "]}\n";
}

void look_at_images(const Images& images, const std::vector<Moment>& moments, unsigned threads, Seen& seen,
                    const std::function<void(const std::string& image, const Model& model)>& look) {
  const std::vector<std::string>& kinds = images.kinds;
  std::atomic<std::uint64_t> next = 0;
  const auto work = [&] {
    for (std::uint64_t number = 0; (number = next++) < images.boundaries / images.every * kinds.size();) {
      const std::uint64_t boundary = (1 + number / kinds.size()) * images.every;
      const std::string folder = images.folder + "/" + std::to_string(boundary) + kinds[number % kinds.size()];
      const auto after = std::ranges::upper_bound(moments, boundary, {}, &Moment::first);
      if (after == moments.begin()) continue;  // the volume's first names
      try {
        look(folder, std::prev(after)->model);
      } catch (const std::exception& error) {
        seen.complain(folder + ": " + error.what());
      }
      std::filesystem::remove_all(folder);
    }
  };
  std::vector<std::jthread> workers;
  while (workers.size() + 1 < threads) workers.emplace_back(work);
  work();
}

}  // namespace strider::listio
