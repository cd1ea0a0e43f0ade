#include <gpu/pair_sinks.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "options.hpp"

namespace gpu_python {
namespace {

// The fields of gpu_similarity.Checksum of contiguous arrays of one length; rows and columns are
// the 32-bit words of unsigned numbers.
nb::tuple checksum(nb::handle rows, nb::handle cols, nb::handle statistics) {
  const host_array row(rows, "row");
  const host_array col(cols, "col");
  const host_array statistic(statistics, "statistic");
  const auto i = row.as<std::int32_t>("row");
  const auto j = col.as<std::int32_t>("col");
  const auto s = statistic.as<double>("statistic");
  if (i.cols() != s.cols() || j.cols() != s.cols()) {
    throw nb::value_error("row, col, statistic: expected arrays of one length");
  }
  constexpr gpu::index_t most = gpu::index_t{1} << 24;
  gpu::pair_checksum sum;
  in_pieces(s.cols(), most, [&](gpu::index_t begin, gpu::index_t end) {
    for (gpu::index_t k = begin; k < end; ++k) {
      sum += gpu::checksum_of(static_cast<gpu::node_id>(i(0, k)),
                              static_cast<gpu::node_id>(j(0, k)), s(0, k));
    }
  });
  return nb::make_tuple(sum.count, sum.mix1, sum.mix2);
}

}  // namespace

void bind_checksum(nb::module_& module) {
  module.def("checksum", &checksum, nb::arg("row"), nb::arg("col"), nb::arg("statistic"));
}

}  // namespace gpu_python
