#include "plan/matmul_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

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

index_t tiles_of(const matmul_extents& e, const policy::register_tile& tile) {
  return ceil_div(e.m, tile.block_m) * ceil_div(e.n, tile.block_n);
}

// How register_tiled runs: its tile, and the parts of k.
struct register_pick {
  policy::tile_name tile = policy::tile_name::small;
  index_t splits = 1;
};

// The speed of a multiprocessor with this many warps over that of a busy one.
double rate_of_warps(index_t warps) {
  for (std::size_t i = 0; i < policy::warp_counts.size(); ++i) {
    if (warps <= policy::warp_counts[i]) return policy::warp_rates[i];
  }
  return 1;
}

index_t blocks_each(const matmul_extents& e, const policy::register_tile& tile, index_t splits,
                    const matmul_device& device) {
  return ceil_div(tiles_of(e, tile) * splits, std::max(device.multiprocessors, 1));
}

// What the multiprocessor with most blocks has to do, see matmul_policy.hpp.
double register_cost(const matmul_extents& e, const policy::register_tile& tile, index_t splits,
                     bool wide, const matmul_device& device) {
  const index_t blocks = blocks_each(e, tile, splits, device);
  const index_t rest = blocks % tile.blocks;
  const double rounds = static_cast<double>(blocks - rest) +
                        static_cast<double>(rest) / rate_of_warps(rest * tile.threads() / 32);
  const index_t depth = ceil_div(ceil_div(e.k, splits), tile.block_k) * tile.block_k;
  const double block = static_cast<double>(tile.block_m) * tile.block_n *
                       (static_cast<double>(depth) + policy::block_overhead);
  const double products = rounds * block / (wide ? tile.wide_rate : tile.rate);
  if (splits == 1) return products;
  const double sums = static_cast<double>(splits) * static_cast<double>(e.m) *
                      static_cast<double>(e.n) * policy::sum_element;
  return products + policy::sum_launch + sums;
}

// Whether k may be cut into so many parts. `limit`: bytes for them.
bool may_split(const matmul_extents& e, const policy::register_tile& tile, index_t splits,
               std::size_t element_bytes, const matmul_device& device, std::size_t limit) {
  if (splits == 1) return true;
  const double bytes = static_cast<double>(splits) * static_cast<double>(e.m) *
                       static_cast<double>(e.n) * static_cast<double>(element_bytes);
  const index_t tiles = tiles_of(e, tile);
  return e.k >= splits * policy::least_split_depth && bytes <= static_cast<double>(limit) &&
         tiles <= tile.blocks * device.multiprocessors &&
         tiles * splits <= policy::most_split_blocks * device.multiprocessors;
}

// The tiles that come into question, narrow and flat C having some of their own.
std::span<const policy::tile_name> tiles_for(const matmul_extents& e, std::size_t element_bytes,
                                             const matmul_device& device) {
  using enum policy::tile_name;
  static constexpr std::array thin{slim, narrow};
  static constexpr std::array others{large, medium, light, small, flat};
  const auto tile_of = [&](policy::tile_name name) { return policy::tile_of(element_bytes, name); };
  if (e.n <= tile_of(slim).block_n &&
      policy::register_shared_bytes(element_bytes, slim) <= device.shared_bytes) {
    return std::span(thin).first(1);
  }
  if (e.n <= tile_of(narrow).block_n) return std::span(thin).last(1);
  const bool may_be_flat = e.m <= tile_of(flat).block_m && e.k >= policy::flat_least_depth;
  return std::span(others).first(may_be_flat ? 5 : 4);
}

// The tile and the parts that cost least. `wide`: both operands are read 16 bytes at a time.
// `limit`: bytes for the parts.
register_pick choose_register(const matmul_extents& e, std::size_t element_bytes, bool wide,
                              const matmul_device& device, std::size_t limit) {
  register_pick best;
  double least = std::numeric_limits<double>::infinity();
  for (const policy::tile_name name : tiles_for(e, element_bytes, device)) {
    const policy::register_tile& tile = policy::tile_of(element_bytes, name);
    for (const index_t splits : policy::split_counts) {
      if (!may_split(e, tile, splits, element_bytes, device, limit) ||
          (splits > 1 && name == policy::tile_name::flat)) {
        break;
      }
      const double cost = register_cost(e, tile, splits, wide, device);
      if (cost < least) {
        least = cost;
        best = {name, splits};
      }
    }
  }
  return best;
}

// Which operands register_tiled transposes first: those with contiguous k, that is A as it is
// stored and B transposed, where that pays for them.
struct transposes {
  bool a = false;
  bool b = false;
  std::size_t bytes = 0;
  bool wide = false;  // with them, tiles of both operands are copied in 16-byte words
};

transposes choose_transposes(const matmul_extents& e, std::size_t element_bytes,
                             const matmul_options& options, std::size_t limit) {
  const bool aligned = e.m % 4 == 0 && e.n % 4 == 0;
  const bool a_is_deep = options.a == transposition::none;
  const bool b_is_deep = options.b == transposition::transpose;
  transposes out{.wide = aligned && !a_is_deep && !b_is_deep};
  if (!aligned || out.wide || work_of(e) < policy::transpose_least_work) return out;
  const bool a = a_is_deep && e.n >= policy::transpose_least_uses;
  const bool b = b_is_deep && e.m >= policy::transpose_least_uses;
  const std::size_t bytes = (a ? kernels::transposed_bytes(e.m, e.k, element_bytes) : 0) +
                            (b ? kernels::transposed_bytes(e.n, e.k, element_bytes) : 0);
  if ((!a && !b) || bytes > limit) return out;
  return {.a = a, .b = b, .bytes = bytes, .wide = a == a_is_deep && b == b_is_deep};
}

matmul_choice register_tiled(const matmul_extents& e, std::size_t element_bytes,
                             const matmul_options& options, const matmul_device& device,
                             std::size_t limit) {
  const transposes before = choose_transposes(e, element_bytes, options, limit);
  const register_pick pick = choose_register(e, element_bytes, before.wide, device, limit);
  const auto& tile = policy::tile_of(element_bytes, pick.tile);
  matmul_choice choice{.variant = matmul_variant::register_tiled,
                       .tile = pick.tile,
                       .tile_rows = tile.block_m,
                       .tile_cols = tile.block_n,
                       .depth_splits = pick.splits};
  if (pick.splits > 1) {
    choice.workspace_bytes = static_cast<std::size_t>(pick.splits * e.m * e.n) * element_bytes;
    return choice;
  }
  choice.transpose_a = before.a;
  choice.transpose_b = before.b;
  choice.workspace_bytes = before.bytes;
  return choice;
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
          .tile = choose_register(e, sizeof(float), false, device, 0).tile,
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
      if (!tensor_is_offered(device)) refuse("needs compute capability 8.0, and code for it");
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

}  // namespace

std::size_t separate_product_bytes(const matmul_extents& e, std::size_t element_bytes,
                                   const matmul_options& options) {
  if (options.beta == 0 || options.alpha == 0 || options.variant == matmul_variant::cublas) {
    return 0;
  }
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
