#include "events/per_rank_layout.hpp"

#include <array>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>

#include "plan/operation.hpp"

namespace strider {
namespace {

// Tags and types of the format: https://docs.unidata.ucar.edu/nug/current/file_format_specifications.html
constexpr std::uint32_t tag_dimensions = 10, tag_variables = 11, tag_attributes = 12;
enum class Type : std::uint32_t { text = 2, whole = 4, real = 6 };
constexpr std::uint32_t phase_dimension = 0, rank_dimension = 1;

struct Attribute {
  std::string_view name;
  Type type = Type::text;
  std::string text = {};
  std::vector<double> numbers = {};
};

struct Variable {
  std::string_view name;
  Type type = Type::whole;
  bool has_ranks = false;
  std::vector<Attribute> attributes;
};

void append_number(std::vector<std::byte>& bytes, std::uint64_t value, unsigned size) {
  std::array<std::byte, 8> digits{};
  for (unsigned byte = 0; byte < size; ++byte) digits[byte] = static_cast<std::byte>(value >> (8 * (size - 1 - byte)));
  bytes.insert(bytes.end(), digits.begin(), digits.begin() + size);
}

class Bytes {
 public:
  void add(std::uint64_t value, unsigned size) { append_number(bytes_, value, size); }
  void add(std::uint32_t value) { add(value, 4); }
  void add(std::string_view name) {
    add(static_cast<std::uint32_t>(name.size()));
    add_characters(name);
  }
  void add(const Attribute& attribute) {
    add(attribute.name);
    add(static_cast<std::uint32_t>(attribute.type));
    if (attribute.type == Type::text) return add(std::string_view(attribute.text));
    add(static_cast<std::uint32_t>(attribute.numbers.size()));
    for (const double number : attribute.numbers)
      if (attribute.type == Type::whole) add(static_cast<std::uint32_t>(static_cast<std::int32_t>(number)));
      else add(std::bit_cast<std::uint64_t>(number), 8);
  }
  void add(const std::vector<Attribute>& attributes) {
    add(attributes.empty() ? 0 : tag_attributes);
    add(static_cast<std::uint32_t>(attributes.size()));
    for (const Attribute& each : attributes) add(each);
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  /// Filled up to a multiple of 4 bytes.
  void add_characters(std::string_view text) {
    for (const char each : text) bytes_.push_back(static_cast<std::byte>(each));
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  std::vector<std::byte> bytes_;
};

std::string_view unit_of(std::string_view name) {
  if (name.ends_with("_s")) return "s";
  return name == "bytes" ? "byte" : "1";
}

std::vector<Variable> variables_of_phase() {
  Attribute codes{"flag_values", Type::whole}, names{"flag_meanings"};
  for (int code = 0; code <= static_cast<int>(Operation::mix); ++code) {
    codes.numbers.push_back(code);
    names.text += (code > 0 ? " " : "") + std::string(name_of(static_cast<Operation>(code)));
  }
  const auto number = [](std::string_view name, std::string about) {
    return Variable{name, Type::whole, false, {{"long_name", Type::text, std::move(about)}}};
  };
  std::vector<Variable> variables{number("case", "Number of the case in the plan, from 1."),
                                  number("repetition", "Number of the repetition, from 0."),
                                  number("warmup", "1: the repetition is a warm-up."),
                                  number("measured", "0: the phase prepares files."),
                                  number("operation", "Operation of the phase."),
                                  number("clients", "Ranks that take part, from rank 0 on.")};
  variables[4].attributes.push_back(codes);
  variables[4].attributes.push_back(names);
  return variables;
}

std::vector<Variable> variables_of_ranks() {
  std::vector<Variable> variables;
  for_each_column([&](const FieldInfo& info, auto member) {
    constexpr bool is_whole = std::is_same_v<std::remove_cvref_t<decltype(RankRow{}.*member)>, std::uint32_t>;
    const Type type = is_whole ? Type::whole : Type::real;
    const double none = is_whole ? -1 : std::numeric_limits<double>::quiet_NaN();
    variables.push_back({info.name,
                         type,
                         true,
                         {{"long_name", Type::text, std::string(info.about)},
                          {"units", Type::text, std::string(unit_of(info.name))},
                          {"_FillValue", type, {}, {none}}}});
  });
  return variables;
}

std::uint64_t record_part(const Variable& variable, std::uint32_t ranks) {
  return (variable.type == Type::real ? 8U : 4U) * (variable.has_ranks ? std::uint64_t{ranks} : 1U);
}

/// `begin`: of the first record.
std::vector<std::byte> header_of(const std::string& run, std::uint32_t ranks, std::uint64_t begin) {
  Bytes bytes;
  bytes.add(0x43444602U);  // CDF, version 2
  bytes.add(0U);           // records
  bytes.add(tag_dimensions);
  bytes.add(2U);
  bytes.add("phase");
  bytes.add(0U);  // the dimension of records
  bytes.add("rank");
  bytes.add(ranks);
  bytes.add(std::vector<Attribute>{{"title", Type::text, "Rows of all ranks of a run of Strider"},
                                   {"format", Type::text, "strider-per-rank"},
                                   {"version", Type::whole, "", {1}},
                                   {"run", Type::text, run}});
  std::vector<Variable> variables = variables_of_phase();
  for (Variable& each : variables_of_ranks()) variables.push_back(std::move(each));
  bytes.add(tag_variables);
  bytes.add(static_cast<std::uint32_t>(variables.size()));
  for (const Variable& each : variables) {
    bytes.add(each.name);
    bytes.add(each.has_ranks ? 2U : 1U);
    bytes.add(phase_dimension);
    if (each.has_ranks) bytes.add(rank_dimension);
    bytes.add(each.attributes);
    bytes.add(static_cast<std::uint32_t>(each.type));
    bytes.add(static_cast<std::uint32_t>(record_part(each, ranks)));
    bytes.add(begin, 8);
    begin += record_part(each, ranks);
  }
  return bytes.take();
}

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (const std::byte each : bytes.subspan(at, 4)) number = number << 8 | std::to_integer<std::uint32_t>(each);
  return number;
}

/// A phase that prepares files is a prefill, whatever it does.
std::uint64_t code_of(const std::string& operation) {
  const OperationEntry* entry = find_operation(operation);
  return static_cast<std::uint64_t>(entry != nullptr ? entry->operation : Operation::prefill);
}

}  // namespace

PerRankLayout::PerRankLayout(const std::string& run, std::uint32_t ranks) : ranks_(ranks) {
  // Its length does not depend on the offsets in it.
  header_ = header_of(run, ranks, header_of(run, ranks, 0).size());
  record_bytes_ = phase_bytes;
  for (const Variable& each : variables_of_ranks()) record_bytes_ += record_part(each, ranks);
}

std::vector<std::byte> PerRankLayout::records_field(std::uint32_t records) {
  std::vector<std::byte> bytes;
  append_number(bytes, records, 4);
  return bytes;
}

std::uint32_t PerRankLayout::records_of(std::span<const std::byte> header) { return number_at(header, records_offset); }

PerRankLayout::Repetition PerRankLayout::repetition_of(std::span<const std::byte> record) {
  return {number_at(record, 0), number_at(record, 4)};
}

std::vector<std::byte> PerRankLayout::numbers_of(const PerRankPhase& phase) {
  std::vector<std::byte> bytes;
  for (const std::uint64_t number :
       {phase.name.case_number, phase.name.repetition, std::uint64_t{phase.name.warmup}, std::uint64_t{phase.measured},
        code_of(phase.name.operation), std::uint64_t{phase.clients}})
    append_number(bytes, number, 4);
  return bytes;
}

void PerRankLayout::append(std::vector<std::byte>& bytes, double value) {
  append_number(bytes, std::bit_cast<std::uint64_t>(value), 8);
}

void PerRankLayout::append(std::vector<std::byte>& bytes, std::int32_t value) {
  append_number(bytes, static_cast<std::uint32_t>(value), 4);
}

}  // namespace strider
