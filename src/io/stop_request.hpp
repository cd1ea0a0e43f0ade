#pragma once
// How reading and writing are asked to end early.

#include <functional>

namespace gpu::io {

/// Asked between blocks, and while a pipe is waited for: true ends the work with `interrupted`.
using stop_request = std::function<bool()>;

/// Thrown where a stop was requested.
struct interrupted {};

}  // namespace gpu::io
