// top_k: checks every argument, picks backend and variant, calls the backend.
#include <gpu/top_k.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/element_types.hpp"
#include "base/memory_errors.hpp"
#include "cpu/top_k/top_k.hpp"
#include "cuda/top_k/top_k.hpp"
#include "plan/top_k_variants.hpp"

namespace gpu::inline v0 {

std::string_view to_string(top_k_variant variant) noexcept {
  return detail::name_in(variant, {"automatic", "threshold", "radix_select", "sort",
                                   "two_pass_insert", "block_rows", "warp_rows"});
}

}  // namespace gpu::inline v0

namespace gpu::inline v0::detail {
namespace {

index_t checked_entries(index_t k, index_t cols) {
  if (k < 1) throw invalid_argument(fmt::format("k: got {}, expected at least 1", k));
  return std::min(k, cols);
}

// The options with backend and variant decided.
template <class T>
top_k_options decide(top_k_shape shape, const top_k_options& options, memory_space space) {
  check_enumerator("options.select", options.select, top_k_select::smallest);
  check_enumerator("options.order", options.order, top_k_order::unsorted);
  check_enumerator("options.variant", options.variant, top_k_variant::warp_rows);
  check_one_device(options.exec);
  top_k_options decided = options;
  if (space == memory_space::host) {
    decided.exec.target = resolve_backend(options.exec);
  } else {
    check_device_call(options.exec);
    decided.exec.target = backend::cuda;
  }
  shape.element_bytes = sizeof(T);
  if (decided.exec.target == backend::cuda) {
    shape.shared_bytes = cuda::top_k_shared_bytes(options.exec);
  }
  decided.variant = choose_top_k_variant(shape, decided.exec.target, options.variant);
  return decided;
}

// Of distinct values where `found` is not null.
template <class T>
void run_host(matrix_view<const T> data, index_t k, T* values, index_t* indices, index_t* counts,
              index_t* found, const top_k_options& options) {
  if (found != nullptr) std::fill_n(found, data.rows(), index_t{0});
  if (data.rows() == 0 || k == 0) return;
  run_on(
      options.exec.target, options.exec, found != nullptr ? "top_k_distinct" : "top_k", data.rows(),
      [&] { cuda::top_k<T>(data, k, values, indices, counts, found, options); },
      [&] {
        if (found == nullptr) return cpu::top_k<T>(data, k, values, indices, options);
        cpu::top_k_distinct<T>(data, k, values, indices, counts, found, options);
      });
}

// select(entries, options) with what is decided of a call on host memory.
template <class T, class Select>
auto on_host(matrix_view<const T> data, index_t k, bool distinct, const top_k_options& options,
             const Select& select) {
  return with_memory_errors(distinct ? "top_k_distinct" : "top_k", [&] {
    check_no_stream(options.exec);
    const index_t entries = checked_entries(k, data.cols());
    const top_k_shape shape{
        .rows = data.rows(), .cols = data.cols(), .k = entries, .distinct = distinct};
    return select(entries, decide<T>(shape, options, memory_space::host));
  });
}

template <class T>
void check_output(const char* name, const device_matrix_view<T>& output, index_t rows,
                  index_t entries) {
  if (output.rows() == rows && output.cols() >= entries) return;
  throw invalid_argument(fmt::format("{}: got [{}, {}], expected [{}, at least {}]", name,
                                     output.rows(), output.cols(), rows, entries));
}

template <class T>
std::vector<T> first_of(const matrix<T>& row, index_t entries) {
  return {row.data(), row.data() + entries};
}

// The caller's memory and the limit suffice for what the call takes.
template <class T>
void check_scratch(const top_k_shape& shape, const top_k_options& options) {
  if (options.workspace.empty() && options.exec.workspace_bytes == 0) return;
  const std::size_t needed =
      cuda::top_k_workspace<T>(shape.rows, shape.cols, shape.k, shape.distinct, options);
  check_workspace(options.workspace, needed);
  if (options.exec.workspace_bytes != 0 && options.exec.workspace_bytes < needed) {
    throw out_of_memory(
        fmt::format("options.exec.workspace_bytes: got {}, {} takes {}",
                    options.exec.workspace_bytes, to_string(options.variant), needed),
        needed);
  }
}

}  // namespace

template <class T>
top_k_rows_result<T> top_k_rows(matrix_view<const T> data, index_t k,
                                const top_k_options& options) {
  return on_host(data, k, false, options, [&](index_t entries, const top_k_options& decided) {
    top_k_rows_result<T> result{.values = matrix<T>(data.rows(), entries),
                                .indices = matrix<index_t>(data.rows(), entries),
                                .requested = k};
    run_host(data, entries, result.values.data(), result.indices.data(), nullptr, nullptr, decided);
    return result;
  });
}

template <class T>
top_k_distinct_rows_result<T> top_k_distinct_rows(matrix_view<const T> data, index_t k,
                                                  const top_k_options& options) {
  return on_host(data, k, true, options, [&](index_t entries, const top_k_options& decided) {
    top_k_distinct_rows_result<T> result{
        .values = matrix<T>(data.rows(), entries),
        .indices = matrix<index_t>(data.rows(), entries),
        .counts = matrix<index_t>(data.rows(), entries),
        .found = std::vector<index_t>(static_cast<std::size_t>(data.rows())),
        .requested = k};
    run_host(data, entries, result.values.data(), result.indices.data(), result.counts.data(),
             result.found.data(), decided);
    return result;
  });
}

// A vector is a table of one row.
template <class T>
top_k_result<T> top_k_vector(matrix_view<const T> row, index_t k, const top_k_options& options) {
  return with_memory_errors("top_k", [&]() -> top_k_result<T> {
    const top_k_rows_result<T> found = top_k_rows(row, k, options);
    const index_t entries = found.values.cols();
    return {.values = first_of(found.values, entries),
            .indices = first_of(found.indices, entries),
            .requested = k};
  });
}

template <class T>
top_k_distinct_result<T> top_k_distinct_vector(matrix_view<const T> row, index_t k,
                                               const top_k_options& options) {
  return with_memory_errors("top_k_distinct", [&]() -> top_k_distinct_result<T> {
    const top_k_distinct_rows_result<T> found = top_k_distinct_rows(row, k, options);
    const index_t entries = found.found.front();
    return {.values = first_of(found.values, entries),
            .indices = first_of(found.indices, entries),
            .counts = first_of(found.counts, entries),
            .requested = k};
  });
}

template <class T>
index_t top_k(device_matrix_view<const T> data, index_t k, device_matrix_view<T> values,
              device_matrix_view<index_t> indices, const top_k_options& options) {
  return with_memory_errors("top_k", [&] {
    const index_t entries = checked_entries(k, data.cols());
    check_output("values", values, data.rows(), entries);
    check_output("indices", indices, data.rows(), entries);
    const top_k_shape shape{.rows = data.rows(), .cols = data.cols(), .k = entries};
    const top_k_options decided = decide<T>(shape, options, memory_space::device);
    if (data.empty()) return entries;
    check_scratch<T>(shape, decided);
    ask_progress(options.exec, "top_k", data.rows());
    cuda::top_k<T>(data, entries, values, indices, {}, nullptr, decided);
    return entries;
  });
}

template <class T>
void top_k_distinct(device_matrix_view<const T> data, index_t k, device_matrix_view<T> values,
                    device_matrix_view<index_t> indices, device_matrix_view<index_t> counts,
                    device_vector_view<index_t> found, const top_k_options& options) {
  with_memory_errors("top_k_distinct", [&] {
    const index_t entries = checked_entries(k, data.cols());
    check_output("values", values, data.rows(), entries);
    check_output("indices", indices, data.rows(), entries);
    check_output("counts", counts, data.rows(), entries);
    if (found.size() < data.rows()) {
      throw invalid_argument(
          fmt::format("found: got {} elements, expected {}", found.size(), data.rows()));
    }
    const top_k_shape shape{
        .rows = data.rows(), .cols = data.cols(), .k = entries, .distinct = true};
    const top_k_options decided = decide<T>(shape, options, memory_space::device);
    if (data.rows() == 0) return;
    check_scratch<T>(shape, decided);
    ask_progress(options.exec, "top_k_distinct", data.rows());
    cuda::top_k<T>(data, entries, values, indices, counts, found.data(), decided);
  });
}

template <class T>
top_k_plan plan_top_k(index_t rows, index_t cols, index_t k, bool distinct,
                      const top_k_options& options) {
  return with_memory_errors("plan_top_k", [&] {
    const index_t entries = checked_entries(k, cols);
    if (rows < 0 || cols < 0) {
      throw invalid_argument(
          fmt::format("rows, cols: got {} and {}, expected no negative extent", rows, cols));
    }
    const top_k_shape shape{.rows = rows, .cols = cols, .k = entries, .distinct = distinct};
    const top_k_options decided = decide<T>(shape, options, memory_space::host);
    top_k_plan plan{.used = decided.exec.target, .variant = decided.variant, .entries = entries};
    if (plan.used == backend::cuda && rows > 0 && cols > 0) {
      plan.workspace_bytes = cuda::top_k_workspace<T>(rows, cols, entries, distinct, decided);
    }
    return plan;
  });
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template GPU_SIMILARITY_EXPORT top_k_result<T> top_k_vector<T>(matrix_view<const T>, index_t,    \
                                                                 const top_k_options&);            \
  template GPU_SIMILARITY_EXPORT top_k_rows_result<T> top_k_rows<T>(matrix_view<const T>, index_t, \
                                                                    const top_k_options&);         \
  template GPU_SIMILARITY_EXPORT top_k_distinct_result<T> top_k_distinct_vector<T>(                \
      matrix_view<const T>, index_t, const top_k_options&);                                        \
  template GPU_SIMILARITY_EXPORT top_k_distinct_rows_result<T> top_k_distinct_rows<T>(             \
      matrix_view<const T>, index_t, const top_k_options&);                                        \
  template GPU_SIMILARITY_EXPORT index_t top_k<T>(                                                 \
      device_matrix_view<const T>, index_t, device_matrix_view<T>, device_matrix_view<index_t>,    \
      const top_k_options&);                                                                       \
  template GPU_SIMILARITY_EXPORT void top_k_distinct<T>(                                           \
      device_matrix_view<const T>, index_t, device_matrix_view<T>, device_matrix_view<index_t>,    \
      device_matrix_view<index_t>, device_vector_view<index_t>, const top_k_options&);             \
  template GPU_SIMILARITY_EXPORT top_k_plan plan_top_k<T>(index_t, index_t, index_t, bool,         \
                                                          const top_k_options&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::inline v0::detail
