// Top-k of the CUDA pair engine. A block of rows meets the columns in growing chunks; each row's
// k-th best so far is the cut for the next chunk, so that about k new candidates a row pass,
// however many columns there are. Every pair is computed for both of its rows.
#include <algorithm>
#include <limits>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/candidate_queue.hpp"
#include "cuda/pairs/programs/group_search.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "kernels/pairs/neighbors/merge.hpp"

namespace gpu::cuda {
namespace {

constexpr std::uint64_t first_columns = 256;  // of a block of rows, where all pairs are candidates
constexpr std::uint64_t first_candidates = std::uint64_t{1} << 21;
constexpr double least_block_rows = 4096;  // of those that several devices share
constexpr std::size_t bytes_per_partner_candidate = 2 * 2 * sizeof(std::uint64_t);
constexpr std::size_t bytes_per_entry = sizeof(node_id) + sizeof(double);

// Rows of a block, room for candidates, and what they take.
struct search_sizes {
  index_t rows;
  std::uint64_t capacity;

  [[nodiscard]] std::size_t scratch_bytes(index_t k) const {
    return std::max(kernels::sort_scratch_bytes(capacity),
                    kernels::merge_scratch_bytes(rows, k, capacity));
  }
  [[nodiscard]] std::size_t bytes(index_t k) const {
    return capacity * bytes_per_partner_candidate + scratch_bytes(k) +
           static_cast<std::size_t>(rows) * (static_cast<std::size_t>(k) * bytes_per_entry +
                                             sizeof(node_id) + sizeof(kernels::row_cut));
  }
};

search_sizes choose_sizes(std::size_t budget, index_t rows, index_t cols, index_t k) {
  const auto pairs = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols);
  std::uint64_t capacity =
      std::min(memory_sizes::most_partner_candidates, std::max<std::uint64_t>(pairs, 1));
  for (;;) {
    const std::uint64_t wanted = std::max(first_columns, 2 * static_cast<std::uint64_t>(k));
    const auto fitting = static_cast<index_t>(std::max<std::uint64_t>(capacity / wanted, 1));
    const search_sizes sizes{std::min(rows, fitting), capacity};
    if (capacity == 1 || sizes.bytes(k) <= budget) return sizes;
    capacity = capacity / 2;
  }
}

// The table of rows that have no partners.
void clear(neighbor_table& out) {
  const index_t entries = out.index.rows() * out.index.cols();
  std::fill_n(out.index.data(), entries, neighbor_table::no_neighbor);
  std::fill_n(out.statistic.data(), entries, std::numeric_limits<double>::quiet_NaN());
  std::fill(out.count.begin(), out.count.end(), node_id{0});
}

}  // namespace

class cuda_engine::neighbor_search {
 public:
  neighbor_search(cuda_engine& engine, const detail::top_k_request& request,
                  const detail::pair_cut& keep);
  ~neighbor_search() { static_cast<void>(cudaStreamSynchronize(engine_.stream())); }
  neighbor_search(const neighbor_search&) = delete;
  neighbor_search& operator=(const neighbor_search&) = delete;

  void run(neighbor_table& out);

 private:
  void search_rows(row_range rows);
  // Merges the candidates of rows x cols into the lists; false where they overflowed.
  bool take_columns(row_range rows, row_range cols);
  void store(row_range rows, neighbor_table& out);

  cuda_engine& engine_;
  detail::pair_cut keep_;
  index_t k_;
  kernels::rank_key order_;
  search_sizes sizes_;
  candidate_buffer queue_;
  candidate_buffer sorted_;
  candidate_counters counters_;
  device_buffer<std::byte> scratch_;
  device_buffer<std::uint32_t> index_;
  device_buffer<double> statistic_;
  device_buffer<std::uint32_t> count_;
  device_buffer<kernels::row_cut> cuts_;
  kernels::neighbor_lists lists_{};
};

cuda_engine::neighbor_search::neighbor_search(cuda_engine& engine,
                                              const detail::top_k_request& request,
                                              const detail::pair_cut& keep)
    : engine_(engine),
      keep_(keep),
      k_(std::min(request.k, engine.area_.cols.size())),
      order_(request.order == neighbor_order::by_absolute_value ? kernels::rank_key::magnitude
                                                                : kernels::rank_key::value),
      sizes_(choose_sizes(engine.budget_.left(), engine.area_.rows.size(), engine.area_.cols.size(),
                          k_)),
      queue_(sizes_.capacity, engine.stream()),
      sorted_(sizes_.capacity, engine.stream()),
      counters_(engine.stream()) {
  engine.budget_.require(sizes_.bytes(k_), "lists of neighbours");
  const cudaStream_t stream = engine.stream();
  const auto rows = static_cast<std::size_t>(sizes_.rows);
  const std::size_t entries = rows * static_cast<std::size_t>(k_);
  scratch_ = {sizes_.scratch_bytes(k_), stream};
  index_ = {entries, stream};
  statistic_ = {entries, stream};
  count_ = {rows, stream};
  cuts_ = {rows, stream};
}

void cuda_engine::neighbor_search::run(neighbor_table& out) {
  const detail::pair_area& area = engine_.area_;
  const index_t rows = area.rows.size();
  const auto walk = engine_.walk_pairs("pairs", rows);
  const pair_walk::piece piece = [&](index_t begin) {
    return static_cast<index_t>(walk->fair(static_cast<double>(sizes_.rows),
                                           static_cast<double>(rows - begin), least_block_rows));
  };
  for (index_range taken = walk->take(piece); !taken.empty(); taken = walk->take(piece)) {
    const row_range block = from_walk(area, taken);
    search_rows(block);
    store(block, out);
    walk->advance(engine_.pairs_of(block));
  }
  walk->finish();
}

