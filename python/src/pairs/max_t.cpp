#include <gpu/max_t.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// Maxima that Python holds as an array.
gpu::max_t_null null_of(nb::handle data, const char* side) {
  const host_array maxima(data, "maxima");
  const auto view = maxima.as<double>("maxima");
  return {.maxima = {view.data(), view.data() + view.cols()},
          .side = enum_from_name<gpu::tail>("tail", side)};
}

nb::object array_of(const std::vector<double>& values) {
  gpu::matrix<double> out(1, static_cast<gpu::index_t>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return matrix_to_numpy<double>(std::move(out), 1);
}

// maxima, backend, device, seconds.
nb::tuple max_t(nb::handle x, nb::handle y, gpu::index_t permutations, std::uint64_t seed,
                const char* shuffle, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  if (tables.is_prepared()) throw gpu::unsupported("max_t: y: not for prepared rows");
  const gpu::max_t_options how{.permutations = permutations,
                               .seed = seed,
                               .side = call.keep.side,
                               .shuffle = enum_from_name<gpu::column_shuffle>("shuffle", shuffle)};
  const gpu::max_t_null null = call.context.run([&] {
    return tables.visit_tables(
        [&](const auto&... views) { return gpu::max_t(call.what, views..., call.options, how); });
  });
  return nb::make_tuple(array_of(null.maxima), gpu::to_string(null.used), null.device,
                        null.seconds);
}

double max_t_cut(nb::handle maxima, const char* side, double level) {
  return null_of(maxima, side).keep(level).min_abs;
}

nb::object max_t_p(nb::handle maxima, const char* side, nb::handle data) {
  const gpu::max_t_null null = null_of(maxima, side);
  const host_array statistics(data, "statistic");
  const auto view = statistics.as<double>("statistic");
  std::vector<double> p(static_cast<std::size_t>(view.cols()));
  {
    const nb::gil_scoped_release unlocked;
    std::transform(view.data(), view.data() + view.cols(), p.begin(),
                   [&](double statistic) { return null.adjusted_p(statistic); });
  }
  return array_of(p);
}

}  // namespace

void bind_max_t(nb::module_& module) {
  module.def("max_t", &max_t, nb::arg("x"), nb::arg("y").none(), nb::arg("permutations"),
             nb::arg("seed"), nb::arg("shuffle"), nb::arg("options"));
  module.def("max_t_cut", &max_t_cut, nb::arg("maxima"), nb::arg("tail"), nb::arg("level"));
  module.def("max_t_p", &max_t_p, nb::arg("maxima"), nb::arg("tail"), nb::arg("statistic"));
}

}  // namespace gpu_python
