#include "cpu/pairs/search/packed_columns.hpp"

#include <algorithm>
#include <cstring>

namespace gpu::cpu {
namespace {

constexpr index_t values_per_step(packing how) {
  switch (how) {
    case packing::int8:
    case packing::signed_int8:
      return 4;
    case packing::byte_pairs:
    case packing::int16:
      return 2;
    case packing::float32:
      break;
  }
  return 1;
}

// Bytes of a column in a step.
constexpr index_t column_bytes(packing how) {
  return how == packing::byte_pairs ? 2 : step_bytes;
}

// What is added to every byte.
constexpr std::uint8_t offset_of(packing how) {
  if (how == packing::byte_pairs) return byte_pair_offset;
  return how == packing::int8 ? 128 : 0;
}

// Adds `offset` to the four bytes of a step, each modulo 256.
constexpr std::uint32_t add_to_bytes(std::uint32_t bytes, std::uint8_t offset) {
  constexpr std::uint32_t low = 0x00ff00ffu;
  const std::uint32_t spread = 0x00010001u * offset;
  return (((bytes & low) + spread) & low) | ((((bytes >> 8) & low) + spread) & low) << 8;
}

}  // namespace

index_t packed_columns::steps_of(packing how, index_t cols, index_t chunk) {
  const index_t per_step = values_per_step(how);
  const index_t steps = (cols + per_step - 1) / per_step;
  return chunk == 0 || steps <= chunk ? steps : round_up(steps, chunk);
}

packed_columns::packed_columns(packing how, index_t rows, index_t cols, index_t chunk)
    : offset_(offset_of(how)),
      column_bytes_(column_bytes(how)),
      cols_(cols),
      steps_(steps_of(how, cols, chunk)),
      data_(static_cast<std::size_t>(round_up(rows, group_lanes * group_padding) / group_lanes *
                                     group_bytes())) {
  // Rows fill their own places, so that the threads that store them share the fresh pages.
  for (index_t row = rows; row < round_up(rows, group_lanes * group_padding); ++row) {
    fill_steps(row, 0);
  }
}

void packed_columns::fill_steps(index_t row, index_t first) {
  for (index_t step = first; step < steps_; ++step) {
    std::memset(data_.data() + place_of(row, step), offset_,
                static_cast<std::size_t>(column_bytes_));
  }
}

template <class T>
void packed_columns::store_row(index_t row, const T* values) {
  if constexpr (sizeof(T) == 1) {
    if (column_bytes_ == 2) return store_steps<2>(row, values);
  }
  store_steps<step_bytes>(row, values);
}

template <index_t Bytes, class T>
void packed_columns::store_steps(index_t row, const T* values) {
  constexpr index_t per_step = Bytes / static_cast<index_t>(sizeof(T));
  // Bytes may alias the members: these stay in registers.
  std::uint8_t* const to = data_.data() + place_of(row, 0);
  const std::uint8_t offset = offset_;
  const auto store = [=](index_t step, std::size_t bytes) {
    std::uint32_t chunk = 0;
    std::memcpy(&chunk, values + step * per_step, bytes);
    if (sizeof(T) == 1) chunk = add_to_bytes(chunk, offset);
    std::memcpy(to + step * group_lanes * Bytes, &chunk, Bytes);
  };
  const index_t whole = cols_ / per_step;
  for (index_t step = 0; step < whole; ++step) store(step, Bytes);
  const index_t rest = cols_ - whole * per_step;
  if (rest > 0) store(whole, static_cast<std::size_t>(rest) * sizeof(T));
  fill_steps(row, rest > 0 ? whole + 1 : whole);
}

template void packed_columns::store_row(index_t, const std::int8_t*);
template void packed_columns::store_row(index_t, const std::int16_t*);
template void packed_columns::store_row(index_t, const float*);

void packed_columns::copy_row_steps(index_t begin, index_t end, std::uint8_t* out) const {
  const auto back = static_cast<std::uint8_t>(-offset_);
  const auto copy_rows = [&]<index_t Bytes, bool HasOffset>() {
    const index_t steps = steps_;
    for (index_t row = begin; row < end; ++row, out += steps * step_bytes) {
      const std::uint8_t* const from = data_.data() + place_of(row, 0);
      for (index_t step = 0; step < steps; ++step) {
        std::uint32_t chunk = 0;
        std::memcpy(&chunk, from + step * group_lanes * Bytes, Bytes);
        if (Bytes == 2) chunk *= 0x00010001u;  // twice
        if (HasOffset) chunk = add_to_bytes(chunk, back);
        std::memcpy(out + step * step_bytes, &chunk, sizeof chunk);
      }
    }
  };
  if (column_bytes_ == 2) {
    copy_rows.template operator()<2, true>();
  } else if (offset_ != 0) {
    copy_rows.template operator()<step_bytes, true>();
  } else {
    copy_rows.template operator()<step_bytes, false>();
  }
  const index_t padding = round_up(end - begin, row_padding) - (end - begin);
  std::memset(out, 0, static_cast<std::size_t>(padding * steps_ * step_bytes));
}

packed_tile packed_columns::tile(const pair_tile& of, std::uint8_t* row_steps) const {
  copy_row_steps(of.row_begin, of.row_end, row_steps);
  return {.columns = data_.data() + of.col_begin / group_lanes * group_bytes(),
          .row_steps = row_steps,
          .steps = steps_,
          .rows = of.rows(),
          .cols = of.cols(),
          .diagonal = of.col_begin - of.row_begin};
}

}  // namespace gpu::cpu
