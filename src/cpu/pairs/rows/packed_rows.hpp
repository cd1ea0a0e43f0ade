#pragma once
// Rows in the layout of cpu/pairs/loops/kernels.hpp, with the exact decision left to the measure.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/pairs/cpu_pair_way.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/packed_columns.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/row_screen.hpp"

namespace gpu::cpu {

/// pair_rows by kernels: sums of products decide most pairs, the measure decides the others. Rows
/// are packed when a sink first needs a form of them: for sums of products, or for the 8-bit
/// screen.
class packed_rows : public pair_rows {
 public:
  [[nodiscard]] index_t size() const override { return layout_.places(); }
  [[nodiscard]] std::size_t kernel_bytes() const override;
  void prepare(const pair_task& task) override {
    choose(task);
    pack_for_way();
  }
  [[nodiscard]] pair_estimate estimate() const override { return estimate_; }
  [[nodiscard]] std::string explain() const override;
  void reconsider() override;
  [[nodiscard]] bool finds_above() const override { return true; }
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             const pair_visitor& visit) const override;
  void matches(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
               hit_buffer& out) const override;
  std::uint64_t count(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
                      std::uint32_t* row_degree, std::uint32_t* col_degree,
                      const pair_bins& bins) const override;

 protected:
  /// A keep_range as the kernels take it.
  struct kernel_cut {
    double cut = 0;
    float band = 0;
    std::uint32_t sign_flip = 0;
    std::uint32_t sign_keep = ~0u;
    cut_side side = cut_side::positive;
  };

  packed_rows(const pair_kernels& kernels, packing how, const row_layout& layout, index_t cols,
              int threads);

  /// The statistic of a pair whose sum of products the kernel gave as `raw`.
  [[nodiscard]] virtual double exact(index_t row, index_t col, std::int32_t raw) const = 0;
  /// The statistic of a pair of which only the rows are known.
  [[nodiscard]] virtual double exact(index_t row, index_t col) const = 0;
  /// Stores every row in `columns`.
  virtual void pack(packed_columns& /*columns*/) const {}
  /// Packs what every way but the screen takes, and frees it: by default, columns for the kernels.
  virtual void pack_sums();
  virtual void drop_sums() { columns_ = {}; }
  /// Calls test.keeps for every pair of `tile` above the diagonal that may pass; columns ascend
  /// within rows.
  virtual void search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                           const exact_test& test) const;
  /// The pairs of `tile` that pass, without bins, where each is decided: see pair_rows::count.
  virtual std::uint64_t count_sums(const pair_tile& tile, const detail::keep_range& keep,
                                   pair_scratch& scratch, std::uint32_t* row_degree,
                                   std::uint32_t* col_degree) const;
  /// How far from the cut a statistic may be that the search leaves to decide. Where it is above 0,
  /// counts without bins leave no others.
  [[nodiscard]] virtual double search_error() const { return 0; }
  [[nodiscard]] virtual row_screen make_screen() const = 0;

  /// Sets the scales of the rows: the kernels compare the sum of a pair with cut * scale * scale,
  /// and leave to the measure what is within `relative_band` of the largest such product.
  void set_scales(std::vector<float> scales, double relative_band, bool band_grows_with_cut);

  /// The cut prepared for; none where there is none, or the kernels cannot look for it: then all
  /// statistics are computed.
  [[nodiscard]] const std::optional<kernel_cut>& cut() const { return cut_; }
  [[nodiscard]] bool keeps_none() const { return keeps_none_; }
  [[nodiscard]] const pair_task& task() const { return task_; }
  [[nodiscard]] index_t cols() const { return cols_; }
  /// Tells reconsider() how many pairs were searched, and how many of them were decided.
  void note_searched(std::uint64_t pairs, std::uint64_t candidates) const;

  /// Nanoseconds of one pair of each way.
  [[nodiscard]] virtual cpu_pair_costs costs(const pair_task& task) const = 0;
  /// The kept pairs of `tile` where most blocks have some: by default from all statistics.
  virtual void select(const pair_tile& tile, const detail::keep_range& keep, const kernel_cut& how,
                      pair_scratch& scratch, hit_buffer& out) const;
  /// Chooses the way for `task`; makes the screen where it is that.
  void choose(const pair_task& task);
  /// Packs what the chosen way takes.
  void pack_for_way();
  /// Frees what was packed.
  void drop_packed();

  /// A tile for `sums`: rows and columns alone.
  [[nodiscard]] kernel_tile tile_of(const pair_tile& tile, pair_scratch& scratch) const;
  [[nodiscard]] std::int32_t* sums_of(pair_scratch& scratch) const;
  [[nodiscard]] const dot_kernels& dots() const { return *dots_; }
  [[nodiscard]] const pair_kernels& kernels() const { return kernels_; }
  [[nodiscard]] const row_layout& layout() const { return layout_; }
  [[nodiscard]] cpu_pair_way way() const { return way_; }
  [[nodiscard]] kernel_tile cut_tile(const pair_tile& tile, const kernel_cut& how,
                                     pair_scratch& scratch) const;

 private:
  // Pairs that are asked for.
  [[nodiscard]] double pairs() const;
  // Statistics of such pairs drawn at random; drawn once.
  [[nodiscard]] const std::vector<double>& sample();
  [[nodiscard]] std::optional<kernel_cut> make_cut(const detail::keep_range& keep) const;
  void choose_for_cut(const kernel_cut& how);
  // Whether no pair can pass the cut prepared for.
  bool keeps_none_ = false;
  // take(row, col, statistic) for the kept pairs of `tile`, rows and columns counted from its
  // first.
  template <class Take>
  void search(const pair_tile& tile, const detail::keep_range& keep, const kernel_cut& how,
              pair_scratch& scratch, const Take& take) const;
  [[nodiscard]] float* row_cuts_of(pair_scratch& scratch) const;
  [[nodiscard]] float band_of(double cut) const;

  const pair_kernels& kernels_;
  const dot_kernels* dots_;
  packing how_;
  row_layout layout_;
  index_t cols_;
  int threads_;
  packed_columns columns_;     // made when first asked for
  row_screen screen_;          // the same
  std::vector<float> scales_;  // padded
  double relative_band_ = 0;
  bool band_grows_with_cut_ = false;
  double largest_scale_ = 0;
  std::vector<double> sample_;
  pair_task task_;  // what was prepared for
  std::optional<kernel_cut> cut_;
  cpu_pair_way way_ = cpu_pair_way::search;
  cpu_way_choice choice_;  // that led to it
  pair_estimate estimate_;
  // Of the tiles that were searched since then.
  mutable std::atomic<std::uint64_t> searched_pairs_ = 0;
  mutable std::atomic<std::uint64_t> candidates_ = 0;
};

}  // namespace gpu::cpu
