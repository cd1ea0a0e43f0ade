// The edges of a folded engine in the order (row, column).
//
// A row needs all patterns that its own pattern has an edge with. Edges between patterns are
// collected as they come, 2^25 at most; then the rows are gone through in order. Where there are
// more edges, a counting pass gives the number of edges of every pattern, and as many passes follow
// as are needed: each collects the edges of the patterns of one range of rows.
//
// The rows that a pattern has edges with are put in order once for all of its rows: the edges of a
// row are those with the rows behind it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include <gpu/array.hpp>

#include "base/parallel.hpp"
#include "pairs/folding/folded_engine.hpp"
#include "pairs/folding/pattern_receiver.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::inline v0::detail {

class folded_pair_engine::ordered_edges {
 public:
  ordered_edges(folded_pair_engine& engine, const edge_request& request, edge_receiver& receiver)
      : engine_(engine),
        request_(request),
        receiver_(receiver),
        batch_edges_(static_cast<std::size_t>(request.batch_edges)),
        list_of_(engine.weights_.size(), no_list) {}

  void run() {
    wanted_.assign(engine_.weights_.size(), false);
    std::fill(wanted_.begin() + engine_.pattern_rows_.begin,
              wanted_.begin() + engine_.pattern_rows_.end, true);
    if (collect(engine_.most_waiting_)) {
      const auto edges = static_cast<double>(edges_of_rows());
      receiver_.begin({.least = edges, .most = edges});
      write_rows(rows().begin, rows().end);
    } else {
      run_in_ranges();
    }
    flush();
  }

 private:
  struct pattern_edge {
    node_id first;
    node_id second;
    double statistic;
  };
  struct partner {
    node_id pattern;
    double statistic;
  };
  // What a row has an edge with.
  struct other_row {
    node_id row;
    double statistic;
    double p;
  };
  static constexpr std::uint32_t no_list = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] const index_range& rows() const { return engine_.area_.rows; }
  [[nodiscard]] node_id pattern_of(index_t row) const {
    return engine_.patterns().pattern_of[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] bool keeps_within(node_id pattern) const {
    return request_.keep.keeps(1.0) && engine_.has_pairs_within(pattern);
  }
  // Collects the edges of the wanted patterns; false where there are more than `most`.
  bool collect(std::size_t most);
  // The edges between rows that the collected ones stand for, where they are all.
  [[nodiscard]] std::uint64_t edges_of_rows() const;
  void run_in_ranges();
  // Fills partners_ and reach_ from the collected edges.
  void pair_up();
  void write_rows(index_t first, index_t last);
  // Makes the lists of the patterns of these rows, of what is behind the first of them.
  void make_lists(index_t first, index_t last);
  void fill_list(node_id pattern, node_id self, std::vector<other_row>& out) const;
  // What `row` has edges with, of the list of its pattern.
  [[nodiscard]] std::span<const other_row> edges_of(index_t row) const;
  // Writes the edges of rows whose patterns have lists.
  void write_range(index_t first, index_t last);
  // Writes edges [begin, end) of the rows from `first` on, by edges_ and starts_.
  void fill(index_t first, std::size_t begin, std::size_t end, edge* to) const;
  void flush();

  folded_pair_engine& engine_;
  const edge_request& request_;
  edge_receiver& receiver_;
  std::size_t batch_edges_;
  std::vector<bool> wanted_;  // [patterns]
  std::vector<pattern_edge> found_;
  std::vector<std::size_t> begin_;  // [patterns + 1], into partners_
  std::vector<partner> partners_;
  std::vector<std::size_t> reach_;  // [patterns]: rows that a row of it can have edges with

  std::vector<std::uint32_t> list_of_;  // [patterns], into lists_
  std::vector<node_id> listed_;         // the patterns that have a list
  std::vector<std::vector<other_row>> lists_;
  std::vector<std::span<const other_row>> edges_;  // of the rows of a range
  std::vector<std::size_t> starts_;                // of each of them, of all edges of the range
  array<edge> batch_;
  std::size_t waiting_ = 0;  // edges in batch_
};

