#pragma once
// What each source of this folder adds to the module.

#include <nanobind/nanobind.h>

namespace gpu_python {

void bind_backends(nanobind::module_& module);
void bind_run_summary(nanobind::module_& module);
void bind_edges(nanobind::module_& module);
void bind_partners(nanobind::module_& module);
void bind_counts(nanobind::module_& module);
void bind_discoveries(nanobind::module_& module);
void bind_dense(nanobind::module_& module);
void bind_batch_streams(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_differential(nanobind::module_& module);
void bind_max_t(nanobind::module_& module);
void bind_soft_thresholds(nanobind::module_& module);
void bind_checksum(nanobind::module_& module);
void bind_prepared(nanobind::module_& module);
void bind_device_results(nanobind::module_& module);
void bind_p_value(nanobind::module_& module);
void bind_rank(nanobind::module_& module);
void bind_mean_filter(nanobind::module_& module);
void bind_top_k(nanobind::module_& module);
void bind_matmul(nanobind::module_& module);
void bind_binary_matmul(nanobind::module_& module);
// Where the build has the file formats, which need zlib.
void bind_read_table(nanobind::module_& module);

}  // namespace gpu_python
