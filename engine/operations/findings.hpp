#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace strider {

/// What a phase of metadata found wrong: the first ones in words, the rest counted.
class Findings {
 public:
  static constexpr std::size_t kept = 4;

  struct Finding {
    std::string file;
    std::string message;
  };
  void add(Finding finding) {
    if (first_.size() < kept) first_.push_back(std::move(finding));
    ++count_;
  }
  std::uint64_t count() const { return count_; }
  const std::vector<Finding>& first() const { return first_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<Finding> first_;
};

}  // namespace strider
