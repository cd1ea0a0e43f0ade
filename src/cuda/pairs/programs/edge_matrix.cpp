#include "cuda/pairs/programs/edge_matrix.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "base/round_up.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/memory_cache.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/on_device/kernels.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

// Fewer statistics are there before a screen could begin. Of more, a screen finds a few edges
// sooner where rows are long (H200, 3000 rows: from some 1000 columns on), and many edges later.
constexpr index_t few_statistics = index_t{1} << 22;
constexpr index_t most_statistics = index_t{1} << 24;
constexpr index_t most_steps = index_t{1} << 33;
static_assert(most_statistics <= kernels::most_selected_statistics);
// Multiply-adds of doubles that any device ends in a millisecond, without its tensor cores.
constexpr index_t most_double_steps = index_t{1} << 28;
// Tables that stay on a device: 5 MiB.
constexpr std::size_t most_tables = 64;

index_t statistics_of(const detail::pair_area& area) {
  return area.rows.size() * area.cols.size();
}

// Counters of two blocks a word.
index_t counter_words(const detail::pair_area& area) {
  return ceil_div(kernels::select_blocks(statistics_of(area)), index_t{2});
}

}  // namespace

bool edge_matrix::takes(const call_shape& shape) {
  const row_format& format = shape.format;
  const index_t statistics = statistics_of(shape.area);
  const bool are_few = statistics <= few_statistics ||
                       (statistics <= most_statistics && statistics * format.cols <= most_steps);
  if (format.ready) return statistics <= kernels::most_selected_statistics;
  if (!shape.has_room || shape.is_never_short || !are_few) return false;
  switch (format.tile) {
    case pair_tile_kind::shared_int8:
    case pair_tile_kind::tensor_int8:
    case pair_tile_kind::tensor_limbs:
      return true;
    case pair_tile_kind::shared_double:
    case pair_tile_kind::tensor_float:
      return format.products || format.double_products ||
             statistics * format.cols <= most_double_steps;
    default:
      return false;
  }
}

edge_matrix::edge_matrix(const detail::pair_area& area, bool is_ready, arena& memory)
    : area_(area),
      statistics_(memory.take<double>(is_ready ? 0 : statistics_of(area))),
      selected_from_(statistics_),
      kept_by_block_(memory.take<std::uint64_t>(counter_words(area))) {}

kernels::zeroed_words edge_matrix::zeros() const {
  return {kept_by_block_, counter_words(area_)};
}

void edge_matrix::select(const detail::keep_range& keep, const stats::p_function& p_of,
                         kernels::selected_edges to, cudaStream_t stream) const {
  to.kept_by_block = reinterpret_cast<std::uint32_t*>(kept_by_block_);
  kernels::launch_select_edges({.statistics = selected_from_,
                                .rows = area_.rows.size(),
                                .cols = area_.cols.size(),
                                .first_row = area_.rows.begin,
                                .first_col = area_.cols.begin},
                               keep, p_of, to, stream);
}

void edge_matrix::select(const detail::keep_range& keep, const stats::p_function& p_of,
                         device_vector_view<edge> edges, unsigned long long* found,
                         cudaStream_t stream) const {
  select(
      keep, p_of,
      {.edges = edges.data(), .capacity = static_cast<std::uint64_t>(edges.size()), .found = found},
      stream);
}

void edge_matrix::select(const detail::keep_range& keep, const candidate_places& queue,
                         const kernels::edge_key_layout& layout, unsigned long long* found,
                         cudaStream_t stream) const {
  select(keep, {},
         {.keys = queue.keys,
          .statistics = queue.values,
          .layout = layout,
          .capacity = queue.capacity,
          .found = found},
         stream);
}

const stats::p_table* resident_table(const stats::p_table& table) {
  static std::mutex mutex;
  // Never destroyed, because captured graphs read the tables for as long as they like.
  static auto& known = *new std::map<std::tuple<int, double, double>, const stats::p_table*>;
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  const std::tuple key(device, table.observations, table.least_p);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  if (known.size() == most_tables) return nullptr;
  const outside_of_captures allowed;
  const stream own;
  void* memory = nullptr;
  GPU_SIMILARITY_CUDA_CHECK(cudaMalloc(&memory, sizeof table));
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(memory, &table, sizeof table, cudaMemcpyHostToDevice, own.get()));
  own.synchronize();
  return known[key] = static_cast<const stats::p_table*>(memory);
}

const stats::p_table* table_on_device(const stats::p_table& table, stats::p_table* room,
                                      cudaStream_t stream) {
  if (const stats::p_table* there = resident_table(table)) return there;
  kernels::launch_store(&table, sizeof table, room, stream);
  return room;
}

}  // namespace gpu::cuda
