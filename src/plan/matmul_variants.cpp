#include "plan/matmul_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include <gpu/error.hpp>

#include "base/round_up.hpp"
#include "plan/matmul_policy.hpp"

namespace gpu::inline v0::detail {
namespace {

namespace policy = kernels::matmul_policy;

// Multiply-adds.
double work_of(const matmul_extents& e) {
  return static_cast<double>(e.m) * static_cast<double>(e.n) * static_cast<double>(e.k);
}

bool tensor_is_offered(const matmul_device& device) {
  return device.code >= 80;
}

// Whether the tensor cores multiply doubles faster than the CUDA cores.
bool has_double_tensor_cores(const matmul_device& device) {
  return device.code >= 80 && (device.compute == 80 || device.compute == 90);
}

double double_tiles_each(const matmul_extents& e, policy::tile_name name,
                         const matmul_device& device) {
  const auto& tile = policy::tensor_double_tile(name);
  return static_cast<double>(ceil_div(e.m, tile.block_m) * ceil_div(e.n, tile.block_n)) /
         device.multiprocessors;
}

// The largest tile that the device has shared memory for and that still gives every multiprocessor
// something to do. Needs no workspace.
matmul_choice tensor_double(const matmul_extents& e, const matmul_device& device) {
  using policy::tile_name;
  const auto pays = [&](tile_name tile, double least_tiles) {
    const auto& shape = policy::tensor_double_tile(tile);
    const double each = double_tiles_each(e, tile, device);
    const double computed = each * device.multiprocessors * shape.block_m * shape.block_n;
    const double needed = static_cast<double>(e.m) * static_cast<double>(e.n);
    return policy::tensor_double_shared_bytes(tile) <= device.shared_bytes && each >= least_tiles &&
           computed <= policy::tensor_double_most_padding * needed;
  };
  tile_name name = tile_name::small;
  if (e.k >= policy::tensor_double_large_least_depth &&
      pays(tile_name::large, policy::tensor_double_large_least_tiles)) {
    name = tile_name::large;
  } else if (pays(tile_name::medium, policy::tensor_double_medium_least_tiles)) {
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
  const index_t pairs = ceil_div(e.m, 256) * ceil_div(e.n, device.has_wgmma ? 64 : 128);
  const double least_work =
      device.has_wgmma ? policy::tensor_least_work : policy::tensor_least_work_of_warps;
  return pairs >= device.multiprocessors / 4 && work_of(e) >= least_work &&
         e.k >= policy::tensor_least_depth && std::min(e.m, e.n) >= policy::tensor_least_extent;
}

std::size_t tensor_bytes(const matmul_extents& e) {
  return kernels::plan_tensor_workspace(e.m, e.n, e.k).bytes;
}

// How register_tiled runs: its tile, and the parts of k.
struct register_pick {
  policy::tile_name tile = policy::tile_name::medium;
  index_t parts = 1;
};

// Medium tiles where C has enough of them, others for C of few rows, columns or elements; k in
// parts where there are few tiles. `limit`: bytes for the parts.
register_pick choose_register(const matmul_extents& e, std::size_t element_bytes,
                              const matmul_device& device, std::size_t limit) {
  using enum policy::tile_name;
  const auto tile_of = [&](policy::tile_name name) { return policy::tile_of(element_bytes, name); };
  const auto tiles_each = [&](policy::tile_name name) {
    return static_cast<double>(ceil_div(e.m, tile_of(name).block_m) *
                               ceil_div(e.n, tile_of(name).block_n)) /
           std::max(device.multiprocessors, 1);
  };
  const bool has_slim = policy::register_shared_bytes(element_bytes, slim) <= device.shared_bytes;
  const policy::tile_name name =
      e.n <= tile_of(slim).block_n && has_slim                                           ? slim
      : e.n <= tile_of(narrow).block_n                                                   ? narrow
      : e.m > tile_of(small).block_m && tiles_each(medium) >= policy::medium_least_tiles ? medium
                                                                                         : small;
  const double each = tiles_each(name);
  if (each >= (name == small || name == medium ? policy::split_most_tiles : 1)) return {name};
  const index_t parts =
      name == medium ? (e.k >= policy::medium_least_depth ? policy::medium_parts : 1)
                     : std::clamp<index_t>(static_cast<index_t>(policy::split_blocks / each), 1,
                                           std::clamp<index_t>(e.k / policy::split_least_depth, 1,
                                                               policy::most_parts));
  const double bytes = static_cast<double>(parts) * static_cast<double>(e.m) *
                       static_cast<double>(e.n) * static_cast<double>(element_bytes);
  return {name, bytes <= static_cast<double>(limit) ? parts : 1};
}

matmul_choice register_tiled(const matmul_extents& e, std::size_t element_bytes,
                             const matmul_device& device, std::size_t limit) {
  const auto [name, parts] = choose_register(e, element_bytes, device, limit);
  const auto& tile = policy::tile_of(element_bytes, name);
  return {.variant = matmul_variant::register_tiled,
          .tile = name,
          .tile_rows = tile.block_m,
          .tile_cols = tile.block_n,
          .depth_splits = parts,
          .workspace_bytes =
              parts == 1 ? 0 : static_cast<std::size_t>(parts * e.m * e.n) * element_bytes};
}

// The width of tiles whose rounds take least. A block of each pair of multiprocessors takes a pair
// of tiles.
int choose_wgmma_columns(const matmul_extents& e, const matmul_device& device) {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < policy::tensor_columns.size(); ++i) {
    const index_t pairs = ceil_div(e.m, 256) * ceil_div(e.n, policy::tensor_columns[i]);
    const index_t rounds = ceil_div(pairs, std::max(device.multiprocessors / 2, 1));
    const double cost = static_cast<double>(rounds) * policy::tensor_round_costs[i];
    if (cost < least) {
      least = cost;
      best = policy::tensor_columns[i];
    }
  }
  return best;
}

matmul_choice tensor(const matmul_extents& e, const matmul_device& device) {
  const int wgmma_columns = device.has_wgmma ? choose_wgmma_columns(e, device) : 0;
  // The tile of register_tiled comes along: it runs where an operand holds an Inf or NaN.
  return {.variant = matmul_variant::tensor,
          .tile = choose_register(e, sizeof(float), device, 0).tile,
          .tile_rows = 128,
          .tile_cols = wgmma_columns == 0 ? 128 : wgmma_columns,
          .workspace_bytes = tensor_bytes(e),
          .wgmma_columns = wgmma_columns};
}

matmul_choice pitched(const matmul_extents& e, std::size_t element_bytes) {
  const auto padded = [&](index_t rows, index_t cols) {
    return static_cast<std::size_t>(rows * round_up(cols * static_cast<index_t>(element_bytes),
                                                    static_cast<index_t>(policy::pitch_bytes)));
  };
  // Either orientation of either operand: a bound that needs no knowledge of it.
  return {.variant = matmul_variant::pitched,
          .tile_rows = 8,
          .tile_cols = 128,
          .workspace_bytes = std::max(padded(e.m, e.k), padded(e.k, e.m)) +
                             std::max(padded(e.k, e.n), padded(e.n, e.k))};
}

// As choose_matmul_cuda, but for the product alone.
matmul_choice choose_product(const matmul_extents& e, std::size_t element_bytes,
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
      return register_tiled(e, element_bytes, device, limit);
    case matmul_variant::naive:
      return {.variant = asked, .tile_rows = 8, .tile_cols = 32};
    case matmul_variant::shared_tiled:
      return {.variant = asked, .tile_rows = policy::shared_tile, .tile_cols = policy::shared_tile};
    case matmul_variant::register_tiled:
      return register_tiled(e, element_bytes, device, limit);
    case matmul_variant::pitched:
      choice = pitched(e, element_bytes);
      break;
    case matmul_variant::tensor:
      if (!tensor_is_offered(device)) refuse("needs compute capability 8.0, and code for it");
      if (element_bytes == 8) return tensor_double(e, device);
      choice = tensor(e, device);
      break;
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

}  // namespace

std::size_t separate_product_bytes(const matmul_extents& e, std::size_t element_bytes,
                                   const matmul_options& options) {
  if (options.beta == 0 || options.alpha == 0) return 0;
  constexpr index_t alignment = 256;  // of what stands behind it in the workspace
  return static_cast<std::size_t>(
      round_up(e.m * e.n * static_cast<index_t>(element_bytes), alignment));
}

matmul_choice choose_matmul_cuda(const matmul_extents& e, std::size_t element_bytes,
                                 const matmul_options& options, const matmul_device& device,
                                 std::size_t limit) {
  const std::size_t product_bytes = separate_product_bytes(e, element_bytes, options);
  if (product_bytes > limit) {
    throw out_of_memory(fmt::format("matmul: options.beta is not 0, which needs a workspace of {} "
                                    "bytes for the product, but the limit is {}",
                                    product_bytes, limit),
                        product_bytes);
  }
  matmul_choice choice = choose_product(e, element_bytes, options, device, limit - product_bytes);
  choice.product_bytes = product_bytes;
  choice.workspace_bytes += product_bytes;
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

}  // namespace gpu::inline v0::detail
