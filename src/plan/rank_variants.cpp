#include "plan/rank_variants.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

#include "base/check_enumerator.hpp"
#include "plan/rank_policy.hpp"

namespace gpu::inline v0 {

std::string_view to_string(rank_variant variant) noexcept {
  return detail::name_in(variant,
                         {"automatic", "counting", "block_sort", "segmented_sort", "sort"});
}

}  // namespace gpu::inline v0

namespace gpu::inline v0::detail {
namespace {

// Up to here counting is ahead of sorting on the CPU: see docs/rank.md.
constexpr index_t cpu_counting_cols = 128;

[[noreturn]] void refuse(rank_variant asked, const char* backend_name) {
  throw unsupported(fmt::format("rank_options.variant: {} is not offered on the {} backend",
                                to_string(asked), backend_name));
}

[[noreturn]] void refuse(rank_variant asked, index_t cols, index_t most) {
  throw unsupported(fmt::format("rank_options.variant: {} ranks rows of at most {} columns, got {}",
                                to_string(asked), most, cols));
}

rank_variant choose_on_cpu(rank_variant asked, index_t cols) {
  switch (asked) {
    case rank_variant::automatic:
      return cols <= cpu_counting_cols ? rank_variant::counting : rank_variant::sort;
    case rank_variant::counting:
      if (cols > cpu_counting_max_cols) refuse(asked, cols, cpu_counting_max_cols);
      return asked;
    case rank_variant::sort:
      return asked;
    case rank_variant::block_sort:
    case rank_variant::segmented_sort:
      break;
  }
  refuse(asked, "CPU");
}

// Columns up to which counting is ahead of the block sort. Average ranks are counted in registers;
// for the other ties one warp counts a row.
index_t cuda_counting_cols(tie_method ties) {
  return ties == tie_method::average ? kernels::rank_counting_max_cols
                                     : kernels::rank_warp_counting_cols;
}

rank_variant choose_on_cuda(rank_variant asked, index_t cols, std::size_t element_bytes,
                            tie_method ties) {
  const index_t most_in_block = kernels::rank_block_sort_max_cols(element_bytes);
  switch (asked) {
    case rank_variant::automatic:
      if (cols <= cuda_counting_cols(ties)) return rank_variant::counting;
      return cols <= most_in_block ? rank_variant::block_sort : rank_variant::segmented_sort;
    case rank_variant::counting:
      if (cols > kernels::rank_counting_max_cols) {
        refuse(asked, cols, kernels::rank_counting_max_cols);
      }
      return asked;
    case rank_variant::block_sort:
      if (cols > most_in_block) refuse(asked, cols, most_in_block);
      return asked;
    case rank_variant::segmented_sort:
      return asked;
    case rank_variant::sort:
      break;
  }
  refuse(asked, "CUDA");
}

}  // namespace

rank_variant choose_rank_variant(rank_variant asked, backend where, index_t cols,
                                 std::size_t element_bytes, tie_method ties) {
  return where == backend::cpu ? choose_on_cpu(asked, cols)
                               : choose_on_cuda(asked, cols, element_bytes, ties);
}

}  // namespace gpu::inline v0::detail
