#pragma once
// Cases that every backend and variant of the Tanimoto similarities must pass.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "reference/tanimoto_reference.hpp"
#include "support/catch.hpp"

namespace gpu_test {

/// Random sets with their bits. Bits past the last column and words between rows are random: they
/// must not matter. Some rows are empty, full, equal to an earlier row or nearly so.
struct bit_table {
  bit_table(gpu::index_t row_count, gpu::index_t col_count, double density, std::uint32_t seed,
            gpu::index_t gap = 0)
      : rows(row_count),
        cols(col_count),
        row_words(gpu::bit_words(col_count) + gap),
        words(static_cast<std::size_t>(row_count * row_words)),
        sets(static_cast<std::size_t>(row_count)) {
    std::mt19937 engine(seed);
    std::bernoulli_distribution is_one(density);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(engine());
    for (gpu::index_t i = 0; i < rows; ++i) {
      column_set& own = sets[static_cast<std::size_t>(i)];
      const auto kind = engine() % 16;
      if (kind < 4 && i > 0) own = sets[engine() % static_cast<std::size_t>(i)];
      for (gpu::index_t j = 0; j < cols; ++j) {
        const bool drawn = kind == 15 || (kind > 4 && is_one(engine));
        if (drawn) own.push_back(j);
      }
      if (kind == 0 && !own.empty()) own.pop_back();
      write(i);
    }
  }
  bit_table(gpu::index_t col_count, std::vector<column_set> given)
      : rows(static_cast<gpu::index_t>(given.size())),
        cols(col_count),
        row_words(gpu::bit_words(col_count)),
        words(static_cast<std::size_t>(rows * row_words)),
        sets(std::move(given)) {
    for (gpu::index_t i = 0; i < rows; ++i) write(i);
  }

  [[nodiscard]] gpu::bit_matrix_view view() const { return {words.data(), rows, cols, row_words}; }
  [[nodiscard]] const column_set& set(gpu::index_t i) const {
    return sets[static_cast<std::size_t>(i)];
  }

  gpu::index_t rows;
  gpu::index_t cols;
  gpu::index_t row_words;
  std::vector<std::uint32_t> words;
  std::vector<column_set> sets;

 private:
  void write(gpu::index_t i) {
    std::uint32_t* const row = words.data() + i * row_words;
    for (gpu::index_t j = 0; j < cols; ++j) row[j / 32] &= ~(std::uint32_t{1} << (j % 32));
    for (const std::int64_t j : set(i)) row[j / 32] |= std::uint32_t{1} << (j % 32);
  }
};

/// What the oracle says of x against y, or of x alone where both are the same object.
struct tanimoto_oracle {
  tanimoto_oracle(const bit_table& left, const bit_table& right,
                  gpu::measure measure = gpu::measure::tanimoto, const set_fractions& of = {})
      : x(left), y(right), is_against(&left != &right), what(measure), fractions(of) {
    for (gpu::index_t i = 0; i < x.rows; ++i) {
      for (gpu::index_t j = 0; j < y.rows; ++j) {
        sizes.push_back(terms_of(x.set(i), y.set(j), of));
        values.push_back(static_cast<double>(sizes.back().common) /
                         static_cast<double>(sizes.back().either));
      }
    }
  }
  [[nodiscard]] std::size_t at(gpu::index_t i, gpu::index_t j) const {
    return static_cast<std::size_t>(i * y.rows + j);
  }
  [[nodiscard]] gpu::index_t first_col(gpu::index_t i) const { return is_against ? 0 : i + 1; }

  /// Of rows [begin, end), in order.
  [[nodiscard]] std::vector<gpu::edge> edges(double least, gpu::index_t begin,
                                             gpu::index_t end) const {
    std::vector<gpu::edge> out;
    for (gpu::index_t i = begin; i < end; ++i) {
      for (gpu::index_t j = first_col(i); j < y.rows; ++j) {
        if (values[at(i, j)] < least) continue;
        out.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), values[at(i, j)],
                       std::numeric_limits<double>::quiet_NaN()});
      }
    }
    return out;
  }
  /// The partners of row i, best first, by exact comparisons of ratios.
  [[nodiscard]] std::vector<gpu::index_t> partners(gpu::index_t i, gpu::index_t k,
                                                   double least) const {
    std::vector<gpu::index_t> out;
    for (gpu::index_t j = 0; j < y.rows; ++j) {
      if ((is_against || i != j) && values[at(i, j)] >= least) out.push_back(j);
    }
    std::stable_sort(out.begin(), out.end(), [&](gpu::index_t a, gpu::index_t b) {
      return is_larger(sizes[at(i, a)], sizes[at(i, b)]);
    });
    if (static_cast<gpu::index_t>(out.size()) > k) out.resize(static_cast<std::size_t>(k));
    return out;
  }

  const bit_table& x;
  const bit_table& y;
  bool is_against;
  gpu::measure what;
  set_fractions fractions;
  std::vector<set_sizes> sizes;
  std::vector<double> values;
};

