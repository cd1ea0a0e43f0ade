#include "stats/pair_checksums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include <gpu/pair_sinks.hpp>

#include "base/parallel.hpp"

namespace gpu::stats {
namespace {

// About 0.1 ms of work.
constexpr index_t pairs_per_task = 16384;

// The sum of one(item) over all items, `items_per_task` at a time.
template <class One>
pair_checksum sum_in_parallel(index_t items, index_t items_per_task, int threads, const One& one) {
  thread_checksums sums(threads);
  detail::parallel_for_ranges(items, items_per_task, threads,
                              [&](detail::index_range some, int thread) {
                                pair_checksum sum;
                                for (index_t i = some.begin; i < some.end; ++i) sum += one(i);
                                sums.add(thread, sum);
                              });
  return sums.total();
}

}  // namespace

pair_checksum checksum_of(std::span<const edge> edges) {
  pair_checksum sum;
  for (const edge& e : edges) sum += gpu::checksum_of(e.row, e.col, e.statistic);
  return sum;
}

pair_checksum thread_checksums::total() const {
  pair_checksum sum;
  for (const part& own : parts_) sum += own.sum;
  return sum;
}

pair_checksum checksum_of(std::span<const edge> edges, int threads) {
  return sum_in_parallel(static_cast<index_t>(edges.size()), pairs_per_task, threads,
                         [&](index_t i) {
                           const edge& e = edges[static_cast<std::size_t>(i)];
                           return gpu::checksum_of(e.row, e.col, e.statistic);
                         });
}

pair_checksum checksum_of(const neighbor_table& table, detail::index_range rows, index_t row_begin,
                          int threads) {
  const index_t rows_per_task =
      std::max<index_t>(1, pairs_per_task / std::max<index_t>(1, table.index.cols()));
  return sum_in_parallel(rows.size(), rows_per_task, threads, [&](index_t place) {
    const index_t i = rows.begin + place;
    const auto row = static_cast<node_id>(row_begin + i);
    pair_checksum sum;
    for (index_t e = 0; e < index_t{table.count[static_cast<std::size_t>(i)]}; ++e) {
      sum += gpu::checksum_of(row, table.index(i, e), table.statistic(i, e));
    }
    return sum;
  });
}

}  // namespace gpu::stats

namespace gpu::inline v0 {

std::string to_string(const pair_checksum& checksum) {
  return fmt::format("{}:{:016x}:{:016x}", checksum.count, checksum.mix1, checksum.mix2);
}

}  // namespace gpu::inline v0
