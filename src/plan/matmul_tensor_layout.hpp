#pragma once
// Where copies of the operands lie in a workspace; host and device agree here.

#include <cstddef>

#include <gpu/index.hpp>

#include "base/round_up.hpp"

namespace gpu::kernels {

/// Bytes of an operand of `lanes` rows of op(A) (columns of op(B)) and k values each, stored with
/// its lanes side by side.
[[nodiscard]] constexpr std::size_t transposed_bytes(index_t lanes, index_t k,
                                                     std::size_t element_bytes) {
  return static_cast<std::size_t>(round_up(lanes, 64)) * static_cast<std::size_t>(k) *
         element_bytes;
}

/// The packed form of one operand, seen as rows of k values (rows of op(A), columns of op(B)).
/// A cell is 64 rows x 32 values; each row is 128 bytes, 32 high halves then 32 low halves, in the
/// 16-byte order that the 128-byte swizzle of shared memory wants. Cells of one depth lie side by
/// side: cell(panel, depth) is at (depth * panels + panel) * cell_bytes, so that neighbouring
/// panels of one depth are one contiguous copy.
struct packed_operand {
  static constexpr index_t cell_rows = 64;
  static constexpr index_t cell_depth = 32;
  static constexpr std::size_t cell_bytes = 64 * 128;

  index_t panels = 0;
  index_t depths = 0;
  [[nodiscard]] constexpr std::size_t bytes() const {
    return static_cast<std::size_t>(panels) * static_cast<std::size_t>(depths) * cell_bytes;
  }
};

/// Offsets of the parts of the workspace, in bytes; each is a multiple of 256.
struct tensor_workspace {
  packed_operand a;
  packed_operand b;
  std::size_t flag = 0;    // one word: 1 where an operand holds an Inf or NaN
  std::size_t peak_a = 0;  // bit pattern of max |a_i.| per row, padded to whole panels
  std::size_t peak_b = 0;
  std::size_t packed_a = 0;
  std::size_t packed_b = 0;
  std::size_t bytes = 0;
};

/// Panels are padded to whole tiles: pairs of 2 panels of A; 2 or 3 of B.
constexpr tensor_workspace plan_tensor_workspace(index_t m, index_t n, index_t k) {
  constexpr auto align = [](std::size_t value) { return (value + 255) / 256 * 256; };
  tensor_workspace out;
  const index_t depths = round_up(k, 2 * packed_operand::cell_depth) / packed_operand::cell_depth;
  out.a = {round_up(m, 256) / packed_operand::cell_rows, depths};
  out.b = {round_up(n, 384) / packed_operand::cell_rows, depths};
  out.flag = 0;
  out.peak_a = 256;
  out.peak_b = align(out.peak_a + static_cast<std::size_t>(out.a.panels) * 64 * sizeof(float));
  out.packed_a = align(out.peak_b + static_cast<std::size_t>(out.b.panels) * 64 * sizeof(float));
  out.packed_b = out.packed_a + out.a.bytes();
  out.bytes = out.packed_b + out.b.bytes();
  return out;
}

}  // namespace gpu::kernels