template <class Sink>
auto run_tanimoto(const tanimoto_oracle& data, gpu::pair_options options, const Sink& sink) {
  if (data.what == gpu::measure::tversky) {
    const auto q = static_cast<double>(data.fractions.denominator);
    options.alpha = static_cast<double>(data.fractions.alpha) / q;
    options.beta = static_cast<double>(data.fractions.beta) / q;
  }
  if (data.is_against) {
    return gpu::all_pairs(data.what, data.x.view(), data.y.view(), options, sink);
  }
  return gpu::all_pairs(data.what, data.x.view(), options, sink);
}

inline void check_edges(std::span<const gpu::edge> got, const std::vector<gpu::edge>& expected) {
  REQUIRE(got.size() == expected.size());
  bool equal = true;
  for (std::size_t e = 0; e < got.size(); ++e) {
    equal = equal && got[e].row == expected[e].row && got[e].col == expected[e].col &&
            got[e].statistic == expected[e].statistic && std::isnan(got[e].p);
  }
  CHECK(equal);
}

inline std::span<const gpu::edge> span_of(const gpu::edge_list& list) {
  return {list.edges.data(), list.edges.size()};
}

inline void check_dense(const tanimoto_oracle& data, const gpu::pair_options& options) {
  const auto exact = run_tanimoto(data, options, gpu::dense_sink{});
  const auto single = run_tanimoto(data, options, gpu::dense_sink_f32{});
  REQUIRE(exact.rows() == data.x.rows);
  REQUIRE(exact.cols() == data.y.rows);
  bool equal = true;
  for (gpu::index_t i = 0; i < exact.rows(); ++i) {
    for (gpu::index_t j = 0; j < exact.cols(); ++j) {
      equal = equal && exact(i, j) == data.values[data.at(i, j)] &&
              single(i, j) == static_cast<float>(data.values[data.at(i, j)]);
    }
  }
  CHECK(equal);
}

inline void check_list(const tanimoto_oracle& data, const gpu::pair_options& options,
                       double least) {
  const std::vector<gpu::edge> expected = data.edges(least, 0, data.x.rows);
  const gpu::edge_list list =
      run_tanimoto(data, options, gpu::edge_sink{.keep = {.min_abs = least}});
  check_edges(span_of(list), expected);
  CHECK(list.summary.pairs_kept == expected.size());
  gpu::pair_checksum sum;
  for (const gpu::edge& e : expected) sum += gpu::checksum_of(e.row, e.col, e.statistic);
  CHECK(list.summary.checksum == sum);

  std::vector<gpu::edge> streamed;
  gpu::stream_sink stream{.keep = {.min_abs = least}, .batch_edges = 7};
  stream.consume = [&](std::span<const gpu::edge> batch) {
    CHECK(batch.size() <= 7);
    streamed.insert(streamed.end(), batch.begin(), batch.end());
  };
  const gpu::pair_summary summary = run_tanimoto(data, options, stream);
  check_edges(streamed, expected);
  CHECK(summary.checksum == sum);
}

inline void check_counts(const tanimoto_oracle& data, const gpu::pair_options& options,
                         double least) {
  constexpr gpu::index_t bins = 20;
  const gpu::pair_counts counts = run_tanimoto(
      data, options, gpu::count_sink{.keep = {.min_abs = least}, .histogram_bins = bins});
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(data.x.rows));
  std::vector<std::uint32_t> y_degree(static_cast<std::size_t>(data.is_against ? data.y.rows : 0));
  std::vector<std::uint64_t> histogram(bins);
  const std::vector<gpu::edge> expected = data.edges(least, 0, data.x.rows);
  for (const gpu::edge& e : expected) {
    ++degree[e.row];
    ++(data.is_against ? y_degree : degree)[e.col];
    const auto bin = static_cast<std::size_t>(std::floor((e.statistic + 1) * bins / 2));
    ++histogram[std::min<std::size_t>(bin, bins - 1)];
  }
  CHECK(counts.kept == expected.size());
  CHECK(counts.tested == data.edges(0, 0, data.x.rows).size());
  CHECK(counts.degree == degree);
  CHECK(counts.y_degree == y_degree);
  CHECK(counts.histogram == histogram);
}

inline void check_partners(const tanimoto_oracle& data, const gpu::pair_options& options,
                           gpu::index_t k, double least) {
  const gpu::neighbor_table table =
      run_tanimoto(data, options, gpu::top_k_sink{.k = k, .keep = {.min_abs = least}});
  REQUIRE(table.index.rows() == data.x.rows);
  REQUIRE(table.index.cols() == k);
  bool equal = true;
  for (gpu::index_t i = 0; i < data.x.rows; ++i) {
    const std::vector<gpu::index_t> expected = data.partners(i, k, least);
    const auto held = static_cast<gpu::index_t>(expected.size());
    equal = equal && table.count[static_cast<std::size_t>(i)] == expected.size();
    for (gpu::index_t n = 0; n < k; ++n) {
      if (n >= held) {
        equal = equal && table.index(i, n) == gpu::neighbor_table::no_neighbor &&
                std::isnan(table.statistic(i, n));
        continue;
      }
      const gpu::index_t j = expected[static_cast<std::size_t>(n)];
      equal = equal && table.index(i, n) == static_cast<gpu::node_id>(j) &&
              table.statistic(i, n) == data.values[data.at(i, j)];
    }
  }
  CHECK(equal);
}

