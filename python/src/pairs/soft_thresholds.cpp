#include <gpu/connectivity.hpp>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

std::vector<double> powers_of(nb::handle data) {
  const host_array powers(data, "powers");
  const auto view = powers.as<double>("powers");
  return {view.data(), view.data() + view.rows() * view.cols()};
}

// The sums [rows, powers] and the summary.
nb::tuple connectivity(nb::handle x, nb::handle powers, nb::dict keywords) {
  const pair_tables tables(x, nb::none());
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::connectivity_sink sink{.powers = powers_of(powers)};
  reader.read("network", sink.network);
  reader.check_all_read();
  gpu::connectivity_table result = call.context.run([&] { return call.all_pairs(tables, sink); });
  return nb::make_tuple(matrix_to_numpy<double>(std::move(result.connectivity), 2),
                        summary_of(std::move(result.summary), tables));
}

// The power, or None, and [powers, 7]: what a line of the fits has behind its power.
nb::tuple scale_free_fit(nb::handle connectivity, nb::handle powers, nb::dict keywords) {
  const host_array table(connectivity, "connectivity");
  const auto view = table.as<double>("connectivity");
  const std::vector<double> of_columns = powers_of(powers);
  option_reader reader(std::move(keywords));
  gpu::scale_free_options options;
  reader.read("bins", options.bins);
  reader.read("r_squared_cut", options.r_squared_cut);
  reader.read("without_first_bin", options.without_first_bin);
  reader.check_all_read();
  gpu::scale_free_fits fits;
  {
    const nb::gil_scoped_release unlocked;
    fits = gpu::scale_free_fit(view, of_columns, options);
  }
  gpu::matrix<double> lines(static_cast<gpu::index_t>(fits.fits.size()), 7);
  double* to = lines.data();
  for (const gpu::scale_free_fit_line& line : fits.fits) {
    for (const double value : {line.r_squared, line.slope, line.signed_r_squared,
                               line.truncated_r_squared, line.mean, line.median, line.max}) {
      *to++ = value;
    }
  }
  const nb::object power = fits.power ? nb::cast(*fits.power) : nb::none();
  return nb::make_tuple(power, matrix_to_numpy<double>(std::move(lines), 2));
}

nb::object topological_overlap(nb::handle statistics, nb::dict keywords) {
  const host_array table(statistics, "statistics");
  const auto view = table.as<double>("statistics");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  gpu::overlap_options options{.exec = context.execution()};
  reader.read("power", options.power);
  reader.read("network", options.network);
  reader.check_all_read();
  gpu::matrix<double> out = context.run([&] { return gpu::topological_overlap(view, options); });
  return matrix_to_numpy<double>(std::move(out), 2);
}

}  // namespace

void bind_soft_thresholds(nb::module_& module) {
  module.def("connectivity", &connectivity, nb::arg("x"), nb::arg("powers"), nb::arg("options"));
  module.def("scale_free_fit", &scale_free_fit, nb::arg("connectivity"), nb::arg("powers"),
             nb::arg("options"));
  module.def("topological_overlap", &topological_overlap, nb::arg("statistics"),
             nb::arg("options"));
}

}  // namespace gpu_python
