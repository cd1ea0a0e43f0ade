#pragma once
// Wide rows whose statistics take long: blocks of rounded rows are multiplied to leave out what
// cannot pass a cut, and the measure decides about the rest.

#include "cpu/pairs/search/packed_search.hpp"
#include "cpu/pairs/wide/wide_products.hpp"

namespace gpu::cpu {

class wide_search : public packed_search {
 public:
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             pair_visitor visit) const override;
  std::uint64_t count(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                      std::uint32_t* col_degree, const pair_bins& bins) const override;

 protected:
  wide_search(const packed_form& form, const pair_task& task, int threads, wide_search* earlier);

  void make_ready() override;
  [[nodiscard]] std::size_t kernel_bytes() const override;

  /// Packs the rounded rows where they are searched.
  void pack_sums() override;
  void drop_sums() override { products_ = {}; }
  /// Whether pairs are found by rounded rows.
  [[nodiscard]] bool searches() const;

  using packed_search::exact;
  /// The rounded rows.
  [[nodiscard]] virtual wide_products make_products() const = 0;
  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t) const final {
    return exact(row, col);
  }

 private:
  [[nodiscard]] double search_error() const override;
  std::uint64_t count_sums(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                           std::uint32_t* col_degree) const override {
    // From all statistics.
    return pair_search::count(  // NOLINT(bugprone-parent-virtual-call)
        tile, scratch, row_degree, col_degree, {});
  }
  void search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                   const exact_test& test) const override;

  wide_products products_;  // made where the way takes them
};

}  // namespace gpu::cpu
