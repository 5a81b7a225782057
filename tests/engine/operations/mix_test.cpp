#include "operations/mix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "operations/model_directory.hpp"
#include "operations/work.hpp"
#include "trees/trees.hpp"

namespace strider {
namespace {

using Parts = std::vector<MixPart>;

/// A rank with files in a directory of its own, and a mix that works on them.
class MixTest : public testing::Test {
 protected:
  static constexpr std::uint32_t owner = 3;

  /// As many files as are said, as if they had been created: numbers first, first + 1, …
  void begin(Parts parts, std::uint64_t files, std::uint64_t seed = 1, std::uint64_t first = 0) {
    parts_ = std::move(parts);
    tree_ = balanced({.items = 4, .depth = 1, .fanout = 2, .file_size = 10});
    population_ = {{.present = {Thing::tree, Thing::files}, .files = files, .file_bytes = 10, .written_bytes = 10},
                   first};
    directory_.files.clear();
    for (std::uint64_t number = first; number < first + files; ++number)
      directory_.files[path(number)].bytes.resize(10);
    work_ = {.operation = Operation::mix,
             .tree = tree_.get(),
             .directory = &directory_,
             .top = "top",
             .place = {owner, 5},
             .order = &order_,
             .population = &population_,
             .memory = memory_};
    executor_ = std::make_unique<MetadataExecutor>(work_, timer_, tally_, watch_, findings_);
    mix_ = std::make_unique<Mix>(parts_, seed, owner, population_, *executor_, timer_);
  }
  std::string path(std::uint64_t number) { return Paths(*tree_, "top").item(population_.file_name(), {owner, number}); }
  /// That there are exactly the files from the oldest to the next.
  void expect_existing_files() {
    std::set<std::string> wanted;
    for (std::uint64_t k = 0; k < mix_->living(); ++k) wanted.insert(path(mix_->oldest() + k));
    ASSERT_EQ(directory_.names(), wanted);
  }
  std::uint64_t requests(Operation operation) const {
    for (const MixTally& tally : mix_->tallies())
      if (tally.operation == operation) return tally.requests;
    return 0;
  }

