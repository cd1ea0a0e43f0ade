#include "stats/significance/edge_p_values.hpp"

#include <algorithm>

#include <gpu/index.hpp>

#include "base/parallel.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::stats {
namespace {

// About 0.1 ms of work.
constexpr std::size_t edges_per_task = 8192;

}  // namespace

void fill_p(const p_function& p_of, std::span<edge> edges, int threads) {
  if (p_of.table == nullptr) return;
  const std::size_t tasks = (edges.size() + edges_per_task - 1) / edges_per_task;
  detail::parallel_for(static_cast<index_t>(tasks), threads, [&](index_t task, int) {
    const p_function p = p_of;
    const std::size_t begin = static_cast<std::size_t>(task) * edges_per_task;
    const std::size_t count = std::min(edges_per_task, edges.size() - begin);
    for (edge& e : edges.subspan(begin, count)) e.p = p(e.statistic);
  });
}

edge_p_values::edge_p_values(significance test, observation_count observations, tail side,
                             int threads)
    : table_(p_table_for(test, observations)),
      side_(side),
      threads_(detail::thread_count(threads)) {}

void edge_p_values::fill(std::span<const double> statistics, std::span<double> out) const {
  constexpr index_t at_once = 2048;
  detail::parallel_for_ranges(
      std::ssize(statistics), at_once, threads_, [&](detail::index_range some, int) {
        const auto begin = static_cast<std::size_t>(some.begin);
        const auto part = statistics.subspan(begin, static_cast<std::size_t>(some.size()));
        std::ranges::transform(part, out.subspan(begin).begin(), function());
      });
}

}  // namespace gpu::stats
