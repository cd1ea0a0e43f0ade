#pragma once
// The loops of sign_kernels.hpp over the operations of an instruction set. Included by one file an
// instruction set; everything has internal linkage there.

#include <cstddef>
#include <cstdint>

#include "cpu/pairs/signs/sign_kernels.hpp"

namespace gpu::cpu {
namespace {

// Bits are appended to a plane, up to 64 at a time.
class bit_writer {
 public:
  explicit bit_writer(std::uint64_t* words) : words_(words) {}
  void append(std::uint64_t bits, index_t count) {
    words_[at_ / 64] |= bits << (at_ % 64);
    if (at_ % 64 + count > 64) words_[at_ / 64 + 1] |= bits >> (64 - at_ % 64);
    at_ += count;
  }

 private:
  std::uint64_t* words_;
  index_t at_ = 0;
};

// compare(values, value, less, differ): 64 values with one, as bits.
template <class Compare>
void pack_signs_with(const std::uint16_t* values, index_t cols, std::uint64_t* less,
                     std::uint64_t* differ, const Compare& compare) {
  bit_writer to_less(less);
  bit_writer to_differ(differ);
  for (index_t i = 0; i + 1 < cols; ++i) {
    for (index_t j = i + 1; j < cols; j += 64) {
      const index_t count = cols - j < 64 ? cols - j : 64;
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - count);
      std::uint64_t is_less = 0;
      std::uint64_t is_other = 0;
      compare(values + j, values[i], is_less, is_other);
      to_less.append(is_less & mask, count);
      to_differ.append(is_other & mask, count);
    }
  }
}

// Some rows with one group.
template <class Ops, index_t Rows, bool MaskRows, bool MaskColumns>
inline void add_group(const sign_block& in, const std::uint64_t* columns, const std::uint64_t* rows,
                      std::int32_t* sums) {
  using vec = typename Ops::vec;
  vec different[static_cast<std::size_t>(Rows)];
  vec common[static_cast<std::size_t>(Rows)];
  for (index_t r = 0; r < Rows; ++r) different[r] = common[r] = Ops::zero();
  const index_t row_words = in.words * sign_planes;
  for (index_t w = 0; w < in.words; ++w) {
    const std::uint64_t* const column = columns + w * sign_planes * sign_lanes;
    const vec less = Ops::load(column);
    vec differ = Ops::zero();
    if constexpr (MaskColumns) differ = Ops::load(column + sign_lanes);
    for (index_t r = 0; r < Rows; ++r) {
      const std::uint64_t* const row = rows + r * row_words + w * sign_planes;
      vec d = Ops::exclusive(less, Ops::all(row[0]));
      if constexpr (MaskRows && MaskColumns) {
        const vec both = Ops::both(differ, Ops::all(row[1]));
        common[r] = Ops::add(common[r], Ops::count(both));
        d = Ops::both(d, both);
      } else if constexpr (MaskRows) {
        d = Ops::both(d, Ops::all(row[1]));
      } else if constexpr (MaskColumns) {
        d = Ops::both(d, differ);
      }
      different[r] = Ops::add(different[r], Ops::count(d));
    }
  }
  for (index_t r = 0; r < Rows; ++r) {
    Ops::add_to(sums + r * in.stride, common[r], different[r]);
  }
}

template <class Ops, bool MaskRows, bool MaskColumns>
void add_rows(const sign_block& in, index_t group) {
  const std::uint64_t* const columns = in.columns + group * in.group_stride;
  const index_t row_words = in.words * sign_planes;
  std::int32_t* const sums = in.sums + group * sign_lanes;
  index_t i = 0;
  for (; i + Ops::rows <= in.row_count; i += Ops::rows) {
    add_group<Ops, Ops::rows, MaskRows, MaskColumns>(in, columns, in.rows + i * row_words,
                                                     sums + i * in.stride);
  }
  for (; i < in.row_count; ++i) {
    add_group<Ops, 1, MaskRows, MaskColumns>(in, columns, in.rows + i * row_words,
                                             sums + i * in.stride);
  }
}

template <class Ops>
void add_sums_with(const sign_block& in) {
  for (index_t g = 0; g < in.groups; ++g) {
    const bool is_tied = in.group_is_tied[g] != 0;
    if (in.rows_are_tied) {
      is_tied ? add_rows<Ops, true, true>(in, g) : add_rows<Ops, true, false>(in, g);
    } else {
      is_tied ? add_rows<Ops, false, true>(in, g) : add_rows<Ops, false, false>(in, g);
    }
  }
}

}  // namespace
}  // namespace gpu::cpu
