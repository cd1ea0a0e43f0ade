// Ranks rows of any length by sorting (key, column) in global memory, as many rows at a time as the
// scratch holds: see row_sort.cuh. What comes then is in rank_sorted.cuh.

#include <cub/device/device_scan.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <string>

#include <gpu/error.hpp>

#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/rank/launches.cuh"
#include "kernels/rank/rank_sorted.cuh"
#include "kernels/rank/row_sort.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {
namespace {

// CUB counts the elements of one scan, and a grid its blocks, in 31 bits.
constexpr index_t most_chunk_elements = index_t{1} << 30;

/// 1 where a run of equal keys starts.
template <class Key>
struct run_head {
  row_sort<Key> sort;
  __device__ std::uint32_t operator()(index_t at) const {
    const index_t cols = sort.source.cols;
    const Key* keys = sort.keys[sort.sorted_buffer(at / cols)];
    return at % cols == 0 || keys[at] != keys[at - 1] ? 1U : 0U;
  }
};

/// Sorts, finds the runs and writes the ranks of chunks of rows.
template <class Key>
class row_sorter {
 public:
  row_sorter(const rank_source& source, const rank_target& target, tie_method ties,
             cudaStream_t stream)
      : source_(source), target_(target), ties_(ties), stream_(stream) {
    constexpr index_t most_items = rank_sort_items(sizeof(Key));
    tiles_ = std::max<index_t>(ceil_div(source.cols, rank_sort_threads * most_items), 1);
    items_ = ceil_div(ceil_div(source.cols, tiles_), rank_sort_threads);
  }

  /// The most rows that one sort takes.
  [[nodiscard]] index_t most_rows() const {
    return std::max<index_t>(most_chunk_elements / std::max(source_.cols, digits), 1);
  }

  /// Scratch for `rows` rows, bytes.
  [[nodiscard]] std::size_t bytes(index_t rows) const { return divide(rows, nullptr).bytes; }

  /// Ranks all rows, `chunk_rows` at a time, in device memory of bytes(chunk_rows).
  void rank(index_t chunk_rows, std::byte* memory) {
    if (target_.square_sums != nullptr) {
      GPU_SIMILARITY_CUDA_CHECK(
          cudaMemsetAsync(target_.square_sums, 0,
                          static_cast<std::size_t>(source_.rows) * sizeof(std::int64_t), stream_));
    }
    const int shared_bytes = static_cast<int>(sizeof(sort_pass_memory<Key>));
    allow_shared_memory(sort_pass_kernel<Key, true>, shared_bytes);
    allow_shared_memory(sort_pass_kernel<Key, false>, shared_bytes);
    for (index_t row = 0; row < source_.rows; row += chunk_rows) {
      rank_chunk(row, std::min(chunk_rows, source_.rows - row), memory);
    }
  }

 private:
  /// The pieces of the scratch. Those from `counts` to `tickets` follow each other and are zeroed.
  struct pieces {
    Key* keys;
    std::uint32_t* columns;
    std::uint32_t* runs;  // dense ranks only
    std::uint32_t* passes;
    std::uint32_t* counts;
    std::uint32_t* progress;
    std::uint32_t* tickets;
    std::size_t zeroed_bytes;
    void* scan;  // dense ranks only
    std::size_t scan_bytes;
    std::size_t bytes;
  };

  [[nodiscard]] pieces divide(index_t rows, std::byte* memory) const {
    const index_t count = rows * source_.cols;
    const index_t passes = source_.key_bits / digit_bits;
    cuda::arena from(memory);
    pieces out{};
    out.keys = from.take<Key>(2 * count);
    out.columns = from.take<std::uint32_t>(2 * count);
    if (dense()) out.runs = from.take<std::uint32_t>(count);
    out.passes = from.take<std::uint32_t>(rows);
    const std::size_t zeroed_from = from.bytes();
    out.counts = from.take<std::uint32_t>(rows * passes * digits);
    out.progress = from.take<std::uint32_t>(rows * passes * tiles_ * digits);
    out.tickets = from.take<std::uint32_t>(passes);
    out.zeroed_bytes = from.bytes() - zeroed_from;
    if (dense()) {
      out.scan_bytes = scan_bytes(rows);
      out.scan = from.take<std::byte>(out.scan_bytes);
    }
    out.bytes = from.bytes();
    return out;
  }
  [[nodiscard]] bool dense() const { return ties_ == tie_method::dense; }

  [[nodiscard]] row_sort<Key> sort_in(const pieces& memory, index_t first_row, index_t rows) const {
    const index_t count = rows * source_.cols;
    return {.source = source_,
            .first_row = first_row,
            .rows = rows,
            .tiles = static_cast<int>(tiles_),
            .items = static_cast<int>(items_),
            .keys = {memory.keys, memory.keys + count},
            .columns = {memory.columns, memory.columns + count},
            .counts = memory.counts,
            .passes = memory.passes,
            .progress = memory.progress,
            .tickets = memory.tickets};
  }

