#include "cuda/pairs/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "cuda/pairs/edge_output.hpp"
#include "cuda/pairs/edges.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/edge_matrix.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_info.hpp"
#include "pairs/tables.hpp"
#include "plan/fold_choice.hpp"
#include "plan/forced/forced_ways.hpp"
#include "plan/pair_policy.hpp"
#include "plan/pair_variants.hpp"
#include "plan/short_jobs.hpp"
#include "stats/rank_squares.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

// Pairs of one launch: from a first guess towards this time, so that progress and cancellation
// come a few times a second and launches still cost nothing.
constexpr double first_launch_pairs = 1 << 26;
constexpr double launch_seconds = 0.05;
// Above this share of edges, products in double cost less than deciding each of them anew.
constexpr double most_refined_edges = 1.0 / 16;
// Edges of few pairs that go to the host one by one. More are sent in batches.
constexpr index_t most_selected_edges = 1 << 14;

// A query runs where its prepared rows are.
std::vector<device_info> devices_of_query(const device_prepared_table& y, const execution& exec) {
  execution own = exec;
  if (own.devices.empty()) own.devices = {y.ordinal()};
  if (own.devices.size() > 1 || own.devices.front() != y.ordinal()) {
    throw invalid_argument(fmt::format(
        "y: was prepared on device {}, execution.devices asks for another one", y.ordinal()));
  }
  return select_devices(own);
}

}  // namespace

pair_variant choose_variant(index_t rows, index_t cols, pair_variant asked,
                            std::span<const device_info> devices) {
  pair_variant least = pair_variant::hopper;
  for (const device_info& device : devices) {
    const loaded_code& code = code_of(device.ordinal);
    const pair_variant own = detail::choose_pair_variant(
        backend::cuda, asked,
        {.rows = rows,
         .cols = cols,
         .compute_capability = device.compute_major * 10 + device.compute_minor,
         .code_capability = code.capability,
         .warpgroup_code = code.has_warpgroups});
    least = std::min(least, own);
  }
  return least;
}

cuda_engine::cuda_engine(const detail::measure_traits& what, const detail::pair_input& input,
                         const device_info& device, pair_variant variant, pair_share* share)
    : what_(what),
      ordinal_(device.ordinal),
      multiprocessors_(device.multiprocessors),
      cpu_threads_(input.exec.cpu_threads),
      device_name_(device.name),
      variant_(variant),
      solo_(make_solo_share(input.exec.on_progress)),
      share_(solo_.get()),
      budget_(input.exec.workspace_bytes),
      area_(input.area) {
  has_warpgroup_products_ = code_of(device.ordinal).has_warpgroups;
  keep_pool_memory();
  if (input.tables.prepared_y != nullptr) {
    query_rows(input);
    find_ties();
    return;
  }
  row_format format = choose_row_format(what, variant_, input.cols());
  choose_products(format, variant_, area_, limits_of(device.ordinal),
                  code_of(device.ordinal).capability);
  const bool is_here = share == nullptr && place_of(input.tables.x) == table_place::this_device &&
                       input.tables.y && place_of(*input.tables.y) == table_place::this_device;
  if (is_here && takes_ready(what, variant_, input.tables, area_, limits_of(device.ordinal)) &&
      device_rows::ready_bytes(input.cols(), area_) <= budget_.left() / 2) {
    format = ready_format(input.cols(), what.centre);
  }
  // In a part, rows that are not in it would be folded with those that are.
  const bool whole = area_.is_whole_table() || area_.rows == row_range{0, area_.cols.begin};
  const bool folds = detail::looks_for_patterns(what, backend::cuda, variant_,
                                                {input.rows(), input.cols(), input.folds}) &&
                     whole;
  rows_.emplace(what, input.tables, format, input.exec, budget_,
                share == nullptr ? *share_ : *share, stream(), info_);
  find_ties();
  if (folds) fold_rows(input.folds);
}

void cuda_engine::find_ties() {
  if (what_.info.test != significance::permutations) return;
  const std::vector<std::int64_t> sums = rows_->square_sums(count(), stream());
  const std::int64_t untied = stats::untied_rank_squares(info_.cols);
  info_.ties.resize(sums.size());
  // Ties that have this tie sum.
  std::transform(sums.begin(), sums.end(), info_.ties.begin(), [untied](std::int64_t sum) {
    return row_ties{.pairs = sum > 0 ? (untied - sum) / 2 : 0};
  });
  const auto with_statistic = [&](const auto& is_counted) {
    return std::count_if(sums.begin(), sums.end(),
                         [&](std::int64_t sum) { return sum > 0 && is_counted(sum); });
  };
  have_untied_pairs_ = with_statistic([untied](std::int64_t sum) { return sum == untied; }) > 1;
  have_tied_pairs_ = with_statistic([untied](std::int64_t sum) { return sum != untied; }) > 0;
}

