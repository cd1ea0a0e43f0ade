#include "stats/edge_p_values.hpp"

#include <algorithm>
#include <bit>

#include "base/parallel.hpp"
#include "stats/correlation_test.hpp"

namespace gpu::stats {
namespace {

constexpr std::size_t most_cache_entries = std::size_t{1} << 15;  // 512 KiB a thread
constexpr std::size_t least_cache_entries = 64;
// A p takes about 0.4 us.
constexpr std::size_t least_edges_per_task = 16;
constexpr std::size_t most_edges_per_task = 4096;

// `entries` is a power of two.
std::size_t slot_of(std::uint64_t bits, std::size_t entries) {
  return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15u) >> 32) & (entries - 1);
}

}  // namespace

edge_p_values::edge_p_values(index_t observations, tail side, int threads)
    : observations_(observations),
      side_(side),
      threads_(cpu::thread_count(threads)),
      caches_(static_cast<std::size_t>(threads_)) {}

void edge_p_values::fill(std::span<edge> edges) {
  const std::size_t edges_per_task =
      std::clamp(edges.size() / (4 * static_cast<std::size_t>(threads_)), least_edges_per_task,
                 most_edges_per_task);
  const std::size_t tasks = (edges.size() + edges_per_task - 1) / edges_per_task;
  cpu::parallel_for(static_cast<index_t>(tasks), threads_, [&](index_t task, int thread) {
    const std::size_t begin = static_cast<std::size_t>(task) * edges_per_task;
    const std::size_t count = std::min(edges_per_task, edges.size() - begin);
    fill_part(edges.subspan(begin, count), caches_[static_cast<std::size_t>(thread)]);
  });
}

void edge_p_values::fill_part(std::span<edge> edges, std::vector<entry>& cache) const {
  // No statistic has the bits of this NaN, so a fresh entry never matches.
  const std::size_t wanted =
      std::clamp(std::bit_ceil(2 * edges.size()), least_cache_entries, most_cache_entries);
  if (cache.size() < wanted) cache.assign(wanted, {~std::uint64_t{0}, 0.0});
  for (edge& e : edges) {
    const auto bits = std::bit_cast<std::uint64_t>(e.statistic);
    entry& remembered = cache[slot_of(bits, cache.size())];
    if (remembered.statistic_bits != bits) {
      remembered = {bits, p_value(e.statistic, observations_, side_)};
    }
    e.p = remembered.p;
  }
}

}  // namespace gpu::stats
