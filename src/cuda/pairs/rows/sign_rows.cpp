// What device_rows has of rows of signs alone: their ties and their ranks.

#include "base/round_up.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/signs/kernels.hpp"

namespace gpu::cuda {

using kernels::pair_tile_kind;

namespace {

// Of the ranks of rows of signs.
index_t rank_stride(const row_format& format) {
  return round_up(format.cols, 4);
}

}  // namespace

void device_rows::read_ties(cudaStream_t stream, detail::row_info& info) const {
  if (format_.tile != pair_tile_kind::signs || fresh_ == 0) return;
  info.ties.resize(static_cast<std::size_t>(fresh_));
  const device_buffer<row_ties> ties(info.ties.size(), stream);
  kernels::launch_gather_ties(at_.values, fresh_, format_.cols, ties.data(), stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(info.ties.data(), ties.data(), ties.bytes(), cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
}

kernels::screen_ranks device_rows::ranks() const {
  if (format_.tile == pair_tile_kind::signs) {
    return {.ranks = sign_ranks_.data(),
            .stride = rank_stride(format_),
            .cols = format_.cols,
            .square_sums = sign_rank_sums_.data()};
  }
  return screened_ranks(format_, at_);
}

std::size_t device_rows::rank_bytes() const {
  if (format_.tile != pair_tile_kind::signs) return 0;
  return static_cast<std::size_t>(count_) *
         (static_cast<std::size_t>(rank_stride(format_)) + sizeof(std::int64_t));
}

void device_rows::make_ranks(cudaStream_t stream) {
  if (format_.tile != pair_tile_kind::signs || sign_ranks_.data() != nullptr || count_ == 0) return;
  const auto rows = static_cast<std::size_t>(count_);
  sign_ranks_ = {rows * static_cast<std::size_t>(rank_stride(format_)), stream};
  sign_rank_sums_ = {rows, stream};
  kernels::launch_ranks_of_signs(at_.values, count_, format_.cols, sign_ranks_.data(),
                                 rank_stride(format_), sign_rank_sums_.data(), stream);
}

}  // namespace gpu::cuda
