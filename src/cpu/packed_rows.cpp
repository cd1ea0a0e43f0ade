#include "cpu/packed_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gpu::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr index_t round_up(index_t value, index_t step) {
  return (value + step - 1) / step * step;
}

constexpr index_t values_per_step(packing how) {
  return how == packing::int8 ? 4 : (how == packing::int16 ? 2 : 1);
}

}  // namespace

packed_columns::packed_columns(packing how, index_t rows, index_t cols)
    : how_(how),
      cols_(cols),
      steps_((cols + values_per_step(how) - 1) / values_per_step(how)),
      data_(static_cast<std::size_t>(round_up(rows, group_lanes * group_padding) / group_lanes *
                                     group_bytes())) {
  std::memset(data_.data(), how == packing::int8 ? 0x80 : 0, data_.size());
}

template <class T>
void packed_columns::store_row(index_t row, const T* values) {
  constexpr index_t per_step = step_bytes / static_cast<index_t>(sizeof(T));
  for (index_t step = 0; step < steps_; ++step) {
    T chunk[static_cast<std::size_t>(per_step)] = {};
    std::copy_n(values + step * per_step, std::min(per_step, cols_ - step * per_step), chunk);
    std::uint8_t* at = data_.data() + offset(row, step);
    std::memcpy(at, chunk, sizeof chunk);
    if constexpr (sizeof(T) == 1) {
      for (index_t b = 0; b < step_bytes; ++b) at[b] ^= 0x80;  // plus 128
    }
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

/// What keep_range asks of the kernels.
struct packed_rows::filter {
  double cut = 0;
  float band = 0;
  std::uint32_t sign_flip = 0;
  std::uint32_t sign_keep = ~0u;
};

packed_rows::packed_rows(const pair_kernels& kernels, packing how)
    : kernels_(kernels),
      dots_(how == packing::int8 ? &kernels.int8
                                 : (how == packing::int16 ? &kernels.int16 : &kernels.float32)) {}

void packed_rows::set_scales(std::vector<float> scales, double relative_band,
                             bool band_grows_with_cut) {
  scales_ = std::move(scales);
  largest_scale_ = scales_.empty() ? 0 : *std::max_element(scales_.begin(), scales_.end());
  const auto padded = round_up(static_cast<index_t>(scales_.size()), group_lanes * group_padding);
  scales_.resize(static_cast<std::size_t>(padded));
  relative_band_ = relative_band;
  band_grows_with_cut_ = band_grows_with_cut;
}

// Scratch of one thread: row steps, row cuts, sums.
std::size_t packed_rows::kernel_bytes() const {
  return static_cast<std::size_t>(pair_policy::task_rows * (columns_.steps() * step_bytes +
                                                            static_cast<index_t>(sizeof(float)))) +
         sizeof(std::int32_t) *
             static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols);
}

std::int32_t* packed_rows::sums_of(pair_scratch& scratch) const {
  return reinterpret_cast<std::int32_t*>(scratch.kernel.data());
}

kernel_tile packed_rows::tile_of(const pair_tile& tile, pair_scratch& scratch) const {
  auto* steps = reinterpret_cast<std::uint8_t*>(sums_of(scratch) +
                                                pair_policy::block_rows * pair_policy::block_cols);
  columns_.copy_row_steps(tile.row_begin, tile.row_end, steps);
  return {.columns = columns_.group_of(tile.col_begin),
          .row_steps = steps,
          .steps = columns_.steps(),
          .rows = tile.rows(),
          .cols = tile.cols(),
          .diagonal = tile.col_begin - tile.row_begin};
}

bool packed_rows::make_filter(const detail::keep_range& keep, filter& out) const {
  if (keep.at_least >= 0 && keep.at_most == -keep.at_least) {
    out.cut = keep.at_least;
    out.sign_keep = 0x7fffffffu;
  } else if (keep.at_most == -infinity) {
    out.cut = keep.at_least;
  } else if (keep.at_least == infinity) {
    out.cut = -keep.at_most;
    out.sign_flip = 0x80000000u;
  } else {
    return false;
  }
  const double largest = largest_scale_ * largest_scale_;
  out.band = static_cast<float>(relative_band_ * largest *
                                (band_grows_with_cut_ ? std::abs(out.cut) : 1.0));
  return true;
}

kernel_tile packed_rows::filter_tile(const pair_tile& tile, const filter& how,
                                     pair_scratch& scratch) const {
  kernel_tile out = tile_of(tile, scratch);
  auto* row_cut = reinterpret_cast<float*>(
      reinterpret_cast<std::uint8_t*>(sums_of(scratch) +
                                      pair_policy::block_rows * pair_policy::block_cols) +
      pair_policy::task_rows * columns_.steps() * step_bytes);
  std::fill_n(row_cut, round_up(tile.rows(), row_padding), 0.0f);
  for (index_t i = 0; i < tile.rows(); ++i) {
    row_cut[i] = static_cast<float>(
        how.cut * static_cast<double>(scales_[static_cast<std::size_t>(tile.row_begin + i)]));
  }
  out.row_cut = row_cut;
  out.col_scale = scales_.data() + tile.col_begin;
  out.band = how.band;
  out.sign_flip = how.sign_flip;
  out.sign_keep = how.sign_keep;
  return out;
}

void packed_rows::matches(const pair_tile& tile, const detail::keep_range& keep,
                          pair_scratch& scratch, std::vector<pair_hit>& out) const {
  filter how;
  if (!make_filter(keep, how)) return pair_rows::matches(tile, keep, scratch, out);
  if (how.cut > 1) return;
  struct context {
    const packed_rows& rows;
    const pair_tile& tile;
    const detail::keep_range& keep;
    std::vector<pair_hit>& out;
  } shared{*this, tile, keep, out};
  const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t raw) {
    const context& c = *static_cast<context*>(opaque);
    const index_t i = c.tile.row_begin + row;
    const index_t j = c.tile.col_begin + col;
    const double statistic = c.rows.exact(i, j, raw);
    if (!c.keep.keeps(statistic)) return false;
    c.out.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), statistic});
    return true;
  };
  dots_->search(filter_tile(tile, how, scratch), {.keeps = decide, .context = &shared});
}

