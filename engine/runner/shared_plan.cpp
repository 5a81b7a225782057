#include "runner/shared_plan.hpp"

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "ranks/exchange.hpp"
#include "runner/plan_errors.hpp"

namespace strider {
namespace {

constexpr std::size_t bundle_bytes = std::size_t{1} << 20;

PlanError error_of(const std::exception& error) {
  return {0, "", std::string("the plan cannot be read: ") + error.what(), ""};
}

/// On rank 0.
PlanPieces read_pieces(const std::string& path, std::vector<PlanError>& errors) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) {
    errors.push_back({0, "", "the node of rank 0 cannot read the plan " + path,
                      "keep the runs in a directory that all nodes of the run see"});
    return {};
  }
  try {
    return split_plan(text, errors);
  } catch (const std::exception& error) {
    errors.push_back(error_of(error));
    return {};
  }
}

void share_texts(std::vector<std::string>& texts) {
  std::vector<std::uint64_t> sizes;
  std::string all;
  for (const std::string& text : texts) {
    sizes.push_back(text.size());
    all += text;
  }
  broadcast_sized(sizes, MPI_COMM_WORLD, idle);
  broadcast_sized(all, MPI_COMM_WORLD, idle);
  texts.clear();
  std::size_t begin = 0;
  for (const std::uint64_t size : sizes) {
    texts.push_back(all.substr(begin, size));
    begin += size;
  }
}

/// The next pieces, of about a mebibyte; none after the last.
std::vector<std::string> next_bundle(std::span<const std::string> pieces) {
  std::vector<std::string> bundle;
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) {
    if (bytes >= bundle_bytes) break;
    bytes += piece.size();
    bundle.push_back(piece);
  }
  return bundle;
}

}  // namespace

SharedPlan::SharedPlan(const std::string& path, std::vector<PlanError>& errors) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PlanPieces pieces;
  if (rank_ == 0) pieces = read_pieces(path, errors);
  std::string of_the_whole = packed(errors);
  broadcast_sized(of_the_whole, MPI_COMM_WORLD, idle);
  if (!of_the_whole.empty()) {
    errors = unpacked(of_the_whole);
    return;
  }
  broadcast_sized(pieces.header, MPI_COMM_WORLD, idle);
  reader_.emplace(pieces.header, errors);
  read_cases(std::move(pieces.cases), errors);
}

void SharedPlan::read_cases(std::vector<std::string> pieces, std::vector<PlanError>& errors) {
  pieces_ = std::move(pieces);
  std::vector<Case> cases;
  std::size_t done = 0;
  while (true) {
    std::vector<std::string> bundle;
    if (rank_ == 0) bundle = next_bundle(std::span(pieces_).subspan(done));
    share_texts(bundle);
    if (bundle.empty()) break;
    done += bundle.size();
    for (const std::string& piece : bundle) try {
        std::optional<Case> test = reader_->next(piece);
        if (test && rank_ == 0) cases.push_back(std::move(*test));
      } catch (const std::exception& error) {  // this rank has to go on: the others wait for it
        errors.push_back(error_of(error));
      }
  }
  plan_ = reader_->finish();
  plan_.cases = std::move(cases);
}

const TurnCases& SharedPlan::begin_turn(std::size_t case_index) {
  if (!turn_.indices.empty() && turn_.indices.front() == case_index) return turn_;
  turn_ = {};
  std::vector<std::string> pieces;
  if (rank_ == 0) turn_.indices = members_of_turn(plan_, case_index);
  for (const std::size_t index : turn_.indices) pieces.push_back(pieces_[index]);
  broadcast_sized(turn_.indices, MPI_COMM_WORLD, idle);
  share_texts(pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i) turn_.cases.push_back(reader_->again(turn_.indices[i], pieces[i]));
  return turn_;
}

}  // namespace strider
