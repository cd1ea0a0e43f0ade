#include "stats/edge_p_values.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "stats/significance.hpp"

namespace gpu::stats {
namespace {

// About 0.1 ms of work.
constexpr std::size_t edges_per_task = 8192;

}  // namespace

edge_p_values::edge_p_values(significance test, index_t observations, tail side, int threads)
    : table_(p_table_for(test, observations)), side_(side), threads_(cpu::thread_count(threads)) {}

template <class Edge>
void edge_p_values::fill_each(std::span<Edge> edges) const {
  const std::size_t tasks = (edges.size() + edges_per_task - 1) / edges_per_task;
  cpu::parallel_for(static_cast<index_t>(tasks), threads_, [&](index_t task, int) {
    const p_function p = function();
    const std::size_t begin = static_cast<std::size_t>(task) * edges_per_task;
    const std::size_t count = std::min(edges_per_task, edges.size() - begin);
    for (Edge& e : edges.subspan(begin, count)) e.p = p(e.statistic);
  });
}

void edge_p_values::fill(std::span<edge> edges) const {
  fill_each(edges);
}

void edge_p_values::fill(std::span<folded_edge> edges) const {
  fill_each(edges);
}

}  // namespace gpu::stats
