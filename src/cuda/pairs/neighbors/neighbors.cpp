// Top-k of the CUDA pair engine on tensor cores. A block of rows meets all rows in half precision,
// which leaves the largest product with each group of 128 partners; then every row looks at the k
// or so groups that can hold its neighbours. Nothing comes back to the host but the lists.
#include <algorithm>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/neighbor_query.hpp"
#include "cuda/pairs/neighbors/neighbors.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::cuda {
namespace {

constexpr std::size_t most_maxima_bytes = std::size_t{1} << 30;
constexpr index_t unit = kernels::neighbor_row_multiple;  // rows of the smallest piece of work
constexpr double least_units = 8;                         // of a piece that several devices share

}  // namespace

void list_table::deliver(index_t k, cudaStream_t stream, neighbor_table& out) const {
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(stream, ready.get(), 0));
  const auto read = [&](auto* to, const auto* from, index_t entries) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
        to, from, static_cast<std::size_t>(entries) * sizeof(*to), cudaMemcpyDeviceToHost, stream));
  };
  read(out.index.data() + rows.begin * k, index.data(), rows.size() * k);
  read(out.statistic.data() + rows.begin * k, statistic.data(), rows.size() * k);
  read(out.count.data() + rows.begin, count.data(), rows.size());
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
}

namespace {

// Waits for both streams before what they use goes out of scope.
struct stream_guard {
  cudaStream_t streams[2];
  ~stream_guard() {
    for (const cudaStream_t stream : streams) static_cast<void>(cudaStreamSynchronize(stream));
  }
};

kernels::neighbor_rows rows_to_pack(row_range rows, index_t elements) {
  return {.depth = kernels::neighbor_depth(elements),
          .rows = rows.size(),
          .padded_rows = (rows.size() + unit - 1) / unit * unit,
          .tiles = nullptr,
          .first = rows.begin};
}

std::size_t bytes_of(const kernels::neighbor_rows& packed) {
  return static_cast<std::size_t>(packed.padded_rows * packed.depth);
}

// What a search needs, and how it is cut into pieces.
struct group_plan {
  kernels::neighbor_rows left;
  kernels::neighbor_rows right;
  bool one_table;          // the left rows are the right ones
  index_t pitch;           // of the maxima: groups, rounded up
  std::size_t tile_bytes;  // of all packed rows
  std::size_t unit_bytes;  // of the maxima and lists of one unit of rows
  index_t units;

  group_plan(const detail::pair_area& area, index_t elements, index_t k)
      : left(rows_to_pack(area.rows, elements)),
        right(rows_to_pack(area.cols, elements)),
        one_table(area.rows == area.cols),
        pitch(maxima_pitch(kernels::neighbor_groups(right))),
        tile_bytes(bytes_of(right) + (one_table ? 0 : bytes_of(left))),
        unit_bytes(static_cast<std::size_t>(unit * pitch) * sizeof(std::uint16_t) +
                   2 * list_table::bytes(unit, k)),
        units(left.padded_rows / unit) {}

  // Packs all rows into `tiles` [tile_bytes].
  void pack(const kernels::pair_operand& source, std::uint8_t* tiles, cudaStream_t stream) {
    right.tiles = tiles;
    kernels::launch_neighbor_pack(source, right, stream);
    left.tiles = one_table ? tiles : tiles + bytes_of(right);
    if (!one_table) kernels::launch_neighbor_pack(source, left, stream);
  }

