#pragma once
// p of many edges at once.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu::stats {

/// Fills edge.p. p depends on the statistic alone, and statistics of tied integer data repeat, so
/// each thread remembers those it saw: a direct-mapped cache that lives as long as this object.
class edge_p_values {
 public:
  edge_p_values(index_t observations, tail side, int threads);
  void fill(std::span<edge> edges);

 private:
  struct entry {
    std::uint64_t statistic_bits;
    double p;
  };
  void fill_part(std::span<edge> edges, std::vector<entry>& cache) const;

  index_t observations_;
  tail side_;
  int threads_;
  std::vector<std::vector<entry>> caches_;  // one per thread, made on first use
};

}  // namespace gpu::stats
