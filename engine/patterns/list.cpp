#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/regular_file.hpp"
#include "foundation/text.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

constexpr std::string_view columns[] = {"rank", "request", "file_offset", "length", "memory_offset"};
constexpr std::size_t needed_columns = 4;  ///< the last one may be missing
constexpr std::uint64_t limit = std::uint64_t{1} << 62;

/// A line of the file.
struct Row {
  std::uint64_t rank, request;
  Extent extent;
  std::uint64_t line;
};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Reads the rows of a list; all mistakes name the file and the line. They quote what is in it only after its header
/// has said that it is a list: the path may have led to a file whose contents are not for whoever reads the message.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    try {
      contents_ = read_regular(path, largest_input_file);
    } catch (const std::runtime_error& error) {
      throw InputError("file", path + " " + error.what(), "name a CSV file that every rank can read");
    }
    rest_ = contents_;
  }

  std::vector<Row> read() {
    if (!next()) wrong("has no lines", "begin with " + header());
    if (text_.starts_with("PAR1"))
      wrong("is a Parquet file", "convert it to CSV: duckdb -c \"COPY (FROM 'FILE.parquet') TO 'FILE.csv'\"");
    take_header();
    std::vector<Row> rows;
    while (next()) rows.push_back(row());
    if (rows.empty()) wrong("lists no extents", "write one line for each extent below the header");
    return rows;
  }

  [[noreturn]] void wrong_at(std::uint64_t line, const std::string& what, const std::string& remedy) const {
    throw InputError("file", path_ + ":" + std::to_string(line) + ": " + what, remedy);
  }
  bool has_memory_offsets() const { return column_[4].has_value(); }

 private:
  static std::string header() { return "the header rank,request,file_offset,length[,memory_offset]"; }
  [[noreturn]] void wrong(const std::string& what, const std::string& remedy) const { wrong_at(line_, what, remedy); }

  static std::string shown(std::string_view field) {
    const std::string forbidden = forbidden_character(field);
    return forbidden.empty() ? in_quotes(field) : "a value with " + forbidden + " in it";
  }

  /// Splits the next line that says something; false at the end of the file.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      text_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      std::string_view rest = trimmed(text_);
      if (rest.empty() || rest.front() == '#') continue;
      fields_.clear();
      std::size_t comma = rest.find(',');
      for (; comma != std::string_view::npos; comma = rest.find(',')) {
        fields_.push_back(trimmed(rest.substr(0, comma)));
        rest.remove_prefix(comma + 1);
      }
      fields_.push_back(trimmed(rest));
      return true;
    }
    return false;
  }

  void take_header() {
    const auto is_column = [](std::string_view name) {
      return std::find(std::begin(columns), std::end(columns), name) != std::end(columns);
    };
    if (std::count_if(fields_.begin(), fields_.end(), is_column) < 2)
      wrong("is not a header", "begin with " + header());
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto* known = std::find(std::begin(columns), std::end(columns), fields_[i]);
      if (known == std::end(columns))
        wrong("unknown column " + shown(fields_[i]), "keep only the columns of " + header());
      auto& column = column_[static_cast<std::size_t>(known - std::begin(columns))];
      if (column) wrong("the column " + std::string(*known) + " appears twice", "remove one of the two");
      column = i;
    }
    width_ = fields_.size();
    for (std::size_t c = 0; c < needed_columns; ++c)
      if (!column_[c]) wrong("there is no column " + std::string(columns[c]), "begin with " + header());
  }

  Row row() const {
    if (fields_.size() != width_)
      wrong("has " + std::to_string(fields_.size()) + " fields, the header " + std::to_string(width_),
            "write one number for each column");
    Row row{number(0), number(1), {number(2), column_[4] ? number(4) : 0, number(3)}, line_};
    if (row.extent.length == 0) wrong("length is 0", "remove the line");
    if (row.rank >= 1'000'000) wrong("rank is out of range: " + std::to_string(row.rank), "ranks are below 1000000");
    return row;
  }
  std::uint64_t number(std::size_t c) const {
    const std::string_view text = fields_[*column_[c]];
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value >= limit)
      wrong(std::string(columns[c]) + " must be a whole number below 2^62, not " + shown(text),
            "write bytes and counts in digits, without units");
    return value;
  }

  std::string path_;
  std::string contents_;
  std::string_view rest_, text_;
  std::uint64_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::size_t width_ = 0;
  std::optional<std::size_t> column_[std::size(columns)];
};

