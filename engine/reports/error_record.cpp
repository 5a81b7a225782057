#include "reports/error_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace strider {
namespace {

constexpr std::size_t errors_shown = 16;  ///< of each kind, in full; the rest are counted

template <std::size_t N>
void copy_text(char (&to)[N], const std::string& from) {
  std::strncpy(to, from.c_str(), N - 1);
  to[N - 1] = '\0';
}

template <std::size_t N>
std::string hex(const std::array<std::byte, N>& bytes, std::uint32_t shown) {
  std::string text;
  constexpr char digits[] = "0123456789abcdef";
  for (std::uint32_t i = 0; i < shown; ++i) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

/// What every record says: the kind, and which rank found what in which file.
ErrorRecord record_of(const char* kind, int rank, const std::string& host, const std::string& file,
                      const std::string& message, const std::string& remedy) {
  ErrorRecord record{};
  copy_text(record.kind, kind);
  copy_text(record.host, host);
  copy_text(record.file, file);
  copy_text(record.message, message);
  copy_text(record.remedy, remedy);
  record.count = 1;
  record.rank = rank;
  return record;
}

std::string message_of(const Mismatch& mismatch) {
  constexpr std::size_t most_named = 4;
  std::string message = "read " + std::to_string(mismatch.wrong_bytes) + " wrong bytes: ";
  if (mismatch.sampled) message += "in samples, ";
  for (std::size_t i = 0; i < std::min(most_named, mismatch.causes.size()); ++i) {
    const Damage& damage = mismatch.causes[i];
    message += (i > 0 ? ", " : "") + text_of(damage);
    if (mismatch.causes.size() == 1) continue;
    message +=
        " (" + std::to_string(damage.bytes) + " bytes from offset " + std::to_string(damage.file_offset) + " on)";
  }
  if (mismatch.causes.size() > most_named)
    message += " and " + std::to_string(mismatch.causes.size() - most_named) + " other causes";
  return message;
}

}  // namespace

ErrorRecord describe_error(const IoError& error, int rank, const std::string& host) {
  const IoError::What& what = error.details();
  ErrorRecord record = record_of("io", rank, host, what.file, error.what(), error.remedy());
  copy_text(record.call, what.call);
  record.offset = what.offset;
  record.length = what.length;
  record.error_number = what.error_number;
  return record;
}

ErrorRecord describe_mismatch(const Mismatch& mismatch, int rank, const std::string& host, const std::string& file) {
  ErrorRecord record = record_of("verify", rank, host, file, message_of(mismatch),
                                 "do not trust this storage or its caches before the cause is found");
  copy_text(record.expected_hex, hex(mismatch.expected, mismatch.shown));
  copy_text(record.found_hex, hex(mismatch.found, mismatch.shown));
  set_causes(record, mismatch.causes);
  record.offset = mismatch.file_offset;
  record.length = mismatch.wrong_bytes;
  return record;
}

void set_causes(ErrorRecord& record, std::span<const Damage> causes) {
  record.causes_count = static_cast<std::uint32_t>(std::min(causes.size(), record.causes.size()));
  std::copy_n(causes.begin(), record.causes_count, record.causes.begin());
  if (!causes.empty())
    copy_text(record.blame, std::string(name_of(std::ranges::max_element(causes, {}, &Damage::bytes)->cause)));
}

ErrorRecord describe_finding(const Findings::Finding& finding, int rank, const std::string& host,
                             const std::string& directory) {
  return record_of(
      "verify", rank, host, directory + "/" + finding.file, finding.message,
      "check that nothing else uses this folder; if nothing does, this file system returns wrong metadata");
}

ErrorRecord describe_size(const SizeMismatch& mismatch, int rank, const std::string& host, const std::string& file) {
  const bool shorter = mismatch.found < mismatch.expected;
  const std::string message = "the file ends at " + std::to_string(mismatch.found) + ", says " +
                              std::string(mismatch.seen_by) + ", but the written data ends at " +
                              std::to_string(mismatch.expected);
  ErrorRecord record = record_of("verify", rank, host, file, message,
                                 shorter ? "do not trust this storage or its caches before the cause is found"
                                         : "check that no other program writes to this folder");
  record.offset = std::min(mismatch.found, mismatch.expected);
  record.length = std::max(mismatch.found, mismatch.expected) - record.offset;
  const Damage damage{shorter ? Cause::missing_end : Cause::outside, record.offset, record.length, 0};
  set_causes(record, {&damage, 1});
  return record;
}

ErrorRecord describe_outside(const ByteMismatch& mismatch, int rank, const std::string& host, const std::string& file) {
  ErrorRecord record = record_of(
      "verify", rank, host, file,
      std::to_string(mismatch.wrong_bytes) + " bytes outside the extents of all requests are not zero",
      "check that no other program writes to this folder; if none does, a write has changed bytes outside its extent");
  copy_text(record.found_hex, hex(mismatch.found, mismatch.shown));
  copy_text(record.expected_hex, std::string(2 * std::size_t{mismatch.shown}, '0'));
  record.offset = mismatch.file_offset;
  record.length = mismatch.wrong_bytes;
  const Damage damage{Cause::outside, record.offset, record.length, 0};
  set_causes(record, {&damage, 1});
  return record;
}

void set_server(ErrorRecord& record, const std::string& server) { copy_text(record.server, server); }

ErrorInfo info_of(const ErrorRecord& record) {
  ErrorInfo info;
  info.kind = record.kind;
  info.rank = record.rank;
  info.host = record.host;
  info.file = record.file;
  info.offset = record.offset;
  info.length = record.length;
  info.call = record.call;
  info.error_number = record.error_number;
  info.message = record.message;
  info.expected_hex = record.expected_hex;
  info.found_hex = record.found_hex;
  info.blame = record.blame;
  info.causes.assign(record.causes.begin(), record.causes.begin() + record.causes_count);
  info.count = record.count;
  info.remedy = record.remedy;
  info.server = record.server;
  return info;
}

namespace {

bool are_alike(const ErrorRecord& one, const ErrorRecord& other) {
  return std::strcmp(one.kind, other.kind) == 0 && std::strcmp(one.call, other.call) == 0 &&
         std::strcmp(one.blame, other.blame) == 0 && one.error_number == other.error_number;
}

/// Of errors of one kind: which are shown in full, first one of each likeness, then the first others.
std::vector<bool> chosen(std::span<const ErrorRecord> errors) {
  std::vector<bool> shown(errors.size(), false);
  std::vector<const ErrorRecord*> unlike;
  for (std::size_t i = 0; i < errors.size() && unlike.size() < errors_shown; ++i) {
    if (std::ranges::any_of(unlike, [&](const ErrorRecord* known) { return are_alike(*known, errors[i]); })) continue;
    unlike.push_back(&errors[i]);
    shown[i] = true;
  }
  std::size_t free = errors_shown - unlike.size();
  for (std::size_t i = 0; i < errors.size() && free > 0; ++i) {
    if (shown[i]) continue;
    shown[i] = true;
    --free;
  }
  return shown;
}

void append_condensed(std::span<const ErrorRecord> errors, std::vector<ErrorRecord>& to) {
  const std::vector<bool> shown = chosen(errors);
  const auto first = static_cast<std::ptrdiff_t>(to.size());
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (shown[i]) to.push_back(errors[i]);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (shown[i]) continue;
    const auto like =
        std::find_if(to.rbegin(), to.rend() - first, [&](const ErrorRecord& one) { return are_alike(one, errors[i]); });
    (like != to.rend() - first ? *like : to.back()).count += errors[i].count;
  }
}

}  // namespace

std::vector<ErrorRecord> condense(std::vector<ErrorRecord> errors) {
  const auto position = [](const ErrorRecord& error) {
    return std::pair(std::strcmp(error.kind, "io") != 0, error.rank);
  };
  std::stable_sort(errors.begin(), errors.end(),
                   [&](const ErrorRecord& a, const ErrorRecord& b) { return position(a) < position(b); });
  std::vector<ErrorRecord> condensed;
  for (auto begin = errors.begin(); begin != errors.end();) {
    const auto end = std::find_if(begin, errors.end(),
                                  [&](const ErrorRecord& error) { return std::strcmp(error.kind, begin->kind) != 0; });
    append_condensed(std::span(begin, end), condensed);
    begin = end;
  }
  return condensed;
}

}  // namespace strider