  void rank_chunk(index_t first_row, index_t rows, std::byte* scratch) {
    const pieces memory = divide(rows, scratch);
    const row_sort<Key> sort = sort_in(memory, first_row, rows);
    GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(memory.counts, 0, memory.zeroed_bytes, stream_));
    sort_rows(sort);
    if (dense()) {
      std::size_t bytes = memory.scan_bytes;
      GPU_SIMILARITY_CUDA_CHECK(number_runs(sort, memory.scan, bytes, memory.runs));
    }
    launch_rank_sorted(sort, target_, ties_, memory.runs, stream_);
  }

  void sort_rows(const row_sort<Key>& sort) const {
    const int parts = static_cast<int>(ceil_div(source_.cols, rank_count_elements));
    count_digits_kernel<Key>
        <<<grid_blocks(sort.rows * parts, 1), rank_count_threads, 0, stream_>>>(sort, parts);
    GPU_SIMILARITY_CHECK_LAUNCH();
    start_digits_kernel<Key><<<grid_blocks(sort.rows, 1), digits, 0, stream_>>>(sort);
    GPU_SIMILARITY_CHECK_LAUNCH();
    const unsigned blocks = grid_blocks(sort.rows * tiles_, 1);
    constexpr std::size_t shared_bytes = sizeof(sort_pass_memory<Key>);
    sort_pass_kernel<Key, true><<<blocks, rank_sort_threads, shared_bytes, stream_>>>(sort, 0);
    GPU_SIMILARITY_CHECK_LAUNCH();
    for (int pass = 1; pass < sort.pass_count(); ++pass) {
      sort_pass_kernel<Key, false>
          <<<blocks, rank_sort_threads, shared_bytes, stream_>>>(sort, pass);
      GPU_SIMILARITY_CHECK_LAUNCH();
    }
  }

  // Only measures `bytes` where `temporary` is null, as CUB does.
  cudaError_t number_runs(const row_sort<Key>& sort, void* temporary, std::size_t& bytes,
                          std::uint32_t* runs) const {
    const auto heads = thrust::make_transform_iterator(thrust::make_counting_iterator(index_t{0}),
                                                       run_head<Key>{sort});
    return cub::DeviceScan::InclusiveSum(temporary, bytes, heads, runs,
                                         static_cast<int>(sort.rows * source_.cols), stream_);
  }
  [[nodiscard]] std::size_t scan_bytes(index_t rows) const {
    row_sort<Key> sort{};
    sort.rows = rows;
    std::size_t bytes = 0;
    GPU_SIMILARITY_CUDA_CHECK(number_runs(sort, nullptr, bytes, nullptr));
    return bytes;
  }

  rank_source source_;
  rank_target target_;
  tie_method ties_;
  cudaStream_t stream_;
  index_t tiles_;
  index_t items_;
};

/// How many rows are sorted at a time.
template <class Key>
index_t rows_of_chunk(const rank_source& source, row_sorter<Key>& sorter,
                      std::size_t workspace_bytes) {
  const std::size_t limit = workspace_bytes == 0 ? rank_sort_workspace_bytes : workspace_bytes;
  // The bytes of one row give those of others: scratch is nearly linear in the rows.
  const std::size_t one = sorter.bytes(1);
  if (workspace_bytes != 0 && one > limit) {
    throw out_of_memory("execution.workspace_bytes: " + std::to_string(limit) +
                            " bytes do not hold one row of " + std::to_string(source.cols) +
                            " columns, which takes " + std::to_string(one),
                        one);
  }
  const auto affordable = static_cast<index_t>(limit / one);
  index_t rows = std::clamp<index_t>(std::min(affordable, sorter.most_rows()), 1, source.rows);
  while (rows > 1 && sorter.bytes(rows) > limit) --rows;
  // Chunks of the same size: the last would else be too small for the device.
  return ceil_div(source.rows, ceil_div(source.rows, rows));
}

template <class Key>
void launch_for(const rank_source& source, const rank_target& target, const rank_request& request,
                cudaStream_t stream) {
  row_sorter<Key> sorter(source, target, request.ties, stream);
  const index_t rows = rows_of_chunk(source, sorter, request.workspace_bytes);
  const cuda::device_buffer<std::byte> own(request.workspace == nullptr ? sorter.bytes(rows) : 0,
                                           stream);
  sorter.rank(
      rows, request.workspace == nullptr ? own.data() : static_cast<std::byte*>(request.workspace));
}

template <class Key>
std::size_t bytes_for(const rank_source& source, const rank_request& request) {
  row_sorter<Key> sorter(source, {}, request.ties, nullptr);
  return sorter.bytes(rows_of_chunk(source, sorter, request.workspace_bytes));
}

}  // namespace

void launch_segmented_sort(const rank_source& source, const rank_target& target,
                           const rank_request& request, cudaStream_t stream) {
  if (source.tag == element_tag::f64) {
    launch_for<std::uint64_t>(source, target, request, stream);
  } else {
    launch_for<std::uint32_t>(source, target, request, stream);
  }
}

std::size_t segmented_sort_bytes(const rank_source& source, const rank_request& request) {
  return source.tag == element_tag::f64 ? bytes_for<std::uint64_t>(source, request)
                                        : bytes_for<std::uint32_t>(source, request);
}

}  // namespace gpu::kernels
