// Tables that are prepared once: what backend holds them.
#include <gpu/detail/prepared_table.hpp>

#include "api/all_pairs_run.hpp"
#include "api/pair_call.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/prepared_table.hpp"

namespace gpu::inline v0::detail {
std::shared_ptr<const prepared_table> prepare_table(measure of, const any_table& data,
                                                    const pair_options& options) {
  return with_memory_errors("prepared rows", [&] {
    pair_options whole = options;
    whole.part = {};
    whole.fold = row_folding::never;
    const pair_call call(of, {.x = data}, whole, call_facts::preparation);
    const pair_tables& tables = call.tables();
    const backend used = checked_backend(call.what(), tables, whole, any_passes);
    const auto out = used == backend::cpu ? cpu::prepare_table(call.what(), tables.x, whole)
                                          : cuda::prepare_table(call.what(), tables.x, whole);
    out->columns = call.columns();
    out->infinite_rows =
        validate::take_infinite(call.what().info, tables.x, out->constant_rows, whole.exec);
    if (used == backend::cpu) return out;
    validate::refuse_nans(tables, out->nan_rows, whole.nans,
                          [&](const any_device_matrix_view& table, index_t row) {
                            return cuda::first_nan_column(table, row, whole.exec);
                          });
    return out;
  });
}

}  // namespace gpu::inline v0::detail
