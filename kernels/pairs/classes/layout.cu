// Lays rows out class by class, without a look at any value on the host. One thread handles one
// position of the sorted rows. An inclusive maximum over the positions gives each row the beginning
// of its class, and inclusive sums give its block and its panel; then each thread writes its row to
// its place, and one block divides the pairs into work items.

#include <cub/device/device_scan.cuh>

#include "cuda_runtime/arena.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr index_t panel_rows = index_t{count_panel_blocks} * count_block_rows;

/// Marks the classes of the right side. Square sums are far below it.
constexpr std::uint32_t right_side = 0x80000000U;

/// The class of the row at a position; 0 where it takes no part.
__device__ std::uint32_t class_at(const class_source& from, index_t position) {
  const std::uint32_t row = from.order[position];
  const std::int64_t sum = from.square_sums[row];
  if (sum <= 0) return 0;
  const auto left = static_cast<std::uint32_t>(sum);
  if (from.sides.is_left(row)) return left;
  return from.sides.is_right(row) ? left | right_side : 0;
}

/// The sizes of the whole layout.
struct class_totals {
  std::uint32_t blocks;
  std::uint32_t panels;
  std::uint32_t left_blocks;
  std::uint32_t left_panels;
  index_t rows;  // that take part
};

/// The operation of the inclusive maximum.
struct larger {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a > b ? a : b;
  }
};

/// How the temporary memory is divided.
struct layout_memory {
  std::uint32_t* begins;  // [rows] where the class of a position begins
  std::uint64_t* counts;  // [rows] panels << 32 | blocks up to a position, with its own
  class_totals* totals;
  std::size_t scan_bytes;
  void* scan;
  std::size_t bytes;
};

layout_memory cut_memory(index_t rows, void* memory) {
  layout_memory out{};
  std::size_t max_bytes = 0;
  std::size_t sum_bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(
      cub::DeviceScan::InclusiveScan(nullptr, max_bytes, out.begins, out.begins, larger{}, rows));
  GPU_SIMILARITY_CUDA_CHECK(
      cub::DeviceScan::InclusiveSum(nullptr, sum_bytes, out.counts, out.counts, rows));
  out.scan_bytes = max_bytes > sum_bytes ? max_bytes : sum_bytes;
  cuda::arena pieces(memory);
  out.begins = pieces.take<std::uint32_t>(rows);
  out.counts = pieces.take<std::uint64_t>(rows);
  out.totals = pieces.take<class_totals>(1);
  out.scan = pieces.take<std::byte>(out.scan_bytes);
  out.bytes = pieces.bytes();
  return out;
}

// This kernel and the next two have one thread for each position.
__global__ void begin_kernel(const class_source from, std::uint32_t* begins) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= from.rows) return;
  const bool is_first = i == 0 || class_at(from, i - 1) != class_at(from, i);
  begins[i] = is_first ? static_cast<std::uint32_t>(i) : 0;
}

__global__ void count_kernel(const class_source from, const std::uint32_t* begins,
                             std::uint64_t* counts) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= from.rows) return;
  const index_t in_class = i - begins[i];
  const bool takes_part = class_at(from, i) != 0;
  const bool block = takes_part && in_class % count_block_rows == 0;
  const bool panel = takes_part && in_class % panel_rows == 0;
  counts[i] = std::uint64_t{panel} << 32 | std::uint64_t{block};
}

__global__ void place_kernel(const class_source from, const class_rows to,
                             const std::uint32_t* begins, const std::uint64_t* counts,
                             class_totals* totals) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= from.rows) return;
  const std::uint32_t own = class_at(from, i);
  if (own == 0) return;
  const std::uint32_t next = i + 1 < from.rows ? class_at(from, i + 1) : 0;
  const index_t in_class = i - begins[i];
  const auto block = static_cast<std::uint32_t>(counts[i]) - 1;
  const auto panel = static_cast<std::uint32_t>(counts[i] >> 32) - 1;
  if (i + 1 == from.rows) {
    totals->blocks = block + 1;
    totals->panels = panel + 1;
  }
  const bool is_left = (own & right_side) == 0;
  if (is_left && (next == 0 || (next & right_side) != 0)) {
    totals->left_blocks = block + 1;
    totals->left_panels = panel + 1;
  }
  if (i == 0 || class_at(from, i - 1) == 0) totals->rows = from.rows - i;
  const index_t first_place = index_t{block} * count_block_rows;
  if (first_place >= to.padded_rows) return;  // cover_kernel finds that the layout is of no use
  to.slots[first_place + in_class % count_block_rows] = from.order[i];
  if (in_class % count_block_rows == 0) {
    to.square_sums[block] = static_cast<int>(own & ~right_side);
  }
  const index_t in_panel = in_class % panel_rows;
  if (in_panel == 0) to.panels[panel].first_block = block;
  if (next != own || in_panel == panel_rows - 1) {
    to.panels[panel].blocks = static_cast<std::uint32_t>(in_panel / count_block_rows) + 1;
  }
}

