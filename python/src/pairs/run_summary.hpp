#pragma once
// The summary of a run, which becomes a gpu_similarity.PairSummary when it is read.

#include <gpu/similarity.hpp>

#include "arrays.hpp"

namespace gpu_python {

// Results keep this form, because few callers read the summary of a call, and making its two dozen
// Python objects takes most of a microsecond.
struct run_summary {
  gpu::pair_summary of_run;
  bool has_y = false;

  // A gpu_similarity.PairSummary, made anew at each call.
  [[nodiscard]] nb::object told() const;
};

}  // namespace gpu_python
