#pragma once
// The strings that Python passes for the enumerations of the library.

#include <gpu/similarity.hpp>

#include <vector>

#include "options.hpp"

namespace gpu_python {

// One specialisation of enum_names: the enumeration and its (name, value) pairs.
#define GPU_SIMILARITY_PYTHON_NAMES(E, ...)                            \
  template <>                                                          \
  struct enum_names<E> {                                               \
    using value_type = E;                                              \
    using entry = std::pair<std::string_view, E>;                      \
    static constexpr auto table = std::to_array<entry>({__VA_ARGS__}); \
  }

// The measures say their names themselves.
template <>
struct enum_names<gpu::measure> {
  static inline const auto table = [] {
    std::vector<std::pair<std::string_view, gpu::measure>> names;
    for (const auto& some : {gpu::all_measures(), gpu::bit_measures()}) {
      for (const gpu::measure what : some) names.emplace_back(gpu::to_string(what), what);
    }
    return names;
  }();
};
GPU_SIMILARITY_PYTHON_NAMES(gpu::backend, {"automatic", gpu::backend::automatic},
                            {"auto", gpu::backend::automatic}, {"cpu", gpu::backend::cpu},
                            {"cuda", gpu::backend::cuda});
GPU_SIMILARITY_PYTHON_NAMES(gpu::nan_policy, {"reject", gpu::nan_policy::reject},
                            {"propagate", gpu::nan_policy::propagate},
                            {"omit", gpu::nan_policy::omit},
                            {"pairwise", gpu::nan_policy::pairwise});
GPU_SIMILARITY_PYTHON_NAMES(gpu::tail, {"two-sided", gpu::tail::two_sided},
                            {"greater", gpu::tail::greater}, {"less", gpu::tail::less});
GPU_SIMILARITY_PYTHON_NAMES(gpu::adjustment, {"none", gpu::adjustment::none},
                            {"bonferroni", gpu::adjustment::bonferroni},
                            {"benjamini-hochberg", gpu::adjustment::benjamini_hochberg},
                            {"bh", gpu::adjustment::benjamini_hochberg});
GPU_SIMILARITY_PYTHON_NAMES(gpu::pair_variant, {"automatic", gpu::pair_variant::automatic},
                            {"naive", gpu::pair_variant::naive},
                            {"tiled", gpu::pair_variant::tiled},
                            {"shared_tiled", gpu::pair_variant::shared_tiled},
                            {"tensor", gpu::pair_variant::tensor},
                            {"hopper", gpu::pair_variant::hopper});
GPU_SIMILARITY_PYTHON_NAMES(gpu::row_folding, {"automatic", gpu::row_folding::automatic},
                            {"never", gpu::row_folding::never},
                            {"always", gpu::row_folding::always});
GPU_SIMILARITY_PYTHON_NAMES(gpu::edge_order,
                            {"by-row-then-column", gpu::edge_order::by_row_then_column},
                            {"unspecified", gpu::edge_order::unspecified});
GPU_SIMILARITY_PYTHON_NAMES(gpu::neighbor_order,
                            {"by-absolute-value", gpu::neighbor_order::by_absolute_value},
                            {"by-value", gpu::neighbor_order::by_value});
GPU_SIMILARITY_PYTHON_NAMES(gpu::neighbor_q, {"none", gpu::neighbor_q::none},
                            {"exact", gpu::neighbor_q::exact});
GPU_SIMILARITY_PYTHON_NAMES(gpu::network_kind, {"unsigned", gpu::network_kind::unsigned_network},
                            {"signed", gpu::network_kind::signed_network},
                            {"signed-hybrid", gpu::network_kind::signed_hybrid},
                            {"signed hybrid", gpu::network_kind::signed_hybrid});
GPU_SIMILARITY_PYTHON_NAMES(gpu::tie_method, {"average", gpu::tie_method::average},
                            {"min", gpu::tie_method::min}, {"max", gpu::tie_method::max},
                            {"dense", gpu::tie_method::dense},
                            {"ordinal", gpu::tie_method::ordinal});
GPU_SIMILARITY_PYTHON_NAMES(gpu::rank_order, {"ascending", gpu::rank_order::ascending},
                            {"descending", gpu::rank_order::descending});
GPU_SIMILARITY_PYTHON_NAMES(gpu::rank_variant, {"automatic", gpu::rank_variant::automatic},
                            {"counting", gpu::rank_variant::counting},
                            {"block_sort", gpu::rank_variant::block_sort},
                            {"segmented_sort", gpu::rank_variant::segmented_sort},
                            {"sort", gpu::rank_variant::sort});
GPU_SIMILARITY_PYTHON_NAMES(gpu::boundary, {"zero", gpu::boundary::zero},
                            {"reflect", gpu::boundary::reflect},
                            {"nearest", gpu::boundary::nearest}, {"mirror", gpu::boundary::mirror},
                            {"wrap", gpu::boundary::wrap}, {"shrink", gpu::boundary::shrink},
                            {"valid", gpu::boundary::valid});
GPU_SIMILARITY_PYTHON_NAMES(gpu::mean_filter_variant,
                            {"automatic", gpu::mean_filter_variant::automatic},
                            {"direct", gpu::mean_filter_variant::direct},
                            {"constant_memory", gpu::mean_filter_variant::constant_memory},
                            {"shared_memory", gpu::mean_filter_variant::shared_memory},
                            {"block_sums", gpu::mean_filter_variant::block_sums},
                            {"multi_level", gpu::mean_filter_variant::multi_level});
GPU_SIMILARITY_PYTHON_NAMES(gpu::top_k_select, {"largest", gpu::top_k_select::largest},
                            {"smallest", gpu::top_k_select::smallest});
GPU_SIMILARITY_PYTHON_NAMES(gpu::top_k_order, {"sorted", gpu::top_k_order::sorted},
                            {"unsorted", gpu::top_k_order::unsorted});
GPU_SIMILARITY_PYTHON_NAMES(gpu::top_k_variant, {"automatic", gpu::top_k_variant::automatic},
                            {"threshold", gpu::top_k_variant::threshold},
                            {"radix_select", gpu::top_k_variant::radix_select},
                            {"sort", gpu::top_k_variant::sort},
                            {"two_pass_insert", gpu::top_k_variant::two_pass_insert},
                            {"block_rows", gpu::top_k_variant::block_rows},
                            {"warp_rows", gpu::top_k_variant::warp_rows});
GPU_SIMILARITY_PYTHON_NAMES(gpu::p_method, {"automatic", gpu::p_method::automatic},
                            {"t", gpu::p_method::t}, {"exact", gpu::p_method::exact});
GPU_SIMILARITY_PYTHON_NAMES(gpu::column_shuffle, {"permutation", gpu::column_shuffle::permutation},
                            {"circular", gpu::column_shuffle::circular});
GPU_SIMILARITY_PYTHON_NAMES(gpu::transposition, {"none", gpu::transposition::none},
                            {"transpose", gpu::transposition::transpose});
GPU_SIMILARITY_PYTHON_NAMES(gpu::matmul_variant, {"automatic", gpu::matmul_variant::automatic},
                            {"naive", gpu::matmul_variant::naive},
                            {"pitched", gpu::matmul_variant::pitched},
                            {"shared_tiled", gpu::matmul_variant::shared_tiled},
                            {"register_tiled", gpu::matmul_variant::register_tiled},
                            {"tensor", gpu::matmul_variant::tensor},
                            {"blas", gpu::matmul_variant::blas});
GPU_SIMILARITY_PYTHON_NAMES(gpu::bit_product, {"xnor_dot", gpu::bit_product::xnor_dot},
                            {"hamming_distance", gpu::bit_product::hamming_distance},
                            {"and_count", gpu::bit_product::and_count});
GPU_SIMILARITY_PYTHON_NAMES(gpu::binary_matmul_variant,
                            {"automatic", gpu::binary_matmul_variant::automatic},
                            {"popcount", gpu::binary_matmul_variant::popcount},
                            {"popcount_shared", gpu::binary_matmul_variant::popcount_shared},
                            {"popcount_tiled", gpu::binary_matmul_variant::popcount_tiled},
                            {"tensor", gpu::binary_matmul_variant::tensor},
                            {"hopper", gpu::binary_matmul_variant::hopper});

#undef GPU_SIMILARITY_PYTHON_NAMES

}  // namespace gpu_python