detail::pair_cut cuda_engine::cut_of(const detail::keep_range& keep,
                                     const detail::tied_cut* tied) const {
  if (tied == nullptr || what_.info.test != significance::permutations) {
    return detail::pair_cut::of(keep);
  }
  const stats::rank_cuts& cuts = tied->ranks;
  if (!have_tied_pairs_) return detail::pair_cut::of(cuts.permutations);
  const stats::tie_classes classes(info_.cols);
  detail::tie_sums dropped;
  for (const row_ties& ties : info_.ties) {
    const std::int64_t sum = stats::tie_sum(ties);
    if (classes.of(sum) > cuts.last_class) dropped.add(sum);
  }
  const detail::keep_range of_ties = cuts.of(1);
  // Of more columns than permutations are taken for, both are the same.
  if (dropped.is_empty() && (!have_untied_pairs_ || cuts.permutations == of_ties)) {
    return detail::pair_cut::of(of_ties);
  }
  return detail::pair_cut::of(cuts.permutations, of_ties, stats::untied_rank_squares(info_.cols),
                              dropped);
}

void cuda_engine::query_rows(const detail::pair_input& input) {
  prepared_ = std::static_pointer_cast<const device_prepared_table>(input.tables.prepared_y);
  const device_prepared_table& y = *prepared_;
  front_ = y.take_front();
  rows_.emplace(what_, input.tables, y.rows_behind_room(), front_ != nullptr, input.exec, budget_,
                stream(), info_);
  const index_t before = input.rows_of_x();
  std::vector<index_t> without;
  std::merge(y.constant_rows.begin(), y.constant_rows.end(), y.infinite_rows.begin(),
             y.infinite_rows.end(), std::back_inserter(without));
  for (const index_t row : without) info_.constant_rows.push_back(before + row);
  for (const index_t row : y.nan_rows) info_.nan_rows.push_back(before + row);
  info_.ties.insert(info_.ties.end(), y.ties.begin(), y.ties.end());
}

void cuda_engine::fold_rows(detail::fold_scope scope) {
  const auto start = std::chrono::steady_clock::now();
  const double most_share = detail::most_pattern_share(scope, backend::cuda, variant_);
  std::optional<detail::row_patterns> patterns =
      rows_->find_patterns(most_share, cpu_threads_, area_.cols.begin, info_, budget_, stream());
  info_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!patterns) return;
  // Patterns are numbered by their first rows, so that those of x come first.
  const index_t all = patterns->size();
  const index_t of_x = patterns->count_before(area_.cols.begin);
  area_ = area_.is_whole_table() ? detail::pair_area{{0, all}, {0, all}}
                                 : detail::pair_area{{0, of_x}, {of_x, all}};
  detail::row_info folded{.rows = all, .cols = info_.cols};
  folded_ = {.input = std::exchange(info_, std::move(folded)), .patterns = std::move(*patterns)};
}

call_shape cuda_engine::shape() const {
  return {.what = what_,
          .area = area_,
          .rows = count(),
          .format = rows_->format(),
          .variant = variant_,
          .has_warpgroup_products = has_warpgroup_products_,
          .estimates = estimating_tile(rows_->format(), variant_, area_, limits_of(ordinal_)),
          .has_room = detail::ways_in_force().cuda.fast_counts.value_or(true),
          .is_never_short = detail::ways_in_force().cuda.never_short,
          .multiprocessors = multiprocessors_,
          .block_shared_bytes = limits_of(ordinal_).block_shared_bytes,
          .device_bytes = limits_of(ordinal_).memory_bytes,
          .machine = detail::default_cuda_costs};
}

bool cuda_engine::estimates_by_halves(const detail::keep_range& keep, double kept_share) {
  const row_format& format = rows_->format();
  const double error = cuda::estimate_error(format, pair_tile_kind::products_half);
  const double anew = kept_share + detail::share_near_cut(keep, format.cols, error);
  const bool pays =
      anew <= detail::most_computed_anew() || detail::ways_in_force().cuda.halves.value_or(false);
  return pays && takes_halves(format, variant_, area_, limits_of(ordinal_)) &&
         rows_->make_half_rows(budget_, stream());
}

