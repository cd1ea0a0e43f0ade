#pragma once
// The summary of a run, as gpu_similarity.PairSummary when somebody asks for it.

#include <gpu/similarity.hpp>

#include "arrays.hpp"

namespace gpu_python {

// Few callers read the summary of a call, and its two dozen objects of Python cost a good part of a
// microsecond: results keep this one.
struct run_summary {
  gpu::pair_summary of_run;
  bool has_y = false;

  // A gpu_similarity.PairSummary, made anew at each call.
  [[nodiscard]] nb::object told() const;
};

}  // namespace gpu_python
