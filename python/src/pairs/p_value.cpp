#include <omp.h>

#include <gpu/adjusted_p.hpp>
#include <gpu/confidence.hpp>
#include <gpu/measure.hpp>
#include <gpu/p_value.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"
#include "options.hpp"

namespace gpu_python {
namespace {

gpu::tail tail_from(const char* name) {
  return enum_from_name<gpu::tail>("tail", name);
}

// p of the elements [begin, end) of `r`, by Student's t or, `of_ranks`, as edges of Spearman have
// it from 10 observations on.
void fill_p_values(const double* r, gpu::index_t begin, gpu::index_t end, double observations,
                   gpu::tail tail, bool of_ranks, int threads, double* out) {
  const gpu::measure what = of_ranks ? gpu::measure::spearman : gpu::measure::pearson;
  // The first, NaN and what is out of range here: nothing may throw inside the parallel loop.
  for (gpu::index_t i = begin; i < end; ++i) {
    if (!(r[i] >= -1.0 && r[i] <= 1.0) || i == begin) {
      out[i] = gpu::p_value_of(what, r[i], observations, tail);
    }
  }
#pragma omp parallel for schedule(static) num_threads(threads) if (end - begin > 2048)
  for (gpu::index_t i = begin; i < end; ++i) {
    if (r[i] >= -1.0 && r[i] <= 1.0) out[i] = gpu::p_value_of(what, r[i], observations, tail);
  }
}

// p of every element of a contiguous double array, in an array of the same length.
nb::object p_values(nb::handle data, double observations, const char* side, bool of_ranks,
                    int cpu_threads) {
  constexpr gpu::index_t most = gpu::index_t{1} << 20;
  const host_array r(data, "r");
  const auto view = r.as<double>("r");
  const gpu::tail tail = tail_from(side);
  const int threads = cpu_threads > 0 ? cpu_threads : omp_get_max_threads();
  gpu::matrix<double> out(1, view.cols());
  in_pieces(view.cols(), most, [&](gpu::index_t begin, gpu::index_t end) {
    fill_p_values(view.data(), begin, end, observations, tail, of_ranks, threads, out.data());
  });
  return matrix_to_numpy<double>(std::move(out), 1);
}

double critical_correlation(double p, double observations, const char* side) {
  return gpu::critical_correlation(p, observations, tail_from(side));
}

// q of every element of a contiguous double array, in an array of the same length.
nb::object adjusted_p_values(nb::handle data, std::uint64_t family, const char* adjust) {
  const host_array p(data, "p");
  const auto view = p.as<double>("p");
  const auto correction = enum_from_name<gpu::adjustment>("adjust", adjust);
  gpu::matrix<double> out(1, view.cols());
  {
    const nb::gil_scoped_release unlocked;
    const std::vector<double> q = gpu::adjusted_p_values(
        std::span(view.data(), static_cast<std::size_t>(view.cols())), family, correction);
    std::copy(q.begin(), q.end(), out.data());
  }
  return matrix_to_numpy<double>(std::move(out), 1);
}

// Both bounds of every element of a contiguous double array: [2, elements].
nb::object confidence_intervals(nb::handle data, const char* measure, double observations,
                                double confidence, const char* side) {
  const host_array statistics(data, "statistic");
  const auto view = statistics.as<double>("statistic");
  const gpu::measure what = gpu::measure_of(measure);
  const gpu::tail tail = tail_from(side);
  gpu::matrix<double> out(2, view.cols());
  {
    const nb::gil_scoped_release unlocked;
    const auto bounds = gpu::confidence_intervals(
        what, std::span(view.data(), static_cast<std::size_t>(view.cols())), observations,
        confidence, tail);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      out(0, static_cast<gpu::index_t>(i)) = bounds[i].lower;
      out(1, static_cast<gpu::index_t>(i)) = bounds[i].upper;
    }
  }
  return matrix_to_numpy<double>(std::move(out), 2);
}

}  // namespace

void bind_p_value(nb::module_& module) {
  module.def("adjusted_p_values", &adjusted_p_values, nb::arg("p"), nb::arg("family"),
             nb::arg("adjust"));
  module.def("confidence_intervals", &confidence_intervals, nb::arg("statistic"),
             nb::arg("measure"), nb::arg("observations"), nb::arg("confidence"), nb::arg("tail"));
  module.def("p_values", &p_values, nb::arg("r"), nb::arg("observations"), nb::arg("tail"),
             nb::arg("of_ranks"), nb::arg("cpu_threads"));
  module.def("critical_correlation", &critical_correlation, nb::arg("p"), nb::arg("observations"),
             nb::arg("tail"));
}

}  // namespace gpu_python
