#pragma once
// p of many edges at once.

#include <memory>
#include <span>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "stats/p_table.hpp"

namespace gpu::stats {

/// Fills edge.p on several threads.
class edge_p_values {
 public:
  edge_p_values(index_t observations, tail side, int threads);
  void fill(std::span<edge> edges) const;

 private:
  std::shared_ptr<const p_table> table_;
  tail side_;
  int threads_;
};

}  // namespace gpu::stats
