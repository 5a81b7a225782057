#include "operations/mix.hpp"

#include <algorithm>

#include "foundation/random.hpp"

namespace strider {

Mix::Mix(const std::vector<MixPart>& parts, std::uint64_t seed, std::uint32_t owner, Population& population,
         MetadataExecutor& executor, const Timer& timer)
    : parts_(parts),
      random_(seed),
      owner_(owner),
      oldest_(population.first_file),
      next_(population.first_file + population.files),
      least_(std::max<std::uint64_t>(1, population.files / 2)),
      most_(population.files + (population.files + 1) / 2),
      rewrites_(population.rewrites),
      executor_(executor),
      timer_(timer) {
  rewrites_.keep(oldest_, population.files, most_);
  for (const MixPart& part : parts_) {
    tallies_.emplace_back(part.operation);
    total_weight_ += part.weight;
  }
  // What keeps the population steady may be done although no weight asks for it.
  for (const Operation operation : {Operation::create, Operation::unlink})
    if (index_of(operation) == tallies_.size()) tallies_.emplace_back(operation);
}

std::size_t Mix::index_of(Operation operation) {
  const auto found = std::find_if(tallies_.begin(), tallies_.end(),
                                  [&](const MixTally& tally) { return tally.operation == operation; });
  return static_cast<std::size_t>(found - tallies_.begin());
}

std::size_t Mix::draw() {
  random_ += 0x9e3779b97f4a7c15ULL;
  constexpr double two_to_64 = 18446744073709551616.0;
  double left = static_cast<double>(mix64(random_)) / two_to_64 * total_weight_;
  std::size_t part = 0;
  while (part + 1 < parts_.size() && left >= parts_[part].weight) left -= parts_[part++].weight;
  const Operation drawn = parts_[part].operation;
  if (drawn == Operation::create && living() >= most_) return index_of(Operation::unlink);
  if (drawn == Operation::unlink && living() <= least_) return index_of(Operation::create);
  return part;
}

Item Mix::pick(Operation operation) {
  if (operation == Operation::create) return {owner_, next_};
  if (operation == Operation::unlink) return {owner_, oldest_};
  return {owner_, oldest_ + below(mix64(random_ ^ 0x5bf03635ULL), living())};
}

std::uint64_t Mix::step(std::uint64_t waited) {
  MixTally& tally = tallies_[draw()];
  const Item item = pick(tally.operation);
  if (tally.operation == Operation::create) rewrites_.created(item.number);
  if (tally.operation == Operation::small_write) rewrites_.rewritten(item.number);
  const std::uint64_t ticks = waited + executor_.execute(tally.operation, item);
  if (tally.operation == Operation::create) ++next_;
  if (tally.operation == Operation::unlink) ++oldest_;
  tally.latency_ns.record(timer_.to_ns(ticks));
  ++tally.requests;
  return ticks;
}

}  // namespace strider