// Whether so few pairs of unrelated rows pass the cut that looking for them is cheaper than
// counting: one in 10^5 at 4.4 standard deviations of 1 / sqrt(cols).
bool packed_rows::is_rare(double cut) const {
  return cut > 0 && cut * cut * static_cast<double>(columns_.cols()) >= 20;
}

std::uint64_t packed_rows::count_by_search(const pair_tile& tile, const detail::keep_range& keep,
                                           const filter& how, pair_scratch& scratch,
                                           std::uint32_t* row_degree,
                                           std::uint32_t* col_degree) const {
  struct context {
    const packed_rows& rows;
    const pair_tile& tile;
    const detail::keep_range& keep;
    std::uint32_t* row_degree;
    std::uint32_t* col_degree;
    std::uint64_t kept;
  } shared{*this, tile, keep, row_degree, col_degree, 0};
  const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t raw) {
    context& c = *static_cast<context*>(opaque);
    const bool kept =
        c.keep.keeps(c.rows.exact(c.tile.row_begin + row, c.tile.col_begin + col, raw));
    c.row_degree[row] += kept;
    c.col_degree[col] += kept;
    c.kept += kept;
    return kept;
  };
  dots_->search(filter_tile(tile, how, scratch), {.keeps = decide, .context = &shared});
  return shared.kept;
}

std::uint64_t packed_rows::count(const pair_tile& tile, const detail::keep_range& keep,
                                 pair_scratch& scratch, std::uint32_t* row_degree,
                                 std::uint32_t* col_degree) const {
  filter how;
  if (!make_filter(keep, how)) {
    return pair_rows::count(tile, keep, scratch, row_degree, col_degree);
  }
  if (how.cut > 1) return 0;
  if (is_rare(how.cut)) return count_by_search(tile, keep, how, scratch, row_degree, col_degree);
  struct context {
    const packed_rows& rows;
    const pair_tile& tile;
    const detail::keep_range& keep;
  } shared{*this, tile, keep};
  const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t raw) {
    const context& c = *static_cast<context*>(opaque);
    return c.keep.keeps(c.rows.exact(c.tile.row_begin + row, c.tile.col_begin + col, raw));
  };
  return dots_->count(filter_tile(tile, how, scratch), {.keeps = decide, .context = &shared},
                      row_degree, col_degree);
}

}  // namespace gpu::cpu
