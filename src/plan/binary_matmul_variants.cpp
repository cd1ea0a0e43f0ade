#include "plan/binary_matmul_variants.hpp"

#include <fmt/format.h>

#include <array>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "base/check_enumerator.hpp"

namespace gpu::inline v0 {

std::string_view to_string(binary_matmul_variant variant) noexcept {
  return detail::name_in(
      variant, {"automatic", "popcount", "popcount_shared", "popcount_tiled", "tensor", "hopper"});
}

}  // namespace gpu::inline v0

namespace gpu::inline v0::detail {
namespace {

using variant = binary_matmul_variant;

// A row of a must fit the shared memory that a block has without asking.
constexpr index_t most_shared_bits = index_t{48} * 1024 * 8;
// Below both of these the large tiles of the warpgroups leave most of the device idle: at 1000^3
// on an H200 hopper took 0.019 ms as tensor did, at 1024 x 1024 x 65536 0.064 and tensor 0.138.
constexpr double least_hopper_results = 132.0 * 192 * 256;
constexpr double least_hopper_operations = 1024.0 * 1024 * 32768;

struct candidate {
  backend where;
  variant which;
  bool (*takes)(const binary_matmul_shape&);  // can run
  bool (*suits)(const binary_matmul_shape&);  // and is worth it
};

bool always(const binary_matmul_shape&) {
  return true;
}
bool is_hopper(const binary_matmul_shape& shape) {
  return shape.compute_capability == 90 && shape.warpgroup_code;
}
bool is_large(const binary_matmul_shape& shape) {
  const double results = static_cast<double>(shape.m) * static_cast<double>(shape.n);
  return results >= least_hopper_results ||
         results * static_cast<double>(shape.k) >= least_hopper_operations;
}
bool has_and_tensor_cores(const binary_matmul_shape& shape) {
  return shape.code_capability >= 80;
}
bool has_native_and(const binary_matmul_shape& shape) {
  return shape.compute_capability <= 90;  // later ones emulate 1-bit products
}
bool fits_shared(const binary_matmul_shape& shape) {
  return shape.k <= most_shared_bits;
}

// Best first, the reference last.
constexpr std::array candidates{
    candidate{backend::cuda, variant::hopper, is_hopper, is_large},
    candidate{backend::cuda, variant::tensor, has_and_tensor_cores, has_native_and},
    candidate{backend::cuda, variant::popcount_tiled, always, always},
    candidate{backend::cuda, variant::popcount_shared, fits_shared, always},
    candidate{backend::cuda, variant::popcount, always, always},
    candidate{backend::cpu, variant::popcount, always, always},
};

}  // namespace

variant choose_binary_matmul_variant(backend used, variant asked,
                                     const binary_matmul_shape& shape) {
  for (const candidate& c : candidates) {
    if (c.where != used || !c.takes(shape)) continue;
    if (asked == variant::automatic ? c.suits(shape) : asked == c.which) return c.which;
  }
  throw unsupported(
      fmt::format("options.variant: {} is not offered on {} for {} x {} x {} bits{}",
                  to_string(asked), to_string(used), shape.m, shape.n, shape.k,
                  used == backend::cuda
                      ? fmt::format(" on a device of compute capability {}.{}, code of {}.{}",
                                    shape.compute_capability / 10, shape.compute_capability % 10,
                                    shape.code_capability / 10, shape.code_capability % 10)
                      : std::string()));
}

}  // namespace gpu::inline v0::detail
