#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/events.hpp"
#include "foundation/error.hpp"
#include "operations/findings.hpp"
#include "verify/examiner.hpp"
#include "verify/zeros.hpp"

namespace strider {

/// An error on its way to rank 0; fixed size, so that it travels as bytes.
struct ErrorRecord {
  char kind[8], call[32], host[64], file[512], message[512], remedy[512];
  char expected_hex[40], found_hex[40], blame[16], server[64];
  std::array<Damage, Classifier::most_causes> causes;
  std::uint32_t causes_count;
  std::uint64_t offset, length, count;
  std::int32_t rank, error_number;
};

ErrorRecord describe_error(const IoError& error, int rank, const std::string& host);
ErrorRecord describe_mismatch(const Mismatch& mismatch, int rank, const std::string& host, const std::string& file);
/// What is known of wrong data; the class of the record is the cause of most bytes.
void set_causes(ErrorRecord& record, std::span<const Damage> causes);
/// `directory`: what the finding's path is relative to.
ErrorRecord describe_finding(const Findings::Finding& finding, int rank, const std::string& host,
                             const std::string& directory);
/// A file that is not as long as what was written to it, or longer.
struct SizeMismatch {
  std::uint64_t expected = 0, found = 0;
  std::string_view seen_by;  ///< whose answer it is
};
ErrorRecord describe_size(const SizeMismatch& mismatch, int rank, const std::string& host, const std::string& file);
/// Bytes in a file where no request writes.
ErrorRecord describe_outside(const ByteMismatch& mismatch, int rank, const std::string& host, const std::string& file);
/// Says which server holds the place; nothing where none is known.
void set_server(ErrorRecord& record, const std::string& server);
/// What the event stream says of it.
ErrorInfo info_of(const ErrorRecord& record);
/// The first errors of each kind in full, by rank, among them one of each likeness (call, error number, class) as far
/// as these fit. A like one counts those left out. Errors of storage come first: they are why there is no sample. What
/// is condensed already may be condensed again with others.
std::vector<ErrorRecord> condense(std::vector<ErrorRecord> errors);

}  // namespace strider