  ModelDirectory directory_;
  std::unique_ptr<Tree> tree_;
  Population population_;
  Parts parts_;
  Order order_{OrderKind::forward, 12, 1};
  std::vector<std::byte> memory_ = std::vector<std::byte>(10);
  MetadataWork work_;
  Timer timer_;
  Tally tally_;
  PatientWatch watch_;
  Findings findings_;
  std::unique_ptr<MetadataExecutor> executor_;
  std::unique_ptr<Mix> mix_;
};

const Parts usual{{Operation::stat, 60}, {Operation::small_read, 25}, {Operation::create, 10}, {Operation::unlink, 5}};

TEST_F(MixTest, DrawsEachOperationByItsWeight) {
  begin({{Operation::stat, 60}, {Operation::small_read, 25}, {Operation::access, 0.5}, {Operation::open_close, 14.5}},
        12);
  constexpr double draws = 50'000;
  for (int i = 0; i < draws; ++i) mix_->step();
  for (const MixPart& part : parts_) {
    const double share = part.weight / 100, deviation = std::sqrt(share * (1 - share) / draws);
    EXPECT_NEAR(static_cast<double>(requests(part.operation)) / draws, share, 5 * deviation) << name_of(part.operation);
  }
  EXPECT_EQ(requests(Operation::create) + requests(Operation::unlink), 0U);
}

TEST_F(MixTest, CreatesTheNextFileAndRemovesTheOldest) {
  begin(usual, 20);
  for (int i = 0; i < 3000; ++i) {
    mix_->step();
    expect_existing_files();
  }
  EXPECT_EQ(mix_->oldest(), requests(Operation::unlink));
  EXPECT_EQ(mix_->living(), 20 + requests(Operation::create) - requests(Operation::unlink));
  EXPECT_EQ(findings_.count(), 0U);
  EXPECT_TRUE(directory_.open_files.empty());
}

TEST_F(MixTest, KeepsItsPopulationBetweenHalfAndOneAndAHalf) {
  const Parts growing{{Operation::stat, 50}, {Operation::create, 40}, {Operation::unlink, 10}};
  const Parts shrinking{{Operation::stat, 50}, {Operation::create, 10}, {Operation::unlink, 40}};
  const Parts only_new{{Operation::create, 1}}, only_old{{Operation::unlink, 1}};
  for (const Parts& parts : {growing, shrinking, only_new, only_old, usual})
    for (const std::uint64_t files : {1U, 2U, 3U, 7U, 100U}) {
      begin(parts, files);
      std::uint64_t least = files, most = files;
      for (int i = 0; i < 1000; ++i) {
        mix_->step();
        least = std::min(least, mix_->living());
        most = std::max(most, mix_->living());
      }
      EXPECT_GE(least, std::max<std::uint64_t>(1, files / 2));
      EXPECT_LE(most, files + (files + 1) / 2);
      expect_existing_files();
    }
}

TEST_F(MixTest, CountsWhatItDidInsteadAsWhatItIs) {
  begin({{Operation::create, 1}}, 4);
  for (int i = 0; i < 100; ++i) mix_->step();
  EXPECT_EQ(requests(Operation::create) + requests(Operation::unlink), 100U);
  EXPECT_EQ(requests(Operation::create), 51U) << "two at once, and from then on in turns";
}

TEST_F(MixTest, VisitsEveryLivingFileEquallyOften) {
  begin({{Operation::access, 1}}, 8);
  constexpr double draws = 8000;
  for (int i = 0; i < draws; ++i) mix_->step();
  for (std::uint64_t number = 0; number < 8; ++number)
    EXPECT_NEAR(directory_.files[path(number)].accesses, draws / 8, 5 * std::sqrt(draws / 8)) << number;
}

TEST_F(MixTest, IsRepeatableAndDiffersBySeed) {
  const auto counts = [this](std::uint64_t seed) {
    begin(usual, 50, seed);
    for (int i = 0; i < 500; ++i) mix_->step();
    std::vector<std::uint64_t> result;
    for (const MixTally& tally : mix_->tallies()) result.push_back(tally.requests);
    result.push_back(mix_->oldest());
    return result;
  };
  EXPECT_EQ(counts(7), counts(7));
  EXPECT_NE(counts(7), counts(8));
}

TEST_F(MixTest, GoesOnWhereAnEarlierMixLeftOff) {
  begin(usual, 9, 1, 1000);
  for (int i = 0; i < 200; ++i) mix_->step();
  expect_existing_files();
  EXPECT_GT(mix_->oldest(), 1000U);
}

TEST_F(MixTest, CreatesFilesByTheNameThatTheOthersHave) {
  begin(usual, 9);
  population_.renamed_files = true;
  directory_.files.clear();
  for (std::uint64_t number = 0; number < 9; ++number) directory_.files[path(number)].bytes.resize(10);
  for (int i = 0; i < 200; ++i) mix_->step();
  expect_existing_files();
}

TEST_F(MixTest, RecordsTheLatencyOfEachOperation) {
  begin(usual, 9);
  for (int i = 0; i < 200; ++i) mix_->step();
  std::uint64_t all = 0;
  for (const MixTally& tally : mix_->tallies()) {
    EXPECT_EQ(tally.latency_ns.count(), tally.requests);
    all += tally.requests;
  }
  EXPECT_EQ(all, 200U);
}

TEST_F(MixTest, KnowsWhatIsThereAfterAnErrorButForTheFileAtHand) {
  begin({{Operation::create, 1}}, 10);
  directory_.most_files = 12;
  EXPECT_THROW(for (int i = 0; i < 10; ++i) mix_->step(), IoError);
  EXPECT_EQ(mix_->living(), 12U);
  EXPECT_EQ(directory_.files.size(), 13U) << "the one that could not be written is there, and is swept";
  EXPECT_TRUE(directory_.files.contains(path(mix_->oldest() + mix_->living())));
  EXPECT_TRUE(directory_.open_files.empty()) << "closed in spite of the error";
}

TEST_F(MixTest, FindsAFileThatSomebodyElseChangedOrRemoved) {
  begin({{Operation::stat, 1}}, 1);
  directory_.files[path(0)].bytes.resize(9);
  mix_->step();
  ASSERT_EQ(findings_.count(), 1U);
  EXPECT_EQ(findings_.first()[0].file, path(0));
  directory_.files.clear();
  EXPECT_THROW(mix_->step(), IoError);
}

}  // namespace
}  // namespace strider
