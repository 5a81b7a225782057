#include "events/schema.hpp"

#include <gtest/gtest.h>

#include "events/record.json.hpp"

namespace strider {
namespace {

TEST(Schema, DescribesWhatIsWritten) {
  const OrderedJson schema = OrderedJson::parse(results_schema());
  const OrderedJson sample = value_of(Sample{});
  std::vector<std::string> described, written;
  for (const OrderedJson& field : schema.at("records").at("Sample").at("fields"))
    described.push_back(field.at("name").get<std::string>());
  for (const auto& [name, value] : sample.items()) written.push_back(name);
  EXPECT_EQ(described, written);
}

}  // namespace
}  // namespace strider
