#pragma once
// Which implementation of matmul runs, and with which tile: pure functions of shape, type, device
// and what was asked for.

#include <cstddef>
#include <string>

#include <gpu/matmul.hpp>

#include "plan/matmul_policy.hpp"

namespace gpu::inline v0::detail {

/// What the choice needs to know about a device and the build.
struct matmul_device {
  std::string name = {};
  int compute = 0;  // compute capability, 10 * major + minor
  int code = 0;     // the one that the code was compiled for that runs on it
  int multiprocessors = 0;
  std::size_t shared_bytes = 0;  // of shared memory that a block can have
  bool has_wgmma = false;        // warpgroup products of cc 9.0, and the build has code for them
};

struct matmul_choice {
  matmul_variant variant = matmul_variant::naive;
  kernels::matmul_policy::tile_name tile = kernels::matmul_policy::tile_name::medium;
  index_t tile_rows = 0;
  index_t tile_cols = 0;
  index_t depth_splits = 1;
  std::size_t workspace_bytes = 0;  // product_bytes among them
  std::size_t product_bytes = 0;    // of the product, where C is read after it is known
  int wgmma_columns = 0;  // tensor: tile width of the warpgroup products, 0 for warp products
};

/// The bytes of a product that is made apart from C, because C is read afterwards: 0 where beta or
/// alpha is 0.
[[nodiscard]] std::size_t separate_product_bytes(const matmul_extents& extents,
                                                 std::size_t element_bytes,
                                                 const matmul_options& options);

/// `limit`: the most workspace the choice may need, bytes. `automatic` stays below it; another
/// variant throws gpu::out_of_memory. Throws gpu::unsupported where the device or type has none.
[[nodiscard]] matmul_choice choose_matmul_cuda(const matmul_extents& extents,
                                               std::size_t element_bytes,
                                               const matmul_options& options,
                                               const matmul_device& device, std::size_t limit);

[[nodiscard]] matmul_choice choose_matmul_cpu(matmul_variant asked, bool has_blas);

}  // namespace gpu::inline v0::detail
