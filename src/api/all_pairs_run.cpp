#include "api/all_pairs_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "api/arguments.hpp"
#include "base/parallel.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "pairs/checks.hpp"
#include "pairs/engine.hpp"
#include "pairs/tables.hpp"
#include "stats/significance/least_rank_p.hpp"
#include "tanimoto/search.hpp"

namespace gpu::inline v0::detail {

namespace {

// The backend of rows that CUDA does not take: of so many columns, or of any.
backend cpu_alone(const measure_traits& what, index_t cols, const pair_tables& tables,
                  const execution& exec) {
  if (is_on_device(tables)) {
    throw unsupported(
        fmt::format("{}: got a table in device memory, but {}; expected a copy of it "
                    "in host memory, which the CPU takes",
                    has_y(tables) ? "x" : "data", limit_on_cuda(what, cols)));
  }
  execution on_cpu = exec;
  if (asked_backend(exec) == backend::cuda) {
    throw unsupported(fmt::format(
        "{}: got cuda{}, but {}; expected automatic or cpu", name_of_asked(exec),
        what.is_pairwise ? " with nan_policy::pairwise" : "", limit_on_cuda(what, cols)));
  }
  // Validate `devices`, then ignore them: processes of a cluster have one each.
  if (!exec.devices.empty()) (void)resolve_backend(exec);
  on_cpu.devices.clear();
  on_cpu.target = backend::cpu;
  return resolve_backend(on_cpu);
}

std::unique_ptr<pair_engine> prepare(backend used, const measure_traits& what,
                                     const pair_input& input, folded_pair_engine*& folded) {
  if (what.form == row_form::bits) return tanimoto::make_engine(what, input, used);
  made_engine made = used == backend::cuda ? cuda::make_pair_engine(what, input)
                                           : cpu::make_pair_engine(what, input);
  std::unique_ptr<pair_engine> engine = std::move(made.engine);
  if (made.folded) {
    auto around = std::make_unique<folded_pair_engine>(std::move(engine), std::move(*made.folded),
                                                       input.area, input.exec);
    folded = around.get();
    engine = std::move(around);
  }
  // The device finds such rows while it prepares them, sooner than the host could read them all;
  // the CPU's engine refused them before it ranked any.
  if (used == backend::cuda && input.refuses_nan) {
    validate::refuse_nan(input.tables, engine->rows().nan_rows, input.exec);
  }
  return engine;
}

// What a query may ask for of rows that are prepared already.
void check_prepared(const pair_request& request) {
  const measure_traits& what = request.what;
  const prepared_table& y = *request.tables.prepared_y;
  if (y.what != what.info.what) {
    throw invalid_argument(fmt::format("y: was prepared for {}, the call is of {}",
                                       to_string(y.what), what.info.name));
  }
  const backend asked = is_on_device(request.tables) ? backend::cuda : request.exec.target;
  if (asked != backend::automatic && asked != y.where) {
    throw invalid_argument(fmt::format("y: was prepared on {}, the call asks for {}",
                                       to_string(y.where), to_string(asked)));
  }
  if (request.variant != pair_variant::automatic && request.variant != y.variant) {
    throw invalid_argument(fmt::format("options.variant: got {}, y was prepared for {}",
                                       to_string(request.variant), to_string(y.variant)));
  }
}

// Rows that are kept in host memory as they are take the place of prepared ones.
pair_input with_host_rows(pair_input input) {
  pair_tables& tables = input.tables;
  const auto* kept = dynamic_cast<const host_prepared_table*>(tables.prepared_y.get());
  if (kept != nullptr) tables.y = kept->view;
  return input;
}

}  // namespace

std::string limit_on_cuda(const measure_traits& what, index_t cols) {
  if (cols <= what.most_cols_on_cuda) return {};
  const std::string rows = fmt::format("{}{}", what.info.title,
                                       what.is_pairwise ? " with missing values pair by pair" : "");
  if (what.most_cols_on_cuda == 0) return fmt::format("CUDA does not have {}", rows);
  return fmt::format("CUDA takes at most {} columns of {}, got {}", what.most_cols_on_cuda, rows,
                     cols);
}

backend_seconds seconds_of_call(const pair_request& request, double passes) {
  const pair_area area = area_of(request.tables, request.part, part_shape::equal_pairs);
  return seconds_of(request.what,
                    {.rows = std::max(area.rows.end, area.cols.end),
                     .cols = cols_of(request.tables),
                     .pairs = static_cast<double>(pairs_in(area)) * passes},
                    thread_count(request.exec.cpu_threads), cpu::usable_pair_kernels().costs);
}

bool chooses_backend(const pair_request& request) {
  return request.what.form != row_form::bits && !is_on_device(request.tables) &&
         request.tables.prepared_y == nullptr && request.exec.devices.empty() &&
         request.variant == pair_variant::automatic &&
         asked_backend(request.exec) == backend::automatic;
}

backend checked_backend(const pair_request& request, double passes) {
  const auto& [what, tables, part, refuses_nan, folding, variant, exec] = request;
  validate::check_part(part);
  validate::check_pair_shape(what, tables);
  validate::check_exact_values(what, tables, exec.cpu_threads);
  if (!is_on_device(tables)) check_no_stream(exec);
  if (tables.prepared_y != nullptr) {
    check_prepared(request);
    return tables.prepared_y->where;
  }
  const index_t cols = cols_of(tables);
  if (cols > what.most_cols_on_cuda) return cpu_alone(what, cols, tables, exec);
  if (is_on_device(tables)) {
    check_device_call(exec);
    return backend::cuda;
  }
  if (passes == any_passes || !chooses_backend(request)) return resolve_backend(exec);
  return choose_backend(exec, seconds_of_call(request, passes));
}

pair_run::pair_run(const pair_request& request, part_shape shape, fold_scope of_sink)
    : what_(request.what),
      used_(checked_backend(request)),
      input_(with_host_rows(input_of(request, shape, of_sink))),
      engine_(prepare(used_, what_, input_, folded_)),
      test_(make_pair_test(what_, input_, engine_->rows())),
      pairs_start_(std::chrono::steady_clock::now()) {}

const pair_test& pair_run::resolve(const pair_filter& filter, bool of_one_side) {
  cut_ = detail::resolve_cut(*test_, filter, *engine_, family(), of_one_side);
  return *test_;
}

const pair_test& pair_run::within_max_p(const pair_filter& filter) {
  pair_filter all = filter;
  all.min_abs = 0;
  static_cast<void>(test_->take({cut_.max_p}, all, false));
  return *test_;
}

std::uint64_t pair_run::family() const {
  const pair_area whole = area_of(input_.tables, {}, part_shape::equal_rows);
  return test_->tested().value_or(detail::tested_pairs(engine_->rows(), whole));
}

std::uint64_t pair_run::pairs_tested() const {
  return test_->tested().value_or(detail::tested_pairs(engine_->rows(), input_.area));
}

std::uint64_t pair_run::pairs_by_t() const {
  if (what_.info.test != significance::permutations) return 0;
  const row_info& rows = engine_->rows();
  if (rows.cols > stats::spearman_test::most_observations) return pairs_tested();
  row_info without = {.rows = rows.rows, .cols = rows.cols, .nan_rows = rows.nan_rows};
  const std::vector<index_t> tied = test_->rows_with_ties();
  std::set_union(rows.constant_rows.begin(), rows.constant_rows.end(), tied.begin(), tied.end(),
                 std::back_inserter(without.constant_rows));
  return pairs_tested() - detail::tested_pairs(without, input_.area);
}

double pair_run::least_p() const {
  const observation_count observations = what_.observations_of(engine_->rows().cols);
  switch (what_.info.test) {
    case significance::floored_t:
    case significance::permutations:
      return stats::least_untied_p(observations);
    case significance::kendall:
    case significance::none:
    case significance::student_t:
      break;
  }
  return 0;
}

pair_summary pair_run::finish(const pair_checksum& kept) const {
  pair_summary out = finish(kept.count);
  out.checksum = kept;
  return out;
}

pair_summary pair_run::finish(std::uint64_t pairs_kept) const {
  const row_info& rows = engine_->rows();
  const bool has_test = what_.info.test != significance::none;
  table_rows constant = split_rows(rows.constant_rows, input_.rows_of_x());
  table_rows with_nan = split_rows(rows.nan_rows, input_.rows_of_x());
  table_rows infinite;
  infinite.of_x = validate::take_infinite(what_.info, input_.tables.x, constant.of_x, input_.exec);
  if (input_.tables.prepared_y != nullptr) {
    infinite.of_y = input_.tables.prepared_y->infinite_rows;
    validate::leave_out(infinite.of_y, constant.of_y);
  } else if (input_.tables.y) {
    infinite.of_y =
        validate::take_infinite(what_.info, *input_.tables.y, constant.of_y, input_.exec);
  }
  return {.rows = input_.rows_of_x(),
          .cols = rows.cols,
          .observations = has_test ? what_.observations_of(rows.cols) : observation_count(),
          .constant_rows = std::move(constant.of_x),
          .nan_rows = std::move(with_nan.of_x),
          .infinite_rows = std::move(infinite.of_x),
          .y_rows = input_.rows_of_y(),
          .y_constant_rows = std::move(constant.of_y),
          .y_nan_rows = std::move(with_nan.of_y),
          .y_infinite_rows = std::move(infinite.of_y),
          .part_begin = input_.area.rows.begin,
          .part_end = input_.area.rows.end,
          .patterns = folded_ != nullptr ? folded_->patterns().size() : 0,
          .pairs_tested = pairs_tested(),
          .pairs_kept = pairs_kept,
          .pairs_by_t = pairs_by_t(),
          .test = what_.info.test,
          .least_p = least_p(),
          .max_p_effective = cut_.max_p,
          .min_abs_effective = cut_.min_abs,
          .cut_at_least = cut_.keep.at_least,
          .cut_at_most = cut_.keep.at_most + 0.0,  // no -0
          .used = used_,
          .device = engine_->device(),
          .variant = engine_->variant(),
          .prepare_seconds = rows.seconds,
          .pairs_seconds = seconds_since(pairs_start_)};
}

}  // namespace gpu::inline v0::detail