pair_tile_kind cuda_engine::edge_tile(const detail::keep_range& keep, double kept_share) {
  const pair_tile_kind tile = rows_->format().deciding_tile();
  if (estimates_by_halves(keep, kept_share)) return pair_tile_kind::products_half;
  if (tile != pair_tile_kind::tensor_float) return tile;
  const pair_tile_kind exact = rows_->format().exact_tile();
  if (kept_share > most_refined_edges) return exact;
  const bool is_short =
      kernels::unit_row_layout(rows_->format().cols).pitch() <= kernels::most_half_columns;
  if (!is_short || !rows_->resident()) return tile;
  const double error = cuda::estimate_error(rows_->format(), pair_tile_kind::tensor_half);
  return detail::takes_doubles(static_cast<double>(pairs()), rows_->format().cols, keep, error)
             ? exact
             : pair_tile_kind::tensor_half;
}

bool cuda_engine::select_edges(const detail::edge_request& request, const detail::pair_cut& keep,
                               detail::edge_receiver& receiver) {
  if (share_->members() > 1 || !rows_->resident() || !keep.is_one() || !receiver.wants_more() ||
      !edge_matrix::takes(shape())) {
    return false;
  }
  const bool is_ready = rows_->format().ready;
  const auto make_matrix = [&](arena& memory) { return edge_matrix(area_, is_ready, memory); };
  const std::size_t bytes = bytes_taken(make_matrix);
  if (bytes > budget_.left()) return false;
  const device_buffer<std::byte> memory(bytes, stream());
  arena pieces(memory.data());
  edge_matrix matrix = make_matrix(pieces);
  if (is_ready) {
    matrix.read(rows_->statistics());
  } else {
    launch_dense(dense_step(rows_->format().exact_tile(), matrix.statistics(), area_.cols.size(),
                            area_.rows.begin, area_.cols.begin),
                 area_.rows);
  }
  const pinned_buffer<edge> edges(most_selected_edges);
  const pinned_buffer<unsigned long long> found(1);
  const auto select = [&](const auto&... to) {
    const kernels::zeroed_words zeros = matrix.zeros();
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemsetAsync(zeros.words, 0, static_cast<std::size_t>(zeros.count) * 8, stream()));
    matrix.select(keep.widest, to..., found.data(), stream());
  };
  stats::p_function p_of = request.p_of;
  if (p_of.table != nullptr) p_of.table = resident_table(*p_of.table);
  select(p_of, device_vector_view<edge>(edges.data(), most_selected_edges));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
  const std::uint64_t count = *found.data();
  const auto expected = static_cast<double>(count);
  edge_output output(request, receiver, expected, output_room(budget_));
  const bool are_few = count <= most_selected_edges;
  if (!are_few && bytes + count * 2 * sizeof(std::uint64_t) + output.bytes() > budget_.left()) {
    return false;
  }
  const auto walk = walk_pairs("pairs", area_.rows.size());
  static_cast<void>(walk->take([&](index_t) { return area_.rows.size(); }));
  if (are_few) {
    const std::span<edge> kept(edges.data(), count);
    if (p_of.table != request.p_of.table && p_of.table == nullptr) {
      for (edge& each : kept) each.p = request.p_of(each.statistic);
    }
    deliver_batches(kept, request.batch_edges, receiver);
  } else {
    const candidate_buffer queue(count, stream());
    const auto layout = kernels::edge_key_layout::of_rows(area_.rows.begin, area_.rows.end,
                                                          area_.cols.begin, area_.cols.size());
    select(queue.places(), layout);
    event selected;
    event read;
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(selected.get(), stream()));
    receiver.begin({.least = expected, .most = expected});
    output.open(expected);
    output.push({queue.places().keys, queue.places().values, layout}, count, selected, read);
    output.drain();
  }
  walk->advance(pairs());
  walk->finish();
  return true;
}