/// The list as a whole, in memory: the only pattern that is not made on demand.
class List final : public ListPattern {
 public:
  explicit List(const Settings& settings) {
    if (!settings.has("file")) throw InputError("file", "list needs a file", "file = \"extents.csv\"");
    Reader reader(settings.text("file"));
    std::vector<Row> rows = reader.read();
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return std::tie(a.rank, a.request, a.extent.file_offset) < std::tie(b.rank, b.request, b.extent.file_offset);
    });
    extents_.reserve(rows.size());
    shares_.resize(rows.back().rank + 1);
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      while (end < rows.size() && rows[end].rank == rows[begin].rank && rows[end].request == rows[begin].request) ++end;
      add_request(reader, std::span(rows).subspan(begin, end - begin));
    }
    starts_.push_back(extents_.size());
    summarise();
  }
  std::uint64_t requests(Place place, Direction) const override { return share(place).requests; }
  std::uint64_t bytes(Place place, Direction) const override { return share(place).bytes; }
  std::uint64_t request_bytes(std::uint32_t) const override { return request_bytes_; }
  std::uint64_t file_size(std::uint32_t) const override { return file_size_; }
  std::uint64_t alignment(std::uint32_t) const override { return alignment_; }
  bool disjoint(std::uint32_t) const override { return disjoint_; }
  std::uint64_t extents(Place place, std::uint64_t request) const override {
    const std::size_t number = share(place).first_request + request;
    return starts_[number + 1] - starts_[number];
  }
  std::uint64_t most_extents(Place place) const override { return share(place).most_extents; }
  std::uint64_t memory_bytes(Place place) const override { return share(place).memory_bytes; }

  void check(std::uint32_t ranks) const override {
    if (shares_.size() > ranks)
      throw InputError("clients",
                       "the list names rank " + std::to_string(shares_.size() - 1) + ", but only " +
                           std::to_string(ranks) + " share a file",
                       "choose at least " + std::to_string(shares_.size()) + " clients");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const std::size_t number = share(place).first_request + request;
    const auto listed = std::span(extents_).subspan(starts_[number], starts_[number + 1] - starts_[number]);
    std::copy(listed.begin(), listed.end(), out.begin());
    return listed.size();
  }

 private:
  /// What a rank has to do.
  struct Share {
    std::size_t first_request = 0;
    std::uint64_t requests = 0, bytes = 0, most_extents = 0, memory_bytes = 0;
  };
  /// Ranks beyond those of the file have nothing to do.
  const Share& share(Place place) const {
    static constexpr Share nothing;
    return place.rank < shares_.size() ? shares_[place.rank] : nothing;
  }

  void add_request(const Reader& reader, std::span<Row> rows) {
    Share& share = shares_[rows.front().rank];
    if (rows.front().request != share.requests)
      reader.wrong_at(rows.front().line,
                      "rank " + std::to_string(rows.front().rank) + " has request " +
                          std::to_string(rows.front().request) + " but no request " + std::to_string(share.requests),
                      "number the requests of each rank 0, 1, 2, …");
    if (!reader.has_memory_offsets()) pack(rows);
    refuse_overlap(reader, rows, &Extent::file_offset, "file");
    if (share.requests == 0) share.first_request = starts_.size();
    starts_.push_back(extents_.size());
    std::uint64_t bytes = 0;
    for (const Row& row : rows) {
      extents_.push_back(row.extent);
      bytes = checked_sum(bytes, row.extent.length, "file");
      share.memory_bytes = std::max(share.memory_bytes, row.extent.memory_offset + row.extent.length);
    }
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.extent.memory_offset < b.extent.memory_offset; });
    refuse_overlap(reader, rows, &Extent::memory_offset, "memory");
    ++share.requests;
    share.bytes = checked_sum(share.bytes, bytes, "file");
    share.most_extents = std::max<std::uint64_t>(share.most_extents, rows.size());
    request_bytes_ = std::max(request_bytes_, bytes);
  }
  static void pack(std::span<Row> rows) {
    std::uint64_t end = 0;
    for (Row& row : rows) {
      row.extent.memory_offset = end;
      end = checked_sum(end, row.extent.length, "file");
    }
  }
  static void refuse_overlap(const Reader& reader, std::span<const Row> sorted, std::uint64_t Extent::* offset,
                             const std::string& where) {
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i - 1].extent.*offset + sorted[i - 1].extent.length > sorted[i].extent.*offset)
        reader.wrong_at(std::max(sorted[i - 1].line, sorted[i].line),
                        "overlaps line " + std::to_string(std::min(sorted[i - 1].line, sorted[i].line)) +
                            " of the same request in " + where,
                        "give extents that overlap to different requests");
  }
  void summarise() {
    std::vector<Extent> sorted = extents_;
    std::sort(sorted.begin(), sorted.end(),
              [](const Extent& a, const Extent& b) { return a.file_offset < b.file_offset; });
    for (const Extent& extent : sorted) {
      if (extent.file_offset < file_size_) disjoint_ = false;
      file_size_ = std::max(file_size_, extent.file_offset + extent.length);
      alignment_ = common_alignment({alignment_, extent.file_offset, extent.memory_offset, extent.length});
    }
  }

  std::vector<Extent> extents_;      ///< of all requests of rank 0, then of rank 1, …
  std::vector<std::size_t> starts_;  ///< of each request in `extents_`, and the end
  std::vector<Share> shares_;        ///< of the ranks
  std::uint64_t request_bytes_ = 0, file_size_ = 0;
  std::uint64_t alignment_ = common_alignment({});
  bool disjoint_ = true;
};

constexpr Parameter list_parameters[] = {
    {"file", Kind::file, "null",
     "A CSV file with the header rank,request,file_offset,length[,memory_offset]: one line for each extent.", no_limit,
     no_limit, "", true},
};

}  // namespace

extern const PatternEntry list_entry{
    "list",
    "Extents listed in a file, such as a recorded trace.",
    "the extents of request k of rank r are the lines of the file that name r and k; "
    "without memory offsets, those of a request lie in memory one behind the other, by file offset",
    "recorded traces",
    false,
    list_parameters,
    make_pattern<List>};

}  // namespace strider
