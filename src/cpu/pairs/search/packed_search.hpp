#pragma once
// The search among rows in the layout of cpu/pairs/loops/kernels.hpp, with the exact decision left
// to the measure.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/pairs/choice/cpu_pair_way.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/input_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/pair_search.hpp"
#include "cpu/pairs/search/packed_columns.hpp"
#include "cpu/pairs/search/row_screen.hpp"

namespace gpu::cpu {

/// What kernels compare the sum of a pair with: cut * scale of the row * scale of the column. What
/// is within `relative_band` of the largest such product they leave to the measure.
class row_scales {
 public:
  /// Of rows that no kernel compares.
  row_scales() = default;
  row_scales(std::vector<float> of_rows, double relative_band, bool band_grows_with_cut);

  [[nodiscard]] float of(index_t row) const { return scales_[static_cast<std::size_t>(row)]; }
  /// From row `first` on; padded to groups.
  [[nodiscard]] const float* from(index_t first) const { return scales_.data() + first; }
  [[nodiscard]] float band_of(double cut) const;

 private:
  std::vector<float> scales_;
  double relative_band_ = 0;
  bool band_grows_with_cut_ = false;
  double largest_ = 0;
};

/// What every search of the same rows reads.
struct packed_form {
  const pair_kernels& kernels;
  packing how;
  row_layout layout;
  index_t cols;
  row_scales scales = {};
};

/// pair_search by kernels: sums of products decide most pairs, the measure decides the others. Of
/// the two forms of the rows, for sums of products and for the 8-bit screen, it packs the one that
/// its way takes; none where the rows stand without whole groups for the kernels: then every pair
/// is decided.
class packed_search : public pair_search {
 public:
  [[nodiscard]] pair_estimate estimate() const override { return estimate_; }
  [[nodiscard]] std::string explain() const override;
  void reconsider() override;
  [[nodiscard]] bool finds_above() const override {
    return layout().has_kernel_groups() && pays_to_pack();
  }
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             pair_visitor visit) const override;
  void matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const override;
  std::uint64_t count(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                      std::uint32_t* col_degree, const pair_bins& bins) const override;

  /// The only way to a search: Search(rows, task, threads, earlier) with what it needs packed. That
  /// follows from virtual functions of Search, which a constructor of packed_search cannot call.
  template <class Search, class Rows>
  static std::unique_ptr<pair_search> make(const Rows& rows, const pair_task& task, int threads,
                                           std::unique_ptr<pair_search> earlier) {
    // A search of the same rows is of the same class.
    auto* const last = earlier ? &dynamic_cast<Search&>(*earlier) : nullptr;
    auto out = std::make_unique<Search>(rows, task, threads, last);
    earlier = nullptr;  // before anything takes memory
    static_cast<packed_search&>(*out).make_ready();
    return out;
  }

 protected:
  /// A keep_range as the kernels take it.
  struct kernel_cut {
    double cut = 0;
    float band = 0;
    std::uint32_t sign_flip = 0;
    std::uint32_t sign_keep = ~0u;
    cut_side side = cut_side::positive;
  };

  /// Takes from `earlier`, a search of the same rows, what it packed and sampled; null: nothing.
  packed_search(const packed_form& form, const pair_task& task, int threads,
                packed_search* earlier);