  // Units of rows that are searched together, with so much memory left.
  [[nodiscard]] index_t block_units(std::size_t bytes) const {
    const std::size_t room = std::min(most_maxima_bytes, bytes - tile_bytes);
    return std::clamp<index_t>(static_cast<index_t>(room / unit_bytes), 1, units);
  }
};

// Whether rows prepared for `tile` can be searched so.
bool can_be_grouped(kernels::pair_tile_kind tile, index_t cols, index_t k) {
  return (tile == kernels::pair_tile_kind::tensor_int8 ||
          tile == kernels::pair_tile_kind::tensor_float) &&
         cols <= kernels::neighbor_most_columns && k <= kernels::neighbor_most_listed;
}

// Finds the maxima of a block of left rows with every group, then the lists from them, and records
// that they are there. `warpgroup_blocks`: multiprocessors for warpgroup products, or 0.
void search_block(const kernels::pair_operand& source, const kernels::neighbor_rows& right,
                  const kernels::neighbor_block& block, const kernels::neighbor_query& query,
                  int warpgroup_blocks, list_table& table, cudaStream_t stream) {
  if (warpgroup_blocks > 0) {
    kernels::launch_neighbor_maxima(right, block, query.key, warpgroup_blocks, stream);
  } else {
    kernels::launch_neighbor_maxima_mma(right, block, query.key, stream);
  }
  kernels::launch_neighbor_choice(source, right, block, query, table.result(), stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(table.ready.get(), stream));
}

}  // namespace

bool pair_engine::top_k_by_groups(const detail::top_k_request& request, neighbor_table& out) {
  const index_t k = request.k;
  const kernels::pair_tile_kind tile = rows_->format().tile;
  if (!can_be_grouped(tile, info_.cols, k)) return false;
  const bool values = tile == kernels::pair_tile_kind::tensor_float;
  if (has_few_rows(area_)) return top_k_of_few_rows(request, out);
  // Spearman's tensor variant is the one without warpgroups; Pearson has but the one name for both.
  const bool by_warpgroups =
      has_warpgroup_products_ && (values || variant_ == pair_variant::hopper);
  const kernels::pair_operand source = rows_->all();
  const index_t elements = values ? source.unit_pitch : info_.cols;
  group_plan plan(area_, elements, k);
  const bool fits = rows_->resident() && plan.tile_bytes + plan.unit_bytes <= budget_.left();
  if (!share_->agree(fits)) return false;

  const index_t units = plan.units;
  const index_t block_units = plan.block_units(budget_.left());
  const device_buffer<std::uint8_t> tiles(plan.tile_bytes, stream());
  const device_buffer<std::uint16_t> maxima(
      static_cast<std::size_t>(block_units * unit * plan.pitch), stream());
  list_table tables[2] = {{block_units * unit, k, stream()}, {block_units * unit, k, stream()}};
  const stream_guard guard{{stream(), output_.get()}};
  plan.pack(source, tiles.data(), stream());
  const kernels::neighbor_query query = make_query(request);

  const auto walk = walk_pairs("pairs", units);
  const pair_walk::piece piece = [&](index_t begin) {
    return static_cast<index_t>(walk->fair(static_cast<double>(block_units),
                                           static_cast<double>(units - begin), least_units));
  };
  const auto finish = [&](const list_table& table) {
    if (table.rows.empty()) return;
    table.deliver(k, output_.get(), out);
    if (request.take_final_rows) request.take_final_rows(table.rows);
    walk->advance(pairs_of(from_walk(area_, table.rows)));
  };
  int slot = 0;
  for (index_range taken = walk->take(piece); !taken.empty(); taken = walk->take(piece)) {
    list_table& table = tables[slot];
    table.rows = {taken.begin * unit, std::min(taken.end * unit, area_.rows.size())};
    const kernels::neighbor_block block{.left = plan.left,
                                        .first = table.rows.begin,
                                        .count = taken.size() * unit,
                                        .maxima = maxima.data(),
                                        .pitch = plan.pitch};
    search_block(source, plan.right, block, query, by_warpgroups ? multiprocessors_ : 0, table,
                 stream());
    slot = 1 - slot;
    finish(tables[slot]);
    tables[slot].rows = {};
  }
  finish(tables[1 - slot]);
  walk->finish();
  return true;
}

}  // namespace gpu::cuda
