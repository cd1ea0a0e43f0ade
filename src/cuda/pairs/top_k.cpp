// Top-k of the CUDA pair engine: the lists of a block of rows come to the host while the next block
// is searched. Nothing else does.
#include <algorithm>
#include <limits>

#include "base/round_up.hpp"
#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/group_search.hpp"
#include "cuda/pairs/programs/statistic_search.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"

namespace gpu::cuda {
namespace {

constexpr double least_units = 8;           // of a piece that several devices share
constexpr double least_shared_rows = 2048;  // likewise

// The lists of one block of rows, which count from the area's first.
struct list_table {
  list_table(index_t most_rows, index_t k, cudaStream_t stream)
      : index(static_cast<std::size_t>(most_rows * k), stream),
        statistic(static_cast<std::size_t>(most_rows * k), stream),
        count(static_cast<std::size_t>(most_rows), stream) {}

  static std::size_t bytes(index_t most_rows, index_t k) {
    return static_cast<std::size_t>(most_rows) *
           (static_cast<std::size_t>(k) * (sizeof(node_id) + sizeof(double)) + sizeof(node_id));
  }
  [[nodiscard]] kernels::neighbor_result result() const {
    return {.index = index.data(), .statistic = statistic.data(), .count = count.data()};
  }
  // Copies the table to the host, on `stream`, once it is ready, and waits.
  void deliver(index_t k, cudaStream_t stream, neighbor_table& out) const;

  device_buffer<std::uint32_t> index;
  device_buffer<double> statistic;
  device_buffer<std::uint32_t> count;
  event ready;
  row_range rows;
};

void list_table::deliver(index_t k, cudaStream_t stream, neighbor_table& out) const {
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(stream, ready.get(), 0));
  copy_elements(out.index.data() + rows.begin * k, index.data(), rows.size() * k, stream);
  copy_elements(out.statistic.data() + rows.begin * k, statistic.data(), rows.size() * k, stream);
  read_back(out.count.data() + rows.begin, count.data(), rows.size(), stream);
}

void clear(neighbor_table& out) {
  const index_t entries = out.index.rows() * out.index.cols();
  std::fill_n(out.index.data(), entries, neighbor_table::no_neighbor);
  std::fill_n(out.statistic.data(), entries, std::numeric_limits<double>::quiet_NaN());
  std::fill(out.count.begin(), out.count.end(), node_id{0});
}

}  // namespace

bool cuda_engine::top_k_of_few_rows(const detail::top_k_request& request,
                                    const detail::keep_range& keep, neighbor_table& out) {
  const call_shape shape = this->shape();
  const index_t k = request.k;
  const index_t rows = area_.rows.size();
  const auto make_search = [&](arena& memory) { return thin_search(shape, k, memory); };
  const std::size_t search_bytes = bytes_taken(make_search);
  const std::size_t needed = search_bytes + 2 * list_table::bytes(rows, k);
  if (!share_->agree(rows_->resident() && needed <= budget_.left())) return false;
  const device_buffer<std::byte> memory(search_bytes, stream());
  arena pieces(memory.data());
  const thin_search search = make_search(pieces);
  top_k_by_blocks(
      request, {.unit = rows, .most = 1, .least = 1},
      [&](row_range, const kernels::neighbor_result& lists) {
        search.run(rows_->all(), query_of(keep, k, request.order), lists, stream());
      },
      out);
  return true;
}

void cuda_engine::top_k_by_blocks(const detail::top_k_request& request, const row_blocks& blocks,
                                  const block_search& search, neighbor_table& out) {
  const index_t k = request.k;
  const index_t most_rows = blocks.most * blocks.unit;
  list_table tables[2] = {{most_rows, k, stream()}, {most_rows, k, stream()}};
  const stream_guard guards[2] = {stream_guard(stream()), stream_guard(output_.get())};
  const index_t units = ceil_div(area_.rows.size(), blocks.unit);
  const auto walk = walk_pairs("pairs", units);
  walk_blocks(
      *walk, walk->fair_pieces(blocks.most, units, blocks.least),
      [&](index_range taken, int slot) {
        list_table& table = tables[slot];
        table.rows = {taken.begin * blocks.unit,
                      std::min(taken.end * blocks.unit, area_.rows.size())};
        search(table.rows, table.result());
        GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(table.ready.get(), stream()));
      },
      [&](index_range, int slot) {
        const list_table& table = tables[slot];
        table.deliver(k, output_.get(), out);
        if (request.take_final_rows) request.take_final_rows(table.rows);
        walk->advance(pairs_of(from_walk(area_, table.rows)));
      });
  walk->finish();
}

