#include <gpu/mean_filter.hpp>

#include <type_traits>

#include <fmt/format.h>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "base/element_types.hpp"
#include "base/memory_errors.hpp"
#include "cpu/mean_filter/mean_filter.hpp"
#include "cuda/mean_filter/mean_filter.hpp"
#include "plan/mean_filter_variants.hpp"

namespace gpu::inline v0 {
namespace {

// Extents of the output, and no overlap: every window is read while outputs are written.
template <class In, class Out, memory_space Space>
void check_views(const basic_matrix_view<const In, Space>& in,
                 const basic_matrix_view<Out, Space>& out, const detail::filter_shape& shape) {
  if (out.rows() != shape.rows || out.cols() != shape.output_cols) {
    throw invalid_argument(fmt::format("out: got [{}, {}], expected [{}, {}]", out.rows(),
                                       out.cols(), shape.rows, shape.output_cols));
  }
  if (detail::may_overlap(detail::bytes_of(in), detail::bytes_of(out))) {
    throw invalid_argument("out: overlaps in, expected memory of its own");
  }
}

// The backend of a call, with everything checked that does not depend on the views.
template <class Options>
backend checked_filter_backend(const Options& options, memory_space space) {
  if constexpr (std::is_same_v<Options, mean_filter_options>) {
    detail::check_nan_policy(options.nans, {nan_policy::propagate, nan_policy::omit},
                             "mean_filter");
  }
  detail::check_enumerator("options.variant", options.variant, mean_filter_variant::multi_level);
  detail::check_one_device(options.exec);
  if (space == memory_space::host) return resolve_backend(options.exec);
  detail::check_device_call(options.exec);
  return backend::cuda;
}

void check_extents(const char* operation, index_t rows, index_t cols) {
  if (rows >= 0 && cols >= 0) return;
  throw invalid_argument(
      fmt::format("{}: extents are [{}, {}], expected none below 0", operation, rows, cols));
}

bool is_empty(const detail::filter_shape& shape) {
  return shape.rows == 0 || shape.output_cols == 0;
}

}  // namespace

namespace detail {
namespace {

// Means where there are no weights, else the convolution with them.
template <class In, class Out>
void run_filter(const char* operation, matrix_view<const In> in, std::span<const double> weights,
                matrix_view<Out> out, const filter_shape& shape, mean_filter_variant variant,
                nan_policy nans, const execution& exec, backend used) {
  if (is_empty(shape)) return;
  run_on(
      used, exec, operation, in.rows(),
      [&] { cuda::filter(in, weights, out, shape, variant, nans, exec); },
      [&] {
        if (weights.empty()) return cpu::mean_filter(in, out, shape, variant, nans, exec);
        cpu::convolve(in, weights, out, shape, exec);
      });
}

template <class In, class Out>
void run_filter(const char* operation, device_matrix_view<const In> in,
                std::span<const double> weights, device_matrix_view<Out> out,
                const filter_shape& shape, mean_filter_variant variant, nan_policy nans,
                device_workspace workspace, const execution& exec) {
  if (is_empty(shape)) return;
  check_workspace(workspace, cuda::filter_workspace(shape, std::ssize(weights), variant));
  ask_progress(exec, operation, in.rows());
  cuda::filter(in, weights, out, shape, variant, nans, workspace, exec);
}

}  // namespace

template <class In, class Out>
void mean_filter(matrix_view<const In> in, matrix_view<Out> out,
                 const mean_filter_options& options) {
  with_memory_errors("mean_filter", [&] {
    const filter_shape shape = mean_filter_shape(in.rows(), in.cols(), options);
    check_views(in, out, shape);
    check_host_call(options.exec);
    const backend used = checked_filter_backend(options, memory_space::host);
    const auto variant = choose_mean_filter_variant(used, sizeof(In), shape, options.variant);
    run_filter("mean_filter", in, {}, out, shape, variant, options.nans, options.exec, used);
  });
}

template <class In, class Out>
void mean_filter(device_matrix_view<const In> in, device_matrix_view<Out> out,
                 const mean_filter_options& options) {
  with_memory_errors("mean_filter", [&] {
    const filter_shape shape = mean_filter_shape(in.rows(), in.cols(), options);
    check_views(in, out, shape);
    const backend used = checked_filter_backend(options, memory_space::device);
    const auto variant = choose_mean_filter_variant(used, sizeof(In), shape, options.variant);
    run_filter("mean_filter", in, {}, out, shape, variant, options.nans, options.workspace,
               options.exec);
  });
}

template <class In, class Out>
void convolve(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
              const convolve_options& options) {
  with_memory_errors("convolve", [&] {
    const filter_shape shape = convolve_shape(in.rows(), in.cols(), std::ssize(weights), options);
    check_views(in, out, shape);
    check_host_call(options.exec);
    const backend used = checked_filter_backend(options, memory_space::host);
    const auto variant = choose_convolve_variant(used, sizeof(In), shape, options.variant);
    run_filter("convolve", in, weights, out, shape, variant, nan_policy::propagate, options.exec,
               used);
  });
}

template <class In, class Out>
void convolve(device_matrix_view<const In> in, std::span<const double> weights,
              device_matrix_view<Out> out, const convolve_options& options) {
  with_memory_errors("convolve", [&] {
    const filter_shape shape = convolve_shape(in.rows(), in.cols(), std::ssize(weights), options);
    check_views(in, out, shape);
    const backend used = checked_filter_backend(options, memory_space::device);
    const auto variant = choose_convolve_variant(used, sizeof(In), shape, options.variant);
    run_filter("convolve", in, weights, out, shape, variant, nan_policy::propagate,
               options.workspace, options.exec);
  });
}

}  // namespace detail

template <class In>
mean_filter_plan detail::plan_mean_filter(index_t rows, index_t cols,
                                          const mean_filter_options& options) {
  return with_memory_errors("plan_mean_filter", [&] {
    check_extents("plan_mean_filter", rows, cols);
    const filter_shape shape = mean_filter_shape(rows, cols, options);
    mean_filter_plan plan{.used = checked_filter_backend(options, memory_space::host),
                          .output_cols = shape.output_cols};
    plan.variant = choose_mean_filter_variant(plan.used, sizeof(In), shape, options.variant);
    if (plan.used == backend::cuda) {
      plan.tile_outputs = cuda::filter_tile(sizeof(In), plan.variant);
      plan.workspace_bytes = cuda::filter_workspace(shape, 0, plan.variant);
    } else if (plan.variant == mean_filter_variant::direct) {
      plan.tile_outputs = 1;
    } else {
      const auto split = cpu::split_mean_filter(shape, options.nans, options.exec);
      plan.tile_outputs = split.strip_outputs;
      plan.workspace_bytes = split.workspace_bytes;
    }
    return plan;
  });
}

template <class In>
mean_filter_plan detail::plan_convolve(index_t rows, index_t cols, index_t weights,
                                       const convolve_options& options) {
  return with_memory_errors("plan_convolve", [&] {
    check_extents("plan_convolve", rows, cols);
    const filter_shape shape = convolve_shape(rows, cols, weights, options);
    mean_filter_plan plan{.used = checked_filter_backend(options, memory_space::host),
                          .output_cols = shape.output_cols,
                          .tile_outputs = 1};
    plan.variant = choose_convolve_variant(plan.used, sizeof(In), shape, options.variant);
    if (plan.used == backend::cuda) {
      plan.tile_outputs = cuda::filter_tile(sizeof(In), plan.variant);
      plan.workspace_bytes = cuda::filter_workspace(shape, weights, plan.variant);
    }
    return plan;
  });
}

namespace detail {
#define GPU_SIMILARITY_INSTANTIATE(In, Out)                                                      \
  template GPU_SIMILARITY_EXPORT void mean_filter(matrix_view<const In>, matrix_view<Out>,       \
                                                  const mean_filter_options&);                   \
  template GPU_SIMILARITY_EXPORT void mean_filter(                                               \
      device_matrix_view<const In>, device_matrix_view<Out>, const mean_filter_options&);        \
  template GPU_SIMILARITY_EXPORT void convolve(matrix_view<const In>, std::span<const double>,   \
                                               matrix_view<Out>, const convolve_options&);       \
  template GPU_SIMILARITY_EXPORT void convolve(device_matrix_view<const In>,                     \
                                               std::span<const double>, device_matrix_view<Out>, \
                                               const convolve_options&);
GPU_SIMILARITY_FOR_EACH_FILTER_TYPES(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

#define GPU_SIMILARITY_INSTANTIATE_PLAN(In)                                                    \
  template GPU_SIMILARITY_EXPORT mean_filter_plan plan_mean_filter<In>(                        \
      index_t, index_t, const mean_filter_options&);                                           \
  template GPU_SIMILARITY_EXPORT mean_filter_plan plan_convolve<In>(index_t, index_t, index_t, \
                                                                    const convolve_options&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE_PLAN)
#undef GPU_SIMILARITY_INSTANTIATE_PLAN
}  // namespace detail

}  // namespace gpu::inline v0
