#pragma once
// What writes edges, whatever their format.

#include <span>

#include <gpu/pair_sinks.hpp>

#include "io/write/edges/edge_pipeline.hpp"

namespace gpu::io {

/// Edges as they come. They are written in the background: the output belongs to the writer until
/// finish() returned, or the writer is gone, and what goes wrong may come out of a
/// later call.
class edge_writer {
 public:
  virtual ~edge_writer() = default;
  /// Copies `edges`.
  /// @throw what output_file::write throws.
  virtual void write(std::span<const edge> edges) = 0;
  /// Completes the file, which the caller then commits.
  /// @throw as write.
  virtual void finish() = 0;
};

}  // namespace gpu::io
