#pragma once

namespace strider::listio::mpi {

/// What the hint `listio_layer` of an open file says: that the layer serves it.
inline constexpr const char* layer_version = "1";

}  // namespace strider::listio::mpi
