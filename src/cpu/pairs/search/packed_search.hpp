#pragma once
// A search in two steps: a cheap product drops most pairs, and the measure decides the others
// exactly.

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
#include "cpu/pairs/search/packed_sums.hpp"
#include "cpu/pairs/search/pair_filter.hpp"
#include "cpu/pairs/search/row_screen.hpp"

namespace gpu::cpu {

/// What every search of the same rows reads.
struct packed_form {
  const pair_kernels& kernels;
  row_layout layout;
  index_t cols;
  /// How the rows are packed for sums of products; none: they are rounded for wide_products.
  std::optional<packing> how = {};
  row_scales scales = {};
};

/// pair_search by a filter: it drops or counts most pairs, the measure decides the others. There
/// are two filters, products in the form of the rows and the 8-bit screen; the one that the way
/// takes is packed. None is where the rows stand without whole groups for the kernels: then every
/// pair is decided.
class packed_search : public pair_search {
 public:
  /// To be called once it is made: chooses the way and packs what it takes.
  virtual void make_ready();

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

 protected:
  /// Takes from `earlier`, a search of the same rows, what it packed and sampled; null: nothing.
  packed_search(const packed_form& form, const pair_task& task, int threads,
                packed_search* earlier);

  /// The statistic of a pair from its rows alone, and from its sum of products `raw` where there is
  /// one.
  [[nodiscard]] virtual double exact(index_t row, index_t col) const = 0;
  [[nodiscard]] virtual double exact(index_t row, index_t col, std::int32_t /*raw*/) const {
    return exact(row, col);
  }
  [[nodiscard]] virtual std::unique_ptr<pair_filter> make_filter() const = 0;
  [[nodiscard]] virtual row_screen make_screen() const = 0;
  /// Nanoseconds of one pair of each way.
  [[nodiscard]] virtual cpu_pair_costs costs() const = 0;
  /// Whether the filter is needed by the way, which is not the screen.
  [[nodiscard]] virtual bool takes_filter() const;
  /// Whether there are so many pairs a row that a search saves more than packing rows for it takes.
  [[nodiscard]] virtual bool pays_to_pack() const { return true; }
  /// Pairs that are asked for.
  [[nodiscard]] double pairs() const;
  [[nodiscard]] std::size_t kernel_bytes() const override;

  /// The cut of the task; none where there is none, or no filter can look for it: then all
  /// statistics are computed.
  [[nodiscard]] const std::optional<pair_cut>& cut() const { return cut_; }
  [[nodiscard]] index_t size() const { return layout().places(); }
  [[nodiscard]] index_t cols() const { return form_.cols; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] const pair_kernels& kernels() const { return form_.kernels; }
  [[nodiscard]] const packed_form& form() const { return form_; }
  [[nodiscard]] const row_layout& layout() const { return form_.layout; }
  [[nodiscard]] bool keeps_none() const { return keeps_none_; }
  [[nodiscard]] cpu_pair_way way() const { return way_; }
  [[nodiscard]] const pair_filter* filter() const { return filter_.get(); }

  void choose();
  virtual void pack_for_way();
  /// Frees what was packed.
  void drop_packed();

 private:
  // Statistics of such pairs drawn at random; drawn once.
  [[nodiscard]] const std::vector<double>& sample();
  // pair_filter::error(), or what it usually is.
  [[nodiscard]] double filter_error() const;
  // The way in which the filter counts without bins: those whose error is more than rounding leave
  // pairs to decide.
  [[nodiscard]] cpu_pair_way counting_way() const {
    return filter_error() > 0 ? cpu_pair_way::search : cpu_pair_way::every;
  }
  void choose_for_cut(const pair_cut& cut);
  // take(row, col, statistic) for the kept pairs of `tile`, rows and columns counted from its
  // first.
  template <class Take>
  void find(const pair_tile& tile, pair_scratch& scratch, const Take& take) const;

  const packed_form& form_;
  int threads_;
  std::unique_ptr<pair_filter> filter_;  // packed where the way takes it
  row_screen screen_;                    // the same
  std::vector<double> sample_;
  std::optional<pair_cut> cut_;
  bool keeps_none_ = false;  // whether no pair can pass the cut
  cpu_pair_way way_ = cpu_pair_way::every;
  cpu_way_choice choice_;  // that led to it
  pair_estimate estimate_;
};

/// Immutable rows that are searched before they are decided, by a Search that is made of their form
/// and of Search::values. Rows without a filter are decided_rows.
template <class Search>
class searched_rows final : public pair_rows {
 public:
  searched_rows(packed_form form, typename Search::values values)
      : form_(std::move(form)), values_(std::move(values)) {}
  [[nodiscard]] index_t size() const override { return form_.layout.places(); }
  [[nodiscard]] std::unique_ptr<pair_search> search(
      const pair_task& task, int threads, std::unique_ptr<pair_search> earlier) const override {
    // A search of the same rows is of the same class.
    auto* const last = earlier ? &dynamic_cast<Search&>(*earlier) : nullptr;
    auto out = std::make_unique<Search>(form_, values_, task, threads, last);
    earlier = nullptr;  // before anything takes memory
    static_cast<packed_search&>(*out).make_ready();
    return out;
  }

 private:
  packed_form form_;
  typename Search::values values_;
};

}  // namespace gpu::cpu