  /// Chooses the way and packs what it takes.
  virtual void make_ready() {
    choose();
    pack_for_way();
  }
  [[nodiscard]] std::size_t kernel_bytes() const override;
  /// The statistic of a pair whose sum of products the kernel gave as `raw`.
  [[nodiscard]] virtual double exact(index_t row, index_t col, std::int32_t raw) const = 0;
  /// The statistic of a pair of which only the rows are known.
  [[nodiscard]] virtual double exact(index_t row, index_t col) const = 0;
  /// Stores every row in `columns`.
  virtual void pack(packed_columns& /*columns*/) const {}
  /// Packs what every way but the screen takes, and frees it: by default, columns for the kernels.
  virtual void pack_sums();
  virtual void drop_sums() { columns_ = {}; }
  /// Calls test for every pair of `tile` above the diagonal that may pass; columns ascend
  /// within rows.
  virtual void search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                           const exact_test& test) const;
  /// The pairs of `tile` that pass, without bins, where each is decided: see pair_search::count.
  virtual std::uint64_t count_sums(const pair_tile& tile, pair_scratch& scratch,
                                   std::uint32_t* row_degree, std::uint32_t* col_degree) const;
  /// Half-width of the band around the cut that the search cannot decide; 0 if exact. Above 0,
  /// counts without bins leave only pairs within it.
  [[nodiscard]] virtual double search_error() const { return 0; }
  [[nodiscard]] virtual row_screen make_screen() const = 0;

  /// The cut of the task; none where there is none, or the kernels cannot look for it: then all
  /// statistics are computed.
  [[nodiscard]] const std::optional<kernel_cut>& cut() const { return cut_; }
  [[nodiscard]] bool keeps_none() const { return keeps_none_; }
  [[nodiscard]] index_t size() const { return form_.layout.places(); }
  [[nodiscard]] index_t cols() const { return form_.cols; }
  [[nodiscard]] int threads() const { return threads_; }
  /// Notes for reconsider() that the pairs of a tile were searched, and how many of them decided.
  static void note_searched(const pair_tile& tile, std::uint64_t candidates, pair_scratch& scratch);

  /// Nanoseconds of one pair of each way.
  [[nodiscard]] virtual cpu_pair_costs costs() const = 0;
  /// Whether there are so many pairs a row that a search saves more than packing rows for it takes.
  [[nodiscard]] virtual bool pays_to_pack() const { return true; }
  /// Pairs that are asked for.
  [[nodiscard]] double pairs() const;
  /// The kept pairs of `tile` where most blocks have some: by default from all statistics.
  virtual void select(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                      hit_buffer& out) const;
  /// Chooses the way; makes the screen where it is that.
  void choose();
  /// Packs what the chosen way takes.
  void pack_for_way();
  /// Frees what was packed.
  void drop_packed();

  /// A tile for `sums`: rows and columns alone.
  [[nodiscard]] kernel_tile tile_of(const pair_tile& tile, pair_scratch& scratch) const;
  [[nodiscard]] std::int32_t* sums_of(pair_scratch& scratch) const;
  [[nodiscard]] const dot_kernels& dots() const { return *dots_; }
  [[nodiscard]] const pair_kernels& kernels() const { return form_.kernels; }
  [[nodiscard]] const row_layout& layout() const { return form_.layout; }
  [[nodiscard]] cpu_pair_way way() const { return way_; }
  [[nodiscard]] kernel_tile cut_tile(const pair_tile& tile, const kernel_cut& how,
                                     pair_scratch& scratch) const;

 private:
  // Statistics of such pairs drawn at random; drawn once.
  [[nodiscard]] const std::vector<double>& sample();
  [[nodiscard]] std::optional<kernel_cut> make_cut(const detail::keep_range& keep) const;
  void choose_for_cut(const kernel_cut& how);
  // take(row, col, statistic) for the kept pairs of `tile`, rows and columns counted from its
  // first.
  template <class Take>
  void find(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
            const Take& take) const;
  [[nodiscard]] float* row_cuts_of(pair_scratch& scratch) const;

  const packed_form& form_;
  const dot_kernels* dots_;
  int threads_;
  packed_columns columns_;  // packed where the way takes it
  row_screen screen_;       // the same
  std::vector<double> sample_;
  std::optional<kernel_cut> cut_;
  bool keeps_none_ = false;  // whether no pair can pass the cut
  cpu_pair_way way_ = cpu_pair_way::every;
  cpu_way_choice choice_;  // that led to it
  pair_estimate estimate_;
};

/// Immutable rows of one form, Rows, that are searched before they are decided, by the search of
/// that form: see packed_search::make. Rows of which every pair is decided are decided_rows.
template <class Rows, class Search>
class searched_rows : public pair_rows {
 public:
  [[nodiscard]] index_t size() const final { return form_.layout.places(); }
  [[nodiscard]] std::unique_ptr<pair_search> search(
      const pair_task& task, int threads, std::unique_ptr<pair_search> earlier) const final {
    return packed_search::make<Search>(static_cast<const Rows&>(*this), task, threads,
                                       std::move(earlier));
  }
  [[nodiscard]] const packed_form& form() const { return form_; }

 protected:
  explicit searched_rows(packed_form form) : form_(std::move(form)) {}
  /// Where the rows tell what they are compared by.
  void set_scales(row_scales scales) { form_.scales = std::move(scales); }

 private:
  packed_form form_;
};

}  // namespace gpu::cpu
