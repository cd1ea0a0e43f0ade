#pragma once
// Random jobs of all pairs: rows that are hard, cuts, options, and each sink of one way to run a
// job beside the plain one. Ways are a Side: those of the CPU in pairs/pair_ways_test.cpp, CUDA in
// soak/pair_cases.cpp.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpu/similarity.hpp>

#include "golden/checksum.hpp"
#include "soak/dice.hpp"
#include "support/correlated_rows.hpp"
#include "support/generators.hpp"

namespace gpu_test {

using gpu::index_t;
using gpu::measure;
using gpu::pair_variant;

/// Rows with missing values pair by pair, p of ranks by permutations, or covariates and weights of
/// columns.
enum class kind { plain, missing_values, exact_p, columns };

struct shape {
  index_t rows;
  index_t cols;
};

/// How long a job may take.
struct job_limits {
  index_t products;  ///< Of two numbers, or about.
  index_t cols = std::numeric_limits<index_t>::max();
  index_t least_rows = 1;
};

/// Around the edges of tiles, words, groups, limbs and pieces.
inline shape draw_shape(dice& d, measure what, kind of, const job_limits& limits) {
  shape out{d.one_of<index_t>({1,   2,   3,   31,  63,  64,  65,   127,  128,  129,  192,
                               257, 300, 383, 385, 512, 700, 1025, 1500, 1537, 3100, 5000}),
            d.one_of<index_t>({3,    4,    5,      8,      9,      16,      17,       29,  30,
                               31,   32,   33,     57,     62,     64,      65,       96,  97,
                               100,  127,  128,    129,    200,    256,     257,      511, 1023,
                               1201, 4099, 16'385, 20'481, 32'769, 100'003, 1'000'001})};
  const bool is_slow = what == measure::kendall || of == kind::missing_values;
  const index_t most = is_slow ? std::min<index_t>(limits.products, 20'000'000) : limits.products;
  out.cols = std::min(out.cols, limits.cols);
  if (what == measure::kendall) out.cols = std::min<index_t>(out.cols, 300);
  if (what == measure::bicor) out.cols = std::min<index_t>(out.cols, 100'003);
  if (of == kind::missing_values) out.cols = std::min<index_t>(out.cols, 5003);
  if (of == kind::columns) out.cols = std::max<index_t>(out.cols, 8);
  out.rows = std::min(out.rows, d.most_rows());
  while (out.rows > 2 && out.rows * out.rows * out.cols > most) out.rows /= 2;
  out.rows = std::max(out.rows, limits.least_rows);
  return out;
}

/// Rows without ties, and rows with one pair of equal values, two, ...: classes of all sizes.
inline gpu::matrix<double> rows_of_classes(dice& d, shape of, bool has_ties) {
  gpu::matrix<double> out(of.rows, of.cols);
  std::mt19937_64 random(d.seed());
  std::vector<double> row(static_cast<std::size_t>(of.cols));
  for (index_t i = 0; i < of.rows; ++i) {
    index_t ties = 0;
    for (std::uint64_t bits = random(); has_ties && ties < of.cols - 1 && (bits & 1U) != 0;
         bits >>= 1) {
      ++ties;
    }
    for (index_t k = 0; k < of.cols; ++k) {
      row[static_cast<std::size_t>(k)] = static_cast<double>(std::max(k, ties));
    }
    std::shuffle(row.begin(), row.end(), random);
    std::copy(row.begin(), row.end(), &out(i, 0));
  }
  return out;
}

/// What is hard: rows that repeat, that rounding spoils, that differ by less than an estimate's
/// error, and many alike before or behind others.
inline gpu::matrix<double> draw_values(dice& d, shape of, double large) {
  const index_t rows = of.rows;
  const index_t cols = of.cols;
  const auto tied = [&](index_t height) {
    return tied_matrix<double>(height, cols, d.seed(), d.one_of({0.0, 0.5, 0.95}),
                               d.one_of({1, 3, 10, 100}));
  };
  const index_t what = d.between(0, 8);
  if (what == 0) return tied(rows);
  if (what == 1) return rows_of_classes(d, of, d.coin());
  auto out = correlated_matrix<double>({.rows = rows,
                                        .cols = cols,
                                        .pairs_in_blocks = d.one_of({0.001, 0.05, 0.5, 1.0}),
                                        .factor_variance = d.one_of({0.0, 0.7}),
                                        .levels = d.one_of({0, 0, 2, 12}),
                                        .blocks_side_by_side = d.coin(),
                                        .seed = d.seed()});
  if (what > 6) return out;
  const index_t patterns = d.one_of<index_t>({1, 2, 7, 90, 700});
  const gpu::matrix<double> distinct = what == 2 ? tied(patterns) : gpu::matrix<double>();
  const double step = d.one_of({1e-2, 1e-4, 1e-6});
  const bool alike_first = d.coin();
  const double size = d.one_of({0.82, 0.9, 0.98});
  for (index_t i = 0; i < rows; ++i) {
    for (index_t k = 0; k < cols; ++k) {
      double& value = out(i, k);
      if (what == 2) {  // few rows, many times, some turned round
        value = (i % 3 == 2 ? -1 : 1) * distinct(i * i % patterns, k);
      } else if (what == 3) {  // hardly different from the first
        value = out(0, k) + (i > 0 && k == i % 7 ? step * static_cast<double>(i % 5) : 0);
      } else if (what == 4) {
        if ((i < rows / 3) == alike_first) value = 0.3 * value + static_cast<double>(k);
      } else if (what == 5) {  // +1 and -1: rounding moves whole rows to one side
        value = (i % 5 == 0 ? value > 0 : k % 2 == 0) ? 1 : -1;
        if (i == 0 && k >= cols / 4) value *= size;
        if (i % 5 != 0 && k == i % cols) value *= 2 - 0.001 * static_cast<double>(i);
      } else if (i % 4 == 0) {  // an element that dwarfs the rest
        value = k == i % cols ? 60 : value;
      } else if (i % 4 == 1) {
        value = k == 5 ? (i % 8 == 1 ? 300 : -200) : value;
      } else if (i % 4 == 2) {  // halves of a step of rounding
        value = k == 0 ? 127 : (k % 2 == 0 ? 0.4999999 : -0.5000001) + (k % 5 == i % 5 ? 3 : 0);
      } else if (i % 3 == 0) {
        value *= i % 2 == 0 ? large : 1 / large;
      } else if (i % 3 == 1) {
        value += 1e6;
      }
    }
  }
  return out;
}

template <class T>
T stored(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    const double middle = std::is_unsigned_v<T> ? 120 : 0;
    return static_cast<T>(middle + std::clamp(std::round(value), -120.0, 120.0));
  }
}

/// Scattered holes, or a few masks that many rows share.
template <class T>
void draw_holes(dice& d, gpu::matrix<T>& x) {
  const index_t masks = d.one_of<index_t>({0, 1, 2, 5, 20});
  const index_t missing = d.one_of<index_t>({1, 5, 30, 70, 95});  // in a hundred
  const std::uint64_t seed = d.seed();
  for (index_t i = 0; i < x.rows(); ++i) {
    dice own(seed + static_cast<std::uint64_t>(masks == 0 ? i : i * i % masks), 1);
    for (index_t k = 0; k < x.cols(); ++k) {
      if (own.between(1, 100) <= missing) x(i, k) = std::numeric_limits<T>::quiet_NaN();
    }
  }
}

template <class T>
gpu::matrix<T> draw_table(dice& d, shape of, kind what) {
  const gpu::matrix<double> values = draw_values(d, of, std::is_same_v<T, double> ? 1e200 : 1e20);
  const double scale = std::is_floating_point_v<T> || d.coin() ? 1 : 25;
  gpu::matrix<T> out(of.rows, of.cols);
  for (index_t i = 0; i < of.rows * of.cols; ++i) {
    out.data()[i] = stored<T>(scale * values.data()[i]);
  }
  const auto row = [&] { return &out(d.between(0, of.rows - 1), 0); };
  for (index_t n = d.between(0, 3); n > 0; --n) {
    const T* const from = row();
    T* const to = row();
    std::copy_n(from, of.cols, to);
    if (d.coin()) to[d.between(0, of.cols - 1)] += static_cast<T>(1);
  }
  if (d.coin()) std::fill_n(row(), of.cols, static_cast<T>(3));
  if constexpr (std::is_floating_point_v<T>) {
    if (what == kind::missing_values) {
      draw_holes(d, out);
    } else if (d.coin()) {
      row()[d.between(0, of.cols - 1)] = std::numeric_limits<T>::quiet_NaN();
      row()[d.between(0, of.cols - 1)] = std::numeric_limits<T>::infinity();
    }
  }
  return out;
}

template <class T>
struct job {
  measure what;
  gpu::matrix<T> x;
  gpu::matrix<T> y;  // none: no rows
  gpu::pair_filter keep = {};
  gpu::pair_options options = {};
  pair_variant plain_variant = pair_variant::automatic;  // of the answer to compare with
  gpu::matrix<double> covariates = {};                   // what options refer to
  std::vector<double> weights = {};