void cuda_engine::edges(const detail::edge_request& request, detail::edge_receiver& receiver) {
  const device_guard guard(ordinal_);
  if (pairs() == 0) return;
  const decision_scope deciding = decide_pairs({.cuts = request.cuts, .tied = request.tied});
  const detail::pair_cut keep = cut_of(request.keep, request.tied);
  if (select_edges(request, keep, receiver)) return;
  const detail::cut_sample sample = sample_cut(keep);
  if (screen_edges(request, keep, receiver, sample)) return;
  const pair_tile_kind tile = edge_tile(keep.widest, sample.kept_share());
  const edge_source source{.rows = *rows_,
                           .area = area_,
                           .share = *share_,
                           .budget = budget_,
                           .finding = stream(),
                           .deciding = output_.get(),
                           .tile = tile,
                           .keep = keep,
                           .estimate_error = cuda::estimate_error(rows_->format(), tile)};
  write_edges_by_tiles(source, request, receiver, sample);
}

void cuda_engine::walk_upper_pairs(std::string_view stage, pair_tile_kind tile,
                                   const std::function<void(const kernels::pair_panel&)>& launch) {
  const auto walk = walk_pairs(stage, area_.rows.size());
  double pairs_per_launch = first_launch_pairs;
  // Of one table few rows have as few pairs, and the first launch is to be short.
  const pair_walk::piece piece =
      rows_piece(*walk, area_, pairs_per_launch, area_.is_against() ? rows_of_tile : 1);
  event done[2];
  auto last_finish = std::chrono::steady_clock::now();
  walk_blocks(
      *walk, piece,
      [&](index_range taken, int slot) {
        const row_range rows = from_walk(area_, taken);
        rows_->for_each_panel(rows, cols_of_rows(area_, rows), kernels::pair_region::above_diagonal,
                              tile, stream(), launch);
        GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(done[slot].get(), stream()));
      },
      [&](index_range taken, int slot) {
        GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(done[slot].get()));
        const auto now = std::chrono::steady_clock::now();
        const double seconds =
            std::max(std::chrono::duration<double>(now - last_finish).count(), 1e-4);
        last_finish = now;
        const std::uint64_t pairs = pairs_of(from_walk(area_, taken));
        const double wanted = static_cast<double>(pairs) * launch_seconds / seconds;
        pairs_per_launch = std::clamp(wanted, pairs_per_launch / 4, pairs_per_launch * 4);
        walk->advance(pairs);
      });
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
  walk->finish();
}

void cuda_engine::launch_dense(const tile_step<kernels::dense_sink_args>& step, row_range rows) {
  rows_->for_each_panel(rows, area_.cols, kernels::pair_region::whole, step.tile, stream(),
                        [&](const kernels::pair_panel& panel) { step.launch(panel, stream()); });
}

detail::made_engine make_pair_engine(const detail::measure_traits& what,
                                     const detail::pair_input& input) {
  const auto* y = dynamic_cast<const device_prepared_table*>(input.tables.prepared_y.get());
  const std::vector<device_info> devices =
      y != nullptr ? devices_of_query(*y, input.exec) : select_devices(input.exec);
  const pair_variant variant =
      y != nullptr ? y->variant
                   : choose_variant(input.rows(), input.cols(), input.variant, devices);
  if (detail::is_on_device(input.tables)) {
    const device_guard guard(devices.front().ordinal);
    const std::vector<int> ordinals = ordinals_of(devices);
    check_tables(input.tables, ordinals, input.exec);
    wait_for_callers_stream(input.exec, ordinals);
  }
  if (devices.size() > 1) return make_device_group(what, input, devices, variant);
  const device_guard guard(devices.front().ordinal);
  auto engine = std::make_unique<cuda_engine>(what, input, devices.front(), variant);
  std::optional<detail::folded_rows> folded = engine->take_folded();
  return {.engine = std::move(engine), .folded = std::move(folded)};
}

detail::engine_plan plan_pair_engine(const detail::measure_traits& what,
                                     const detail::pair_input& input) {
  const index_t rows = input.rows();
  const index_t cols = input.cols();
  const std::vector<device_info> devices = select_devices(input.exec);
  const pair_variant variant = choose_variant(rows, cols, input.variant, devices);
  row_format format = choose_row_format(what, variant, cols);
  choose_products(format, variant, input.area, limits_of(devices.front().ordinal),
                  code_of(devices.front().ordinal).capability);
  const kernels::policy::tile_layout shape = tile_shape(format.deciding_tile());
  const std::size_t row_bytes = format.bytes() + sizeof(std::int64_t) + sizeof(kernels::row_norm);
  return {.device = describe_devices(devices),
          .variant = variant,
          .tile_rows = shape.rows,
          .tile_cols = shape.cols,
          .workspace_bytes = static_cast<std::size_t>(rows) * row_bytes,
          .warning = warn_of_compilation(devices)};
}

}  // namespace gpu::cuda
