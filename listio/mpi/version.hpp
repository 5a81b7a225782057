#pragma once

namespace strider::listio::mpi {

/// The value of the hint `listio_layer` of an open file: the layer serves it.
inline constexpr const char* layer_version = "1";

}  // namespace strider::listio::mpi
