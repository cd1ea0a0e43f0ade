#pragma once
// Wide rows whose statistics take long: blocks of rounded rows are multiplied to leave out what
// cannot pass a cut, and the measure decides about the rest.

#include "cpu/pairs/rows/packed_rows.hpp"
#include "cpu/pairs/wide/wide_products.hpp"

namespace gpu::cpu {

class wide_rows : public packed_rows {
 public:
  [[nodiscard]] std::size_t kernel_bytes() const override;
  void prepare(const pair_task& task) override;
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             const pair_visitor& visit) const override;
  std::uint64_t count(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
                      std::uint32_t* row_degree, std::uint32_t* col_degree,
                      const pair_bins& bins) const override;

 protected:
  wide_rows(const pair_kernels& kernels, const row_layout& layout, index_t cols, int threads)
      : packed_rows(kernels, packing::int16, layout, cols, threads) {}

  using packed_rows::exact;
  /// The rounded rows.
  [[nodiscard]] virtual wide_products make_products() const = 0;
  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t) const final {
    return exact(row, col);
  }

 private:
  void pack_sums() override;
  void drop_sums() override { products_ = {}; }
  [[nodiscard]] double search_error() const override;
  std::uint64_t count_sums(const pair_tile& tile, const detail::keep_range& keep,
                           pair_scratch& scratch, std::uint32_t* row_degree,
                           std::uint32_t* col_degree) const override {
    return pair_rows::count(tile, keep, scratch, row_degree, col_degree, {});
  }
  void search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                   const exact_test& test) const override;

  wide_products products_;  // made when first asked for
};

}  // namespace gpu::cpu
