// rank_rows: checks every argument, picks backend and variant, calls the backend.
#include <gpu/rank.hpp>

#include <fmt/format.h>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "base/element_types.hpp"
#include "base/memory_errors.hpp"
#include "cpu/platform/large_pages.hpp"
#include "cpu/rank/rank.hpp"
#include "cuda/rank/rank.hpp"
#include "pairs/checks.hpp"
#include "pairs/reading/host_rows.hpp"
#include "plan/rank_variants.hpp"

namespace gpu::inline v0::detail {
namespace {

// Columns are counted in 31 bits, so that a rank and its column fit one register each.
constexpr index_t most_cols = (index_t{1} << 31) - 1;

void check_columns(index_t cols) {
  if (cols > most_cols) {
    throw invalid_argument(
        fmt::format("data: got {} columns, expected at most {}", cols, most_cols));
  }
}

template <class T>
rank_options decide(const rank_options& options, backend where, index_t cols) {
  check_enumerator("options.ties", options.ties, tie_method::ordinal);
  check_enumerator("options.order", options.order, rank_order::descending);
  check_enumerator("options.variant", options.variant, rank_variant::sort);
  check_nan_policy(options.nans, {nan_policy::reject, nan_policy::propagate}, "rank_rows");
  rank_options decided = options;
  decided.exec.target = where;
  decided.variant = choose_rank_variant(options.variant, where, cols, sizeof(T), options.ties);
  return decided;
}

template <class T>
void rank_on(matrix_view<const T> data, matrix_view<double> ranks, const rank_options& decided) {
  if (decided.exec.target == backend::cuda) return cuda::rank_rows<T>(data, ranks, decided);
  cpu::rank_rows<T>(data, ranks, decided);
}

// By the backend that was decided on.
template <class Work>
void run_decided(const rank_options& decided, index_t rows, const Work& work) {
  run_on(decided.exec.target, decided.exec, "rank_rows", rows, work, work);
}

matrix<double> new_ranks(index_t rows, index_t cols) {
  matrix<double> ranks(rows, cols);
  if (ranks.empty()) return ranks;
  cpu::advise_large_pages(ranks.data(), static_cast<std::size_t>(rows * cols) * sizeof(double));
  return ranks;
}

// The caller's memory suffices for what the call takes.
template <class T>
void check_scratch(device_matrix_view<const T> data, const rank_options& decided) {
  if (decided.workspace.empty()) return;
  check_workspace(decided.workspace, cuda::rank_workspace<T>(data.rows(), data.cols(), decided));
}

void refuse_nan(const any_table& data, const rank_options& options) {
  if (options.nans != nan_policy::reject) return;
  const int threads = options.exec.cpu_threads;
  validate::refuse_nan({data}, validate::find_nan_rows({data}, threads), {});
}

template <class T>
matrix<double> rank_view(matrix_view<const T> data, const rank_options& options) {
  check_columns(data.cols());
  check_host_call(options.exec);
  const rank_options decided = decide<T>(options, resolve_backend(options.exec), data.cols());
  matrix<double> ranks = new_ranks(data.rows(), data.cols());
  if (data.empty()) return ranks;
  // On the CPU the ranking itself comes across a NaN.
  if (decided.exec.target == backend::cuda) refuse_nan(data, options);
  run_decided(decided, data.rows(), [&] { rank_on<T>(data, ranks.view(), decided); });
  return ranks;
}

matrix<double> rank_in_place(const any_table& data, const rank_options& options) {
  return std::visit(
      [&]<class View>(const View& view) -> matrix<double> {
        if constexpr (std::is_constructible_v<any_matrix_view, View>) {
          return rank_view<typename View::value_type>(view, options);
        }
        throw unsupported("data: is in device memory, expected a table in host memory");
      },
      data);
}

}  // namespace

matrix<double> rank_rows_of(const any_table& data, const rank_options& options) {
  return with_memory_errors("rank_rows", [&] {
    if (!is_gathered(data)) return rank_in_place(data, options);
    const host_rows rows(data);
    check_columns(rows.cols());
    check_host_call(options.exec);
    const rank_options decided = rows.with_type([&]<class T>(const host_rows&, T) {
      return decide<T>(options, resolve_backend(options.exec), rows.cols());
    });
    refuse_nan(data, options);
    matrix<double> ranks = new_ranks(rows.rows(), rows.cols());
    if (ranks.empty()) return ranks;
    run_decided(decided, rows.rows(), [&] {
      rows.for_each_view(
          {0, rows.rows()}, options.exec.cpu_threads,
          [&]<class T>(const matrix_view<const T>& view, index_t first) {
            rank_on<T>(view, matrix_view<double>(ranks.row(first).data(), view.rows(), view.cols()),
                       decided);
          });
    });
    return ranks;
  });
}

template <class T>
void rank_rows(device_matrix_view<const T> data, device_matrix_view<double> ranks,
               const rank_options& options) {
  with_memory_errors("rank_rows", [&] {
    check_columns(data.cols());
    if (ranks.rows() != data.rows() || ranks.cols() != data.cols()) {
      throw invalid_argument(fmt::format("ranks: got [{}, {}], expected [{}, {}] as data",
                                         ranks.rows(), ranks.cols(), data.rows(), data.cols()));
    }
    check_one_device(options.exec);
    check_device_call(options.exec);
    const rank_options decided = decide<T>(options, backend::cuda, data.cols());
    if (data.empty()) return;
    check_scratch(data, decided);
    ask_progress(options.exec, "rank_rows", data.rows());
    cuda::rank_rows<T>(data, ranks, decided);
  });
}

template <class T>
rank_plan plan_rank_rows(index_t rows, index_t cols, const rank_options& options) {
  return with_memory_errors("plan_rank_rows", [&] {
    if (rows < 0 || cols < 0) {
      throw invalid_argument(
          fmt::format("rows, cols: got {} and {}, expected no negative extent", rows, cols));
    }
    check_columns(cols);
    check_one_device(options.exec);
    const rank_options decided = decide<T>(options, resolve_backend(options.exec), cols);
    rank_plan plan{.used = decided.exec.target, .variant = decided.variant};
    if (plan.used == backend::cuda && rows > 0 && cols > 0) {
      plan.workspace_bytes = cuda::rank_workspace<T>(rows, cols, decided);
    }
    return plan;
  });
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                \
  template GPU_SIMILARITY_EXPORT void rank_rows<T>(                                  \
      device_matrix_view<const T>, device_matrix_view<double>, const rank_options&); \
  template GPU_SIMILARITY_EXPORT rank_plan plan_rank_rows<T>(index_t, index_t, const rank_options&);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::inline v0::detail
