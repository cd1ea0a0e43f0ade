// Folding the prepared rows of the CUDA pair engine: rows of equal ranks become one.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/copies.hpp"
#include "kernels/pairs/prepare/fold_kernels.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "pairs/folding/equal_rows.hpp"

namespace gpu::cuda {
namespace {

detail::row_patterns read_patterns(const kernels::fold_result& from, index_t rows, index_t patterns,
                                   index_t valid, cudaStream_t stream) {
  detail::row_patterns out;
  out.pattern_of.resize(static_cast<std::size_t>(rows), detail::row_patterns::no_pattern);
  if (patterns == 0) return out;
  out.members.resize(static_cast<std::size_t>(valid));
  std::vector<std::uint32_t> begin(static_cast<std::size_t>(patterns));
  copy_elements(out.pattern_of.data(), from.pattern_of, out.pattern_of.size(), stream);
  copy_elements(out.members.data(), from.members, out.members.size(), stream);
  copy_elements(begin.data(), from.begin, begin.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  out.begin.assign(begin.begin(), begin.end());
  out.begin.push_back(valid);
  return out;
}

}  // namespace

std::optional<detail::row_patterns> device_rows::find_patterns(double most_share, int threads,
                                                               index_t border,
                                                               const detail::row_info& info,
                                                               const pair_budget& budget,
                                                               cudaStream_t stream) {
  if (count_ == 0) {
    return std::isfinite(most_share) ? std::nullopt : std::optional(detail::row_patterns{});
  }
  std::optional<detail::row_patterns> patterns =
      resident_ ? fold_resident(most_share, border, info, budget, stream)
                : fold_on_host(most_share, threads, border, stream);
  if (!patterns) return patterns;
  count_ = patterns->size();
  block_rows_ = std::clamp<index_t>(block_rows_, 1, std::max<index_t>(count_, 1));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(invalid_.data(), 0, invalid_.bytes(), stream));
  at_.rows = count_;
  kernels::launch_row_norms({at_.square_sums, count_, at_.norms}, invalid_.data(), stream);
  if (at_.rounding != nullptr && count_ > 0) measure_rounding(format_, {0, count_}, at_, stream);
  return patterns;
}

std::optional<detail::row_patterns> device_rows::fold_resident(double most_share, index_t border,
                                                               const detail::row_info& info,
                                                               const pair_budget& budget,
                                                               cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(count_);
  const std::size_t scratch_bytes = kernels::fold_scratch_bytes(count_);
  // Four numbers a row while patterns are found; then two lists of them and the rows that stay.
  const std::size_t folded_bytes = sizeof(std::int64_t) + sizeof(kernels::row_norm) +
                                   format_.row_bytes +
                                   (format_.rounded ? sizeof(kernels::row_rounding) : 0);
  const std::size_t needed = scratch_bytes + rows * (6 * sizeof(std::uint32_t) + folded_bytes);
  if (std::isfinite(most_share) && needed > budget.left()) return std::nullopt;
  budget.require(needed, "patterns of rows");

  const kernels::fold_source source{.values = at_.values,
                                    .row_bytes = static_cast<index_t>(format_.row_bytes),
                                    .square_sums = at_.square_sums,
                                    .rows = count_,
                                    .border = border};
  const device_buffer<std::byte> scratch(scratch_bytes, stream);
  const device_buffer<std::uint32_t> numbers(4 * rows, stream);
  const kernels::fold_places places{.order = numbers.data(),
                                    .heads = numbers.data() + rows,
                                    .is_first = numbers.data() + 2 * rows,
                                    .number = numbers.data() + 3 * rows};
  const device_buffer<kernels::fold_counters> device_counters(1, stream);
  kernels::fold_counters counters{};
  std::uint64_t seed = 0;
  do {  // a second time only where 64-bit hashes of different rows collide
    kernels::launch_find_patterns(source, ++seed, places, device_counters.data(), scratch.data(),
                                  scratch_bytes, stream);
    counters = cuda::read_back(device_counters.data(), stream);
  } while (counters.collisions > 0);

  const auto patterns = static_cast<index_t>(counters.patterns);
  const auto valid =
      count_ - static_cast<index_t>(info.constant_rows.size() + info.nan_rows.size());
  if (static_cast<double>(patterns) >
      most_share * static_cast<double>(std::max<index_t>(valid, 1))) {
    return std::nullopt;
  }
  const auto kept = static_cast<std::size_t>(patterns);
  const device_buffer<std::byte> unfolded = std::move(memory_);
  take_memory(patterns, stream);
  const device_buffer<std::uint32_t> lists(2 * rows + kept, stream);
  const kernels::fold_result result{.pattern_of = lists.data(),
                                    .begin = lists.data() + 2 * rows,
                                    .members = lists.data() + rows,
                                    .values = at_.values,
                                    .square_sums = at_.square_sums};
  kernels::launch_fold_rows(source, places, patterns, result, scratch.data(), scratch_bytes,
                            stream);
  return read_patterns(result, count_, patterns, valid, stream);
}

// Rows that do not fit the device are on the host: they are folded where they are.
std::optional<detail::row_patterns> device_rows::fold_on_host(double most_share, int threads,
                                                              index_t border, cudaStream_t stream) {
  const std::size_t row_bytes = format_.row_bytes;
  const auto move_row = [&](index_t to, index_t from) {
    if (to == from) return;
    std::memcpy(host_values_.get() + static_cast<std::size_t>(to) * row_bytes,
                host_values_.get() + static_cast<std::size_t>(from) * row_bytes, row_bytes);
  };
  std::vector<std::int64_t> sums = square_sums(count_, stream);
  std::vector<node_id> original;  // rows that have a statistic
  for (index_t i = 0; i < count_; ++i) {
    if (sums[static_cast<std::size_t>(i)] > 0) original.push_back(static_cast<node_id>(i));
  }
  std::vector<std::byte> valid_rows;
  const bool all_valid = static_cast<index_t>(original.size()) == count_;
  if (!all_valid) {
    valid_rows.resize(original.size() * row_bytes);
    for (std::size_t i = 0; i < original.size(); ++i) {
      std::memcpy(valid_rows.data() + i * row_bytes, host_values_.get() + original[i] * row_bytes,
                  row_bytes);
    }
  }
  const index_t valid_border =
      std::lower_bound(original.begin(), original.end(), border) - original.begin();
  const auto valid = static_cast<index_t>(original.size());
  const bool is_across = border > 0;
  const detail::fold_sections sections{
      .rows = is_across ? std::vector{valid_border, valid - valid_border} : std::vector{valid},
      .own = 0,
      .is_across = is_across,
      .most_share = most_share};
  std::optional<detail::row_patterns> found =
      detail::find_patterns({all_valid ? host_values_.get() : valid_rows.data(), row_bytes, valid},
                            sections, detail::thread_count(threads));
  if (!found) return std::nullopt;
  detail::row_patterns out = detail::renumber_rows(std::move(*found), original, count_);
  for (index_t p = 0; p < out.size(); ++p) {
    const node_id first = out.members_of(static_cast<node_id>(p)).front();  // not before p
    move_row(p, first);
    sums[static_cast<std::size_t>(p)] = sums[first];
  }
  copy_elements(at_.square_sums, sums.data(), out.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));  // before `sums` goes
  return out;
}

}  // namespace gpu::cuda
