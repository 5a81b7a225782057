#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "listio/client/client.hpp"
#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {

/// Whether collective calls bring data together on some ranks before they are written, or read them there.
enum class Aggregation { automatic, always, never };

/// The hints of an open file, with defaults for the rest. Invalid hints count as not given.
struct Hints {
  std::string volume;                              ///< listio_volume, else STRIDER_LISTIO_VOLUME; may be empty
  std::string transport;                           ///< listio_transport; empty: the volume's
  Method method = Method::hybrid;                  ///< listio_method
  std::uint64_t threshold_bytes = 0;               ///< listio_threshold
  std::string registration = "none";               ///< listio_registration
  std::string strategy = "ogr";                    ///< listio_strategy
  std::chrono::milliseconds timeout{30000};        ///< listio_timeout, in seconds: of servers
  std::chrono::milliseconds rank_timeout{300000};  ///< listio_rank_timeout, in seconds: of other ranks
  Aggregation writes = Aggregation::automatic;     ///< romio_cb_write
  Aggregation reads = Aggregation::automatic;      ///< romio_cb_read
  int aggregators = 0;                             ///< cb_nodes; 0: as many as the file has servers
  std::int64_t buffer_bytes = 4 << 20;             ///< cb_buffer_size: of an aggregator
  Spreading spreading;                             ///< striping_unit, striping_factor: of new files
};

/// Changes the hints that `info` has. Those that belong to the connection, or to a file's creation, do not
/// change any more once the file is open.
void apply(MPI_Info info, Hints& hints);
Hints hints_of(MPI_Info info);

/// The hints on which the ranks of a file have to agree, as numbers: all ranks use those of the first rank.
inline constexpr std::size_t agreed_hints = 4;
std::array<std::int64_t, agreed_hints> words_of(const Hints& hints);
void take_words(std::span<const std::int64_t, agreed_hints> words, Hints& hints);

/// All hints in force, by name.
std::map<std::string, std::string> in_force(const Hints& hints, const Striping& striping, int ranks);
MPI_Info as_info(const std::map<std::string, std::string>& hints);

int aggregators_of(const Hints& hints, const Striping& striping, int ranks);

}  // namespace strider::listio::mpi
