#pragma once
// The bytes of results as one number.

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpu/similarity.hpp>

namespace gpu_test::golden {

/// FNV-1a of all that is added. Every NaN counts as the same one.
class checksum {
 public:
  [[nodiscard]] std::uint64_t value() const { return value_; }

  template <class T>
    requires std::is_arithmetic_v<T>
  void add(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      const double wide = std::isnan(number) ? 0.5 : static_cast<double>(number);
      add_bits(std::bit_cast<std::uint64_t>(wide) ^ (std::isnan(number) ? 1 : 0));
    } else {
      add_bits(static_cast<std::uint64_t>(number));
    }
  }
  template <class T>
  void add(std::span<const T> all) {
    add(all.size());
    for (const T& one : all) add(one);
  }
  template <class T>
  void add(const std::vector<T>& all) {
    add(std::span<const T>(all));
  }
  template <class T>
  void add(const gpu::matrix<T>& all) {
    add(all.rows());
    add(all.cols());
    for (gpu::index_t i = 0; i < all.rows() * all.cols(); ++i) add(all.data()[i]);
  }
  void add(const gpu::edge& e) {
    add(e.row);
    add(e.col);
    add(e.statistic);
    add(e.p);
  }
  void add(const gpu::differential_edge& e) {
    add(e.row);
    add(e.col);
    add(e.first);
    add(e.second);
    add(e.z);
    add(e.p);
  }
  /// What does not depend on where and how the call ran.
  void add(const gpu::pair_summary& s) {
    add(s.rows);
    add(s.cols);
    add(static_cast<gpu::index_t>(s.observations));  // whole in every job
    add(s.constant_rows);
    add(s.nan_rows);
    add(s.y_constant_rows);
    add(s.y_nan_rows);
    add(s.pairs_tested);
    add(s.pairs_kept);
    add(s.pairs_by_t);
    add(s.max_p_effective);
    add(s.cut_at_least);
    add(s.cut_at_most);
  }
  void add(const gpu::differential_summary& s) {
    add(s.standard_error);
    add(s.constant_rows);
    add(s.nan_rows);
    add(s.pairs_tested);
    add(s.pairs_kept);
    add(s.max_p_effective);
    add(s.min_abs_z_effective);
  }

 private:
  void add_bits(std::uint64_t bits) {
    for (int byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (bits >> (8 * byte) & 0xFF)) * 0x100000001b3U;
    }
  }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace gpu_test::golden
