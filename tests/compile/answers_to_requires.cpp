// A requires-expression about a call is true where the call compiles and false where it does not.
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpu/similarity.hpp>

namespace {

using table = gpu::matrix<float>;
using device_table = gpu::device_matrix_view<const float>;
using device_out = gpu::device_matrix_view<float>;
using device_ranks = gpu::device_matrix_view<double>;
using device_places = gpu::device_matrix_view<gpu::index_t>;
using values = std::vector<float>;
using columns = gpu::column_matrix_view<const float>;
using sparse = gpu::csr_view<const float>;
using wide = gpu::matrix<std::int64_t>;
using gpu::index_t;

#define GPU_SIMILARITY_ASKED(operation) \
  template <class... Args>              \
  concept can_##operation =             \
      requires(Args&&... args) { gpu::operation(std::forward<Args>(args)...); }

GPU_SIMILARITY_ASKED(spearman_all_pairs);
GPU_SIMILARITY_ASKED(pearson_all_pairs);
GPU_SIMILARITY_ASKED(cosine_all_pairs);
GPU_SIMILARITY_ASKED(bicor_all_pairs);
GPU_SIMILARITY_ASKED(kendall_all_pairs);
GPU_SIMILARITY_ASKED(kendall_ties);
GPU_SIMILARITY_ASKED(all_pairs);
GPU_SIMILARITY_ASKED(rank_rows);
GPU_SIMILARITY_ASKED(max_t);
GPU_SIMILARITY_ASKED(differential_pairs);
GPU_SIMILARITY_ASKED(top_k);
GPU_SIMILARITY_ASKED(top_k_distinct);
GPU_SIMILARITY_ASKED(mean_filter);
GPU_SIMILARITY_ASKED(convolve);
GPU_SIMILARITY_ASKED(matmul);
GPU_SIMILARITY_ASKED(pack_bits);
GPU_SIMILARITY_ASKED(view_of);
GPU_SIMILARITY_ASKED(as_matrix);
GPU_SIMILARITY_ASKED(transposed);
GPU_SIMILARITY_ASKED(prepare_rows);
GPU_SIMILARITY_ASKED(plan_all_pairs);
GPU_SIMILARITY_ASKED(shared_observations);
#undef GPU_SIMILARITY_ASKED

// A measure, one table or two, both options; a sink of differences behind the options.
static_assert(can_max_t<gpu::measure, table&, gpu::pair_options, gpu::max_t_options>);
static_assert(can_max_t<gpu::measure, table&, wide&, gpu::pair_options, gpu::max_t_options>);
static_assert(!can_max_t<gpu::measure, table&, gpu::max_t_options, gpu::pair_options>);
static_assert(!can_max_t<gpu::measure, table&, device_table>);
static_assert(!can_max_t<table&>);
static_assert(can_differential_pairs<gpu::measure, table&, gpu::column_groups, gpu::pair_options,
                                     gpu::discovery_sink>);
static_assert(
    !can_differential_pairs<gpu::measure, table&, gpu::column_groups, gpu::differential_edge_sink>);
static_assert(!can_differential_pairs<gpu::measure, table&, gpu::column_groups, gpu::pair_options,
                                      gpu::edge_sink>);

// All pairs: data, or x and y, then options, then a sink.
static_assert(can_spearman_all_pairs<table&>);
static_assert(can_spearman_all_pairs<table&, table&, gpu::pair_options, gpu::edge_sink>);
static_assert(can_spearman_all_pairs<device_table, gpu::device_dense_sink>);
static_assert(!can_spearman_all_pairs<table&, gpu::device_dense_sink>);
static_assert(!can_spearman_all_pairs<table&, gpu::edge_sink, gpu::pair_options>);
static_assert(!can_spearman_all_pairs<table&, gpu::edge_sink, gpu::edge_sink>);
static_assert(!can_spearman_all_pairs<table&, table&, table&>);
static_assert(can_spearman_all_pairs<table&, gpu::prepared_rows, gpu::edge_sink>);
static_assert(!can_spearman_all_pairs<values&, gpu::prepared_rows>);
static_assert(!can_spearman_all_pairs<table&, int>);
static_assert(!can_spearman_all_pairs<table&, gpu::pair_filter>);
static_assert(!can_spearman_all_pairs<table&, device_table>);
static_assert(!can_spearman_all_pairs<values&>);
static_assert(!can_spearman_all_pairs<>);
static_assert(can_pearson_all_pairs<table&, gpu::edge_sink>);
static_assert(!can_pearson_all_pairs<table&, int>);
static_assert(can_cosine_all_pairs<table&, gpu::count_sink>);
static_assert(!can_cosine_all_pairs<table&, std::string>);
static_assert(can_bicor_all_pairs<table&, gpu::edge_sink>);
static_assert(can_kendall_all_pairs<table&, table&, gpu::pair_options, gpu::edge_sink>);
static_assert(can_kendall_ties<table&>);
static_assert(!can_kendall_ties<values&>);
static_assert(can_all_pairs<gpu::measure, table&>);
static_assert(!can_all_pairs<gpu::measure, table&, int>);
static_assert(!can_all_pairs<int, table&>);
static_assert(!can_all_pairs<gpu::measure, values&>);
static_assert(!can_all_pairs<gpu::measure, table&, gpu::edge_sink, gpu::pair_options>);

// A table in host memory stands in either layout, and may be of wide integers; other operations
// take rows alone.
static_assert(gpu::matrix_like<table> && !gpu::matrix_like<columns>);
static_assert(gpu::column_matrix_like<columns> && !gpu::column_matrix_like<table>);
static_assert(gpu::table_like<columns> && gpu::host_table_like<columns>);
using columns_apart = gpu::column_list_view<float>;
static_assert(gpu::column_matrix_like<columns_apart> && !gpu::matrix_like<columns_apart>);
static_assert(std::is_convertible_v<columns_apart, gpu::column_list_view<const float>>);
static_assert(!std::is_convertible_v<gpu::column_list_view<const float>, columns_apart>);
static_assert(!gpu::host_table_like<device_table> && !gpu::table_like<values>);
static_assert(gpu::csr_like<sparse> && gpu::table_like<sparse> && !gpu::matrix_like<sparse>);
static_assert(can_spearman_all_pairs<sparse, columns, gpu::edge_sink>);
static_assert(!can_pearson_all_pairs<sparse, device_table>);
static_assert(gpu::table_element<std::int64_t> && !gpu::element<std::int64_t>);
static_assert(can_spearman_all_pairs<columns, gpu::pair_options, gpu::edge_sink>);
static_assert(can_spearman_all_pairs<columns, table&, gpu::top_k_sink>);
static_assert(can_pearson_all_pairs<wide&, columns>);
static_assert(!can_pearson_all_pairs<columns, device_table>);
static_assert(can_prepare_rows<gpu::measure, columns>);
static_assert(can_plan_all_pairs<gpu::measure, columns>);
static_assert(can_plan_all_pairs<gpu::measure, table&, gpu::pair_options, gpu::pair_filter>);
static_assert(can_plan_all_pairs<gpu::measure, table&, table&, gpu::count_sink>);
static_assert(!can_plan_all_pairs<gpu::measure, table&, gpu::prepared_rows>);
static_assert(!can_plan_all_pairs<gpu::measure, table&, gpu::count_sink, gpu::pair_options>);
static_assert(!can_plan_all_pairs<gpu::measure, values&>);
static_assert(can_shared_observations<columns>);
static_assert(can_rank_rows<columns> && can_rank_rows<wide>);
static_assert(!can_top_k<columns, int> && !can_mean_filter<columns>);
static_assert(!can_matmul<columns, table&> && !can_pack_bits<columns>);
static_assert(can_transposed<table&> && can_transposed<columns>);
static_assert(!can_transposed<table>);  // a view of a temporary
static_assert(can_transposed<device_table> && can_transposed<gpu::device_table_view>);
static_assert(can_spearman_all_pairs<gpu::device_table_view, gpu::device_dense_sink>);
static_assert(!can_rank_rows<gpu::device_table_view, device_ranks>);  // rows alone
static_assert(!can_transposed<columns_apart>);  // rows that lie apart are not a view

static_assert(can_rank_rows<table&>);
static_assert(can_rank_rows<table>);  // a call that blocks may be handed a temporary
static_assert(can_rank_rows<device_table, device_ranks>);
static_assert(!can_rank_rows<values&>);
static_assert(!can_rank_rows<table&, device_ranks>);
static_assert(!can_rank_rows<device_table, device_out>);
static_assert(!can_rank_rows<device_table>);
static_assert(!can_rank_rows<table&, int>);

static_assert(can_top_k<values&, int>);
static_assert(can_top_k<table&, int, gpu::top_k_options>);
static_assert(can_top_k<device_table, int, device_out, device_places>);
static_assert(!can_top_k<device_table, int, device_out, gpu::device_matrix_view<std::int32_t>>);
static_assert(!can_top_k<device_table, int, device_ranks, device_places>);
static_assert(!can_top_k<device_table, int, device_table, device_places>);
static_assert(!can_top_k<table&, int, device_out, device_places>);
static_assert(!can_top_k<device_table, int>);
static_assert(!can_top_k<int, int>);
static_assert(!can_top_k<table&>);
static_assert(can_top_k_distinct<values&, int>);
static_assert(!can_top_k_distinct<device_table, int>);

static_assert(can_mean_filter<values&>);
static_assert(can_mean_filter<table&, table&>);
static_assert(can_mean_filter<device_table, device_out>);
static_assert(!can_mean_filter<values&, int>);
static_assert(!can_mean_filter<table&, const table&>);
static_assert(!can_mean_filter<table&, table>);
static_assert(!can_mean_filter<table&, device_out>);
static_assert(!can_mean_filter<device_table, table&>);
static_assert(!can_mean_filter<std::string, int, int>);
static_assert(can_convolve<values&, std::vector<double>&>);
static_assert(!can_convolve<values&, values&>);
static_assert(!can_convolve<table&, std::vector<double>&, const table&>);
static_assert(!can_convolve<table&, std::vector<double>&, device_out>);

static_assert(can_matmul<table&, table&>);
static_assert(can_matmul<table&, table&, table&>);
static_assert(can_matmul<device_table, device_table, device_out>);
static_assert(!can_matmul<table&, table&, const table&>);
static_assert(!can_matmul<table&, table&, table>);
static_assert(!can_matmul<table&, table&, device_out>);
static_assert(!can_matmul<device_table, table&, device_out>);
static_assert(!can_matmul<table&, values&>);

static_assert(can_pack_bits<table&>);
static_assert(!can_pack_bits<values&>);

static_assert(can_view_of<table&>);
static_assert(!can_view_of<table>);
static_assert(can_as_matrix<values&, int, int>);
static_assert(can_as_matrix<std::span<const float>, int, int>);
static_assert(!can_as_matrix<values, int, int>);

// A copy of a list of edges is asked for by name.
using edges = gpu::array<gpu::edge>;
static_assert(!std::is_convertible_v<edges, std::vector<gpu::edge>>);
static_assert(std::is_constructible_v<std::vector<gpu::edge>, const edges&>);
static_assert(std::is_convertible_v<edges&, std::span<const gpu::edge>>);

}  // namespace
