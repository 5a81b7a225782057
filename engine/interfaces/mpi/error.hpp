#pragma once
#include <cstdint>
#include <string>

#include "foundation/error.hpp"

namespace strider {

/// The errno that a library's text quotes; 0 where it quotes none.
int quoted_errno(const std::string& text);

/// Throws the IoError that says what an MPI error code does.
[[noreturn]] void throw_mpi(int code, IoError::What what);

/// Throws unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call, const std::string& file);

/// "the call moved 5 of 8 bytes"
std::string moved_too_little(std::uint64_t bytes, std::uint64_t wanted);

}  // namespace strider
