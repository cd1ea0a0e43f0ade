#include "plan/pair_variants.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "base/check_enumerator.hpp"

namespace gpu::inline v0 {

std::string_view to_string(p_method method) noexcept {
  return detail::name_in(method, {"automatic", "t", "exact"});
}

std::string_view to_string(pair_variant variant) noexcept {
  return detail::name_in(variant,
                         {"automatic", "naive", "tiled", "shared_tiled", "tensor", "hopper"});
}

}  // namespace gpu::inline v0

namespace gpu::inline v0::detail {
namespace {

struct candidate {
  backend where;
  pair_variant variant;
  bool (*takes)(const pair_shape&);
};

bool always(const pair_shape&) {
  return true;
}
bool has_tensor_cores(const pair_shape& shape) {
  return shape.code_capability >= 75;
}

// Where cuts are not strict, this is the variant tensor.
bool has_warpgroup_products(const pair_shape& shape) {
  return shape.compute_capability == 90 && shape.warpgroup_code;
}

std::string capability_text(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

// The device of a refusal, and its code where that is what it lacks.
std::string describe_device(pair_variant asked, const pair_shape& shape) {
  std::string out =
      " on a device of compute capability " + capability_text(shape.compute_capability);
  if (shape.code_capability != shape.compute_capability) {
    out += ", whose code was built for " + capability_text(shape.code_capability);
  } else if (asked == pair_variant::hopper && shape.compute_capability == 90) {
    out += ", built without code for sm_90a";
  }
  return out;
}

// Best first, the reference last.
constexpr std::array candidates{
    candidate{backend::cuda, pair_variant::hopper, has_warpgroup_products},
    candidate{backend::cuda, pair_variant::tensor, has_tensor_cores},
    candidate{backend::cuda, pair_variant::shared_tiled, always},
    candidate{backend::cuda, pair_variant::naive, always},
    candidate{backend::cpu, pair_variant::tiled, always},
    candidate{backend::cpu, pair_variant::naive, always},
};

}  // namespace

pair_variant choose_pair_variant(backend used, pair_variant asked, const pair_shape& shape) {
  for (const candidate& c : candidates) {
    const bool wanted = asked == pair_variant::automatic || asked == c.variant;
    if (c.where == used && wanted && c.takes(shape)) return c.variant;
  }
  throw unsupported(
      fmt::format("options.variant: {} is not offered on {} for [{}, {}]{}", to_string(asked),
                  to_string(used), shape.rows, shape.cols,
                  used == backend::cuda ? describe_device(asked, shape) : std::string()));
}

bool allows_warpgroups(const measure_traits& what, pair_variant variant) {
  switch (what.form) {
    case row_form::ranks:
      return variant == pair_variant::hopper;
    case row_form::unit_values:
      return variant == pair_variant::hopper || variant == pair_variant::tensor;
    case row_form::signs:
    case row_form::bits:
      break;  // by kernels of their own
  }
  return false;
}

}  // namespace gpu::inline v0::detail
