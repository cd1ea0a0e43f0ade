// Edges and counts of the CUDA pair engine where a screen leaves few pairs to decide.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/pairs/engine.hpp"

namespace gpu::cuda {
namespace {

// Edges that may wait on the host to be sorted, 24 bytes each.
constexpr std::size_t most_sorted_edges = std::size_t{1} << 26;

// Kept pairs per pair up to which a screen of counts runs on: each costs the host some 30 ns, when
// the whole of what else takes counts, class by class or in weighted tiles, takes 0.14 or 1 ps a
// pair. Less than what breaks even, because the work until then is lost.
constexpr double most_class_share = 1e-6;
constexpr double most_tile_share = 1e-5;

edge to_edge(const kernels::screened_edge& found) {
  return {.row = found.row, .col = found.col, .statistic = found.statistic, .p = 0};
}

bool before(const edge& x, const edge& y) {
  return x.row != y.row ? x.row < y.row : x.col < y.col;
}

bool is_sparse(const detail::screen_choice& choice, std::uint64_t candidates, double pairs) {
  return pairs < choice.least_judged_pairs ||
         static_cast<double>(candidates) <= pairs * choice.most_share;
}

}  // namespace

std::optional<pair_screen> pair_engine::make_screen(const detail::keep_range& keep) {
  if (variant_ != pair_variant::hopper) return std::nullopt;
  const auto choice = detail::choose_screen(what_, keep, info_.cols);
  if (!choice) return std::nullopt;
  const bool fits = rows_->resident() && pair_screen::bytes(count(), *choice) <= budget_.left();
  if (!share_->agree(fits)) return std::nullopt;
  const auto invalid = static_cast<index_t>(info_.constant_rows.size() + info_.nan_rows.size());
  return std::optional<pair_screen>(std::in_place, *rows_, invalid, *choice, keep, multiprocessors_,
                                    stream());
}

bool pair_engine::screen_edges(const detail::edge_request& request,
                               const detail::edge_receiver& receive) {
  std::optional<pair_screen> screen = make_screen(request.keep);
  if (!screen) return false;
  const bool ordered = request.order == edge_order::by_row_then_column;
  const std::size_t most_edges = most_sorted_edges / static_cast<std::size_t>(share_->members());
  const auto walk = walk_pairs("pairs", screen->items());
  std::vector<edge> edges;
  const bool complete = screen->run(
      *walk,
      [&](std::span<const kernels::screened_edge> found) {
        if (!ordered) edges.clear();
        for (const kernels::screened_edge& pair : found) edges.push_back(to_edge(pair));
        if (ordered) return;
        // Once an edge has left, the screen must go on to the end.
        if (walk->commit()) deliver_batches(edges, request.batch_edges, receive);
      },
      [&](std::uint64_t candidates, double pairs) {
        return is_sparse(screen->choice(), candidates, pairs) && edges.size() <= most_edges;
      });
  if (!complete) return false;
  if (ordered) {
    std::sort(edges.begin(), edges.end(), before);
    share_->merge(edges, request.batch_edges, receive);
  }
  return true;
}

bool pair_engine::screen_counts(const detail::count_request& request, pair_counts& out) {
  std::optional<pair_screen> screen = make_screen(request.keep);
  if (!screen) return false;
  const auto walk = walk_pairs("pairs", screen->items());
  const double scale = static_cast<double>(request.histogram_bins) / 2;
  const auto last_bin = static_cast<double>(request.histogram_bins - 1);
  const auto weight_of = [&](node_id row) {
    return request.weights.empty() ? std::uint64_t{1} : std::uint64_t{request.weights[row]};
  };
  double most_share = screen->choice().most_share;
  if (screen->choice().operand != kernels::screen_operand::rounded) {
    most_share = request.weights.empty() ? most_class_share : most_tile_share;
  }
  std::uint64_t found_pairs = 0;
  const bool complete = screen->run(
      *walk,
      [&](std::span<const kernels::screened_edge> found) {
        found_pairs += found.size();
        for (const kernels::screened_edge& pair : found) {
          const std::uint64_t row_weight = weight_of(pair.row);
          const std::uint64_t col_weight = weight_of(pair.col);
          out.kept += row_weight * col_weight;
          out.degree[pair.row] += static_cast<std::uint32_t>(col_weight);
          out.degree[pair.col] += static_cast<std::uint32_t>(row_weight);
          if (request.histogram_bins == 0) continue;
          const double bin = std::min(std::floor((pair.statistic + 1.0) * scale), last_bin);
          out.histogram[static_cast<std::size_t>(bin)] += row_weight * col_weight;
        }
      },
      [&](std::uint64_t candidates, double pairs) {
        const bool few = pairs < screen->choice().least_judged_pairs ||
                         static_cast<double>(found_pairs) <= pairs * most_share;
        return few && is_sparse(screen->choice(), candidates, pairs);
      });
  if (!complete) {  // the tiles count every pair anew
    out.kept = 0;
    std::fill(out.degree.begin(), out.degree.end(), 0);
    std::fill(out.histogram.begin(), out.histogram.end(), 0);
    return false;
  }
  return true;
}

}  // namespace gpu::cuda