  /// The answer of one thread of the CPU.
  template <class Sink>
  auto plain(const Sink& sink) const {
    gpu::pair_options own = options;
    own.variant = plain_variant;
    own.fold = gpu::row_folding::automatic;
    own.exec = {.target = gpu::backend::cpu, .cpu_threads = 1};
    return y.rows() == 0 ? gpu::all_pairs(what, x, own, sink)
                         : gpu::all_pairs(what, x, y, own, sink);
  }
};

inline gpu::pair_filter draw_filter(dice& d, measure what) {
  gpu::pair_filter keep{.side = d.one_of({gpu::tail::two_sided, gpu::tail::two_sided,
                                          gpu::tail::greater, gpu::tail::less})};
  const bool has_p = what != measure::cosine;
  if (has_p) {
    keep.max_p = d.one_of({1e-14, 1e-9, 1e-6, 1e-3, 0.05, 0.5, 1.0});
    keep.adjust = d.one_of({gpu::adjustment::none, gpu::adjustment::none, gpu::adjustment::none,
                            gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg});
  }
  if (!has_p || d.between(0, 3) == 0) keep.min_abs = d.one_of({0.0, 0.3137, 0.8, 0.99, 1.0});
  return keep;
}

/// Puts the cut on the statistic of a pair or its p, or right beside it.
template <class T>
void cut_at_a_pair(dice& d, job<T>& of) {
  gpu::matrix<T> two(2, of.x.cols());
  for (index_t i = 0; i < 2; ++i) {
    std::copy_n(&of.x(d.between(0, of.x.rows() - 1), 0), of.x.cols(), &two(i, 0));
  }
  gpu::pair_options own{.nans = of.options.nans,
                        .exec = {.target = gpu::backend::cpu, .cpu_threads = 1}};
  const double at = std::fabs(gpu::all_pairs(of.what, two, own, gpu::dense_sink{})(0, 1));
  if (!(at > 0.1)) return;
  of.keep.adjust = gpu::adjustment::none;
  const double p = of.what == measure::cosine || of.what == measure::kendall
                       ? 0
                       : gpu::correlation_p_value(at, of.x.cols(), of.keep.side);
  if (p > 0 && d.coin()) {
    of.keep.max_p = d.coin() ? p : std::nextafter(p, 0.0);
  } else {
    of.keep.max_p = 1;
    of.keep.min_abs = d.coin() ? at : std::min(1.0, std::nextafter(at, 2.0));
  }
}

template <class T>
void draw_columns(dice& d, job<T>& of) {
  const index_t cols = of.x.cols();
  if (of.what == measure::spearman || (of.what == measure::pearson && d.coin())) {
    of.covariates = random_matrix<double>(d.between(1, 2), cols, d.seed());
    of.options.covariates = of.covariates.view();
  } else {
    for (index_t k = 0; k < cols; ++k) of.weights.push_back(static_cast<double>(d.between(0, 3)));
    of.weights.front() = of.weights.back() = 1;
    of.options.column_weights = of.weights;
    if (of.what == measure::pearson) of.options.effective_observations = cols;
  }
}

/// An adjustment needs all pairs, or their number, which holes hide.
template <class T>
bool may_have_parts(const job<T>& of) {
  return of.keep.adjust == gpu::adjustment::none ||
         (of.keep.adjust == gpu::adjustment::bonferroni &&
          of.options.nans != gpu::nan_policy::pairwise);
}

/// `options` have no target yet.
template <class T>
job<T> draw_job(dice& d, measure what, kind of, pair_variant variant, const job_limits& limits) {
  const shape size = draw_shape(d, what, of, limits);
  job<T> out{.what = what, .x = draw_table<T>(d, size, of), .y = {}};
  if (d.between(0, 3) == 0) {
    const index_t most =
        std::min<index_t>(d.most_rows() < 100 ? d.most_rows() : 20'000, 8'000'000 / size.cols);
    const shape other{std::min(d.one_of<index_t>({1, 9, 65, 130, 1300, 9857, 20'000}), most),
                      size.cols};
    const index_t least_rows =
        limits.products / 10 / (size.cols * std::max<index_t>(other.rows, 1));
    if (least_rows > 0 && other.rows > 0) {
      out.y = draw_table<T>(d, other, of);
      if (size.rows > least_rows) out.x = draw_table<T>(d, {least_rows, size.cols}, of);
    }
  }
  gpu::pair_options& options = out.options;
  options.variant = variant;
  options.nans = gpu::nan_policy::propagate;
  if (of == kind::missing_values) {
    options.nans = gpu::nan_policy::pairwise;
    options.min_observations = d.one_of<index_t>({3, 3, 5, 20});
  }
  if (d.coin()) options.p_method = gpu::p_method::t;
  if (of == kind::exact_p) options.p_method = gpu::p_method::exact;
  if (of == kind::columns) draw_columns(d, out);
  if (what == measure::spearman && of == kind::plain) {
    options.fold = d.one_of({gpu::row_folding::automatic, gpu::row_folding::automatic,
                             gpu::row_folding::never, gpu::row_folding::always});
  }
  out.keep = draw_filter(d, what);
  if (d.between(0, 3) == 0) cut_at_a_pair(d, out);
  if (may_have_parts(out) && d.between(0, 4) == 0) {
    options.part.of = d.one_of<index_t>({2, 3, 5, 100});
    options.part.index = d.between(0, options.part.of - 1);
  }
  return out;
}

/// Whether the rows of y may be prepared.
template <class T>
bool may_be_prepared(const job<T>& of) {
  return of.y.rows() > 0 && of.options.fold != gpu::row_folding::always &&
         of.options.nans != gpu::nan_policy::pairwise;
}

inline bool is_before(const gpu::edge& a, const gpu::edge& b) {
  return std::pair(a.row, a.col) < std::pair(b.row, b.col);
}

/// Sums of both, to be compared.
struct answers {
  golden::checksum got;
  golden::checksum wanted;

  template <class T>
  void add(const T& from_side, const T& plain) {
    got.add(from_side);
    wanted.add(plain);
  }
};

inline void add_summaries(answers& both, const gpu::pair_summary& got,
                          const gpu::pair_summary& wanted) {
  both.add(got, wanted);
  both.add(got.infinite_rows, wanted.infinite_rows);
  both.add(got.y_infinite_rows, wanted.y_infinite_rows);
  expect(got.checksum == wanted.checksum, "the checksum of the library");
}

/// Throws wrong_answer with the first edge that is another.
inline void compare_edges(std::span<const gpu::edge> got, std::span<const gpu::edge> wanted) {
  const auto text = [](const gpu::edge& e) {
    std::ostringstream out;
    out.precision(17);
    out << '(' << e.row << ' ' << e.col << ' ' << e.statistic << ' ' << e.p << ')';
    return std::move(out).str();
  };
  expect(got.size() == wanted.size(),
         std::to_string(got.size()) + " edges, not " + std::to_string(wanted.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const gpu::edge& a = got[i];
    const gpu::edge& b = wanted[i];
    if (a == b || (std::isnan(a.p) && std::isnan(b.p) &&
                   std::tie(a.row, a.col, a.statistic) == std::tie(b.row, b.col, b.statistic))) {
      continue;
    }
    throw wrong_answer("edge " + std::to_string(i) + " of " + std::to_string(got.size()) + " is " +
                       text(a) + ", not " + text(b));
  }
}

template <class T, class Side>
void check_edges(dice& d, const job<T>& of, const Side& side, answers& both) {
  const auto wanted = of.plain(gpu::edge_sink{.keep = of.keep});
  const auto all = static_cast<index_t>(wanted.edges.size());
  const std::span<const gpu::edge> in_order(wanted.edges);
  if constexpr (Side::has_device_memory) {
    if (side.stays_on_device) {
      const auto room = static_cast<std::size_t>(
          std::max<index_t>(d.one_of<index_t>({all + 100, all, all / 2}), 1));
      const auto got =
          side.in_device_memory(of, [&](const auto& call) { return call.edges(of.keep, room); });
      expect(got.found == in_order.size(), "the number of edges found");
      compare_edges(got.edges, in_order.first(std::min(room, in_order.size())));
      return;
    }
  }
  std::vector<gpu::edge> edges;
  if (d.coin()) {
    const index_t most = d.one_of<index_t>({1, 10, 10'007});
    gpu::stream_sink sink{.keep = of.keep, .batch_edges = most};
    if (d.coin()) sink.order = gpu::edge_order::unspecified;
    sink.consume = [&](std::span<const gpu::edge> batch) {
      expect(std::ssize(batch) <= most, "a batch is too large");
      edges.insert(edges.end(), batch.begin(), batch.end());
    };
    add_summaries(both, side.run(of, sink), wanted.summary);
    if (sink.order == gpu::edge_order::unspecified)
      std::sort(edges.begin(), edges.end(), is_before);
  } else {
    gpu::edge_sink sink{.keep = of.keep};
    if (d.coin()) sink.order = gpu::edge_order::unspecified;
    const auto got = side.run(of, sink);
    edges.assign(got.edges.begin(), got.edges.end());
    add_summaries(both, got.summary, wanted.summary);
    if (sink.order == gpu::edge_order::unspecified)
      std::sort(edges.begin(), edges.end(), is_before);
    if (all > 1) {
      try {
        sink.max_edges = d.one_of<index_t>({all - 1, all / 2, 1});
        static_cast<void>(side.run(of, sink));
        expect(false, "more edges than max_edges");
      } catch (const gpu::capacity_exceeded& error) {
        expect(error.required() == all, "the number of edges in capacity_exceeded");
      }
    }
  }
  compare_edges(edges, in_order);
}

template <class T, class Side>
void check_counts(dice& d, const job<T>& of, const Side& side, answers& both) {
  const gpu::count_sink sink{
      .keep = of.keep, .histogram_bins = d.one_of<index_t>({0, 1, 20, 77, 5000, 8990, 65'536})};
  const auto wanted = of.plain(sink);
  const auto add = [&](const auto& got) {
    both.add(got.degree, wanted.degree);
    both.add(got.y_degree, wanted.y_degree);
    both.add(got.histogram, wanted.histogram);
  };
  if constexpr (Side::has_device_memory) {
    if (side.stays_on_device) {
      const auto got =
          side.in_device_memory(of, [&](const auto& call) { return call.counts(sink); });
      add(got);
      both.add(std::vector{got.totals[0], got.totals[1]}, std::vector{wanted.tested, wanted.kept});
      return;
    }
  }
  const auto got = side.run(of, sink);
  add(got);
  both.add(std::vector{got.tested, got.kept}, std::vector{wanted.tested, wanted.kept});
  add_summaries(both, got.summary, wanted.summary);
}

template <class T, class Side>
void check_partners(dice& d, const job<T>& of, const Side& side, answers& both) {
  gpu::top_k_sink sink{
      .k = d.one_of<index_t>({1, 3, 10, 31, 32, 33, 60, 127, 128, 129, 400}),
      .keep = of.keep,
      .order = d.one_of({gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value})};
  sink.keep.adjust = gpu::adjustment::none;
  if (d.coin()) sink.keep.max_p = 1;
  const auto wanted = of.plain(sink);
  const auto add = [&](const gpu::neighbor_table& got) {
    both.add(got.count, wanted.count);
    both.add(got.index, wanted.index);
    both.add(got.statistic, wanted.statistic);
  };
  if constexpr (Side::has_device_memory) {
    if (side.stays_on_device) {
      const index_t rows = wanted.index.rows();
      return add(side.in_device_memory(
          of, [&](const auto& call) { return call.top_k(rows, sink, rows % 2 * 3); }));
    }
  }
  const auto got = side.run(of, sink);
  add(got);
  add_summaries(both, got.summary, wanted.summary);
}

/// A step of the search for the cut of Benjamini and Hochberg; without parts, all of them.
template <class T, class Side>
void check_discoveries(dice&, const job<T>& of, const Side& side, answers& both) {
  gpu::discovery_sink sink{.keep = {.max_p = of.keep.max_p, .side = of.keep.side}};
  do {
    const auto wanted = of.plain(sink);
    const auto got = side.run(of, sink);
    both.add(got.below, wanted.below);
    both.add(got.at_or_above, wanted.at_or_above);
    both.add(got.bins, wanted.bins);
    if (of.options.part.of > 1) return;
    sink.search = gpu::next_search(wanted);
  } while (!sink.search->is_decided());
}

/// The largest error that dense results have had, as a share of what they may have.
inline std::atomic<double> largest_share{0};

/// Throws where an element is further off than `tolerance`.
template <class Value>
void compare_dense(const gpu::matrix<Value>& got, const gpu::matrix<Value>& wanted,
                   double tolerance) {
  expect(got.rows() == wanted.rows() && got.cols() == wanted.cols(), "the shape");
  double largest = 0;
  for (index_t i = 0; i < wanted.rows() * wanted.cols(); ++i) {
    const auto a = static_cast<double>(got.data()[i]);
    const auto b = static_cast<double>(wanted.data()[i]);
    const double error = a == b || (a != a && b != b) ? 0 : std::fabs(a - b);
    if (!(error <= tolerance)) {
      throw wrong_answer("element " + std::to_string(i) + " is " + std::to_string(a) + ", not " +
                         std::to_string(b) + ", off by " + std::to_string(error / tolerance) +
                         " times its bound");
    }
    largest = std::max(largest, error);
  }
  double known = largest_share;
  const double share = tolerance > 0 ? largest / tolerance : 0;
  while (share > known && !largest_share.compare_exchange_weak(known, share)) {
  }
}

template <class Value, class T, class Side>
void check_dense(const job<T>& of, const Side& side) {
  const auto wanted = of.plain(gpu::basic_dense_sink<Value>{});
  double tolerance = side.dense_error(of);
  if (std::is_same_v<Value, float> && tolerance > 0) tolerance = std::max(tolerance, 1e-6);
  if constexpr (Side::has_device_memory) {
    if (side.stays_on_device) {
      return compare_dense<Value>(
          side.in_device_memory(
              of, [&](const auto& call) { return call.template dense<Value>(wanted.rows(), 2); }),
          wanted, tolerance);
    }
  }
  compare_dense<Value>(side.run(of, gpu::basic_dense_sink<Value>{}), wanted, tolerance);
}

template <class T, class Side>
void check_dense_results(dice& d, const job<T>& of, const Side& side, answers&) {
  if (d.coin()) {
    check_dense<double>(of, side);
  } else {
    check_dense<float>(of, side);
  }
}

enum class sink_of { edges, counts, neighbours, dense, discoveries };
inline constexpr std::array sink_names{"edges", "counts", "neighbours", "dense", "discoveries"};

/// Throws wrong_answer where a sink says something else on that side than plainly.
template <class T, class Side>
void check(dice& d, sink_of sink, const job<T>& of, const Side& side) {
  answers both;
  switch (sink) {
    case sink_of::edges:
      check_edges(d, of, side, both);
      break;
    case sink_of::counts:
      check_counts(d, of, side, both);
      break;
    case sink_of::neighbours:
      check_partners(d, of, side, both);
      break;
    case sink_of::dense:
      check_dense_results(d, of, side, both);
      break;
    case sink_of::discoveries:
      check_discoveries(d, of, side, both);
      break;
  }
  expect(both.got.value() == both.wanted.value(),
         std::to_string(of.x.rows()) + " x " + std::to_string(of.x.cols()) + " against " +
             std::to_string(of.y.rows()) + ", max_p " + std::to_string(of.keep.max_p) +
             ", min_abs " + std::to_string(of.keep.min_abs));
}

/// call(element) of an element type that is drawn, one of those that devices take or of More;
/// missing values need floats.
template <class... More, class Call>
void with_drawn_type(dice& d, kind of, const Call& call) {
  const auto pick = [&]<class... All>(All... elements) {
    const index_t least = of == kind::missing_values ? 5 : 0;
    index_t left = d.between(least, least == 5 ? 6 : static_cast<index_t>(sizeof...(All)) - 1);
    ((left-- == 0 ? call(elements) : void()), ...);
  };
  pick(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::uint8_t{}, std::uint16_t{}, float{},
       double{}, More{}...);
}

}  // namespace gpu_test
