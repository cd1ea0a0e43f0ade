#include "cpu/pairs/rows/packed_columns.hpp"

#include <algorithm>
#include <cstring>

namespace gpu::cpu {
namespace {

constexpr index_t values_per_step(packing how) {
  switch (how) {
    case packing::int8:
    case packing::signed_int8:
      return 4;
    case packing::int16:
      return 2;
    case packing::float32:
      break;
  }
  return 1;
}

}  // namespace

index_t packed_columns::steps_of(packing how, index_t cols, index_t chunk) {
  const index_t per_step = values_per_step(how);
  const index_t steps = (cols + per_step - 1) / per_step;
  return chunk == 0 || steps <= chunk ? steps : round_up(steps, chunk);
}

packed_columns::packed_columns(packing how, index_t rows, index_t cols, index_t chunk)
    : how_(how),
      cols_(cols),
      steps_(steps_of(how, cols, chunk)),
      data_(static_cast<std::size_t>(round_up(rows, group_lanes * group_padding) / group_lanes *
                                     group_bytes())) {
  std::memset(data_.data(), how == packing::int8 ? 0x80 : 0, data_.size());
}

template <class T>
void packed_columns::store_row(index_t row, const T* values) {
  constexpr index_t per_step = step_bytes / static_cast<index_t>(sizeof(T));
  const std::uint32_t flip = how_ == packing::int8 ? 0x80808080u : 0u;  // plus 128
  const index_t whole = cols_ / per_step;
  for (index_t step = 0; step * per_step < cols_; ++step) {
    std::uint32_t chunk = 0;
    const index_t count = step < whole ? per_step : cols_ - whole * per_step;
    std::memcpy(&chunk, values + step * per_step, static_cast<std::size_t>(count) * sizeof(T));
    chunk ^= flip;
    std::memcpy(data_.data() + offset(row, step), &chunk, sizeof chunk);
  }
}

template void packed_columns::store_row(index_t, const std::int8_t*);
template void packed_columns::store_row(index_t, const std::int16_t*);
template void packed_columns::store_row(index_t, const float*);

void packed_columns::copy_row_steps(index_t begin, index_t end, std::uint8_t* out) const {
  const std::uint32_t flip = how_ == packing::int8 ? 0x80808080u : 0u;
  for (index_t row = begin; row < end; ++row) {
    for (index_t step = 0; step < steps_; ++step) {
      std::uint32_t chunk;
      std::memcpy(&chunk, data_.data() + offset(row, step), sizeof chunk);
      chunk ^= flip;
      std::memcpy(out, &chunk, sizeof chunk);
      out += step_bytes;
    }
  }
  const index_t padding = round_up(end - begin, row_padding) - (end - begin);
  std::memset(out, 0, static_cast<std::size_t>(padding * steps_ * step_bytes));
}

}  // namespace gpu::cpu
