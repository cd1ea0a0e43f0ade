// Tables that are prepared once: what backend holds them.
#include <gpu/detail/prepared_table.hpp>

#include "api/all_pairs_run.hpp"
#include "api/pair_call.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/engine.hpp"
#include "tanimoto/search.hpp"

namespace gpu::inline v0::detail {
namespace {

std::shared_ptr<prepared_table> prepare_rows(const pair_request& request) {
  const backend used = checked_backend(request, any_passes);
  if (request.what.form == row_form::bits) {
    return used == backend::cpu ? cpu::prepare_bits(request) : cuda::prepare_bits(request);
  }
  auto out = used == backend::cpu ? cpu::prepare_table(request) : cuda::prepare_table(request);
  out->infinite_rows = validate::take_infinite(request.what.info, request.tables.x,
                                               out->constant_rows, request.exec);
  if (used == backend::cuda && request.refuses_nan) {
    validate::refuse_nan(request.tables, out->nan_rows, request.exec);
  }
  return out;
}

}  // namespace

std::shared_ptr<const prepared_table> prepare_table(const pair_request& request) {
  return prepare_rows(request);
}

std::shared_ptr<const prepared_table> prepare_table(measure of, const pair_tables& data,
                                                    const pair_options& options) {
  return with_memory_errors("prepared rows", [&] {
    pair_options whole = options;
    whole.part = {};
    const pair_call call(of, data, whole, call_facts::preparation);
    const auto out = prepare_rows(call.request());
    out->columns = call.columns();
    return out;
  });
}

}  // namespace gpu::inline v0::detail
