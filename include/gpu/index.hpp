#pragma once
/// @file
/// The integer types that every extent, count and row number of the library uses.

#include <cstdint>

namespace gpu {
inline namespace v0 {

/// Every extent, stride and element count. Never narrowed inside the library.
using index_t = std::int64_t;

/// A stored row number, as edges and neighbour tables hold it: inputs have at most 2^32 - 1 rows.
using node_id = std::uint32_t;

}  // namespace v0
}  // namespace gpu