bool folded_pair_engine::ordered_edges::collect(std::size_t most) {
  found_.clear();
  std::atomic<bool> too_many = false;
  edge_request unordered = between_patterns(request_);
  unordered.order = edge_order::unspecified;
  pattern_receiver between(
      [&](std::span<edge> batch) {
        for (const edge& e : batch) {
          const node_id second = engine_.pattern_of_col(e.col);
          if (too_many || (!wanted_[e.row] && !wanted_[second])) continue;
          if (found_.size() < most) {
            found_.push_back({e.row, second, e.statistic});
          } else {
            too_many = true;
          }
        }
      },
      [&] { return !too_many; });
  engine_.inner_->edges(unordered, between);
  if (too_many) found_ = {};
  return !too_many;
}

std::uint64_t folded_pair_engine::ordered_edges::edges_of_rows() const {
  std::uint64_t out = 0;
  for (const pattern_edge& e : found_) out += engine_.pairs_between(e.first, e.second);
  if (!request_.keep.keeps(1.0)) return out;
  for (index_t p = engine_.pattern_rows_.begin; p < engine_.pattern_rows_.end; ++p) {
    out += engine_.pairs_within(static_cast<node_id>(p));
  }
  return out;
}

void folded_pair_engine::ordered_edges::run_in_ranges() {
  pair_counts found;
  engine_.inner_->counts({.keep = request_.keep, .histogram_bins = 0}, found);
  for (index_t first = rows().begin; first < rows().end && receiver_.wants_more();) {
    wanted_.assign(wanted_.size(), false);
    std::size_t edges = 0;
    index_t last = first;
    for (; last < rows().end; ++last) {
      const node_id p = pattern_of(last);
      if (p == row_patterns::no_pattern || wanted_[p]) continue;
      if (edges > 0 && edges + found.degree[p] > engine_.most_waiting_) break;
      wanted_[p] = true;
      edges += found.degree[p];
    }
    collect(edges);
    write_rows(first, last);
    first = last;
  }
}

void folded_pair_engine::ordered_edges::pair_up() {
  begin_.assign(wanted_.size() + 1, 0);
  reach_.assign(wanted_.size(), 0);
  for (const pattern_edge& e : found_) {
    if (wanted_[e.first]) ++begin_[e.first + std::size_t{1}];
    if (wanted_[e.second]) ++begin_[e.second + std::size_t{1}];
    reach_[e.first] += engine_.weights_[e.second];
    reach_[e.second] += engine_.weights_[e.first];
  }
  for (std::size_t p = 0; p < reach_.size(); ++p) {
    begin_[p + 1] += begin_[p];
    if (keeps_within(static_cast<node_id>(p))) reach_[p] += engine_.weights_[p];
  }
  partners_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (const pattern_edge& e : found_) {
    if (wanted_[e.first]) partners_[next[e.first]++] = {e.second, e.statistic};
    if (wanted_[e.second]) partners_[next[e.second]++] = {e.first, e.statistic};
  }
}

void folded_pair_engine::ordered_edges::fill_list(node_id pattern, node_id self,
                                                  std::vector<other_row>& out) const {
  out.clear();
  const auto take_later = [&](node_id other, double statistic) {
    const double p = request_.p_of.table == nullptr ? 0 : request_.p_of(statistic);
    const auto members = engine_.patterns().members_of(other);
    auto at = std::upper_bound(members.begin(), members.end(), self);
    for (; at != members.end(); ++at) out.push_back({*at, statistic, p});
  };
  if (keeps_within(pattern)) take_later(pattern, 1.0);
  for (std::size_t at = begin_[pattern]; at < begin_[pattern + std::size_t{1}]; ++at) {
    take_later(partners_[at].pattern, partners_[at].statistic);
  }
  std::sort(out.begin(), out.end(),
            [](const other_row& a, const other_row& b) { return a.row < b.row; });
}

void folded_pair_engine::ordered_edges::make_lists(index_t first, index_t last) {
  for (const node_id pattern : listed_) list_of_[pattern] = no_list;
  listed_.clear();
  std::vector<node_id> first_rows;
  for (index_t row = first; row < last; ++row) {
    const node_id pattern = pattern_of(row);
    if (pattern == row_patterns::no_pattern || list_of_[pattern] != no_list) continue;
    list_of_[pattern] = static_cast<std::uint32_t>(listed_.size());
    listed_.push_back(pattern);
    first_rows.push_back(static_cast<node_id>(row));
  }
  lists_.resize(std::max(lists_.size(), listed_.size()));
  constexpr index_t lists_per_task = 16;
  const auto count = static_cast<index_t>(listed_.size());
  const index_t step = count > lists_per_task * engine_.threads_ ? lists_per_task : 1;
  parallel_for_each(count, step, engine_.threads_, [&](index_t number, int) {
    const auto i = static_cast<std::size_t>(number);
    fill_list(listed_[i], first_rows[i], lists_[i]);
  });
}

