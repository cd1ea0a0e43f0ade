// Tables that are prepared once: what backend holds them, and the CPU's, which are copied.
#include <utility>
#include <variant>

#include <gpu/detail/prepared_table.hpp>
#include <gpu/error.hpp>
#include <gpu/matrix.hpp>

#include "api/all_pairs_run.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/prepared_table.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

// A copy of a table in host memory, looked at once.
template <class T>
class host_prepared final : public host_prepared_table {
 public:
  explicit host_prepared(matrix_view<const T> data) : copy_(data.rows(), data.cols()) {
    for (index_t i = 0; i < data.rows(); ++i) {
      std::copy_n(data.row(i), data.cols(), copy_.data() + i * data.cols());
    }
    const matrix<T>& kept = copy_;
    view = matrix_view<const T>(kept.data(), kept.rows(), kept.cols());
  }

 private:
  matrix<T> copy_;
};

std::shared_ptr<const prepared_table> keep_on_host(measure what, const any_table& data,
                                                   const pair_options& options) {
  std::shared_ptr<host_prepared_table> out = std::visit(
      []<class T>(matrix_view<const T> view) -> std::shared_ptr<host_prepared_table> {
        return std::make_shared<host_prepared<T>>(view);
      },
      host_view(data));
  // Which rows have no statistic is what a call without pairs says of them.
  const pair_tables tables{.x = out->view};
  const pair_input nothing{.tables = tables, .area = {.rows = {}, .cols = {0, rows_of(data)}}};
  const auto engine = cpu::make_pair_engine(what, nothing, options);
  out->what = what;
  out->rows = engine->rows().rows;
  out->cols = engine->rows().cols;
  out->constant_rows = engine->rows().constant_rows;
  out->nan_rows = engine->rows().nan_rows;
  out->variant = engine->variant();
  out->device = "cpu";
  out->seconds = engine->rows().seconds;
  return out;
}

}  // namespace

std::shared_ptr<const prepared_table> prepare_table(measure what, const any_table& data,
                                                    const pair_options& options) {
  return with_memory_errors("prepared rows", [&] {
    pair_options whole = options;
    whole.part = {};
    whole.fold = row_folding::never;
    const pair_tables tables{.x = data};
    const backend used = checked_backend(what, tables, whole);
    if (used == backend::cpu) return keep_on_host(what, data, whole);
    const auto out = cuda::prepare_table(what, data, whole);
    validate::refuse_nans(tables, out->nan_rows, whole.nans,
                          [&](const any_device_matrix_view& table, index_t row) {
                            return cuda::first_nan_column(table, row, whole.exec);
                          });
    return out;
  });
}

}  // namespace gpu::inline v0::detail
