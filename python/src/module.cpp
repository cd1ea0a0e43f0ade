// The extension module: thin functions over the library, which the Python package around it wraps
// with names, defaults, documentation and classes of results.
#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "errors.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Compiled part of gpu_similarity; not an interface of its own.";
  gpu_python::translate_errors();
  gpu_python::begin_arrays();
  gpu_python::bind_backends(module);
  gpu_python::bind_run_summary(module);
  gpu_python::bind_edges(module);
  gpu_python::bind_partners(module);
  gpu_python::bind_counts(module);
  gpu_python::bind_discoveries(module);
  gpu_python::bind_dense(module);
  gpu_python::bind_batch_streams(module);
  gpu_python::bind_plan(module);
  gpu_python::bind_max_t(module);
  gpu_python::bind_soft_thresholds(module);
  gpu_python::bind_differential(module);
  gpu_python::bind_checksum(module);
  gpu_python::bind_prepared(module);
  gpu_python::bind_device_results(module);
  gpu_python::bind_p_value(module);
  gpu_python::bind_rank(module);
  gpu_python::bind_mean_filter(module);
  gpu_python::bind_top_k(module);
  gpu_python::bind_matmul(module);
  gpu_python::bind_binary_matmul(module);
#ifdef GPU_SIMILARITY_HAS_READER
  gpu_python::bind_read_table(module);
#endif
}