std::span<const folded_pair_engine::ordered_edges::other_row>
folded_pair_engine::ordered_edges::edges_of(index_t row) const {
  const node_id pattern = pattern_of(row);
  if (pattern == row_patterns::no_pattern) return {};
  const std::vector<other_row>& list = lists_[list_of_[pattern]];
  const auto later =
      std::upper_bound(list.begin(), list.end(), static_cast<node_id>(row),
                       [](node_id self, const other_row& other) { return self < other.row; });
  return {later, list.end()};
}

void folded_pair_engine::ordered_edges::write_rows(index_t first, index_t last) {
  constexpr std::size_t most_listed_rows = std::size_t{1} << 21;
  constexpr std::size_t most_edges_at_once = std::size_t{1} << 20;
  constexpr index_t most_rows_at_once = 4096;
  pair_up();
  std::size_t listed = 0;
  for (std::size_t p = 0; p < reach_.size(); ++p) listed += wanted_[p] ? reach_[p] : 0;
  const bool lists_fit = listed <= most_listed_rows;
  if (lists_fit) make_lists(first, last);
  while (first < last && receiver_.wants_more()) {
    // Rows with about that many edges, by an upper bound.
    std::size_t bound = 0;
    index_t end = first;
    for (; end < last && end - first < most_rows_at_once && bound < most_edges_at_once; ++end) {
      const node_id p = pattern_of(end);
      if (p != row_patterns::no_pattern) bound += reach_[p];
    }
    if (!lists_fit) make_lists(first, end);
    write_range(first, end);
    first = end;
  }
}

void folded_pair_engine::ordered_edges::fill(index_t first, std::size_t begin, std::size_t end,
                                             edge* to) const {
  constexpr index_t edges_per_task = 8192;
  const auto edges = static_cast<index_t>(end - begin);
  detail::parallel_for_ranges(edges, edges_per_task, engine_.threads_, [&](index_range some, int) {
    std::size_t at = begin + static_cast<std::size_t>(some.begin);
    const std::size_t last = begin + static_cast<std::size_t>(some.end);
    edge* out = to + (at - begin);
    auto i = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), at) -
                                      starts_.begin() - 1);
    for (; at < last; ++i) {
      const std::size_t count = std::min(last, starts_[i + 1]) - at;
      const auto self = static_cast<node_id>(first + static_cast<index_t>(i));
      for (const other_row& other : edges_[i].subspan(at - starts_[i], count)) {
        *out++ = {.row = self,
                  .col = engine_.col_of(other.row),
                  .statistic = other.statistic,
                  .p = other.p};
      }
      at += count;
    }
  });
}

void folded_pair_engine::ordered_edges::write_range(index_t first, index_t last) {
  constexpr index_t rows_at_once = 64;
  edges_.resize(static_cast<std::size_t>(last - first));
  parallel_for_each(last - first, rows_at_once, engine_.threads_, [&](index_t i, int) {
    edges_[static_cast<std::size_t>(i)] = edges_of(first + i);
  });
  starts_.assign(1, 0);
  for (const auto& of_row : edges_) starts_.push_back(starts_.back() + of_row.size());
  const std::size_t count = starts_.back();
  if (count == 0) return;
  if (waiting_ == 0) {
    const std::span<edge> room = receiver_.room(count);
    if (!room.empty()) {
      fill(first, 0, count, room.data());
      return receiver_.take({room});
    }
  }
  for (std::size_t done = 0; done < count && receiver_.wants_more();) {
    const std::size_t step = std::min(batch_edges_ - waiting_, count - done);
    if (batch_.size() < waiting_ + step) batch_.resize(waiting_ + step);
    fill(first, done, done + step, batch_.data() + waiting_);
    waiting_ += step;
    done += step;
    if (waiting_ == batch_edges_) flush();
  }
}

void folded_pair_engine::ordered_edges::flush() {
  if (waiting_ > 0) receiver_.take({std::span(batch_.data(), waiting_)});
  waiting_ = 0;
}

void folded_pair_engine::edges(const edge_request& request, edge_receiver& receiver) {
  if (request.order == edge_order::unspecified) return edges_as_found(request, receiver);
  ordered_edges(*this, request, receiver).run();
}

}  // namespace gpu::inline v0::detail