bool cuda_engine::top_k_by_groups(const detail::top_k_request& request,
                                  const detail::keep_range& keep, neighbor_table& out) {
  constexpr index_t unit = group_search::unit;
  const index_t k = request.k;
  group_search search(shape());
  const std::size_t unit_bytes = search.unit_bytes() + 2 * list_table::bytes(unit, k);
  const bool fits = rows_->resident() && search.packed_bytes() + unit_bytes <= budget_.left();
  if (!share_->agree(fits)) return false;

  const std::size_t room =
      std::min(memory_sizes::maxima_of_host_result, budget_.left() - search.packed_bytes());
  const index_t block_units =
      std::clamp<index_t>(static_cast<index_t>(room / unit_bytes), 1, search.units());
  const auto take_block = [&](arena& memory) { search.take(block_units, memory); };
  const device_buffer<std::byte> memory(bytes_taken(take_block), stream());
  arena pieces(memory.data());
  take_block(pieces);
  const kernels::pair_operand source = rows_->all();
  search.pack(source, stream());
  const kernels::neighbor_query query = query_of(keep, k, request.order);
  top_k_by_blocks(
      request, {.unit = unit, .most = block_units, .least = least_units},
      [&](row_range rows, const kernels::neighbor_result& lists) {
        search.run(source, query, rows.begin / unit, ceil_div(rows.size(), unit), lists, stream());
      },
      out);
  return true;
}

template <class Search>
void cuda_engine::top_k_by_statistics(const detail::top_k_request& request,
                                      const detail::pair_cut& keep, neighbor_table& out) {
  const call_shape shape = this->shape();
  const index_t k = request.k;
  index_t most_rows =
      rows_of_block(area_.rows.size(), Search::row_bytes(shape) + 2 * list_table::bytes(1, k),
                    std::min(memory_sizes::statistics_of_host_result, budget_.left() / 2));
  const auto make_search = [&](arena& memory) {
    return Search(shape, k, request.order, most_rows, memory);
  };
  const auto needed = [&] {
    return bytes_taken(make_search) + 2 * list_table::bytes(most_rows, k);
  };
  while (most_rows > 1 && needed() > budget_.left()) most_rows = ceil_div(most_rows, index_t{2});
  budget_.require(needed(), "statistics of a row");
  const device_buffer<std::byte> memory(bytes_taken(make_search), stream());
  arena pieces(memory.data());
  const Search search = make_search(pieces);
  const kernels::pair_operand source = rows_->all();
  top_k_by_blocks(
      request, {.unit = 1, .most = most_rows, .least = least_shared_rows},
      [&](row_range rows, const kernels::neighbor_result& lists) {
        const row_range block = from_walk(area_, rows);
        launch_dense(search.compute(block), block);
        search.choose(source, keep, block, lists, stream());
      },
      out);
}

bool cuda_engine::top_k_by_estimates(const detail::top_k_request& request,
                                     const detail::pair_cut& keep, neighbor_table& out) {
  const call_shape shape = this->shape();
  const bool has_rows = rows_->resident() && estimate_search::takes(shape, request.k) &&
                        (shape.estimates != kernels::pair_tile_kind::products_half ||
                         rows_->make_half_rows(budget_, stream()));
  if (!share_->agree(has_rows)) return false;
  top_k_by_statistics<estimate_search>(request, keep, out);
  return true;
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
      is_done = keep.is_one() && top_k_by_estimates(request, keep, out);
      break;
  }
  if (!is_done) top_k_by_statistics<row_search>(request, keep, out);
}

}  // namespace gpu::cuda
