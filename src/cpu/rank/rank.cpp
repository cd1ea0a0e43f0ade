#include "cpu/rank/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include <gpu/error.hpp>

#include "base/element_types.hpp"
#include "cpu/platform/level_table.hpp"
#include "cpu/platform/scratch_limit.hpp"
#include "cpu/rank/blocks.hpp"
#include "plan/rank_variants.hpp"

namespace gpu::cpu {

const counting_kernels& usable_counting_kernels() {
  return GPU_SIMILARITY_USABLE(kernels);
}

namespace {

constexpr index_t no_nan = std::numeric_limits<index_t>::max();

template <class T>
index_t find_nan(const T* values, index_t cols) {
  if constexpr (std::is_floating_point_v<T>) {
    // Without a branch per element, the row is scanned in vectors; the place is sought afterwards.
    int count = 0;
    for (index_t col = 0; col < cols; ++col) count |= static_cast<int>(values[col] != values[col]);
    if (count == 0) return no_nan;
    return std::find_if(values, values + cols, [](T x) { return x != x; }) - values;
  } else {
    static_cast<void>(values);
    static_cast<void>(cols);
    return no_nan;
  }
}

// Makes ranks of counts.
struct rank_writer {
  matrix_view<double> ranks;
  double scale;
  double offset;
  const counting_kernels& kernels = usable_counting_kernels();

  auto operator()(index_t row) const {
    return [out = ranks.row(row), scale = scale, offset = offset](index_t col, auto count) {
      out[col] = scale * static_cast<double>(count) + offset;
    };
  }
  void put_bytes(index_t first, index_t last, const std::int8_t* counts, index_t pitch) const {
    kernels.widen(counts, pitch, static_cast<int>(last - first), static_cast<int>(ranks.cols()),
                  scale, offset, ranks.row(first), ranks.row_stride());
  }
};

void lower(std::atomic<index_t>& least, index_t value) {
  index_t seen = least.load(std::memory_order_relaxed);
  while (value < seen && !least.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

template <class T>
void rank_rows(matrix_view<const T> data, matrix_view<double> ranks, const rank_options& options) {
  const index_t cols = data.cols();
  const auto [scale, offset] = detail::scale_of_counts(options.ties, cols);
  // Looked for while the block is in cache; the first row with a NaN is known at the end.
  std::atomic<index_t> first_nan_row = no_nan;
  const rank_writer store{ranks, scale, offset};
  const auto finish = [&](index_t first, index_t last) {
    for (index_t row = first; row < last; ++row) {
      if (find_nan(data.row(row), cols) == no_nan) continue;
      lower(first_nan_row, row);
      std::fill_n(ranks.row(row), cols, std::numeric_limits<double>::quiet_NaN());
    }
  };
  const int threads = threads_within(
      options.exec, "rank_rows on one thread", detail::thread_count(options.exec.cpu_threads),
      {.thread = row_ranker<T>::scratch_bytes(cols, options.variant)});
  rank_blocks(data, options.ties, options.order, options.variant, threads,
              cols * static_cast<index_t>(sizeof(double)), store, finish);
  const index_t row = first_nan_row;
  if (row != no_nan && options.nans == nan_policy::reject) {
    throw invalid_argument(
        fmt::format("data: got NaN at row {}, column {}, expected numbers; nan_policy::propagate "
                    "gives such rows NaN ranks",
                    row, find_nan(data.row(row), cols)));
  }
}

#define GPU_SIMILARITY_INSTANTIATE(T) \
  template void rank_rows<T>(matrix_view<const T>, matrix_view<double>, const rank_options&);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cpu