/// Every sink with cuts that equal statistics of pairs, and some partners.
inline void check_tanimoto(const tanimoto_oracle& data, const gpu::pair_options& options) {
  check_dense(data, options);
  for (const double least : {0.0, 0.25, 1.0 / 3, 0.5, 0.8, 1.0}) {
    INFO("least " << least);
    check_list(data, options, least);
    check_counts(data, options, least);
    check_partners(data, options, 3, least);
  }
  for (const gpu::index_t k : {1, 10, 70}) check_partners(data, options, k, 0);
}

struct tanimoto_shape {
  gpu::index_t rows;
  gpu::index_t y_rows;
  gpu::index_t cols;
  double density;
};

/// Around the edges of words, stages and tiles.
inline constexpr tanimoto_shape tanimoto_shapes[] = {
    {1, 1, 1, 0.5},      {2, 3, 1, 0.5},        {5, 64, 63, 0.1},     {64, 65, 64, 0.3},
    {65, 63, 65, 0.3},   {130, 60, 1024, 0.05}, {63, 130, 2055, 0.5}, {200, 20, 166, 0.2},
    {20, 300, 33, 0.04}, {260, 10, 9, 0.3}};

inline void check_tanimoto_shapes(const gpu::pair_options& options) {
  std::uint32_t seed = 1;
  for (const tanimoto_shape& shape : tanimoto_shapes) {
    INFO(shape.rows << " and " << shape.y_rows << " rows of " << shape.cols << " bits");
    const bit_table x(shape.rows, shape.cols, shape.density, ++seed);
    const bit_table y(shape.y_rows, shape.cols, shape.density, ++seed, 3);
    check_tanimoto(tanimoto_oracle(x, x), options);
    check_tanimoto(tanimoto_oracle(x, y), options);
    if (shape.rows % 3 != 0) continue;  // enough of the others
    check_tanimoto(tanimoto_oracle(x, x, gpu::measure::dice, {2, 1, 1}), options);
    check_tanimoto(tanimoto_oracle(x, y, gpu::measure::dice, {2, 1, 1}), options);
    check_tanimoto(tanimoto_oracle(x, x, gpu::measure::tversky, {3, 1, 1}), options);
    check_tanimoto(tanimoto_oracle(x, y, gpu::measure::tversky, {10, 7, 3}), options);
    check_tanimoto(tanimoto_oracle(x, y, gpu::measure::tversky, {1, 0, 5}), options);
  }
}

/// Parts one behind the other are the whole.
inline void check_tanimoto_parts(gpu::pair_options options) {
  const bit_table x(150, 100, 0.2, 41);
  const bit_table y(90, 100, 0.2, 42);
  for (const bool is_against : {false, true}) {
    const tanimoto_oracle data(x, is_against ? y : x);
    options.part = {};
    const auto whole_table = run_tanimoto(data, options, gpu::top_k_sink{.k = 4});
    const auto whole_counts =
        run_tanimoto(data, options, gpu::count_sink{.keep = {.min_abs = 0.3}});
    std::vector<gpu::edge> edges;
    std::vector<std::uint32_t> degree(static_cast<std::size_t>(x.rows));
    std::uint64_t tested = 0;
    gpu::index_t table_rows = 0;
    for (gpu::index_t part = 0; part < 3; ++part) {
      options.part = {.index = part, .of = 3};
      const auto list = run_tanimoto(data, options, gpu::edge_sink{.keep = {.min_abs = 0.3}});
      CHECK(list.summary.part_begin <= list.summary.part_end);
      edges.insert(edges.end(), list.edges.begin(), list.edges.end());
      const auto counts = run_tanimoto(data, options, gpu::count_sink{.keep = {.min_abs = 0.3}});
      for (std::size_t i = 0; i < degree.size(); ++i) degree[i] += counts.degree[i];
      tested += counts.tested;
      const auto table = run_tanimoto(data, options, gpu::top_k_sink{.k = 4});
      for (gpu::index_t i = 0; i < table.index.rows(); ++i, ++table_rows) {
        for (gpu::index_t n = 0; n < 4; ++n) {
          CHECK(table.index(i, n) == whole_table.index(table_rows, n));
        }
      }
    }
    CHECK(table_rows == x.rows);
    check_edges(edges, data.edges(0.3, 0, x.rows));
    CHECK(degree == whole_counts.degree);
    CHECK(tested == whole_counts.tested);
  }
}

}  // namespace gpu_test
