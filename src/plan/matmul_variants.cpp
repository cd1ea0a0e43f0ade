#include "plan/matmul_variants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>

#include "matmul/tensor_layout.hpp"

namespace gpu::detail {
namespace {

namespace policy = kernels::matmul_policy;

index_t ceil_div(index_t value, index_t step) {
  return (value + step - 1) / step;
}

// Multiply-adds.
double work_of(const matmul_extents& e) {
  return static_cast<double>(e.m) * static_cast<double>(e.n) * static_cast<double>(e.k);
}

bool tensor_is_offered(const matmul_device& device) {
  return device.compute >= 80;
}

// Whether the tensor cores multiply doubles faster than the CUDA cores.
bool has_double_tensor_cores(const matmul_device& device) {
  return device.compute == 80 || device.compute == 90;
}

double double_tiles_each(const matmul_extents& e, policy::tile_name name,
                         const matmul_device& device) {
  const auto& tile = policy::tensor_double_tile(name);
  return static_cast<double>(ceil_div(e.m, tile.block_m) * ceil_div(e.n, tile.block_n)) /
         device.multiprocessors;
}

// The largest tile that still gives every multiprocessor something to do. Needs no workspace.
matmul_choice tensor_double(const matmul_extents& e, const matmul_device& device) {
  using policy::tile_name;
  tile_name name = tile_name::small;
  if (e.k >= policy::large_least_depth &&
      double_tiles_each(e, tile_name::large, device) >= policy::large_least_tiles) {
    name = tile_name::large;
  } else if (double_tiles_each(e, tile_name::medium, device) >= policy::medium_least_tiles) {
    name = tile_name::medium;
  }
  const auto& tile = policy::tensor_double_tile(name);
  return {.variant = matmul_variant::tensor,
          .tile = name,
          .tile_rows = tile.block_m,
          .tile_cols = tile.block_n};
}

// Packing pays, there are tiles for half of the device at least (k is not cut into parts here), and
// the error bound of `tensor` is below that of a float32 chain.
bool tensor_is_better(const matmul_extents& e, const matmul_device& device) {
  const index_t pairs = ceil_div(e.m, 256) * ceil_div(e.n, 128);
  return pairs >= device.multiprocessors / 4 && work_of(e) >= policy::tensor_least_work &&
         e.k >= policy::tensor_least_depth && std::min(e.m, e.n) >= policy::tensor_least_extent;
}

std::size_t tensor_bytes(const matmul_extents& e) {
  return kernels::plan_tensor_workspace(e.m, e.n, e.k).bytes;
}

index_t tiles_of(const matmul_extents& e, const policy::register_tile& tile) {
  return ceil_div(e.m, tile.block_m) * ceil_div(e.n, tile.block_n);
}

// The tile that wastes least: narrow and flat C have their own shapes; else the largest that still
// gives every multiprocessor something to do.
policy::tile_name choose_tile(const matmul_extents& e, std::size_t element_bytes,
                              const matmul_device& device) {
  using policy::tile_name;
  const auto tile = [&](tile_name name) { return policy::tile_of(element_bytes, name); };
  if (e.n <= tile(tile_name::narrow).block_n) return tile_name::narrow;
  if (e.m <= tile(tile_name::flat).block_m) return tile_name::flat;
  const auto tiles_each = [&](tile_name name) {
    return static_cast<double>(tiles_of(e, tile(name))) / device.multiprocessors;
  };
  if (e.k >= policy::large_least_depth &&
      tiles_each(tile_name::large) >= policy::large_least_tiles) {
    return tile_name::large;
  }
  const bool deep = e.k >= policy::most_splits * policy::least_split_depth;
  if (deep || tiles_each(tile_name::medium) >= policy::medium_least_tiles) {
    return tile_name::medium;
  }
  return tile_name::small;
}

// Parts of k: as many as give every multiprocessor a block where C alone has too few tiles for it.
index_t choose_splits(const matmul_extents& e, const policy::register_tile& tile,
                      std::size_t element_bytes, const matmul_device& device, std::size_t limit) {
  const index_t tiles = std::max<index_t>(tiles_of(e, tile), 1);
  const index_t wanted = device.multiprocessors / tiles;
  const index_t splits = std::min({wanted, e.k / policy::least_split_depth, policy::most_splits});
  if (splits < 2) return 1;
  const double bytes = static_cast<double>(splits) * static_cast<double>(e.m) *
                       static_cast<double>(e.n) * static_cast<double>(element_bytes);
  return bytes <= static_cast<double>(limit) ? splits : 1;
}

matmul_choice register_tiled(const matmul_extents& e, std::size_t element_bytes,
                             const matmul_options& options, const matmul_device& device,
                             std::size_t limit) {
  matmul_choice choice{.variant = matmul_variant::register_tiled,
                       .tile = choose_tile(e, element_bytes, device)};
  const auto& tile = policy::tile_of(element_bytes, choice.tile);
  choice.tile_rows = tile.block_m;
  choice.tile_cols = tile.block_n;
  choice.depth_splits = choose_splits(e, tile, element_bytes, device, limit);
  if (choice.depth_splits > 1) {
    choice.workspace_bytes =
        static_cast<std::size_t>(choice.depth_splits * e.m * e.n) * element_bytes;
    return choice;
  }
  // k is contiguous in A as it is stored and in B transposed.
  const bool pays = e.m % 4 == 0 && e.n % 4 == 0 && work_of(e) >= policy::transpose_least_work;
  const bool a = options.a == transposition::none && e.n >= policy::transpose_least_uses;
  const bool b = options.b == transposition::transpose && e.m >= policy::transpose_least_uses;
  const auto bytes = (a ? kernels::transposed_bytes(e.m, e.k, element_bytes) : 0) +
                     (b ? kernels::transposed_bytes(e.n, e.k, element_bytes) : 0);
  if (pays && (a || b) && bytes <= limit) {
    choice.transpose_a = a;
    choice.transpose_b = b;
    choice.workspace_bytes = bytes;
  }
  return choice;
}

// 192 columns need less of the L2 cache per product, 128 leave less of the last round of tiles
// idle: whichever finishes first. A block of each pair of multiprocessors takes a pair of tiles.
int choose_wgmma_columns(const matmul_extents& e, const matmul_device& device) {
  const auto rounds = [&](index_t columns) {
    const index_t pairs = ceil_div(e.m, 256) * ceil_div(e.n, columns);
    return static_cast<double>(ceil_div(pairs, std::max(device.multiprocessors / 2, 1)) * columns);
  };
  return rounds(192) <= rounds(128) * policy::tensor_narrow_cost ? 192 : 128;
}

matmul_choice tensor(const matmul_extents& e, const matmul_device& device) {
  const int wgmma_columns = device.has_wgmma ? choose_wgmma_columns(e, device) : 0;
  // The tile of register_tiled comes along: it runs where an operand holds an Inf or NaN.
  return {.variant = matmul_variant::tensor,
          .tile = choose_tile(e, sizeof(float), device),
          .tile_rows = 128,
          .tile_cols = wgmma_columns == 0 ? 128 : wgmma_columns,
          .workspace_bytes = tensor_bytes(e),
          .wgmma_columns = wgmma_columns};
}

matmul_choice pitched(const matmul_extents& e, std::size_t element_bytes) {
  const auto padded = [&](index_t rows, index_t cols) {
    const auto pitch = (static_cast<std::size_t>(cols) * element_bytes + policy::pitch_bytes - 1) /
                       policy::pitch_bytes * policy::pitch_bytes;
    return static_cast<std::size_t>(rows) * pitch;
  };
  // Either orientation of either operand: a bound that needs no knowledge of it.
  return {.variant = matmul_variant::pitched,
          .tile_rows = 8,
          .tile_cols = 128,
          .workspace_bytes = std::max(padded(e.m, e.k), padded(e.k, e.m)) +
                             std::max(padded(e.k, e.n), padded(e.n, e.k))};
}

}  // namespace

matmul_choice choose_matmul_cuda(const matmul_extents& e, std::size_t element_bytes,
                                 const matmul_options& options, const matmul_device& device,
                                 std::size_t limit) {
  const matmul_variant asked = options.variant;
  const auto refuse = [&](const char* reason) {
    throw unsupported(
        fmt::format("matmul_options.variant: {} on {} {}", to_string(asked), device.name, reason));
  };
  matmul_choice choice;
  switch (asked) {
    case matmul_variant::automatic:
      if (element_bytes == 4 && tensor_is_offered(device) && tensor_is_better(e, device) &&
          tensor_bytes(e) <= limit) {
        return tensor(e, device);
      }
      if (element_bytes == 8 && has_double_tensor_cores(device) &&
          double_tiles_each(e, policy::tile_name::small, device) >=
              policy::tensor_double_least_tiles) {
        return tensor_double(e, device);
      }
      return register_tiled(e, element_bytes, options, device, limit);
    case matmul_variant::naive:
      return {.variant = asked, .tile_rows = 8, .tile_cols = 32};
    case matmul_variant::shared_tiled:
      return {.variant = asked, .tile_rows = policy::shared_tile, .tile_cols = policy::shared_tile};
    case matmul_variant::register_tiled:
      return register_tiled(e, element_bytes, options, device, limit);
    case matmul_variant::pitched:
      choice = pitched(e, element_bytes);
      break;
    case matmul_variant::tensor:
      if (!tensor_is_offered(device)) refuse("needs compute capability 8.0");
      if (element_bytes == 8) return tensor_double(e, device);
      choice = tensor(e, device);
      break;
    case matmul_variant::cublas:
      if (!device.has_cublas) refuse("was not built in (GPU_SIMILARITY_ENABLE_CUBLAS)");
      return {.variant = asked};
    case matmul_variant::blas:
      refuse("runs on the CPU alone");
  }
  if (choice.workspace_bytes > limit) {
    throw out_of_memory(fmt::format("matmul: {} needs a workspace of {} bytes, but the limit is {}",
                                    to_string(asked), choice.workspace_bytes, limit),
                        choice.workspace_bytes);
  }
  return choice;
}

matmul_choice choose_matmul_cpu(matmul_variant asked, bool has_blas) {
  switch (asked) {
    case matmul_variant::automatic:
      return {.variant = has_blas ? matmul_variant::blas : matmul_variant::naive};
    case matmul_variant::naive:
      return {.variant = asked};
    case matmul_variant::blas:
      if (has_blas) return {.variant = asked};
      throw unsupported("matmul_options.variant: blas was not built in (no OpenBLAS was found)");
    default:
      throw unsupported(fmt::format(
          "matmul_options.variant: {} is not offered on the CPU, expected automatic, naive or blas",
          to_string(asked)));
  }
}

}  // namespace gpu::detail