// The first panel that ends behind a block.
__device__ std::uint32_t panel_behind(const count_panel* panels, std::uint32_t count,
                                      std::uint32_t block) {
  std::uint32_t low = 0;
  for (std::uint32_t high = count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (panels[middle].first_block + panels[middle].blocks > block) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Divides the pairs into work items. One block, because there are few chunks.
__global__ void cover_kernel(const class_totals* totals, const class_rows to, const class_use use,
                             bool within) {
  const index_t places = index_t{totals->blocks} * count_block_rows;
  const auto padded = static_cast<double>(places);
  const auto rows = static_cast<double>(totals->rows);
  const bool is_of_use =
      places <= to.padded_rows &&
      (places <= use.always_padded_rows || padded * padded <= use.most_growth * rows * rows);
  const std::uint32_t left = is_of_use ? totals->left_blocks : 0;
  const std::uint32_t met = totals->panels - (within ? 0 : totals->left_panels);
  const std::uint32_t chunk_blocks = chunk_blocks_for(left, met, within);
  const std::uint32_t chunks = static_cast<std::uint32_t>(ceil_div(left, chunk_blocks));
  for (std::uint32_t chunk = threadIdx.x; chunk < chunks; chunk += threads) {
    const std::uint32_t panel = within
                                    ? panel_behind(to.panels, totals->panels, chunk * chunk_blocks)
                                    : totals->left_panels;
    to.first_panel[chunk] = panel;
    to.items_before[chunk + 1] = totals->panels - panel;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  index_t items = 0;
  to.items_before[0] = 0;
  for (std::uint32_t chunk = 1; chunk <= chunks; ++chunk) {
    items += to.items_before[chunk];
    to.items_before[chunk] = items;
  }
  *to.extents = {.items = items,
                 .chunk_blocks = chunk_blocks,
                 .blocks = is_of_use ? totals->blocks : 0,
                 .left_blocks = left};
  *use.is_of_use = is_of_use ? 1 : 0;
}

}  // namespace

std::size_t class_layout_bytes(index_t rows) {
  return cut_memory(rows, nullptr).bytes;
}

void launch_class_layout(const class_source& source, const class_rows& target, const class_use& use,
                         void* temporary, cudaStream_t stream) {
  const layout_memory memory = cut_memory(source.rows, temporary);
  static_assert(empty_slot == 0xffffffffU);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      target.slots, 0xff, static_cast<std::size_t>(target.padded_rows) * sizeof(std::uint32_t),
      stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(memory.totals, 0, sizeof *memory.totals, stream));
  if (source.rows > 0) {
    const unsigned blocks = grid_blocks(source.rows, threads);
    std::size_t bytes = memory.scan_bytes;
    begin_kernel<<<blocks, threads, 0, stream>>>(source, memory.begins);
    GPU_SIMILARITY_CHECK_LAUNCH();
    GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::InclusiveScan(
        memory.scan, bytes, memory.begins, memory.begins, larger{}, source.rows, stream));
    count_kernel<<<blocks, threads, 0, stream>>>(source, memory.begins, memory.counts);
    GPU_SIMILARITY_CHECK_LAUNCH();
    GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::InclusiveSum(memory.scan, bytes, memory.counts,
                                                            memory.counts, source.rows, stream));
    place_kernel<<<blocks, threads, 0, stream>>>(source, target, memory.begins, memory.counts,
                                                 memory.totals);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
  cover_kernel<<<1, threads, 0, stream>>>(memory.totals, target, use, source.sides.within);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
