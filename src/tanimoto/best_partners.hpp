#pragma once
// The best partners of one row, found while its columns go by in ascending order.

#include <algorithm>
#include <limits>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "stats/set_similarity.hpp"

namespace gpu::tanimoto {

/// At most k partners with a statistic >= least: a heap with the worst on top, once it is full.
class best_partners {
 public:
  best_partners(index_t k, double least, const stats::set_weights& of)
      : k_(static_cast<std::size_t>(k)),
        least_(least),
        of_(of),
        screen_(stats::screen_of(least, of)) {}

  /// Of the row: no pair that it drops can become a partner.
  [[nodiscard]] const stats::set_screen& screen() const { return screen_; }

  /// Columns come in ascending order: a later one with the statistic of the worst loses to it.
  void offer(node_id col, double statistic) {
    if (!(statistic >= least_)) return;
    if (heap_.size() == k_) {
      if (!(statistic > heap_.front().statistic)) return;
      std::pop_heap(heap_.begin(), heap_.end(), before);
      heap_.back() = {statistic, col};
    } else {
      heap_.push_back({statistic, col});
    }
    std::push_heap(heap_.begin(), heap_.end(), before);
    if (heap_.size() == k_) screen_ = stats::screen_of(heap_.front().statistic, of_);
  }

  /// Writes them best first, with nothing behind; returns how many there are.
  node_id write(node_id* index, double* statistic) {
    std::sort(heap_.begin(), heap_.end(), before);
    for (std::size_t n = 0; n < heap_.size(); ++n) {
      index[n] = heap_[n].col;
      statistic[n] = heap_[n].statistic;
    }
    std::fill(index + heap_.size(), index + k_, neighbor_table::no_neighbor);
    std::fill(statistic + heap_.size(), statistic + k_, std::numeric_limits<double>::quiet_NaN());
    return static_cast<node_id>(heap_.size());
  }

 private:
  struct entry {
    double statistic;
    node_id col;
  };
  static bool before(const entry& a, const entry& b) {
    return a.statistic != b.statistic ? a.statistic > b.statistic : a.col < b.col;
  }

  std::size_t k_;
  double least_;
  stats::set_weights of_;
  stats::set_screen screen_;
  std::vector<entry> heap_;
};

}  // namespace gpu::tanimoto
