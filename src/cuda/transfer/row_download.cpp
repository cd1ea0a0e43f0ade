#include "cuda/transfer/row_download.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/parallel.hpp"
#include "cuda/transfer/staging_copy.hpp"

namespace gpu::cuda {
namespace {

constexpr std::size_t piece_bytes = std::size_t{16} << 20;
constexpr index_t elements_per_task = index_t{1} << 16;
constexpr std::uintptr_t large_page = std::uintptr_t{2} << 20;
constexpr std::uintptr_t small_page = std::uintptr_t{4} << 10;

// The system provides fresh memory page by page, at the first write to each. Large pages make that
// 30 times cheaper, where the system grants them on request.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = (at + large_page - 1) / large_page * large_page;
  const auto end = (at + bytes) / large_page * large_page;
  // Where the request is refused, small pages do.
  if (begin < end)
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#endif
}

// Writes to each large page that lies whole in [begin, end), each by one thread. Otherwise several
// threads could write to one page first, and each would clear it.
void make_pages(std::byte* begin, std::byte* end, int threads) {
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + large_page - 1) / large_page;
  const auto last = reinterpret_cast<std::uintptr_t>(end) / large_page;
  const auto pages = static_cast<index_t>(last) - static_cast<index_t>(first);
  detail::parallel_for(pages, threads, [&](index_t page, int) {
    auto* at = reinterpret_cast<volatile std::byte*>((first + static_cast<std::uintptr_t>(page)) *
                                                     large_page);
    for (std::size_t offset = 0; offset < large_page; offset += small_page) {
      at[offset] = std::byte{0};
    }
  });
}

}  // namespace

template <class Value>
row_download<Value>::row_download(matrix_view<Value> out, int threads, cudaStream_t stream)
    : out_(out),
      threads_(staging_threads(threads)),
      stream_(stream),
      piece_rows_(std::clamp<index_t>(
          static_cast<index_t>(piece_bytes / sizeof(Value)) / std::max<index_t>(out.cols(), 1), 1,
          std::max<index_t>(out.rows(), 1))) {
  for (auto& piece : pieces_) {
    piece = pinned_buffer<Value>(static_cast<std::size_t>(piece_rows_ * out.cols()));
  }
  if (out.row_stride() == out.cols()) {
    ask_for_large_pages(out.data(),
                        static_cast<std::size_t>(out.rows() * out.cols()) * sizeof(Value));
  }
}

template <class Value>
void row_download<Value>::copy(const Value* from, index_range range) {
  for (index_t first = range.begin; first < range.end; first += piece_rows_) {
    const index_range piece{first, std::min(first + piece_rows_, range.end)};
    store(next_);
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpyAsync(pieces_[next_].data(), from + (first - range.begin) * out_.cols(),
                        static_cast<std::size_t>(piece.size() * out_.cols()) * sizeof(Value),
                        cudaMemcpyDeviceToHost, stream_));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(copied_[next_].get(), stream_));
    pending_[next_] = piece;
    next_ = (next_ + 1) % slots;
    if (first == range.begin && out_.row_stride() == out_.cols()) {
      make_pages(reinterpret_cast<std::byte*>(out_.row(range.begin)),
                 reinterpret_cast<std::byte*>(out_.row(range.end - 1) + out_.cols()), threads_);
    }
  }
}

template <class Value>
void row_download<Value>::finish() {
  for (int i = 0; i < slots; ++i) store((next_ + i) % slots);
}

template <class Value>
void row_download<Value>::store(int slot) {
  const index_range rows = pending_[slot];
  if (rows.empty()) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(copied_[slot].get()));
  const Value* from = pieces_[slot].data();
  // Dense rows are stored as one run, in parts of elements_per_task.
  const bool dense = out_.row_stride() == out_.cols();
  const index_t step = dense ? elements_per_task : out_.cols();
  const index_t count = rows.size() * out_.cols();
  const index_t tasks = (count + step - 1) / step;
  detail::parallel_for(tasks, threads_, [&](index_t task, int) {
    const index_t first = task * step;
    Value* to = dense ? out_.row(rows.begin) + first : out_.row(rows.begin + task);
    stream_copy(to, from + first,
                static_cast<std::size_t>(std::min(step, count - first)) * sizeof(Value));
  });
  pending_[slot] = {};
}

template class row_download<float>;
template class row_download<double>;

}  // namespace gpu::cuda