void cuda_engine::neighbor_search::search_rows(row_range rows) {
  lists_ = {.first_row = rows.begin,
            .rows = rows.size(),
            .k = k_,
            .index = index_.data(),
            .statistic = statistic_.data(),
            .count = count_.data()};
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(count_.data(), 0, count_.bytes(), engine_.stream()));
  const row_range columns = engine_.area_.cols;
  // So many columns cannot overflow.
  const index_t least = std::max<index_t>(1, static_cast<index_t>(sizes_.capacity) / rows.size());
  // In the first columns every pair is a candidate, which a short sort takes.
  const index_t first = static_cast<index_t>(first_candidates) / rows.size();
  index_t width = std::min(least, std::max({first, static_cast<index_t>(first_columns), 2 * k_}));
  for (index_t begin = columns.begin; begin < columns.end;) {
    const row_range chunk{begin, std::min(begin + width, columns.end)};
    if (!take_columns(rows, chunk)) {
      width = std::max(least, width / 4);
      continue;
    }
    begin = chunk.end;
    // As many columns again as there were bring about k ln 2 candidates a row.
    if (counters_.found() < sizes_.capacity / 2) width = std::max(width, begin - columns.begin);
  }
}

bool cuda_engine::neighbor_search::take_columns(row_range rows, row_range cols) {
  const cudaStream_t stream = engine_.stream();
  const double error = engine_.estimate_error();
  kernels::launch_row_cuts(lists_, order_, keep_.widest.at_least, keep_.widest.at_most, error,
                           cuts_.data(), stream);
  counters_.clear(stream);
  const kernels::pair_tile_kind tile = engine_.rows_->format().deciding_tile();
  kernels::candidate_sink_args sink =
      queue_.places().sink(estimate_cut(keep_, error), counters_.device_found());
  engine_.rows_->for_each_panel(rows, cols, kernels::pair_region::off_diagonal, tile, stream,
                                [&](const kernels::pair_panel& panel) {
                                  sink.row_cuts = cuts_.data() + (panel.rows.first - rows.begin);
                                  kernels::launch_pairs(tile, panel, sink, stream);
                                });
  counters_.read(stream);
  counters_.wait();
  const std::uint64_t found = counters_.found();
  if (found > queue_.capacity()) return false;
  if (found == 0) return true;
  const candidate_places queues[2] = {queue_.places(), sorted_.places()};
  const kernels::candidate_decision what{.tile = tile, .rows = engine_.rows_->all(), .keep = keep_};
  decide_candidates(what, queues[0], found, nullptr, counters_.device_kept(), stream);
  const int result =
      sort_candidates(queues, found, what.layout.bits, {scratch_.data(), scratch_.bytes()}, stream);
  kernels::launch_merge_neighbors(lists_, order_, queues[result].keys, queues[result].values, found,
                                  scratch_.data(), scratch_.bytes(), stream);
  return true;
}

void cuda_engine::neighbor_search::store(row_range rows, neighbor_table& out) {
  const cudaStream_t stream = engine_.stream();
  const auto height = static_cast<std::size_t>(rows.size());
  const auto k = static_cast<std::size_t>(k_);
  const auto begin = static_cast<std::size_t>(rows.begin - engine_.area_.rows.begin);
  const auto first_col = static_cast<std::uint32_t>(engine_.area_.cols.begin);
  std::vector<std::uint32_t> index(height * k);
  std::vector<double> statistic(height * k);
  const auto read = [&](auto* to, const auto* from, std::size_t count) {
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpyAsync(to, from, count * sizeof(*to), cudaMemcpyDeviceToHost, stream));
  };
  read(index.data(), index_.data(), height * k);
  read(statistic.data(), statistic_.data(), height * k);
  read(out.count.data() + begin, count_.data(), height);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < height; ++i) {
    const auto row = static_cast<index_t>(begin + i);
    const std::size_t entries = out.count[begin + i];
    const auto fill_row = [&](auto to, const auto* from, auto missing) {
      std::fill(std::copy_n(from + i * k, entries, to.begin()), to.end(), missing);
    };
    for (std::size_t e = 0; e < entries; ++e) index[i * k + e] -= first_col;
    fill_row(out.index.row(row), index.data(), neighbor_table::no_neighbor);
    fill_row(out.statistic.row(row), statistic.data(), std::numeric_limits<double>::quiet_NaN());
  }
}

void cuda_engine::top_k(const detail::top_k_request& request, neighbor_table& out) {
  const device_guard guard(ordinal_);
  if (area_.rows.empty() || area_.cols.empty()) return clear(out);
  const decision_scope deciding = decide_pairs({.cuts = request.cuts, .tied = request.tied});
  const detail::pair_cut keep = cut_of(request.keep, request.tied);
  bool is_done = false;
  switch (keep.is_one() ? choose_partner_way(shape(), request.k) : partner_way::statistics) {
    case partner_way::few_rows:
      is_done = top_k_of_few_rows(request, keep.widest, out);
      break;
    case partner_way::groups:
      is_done = top_k_by_groups(request, keep.widest, out);
      break;
    case partner_way::statistics:
      is_done = keep.is_one() && top_k_by_estimates(request, keep.widest, out);
      break;
  }
  if (!is_done) neighbor_search(*this, request, keep).run(out);
}

}  // namespace gpu::cuda
