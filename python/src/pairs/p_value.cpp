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

// p of every element of a contiguous double array, in an array of the same length: by Student's t
// or, `of_ranks`, as edges of Spearman have it from 10 observations on.
nb::object p_values(nb::handle data, double observations, const char* side, bool of_ranks,
                    int cpu_threads) {
  constexpr gpu::index_t most = gpu::index_t{1} << 20;
  const gpu::measure what = of_ranks ? gpu::measure::spearman : gpu::measure::pearson;
  const host_array r(data, "r");
  const auto view = r.as<double>("r");
  const gpu::tail tail = tail_from(side);
  gpu::matrix<double> out(1, view.cols());
  in_pieces(view.cols(), most, [&](gpu::index_t begin, gpu::index_t end) {
    const auto count = static_cast<std::size_t>(end - begin);
    gpu::p_values_of(what, {view.data() + begin, count}, observations, tail,
                     {out.data() + begin, count}, {.cpu_threads = cpu_threads});
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
