#include "pairs/run_summary.hpp"

#include "bindings.hpp"

namespace gpu_python {
namespace {

// The numbers of rows as an array; most runs have none, and share an empty one.
nb::object row_numbers(const std::vector<gpu::index_t>& rows) {
  return rows.empty() ? no_rows() : vector_to_numpy(std::vector<gpu::index_t>(rows));
}

// A whole number where it is one.
nb::object observations_of(const gpu::pair_summary& run) {
  const double observations = run.observations;
  const auto whole = static_cast<gpu::index_t>(observations);
  if (static_cast<double>(whole) == observations) return nb::int_(whole);
  return nb::float_(observations);
}

// The class `name` of the package, called with the fields in order.
template <class... Fields>
nb::object make(const char* module, const char* name, Fields&&... fields) {
  return nb::module_::import_(module).attr(name)(std::forward<Fields>(fields)...);
}

}  // namespace

nb::object run_summary::told() const {
  const gpu::pair_summary& run = of_run;
  nb::object checksum = make("gpu_similarity._results.checksum", "Checksum", run.checksum.count,
                             run.checksum.mix1, run.checksum.mix2);
  return make("gpu_similarity._results.summary", "PairSummary", run.rows, run.cols,
              observations_of(run), row_numbers(run.constant_rows), row_numbers(run.nan_rows),
              row_numbers(run.infinite_rows), has_y ? nb::object(nb::int_(run.y_rows)) : nb::none(),
              row_numbers(run.y_constant_rows), row_numbers(run.y_nan_rows),
              row_numbers(run.y_infinite_rows), run.part_begin, run.part_end, run.patterns,
              run.pairs_tested, run.pairs_kept, run.pairs_by_t, gpu::to_string(run.test),
              run.least_p, std::move(checksum), run.max_p_effective, run.min_abs_effective,
              run.cut_at_least, run.cut_at_most, gpu::to_string(run.used), run.device,
              gpu::to_string(run.variant), run.prepare_seconds, run.pairs_seconds);
}

void bind_run_summary(nb::module_& module) {
  // The underscore keeps it out of the types that stub.sh writes.
  nb::class_<run_summary>(module, "_Summary").def("told", &run_summary::told);
}

}  // namespace gpu_python
