#include "patterns/example_lists.hpp"

#include <algorithm>
#include <fstream>
#include <random>
#include <vector>

#include "foundation/folder.hpp"

namespace strider {
namespace {

enum class Memory { packed, listed };

/// Extents by chance, those of a request apart in file and memory, in mixed up lines.
void write_list(const std::string& path, Memory memory, std::mt19937_64& random) {
  std::vector<std::string> lines;
  for (unsigned rank = 0; rank < 3; ++rank) {
    const std::uint64_t requests = random() % 5;
    for (unsigned request = 0; request < requests; ++request) {
      std::uint64_t file_end = random() % 1000, memory_end = random() % 8;
      for (std::uint64_t i = random() % 6 + 1; i > 0; --i) {
        const std::uint64_t offset = file_end + random() % 20, length = 1 + random() % 50;
        file_end = offset + length;
        std::string line = std::to_string(rank) + "," + std::to_string(request) + "," + std::to_string(offset) + "," +
                           std::to_string(length);
        if (memory == Memory::listed) line += ", " + std::to_string(memory_end + random() % 3);
        memory_end += 2 + length;
        lines.push_back(line);
      }
    }
  }
  lines.emplace_back("3,0,5000,7" + std::string(memory == Memory::listed ? ",1" : ""));
  std::ofstream out(path);
  out << "# extents by chance\n\nrank, request, file_offset, length"
      << (memory == Memory::listed ? ",memory_offset" : "") << "\r\n";
  std::shuffle(lines.begin(), lines.end(), random);
  for (const std::string& line : lines) out << line << '\n';
}

class Examples {
 public:
  Examples() {
    std::mt19937_64 random(5);
    for (int i = 0; i < 600; ++i) {
      paths_.push_back(folder_.file("list" + std::to_string(i)));
      write_list(paths_.back(), i % 2 == 0 ? Memory::packed : Memory::listed, random);
    }
  }
  std::span<const std::string> paths() const { return paths_; }

 private:
  Folder folder_;
  std::vector<std::string> paths_;
};

}  // namespace

std::span<const std::string> example_lists() {
  static const Examples examples;
  return examples.paths();
}

}  // namespace strider
