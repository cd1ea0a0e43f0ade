// pair_soak_test [--seconds S] [--seed N] [--jobs J]: random calls of all pairs beside a slow
// oracle: every measure; tables that are small, tall, wide and thin; rows that are constant,
// repeated, correlated or hold a NaN; cuts, sinks, parts, prepared rows, memory limits, variants
// and threads; on the GPU as well where there is one. Memory in use must not grow. A wrong answer
// is printed with the seed that repeats it, and ends the program with 1.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "reference/area_reference.hpp"
#include "reference/bicor_reference.hpp"
#include "reference/correlation_reference.hpp"
#include "soak/host_memory.hpp"

namespace {

using gpu::index_t;
using gpu::measure;
using gpu_test::statistic_table;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

class draw {
 public:
  explicit draw(std::uint64_t seed) : random_(seed) {}
  index_t between(index_t low, index_t high) {
    return low + static_cast<index_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(index_t n) { return between(1, n) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *std::next(all.begin(), between(0, static_cast<index_t>(all.size()) - 1));
  }

 private:
  std::mt19937_64 random_;
};

struct shape {
  index_t rows;
  index_t cols;
  index_t y_rows;  // 0: one table
};

shape draw_shape(draw& d, measure what) {
  const index_t y = d.one_in(3) ? d.between(1, 60) : 0;
  switch (d.between(0, 5)) {
    case 0:  // tall
      return {d.between(150, 900), d.between(3, 40), y};
    case 1:  // wide
      return {d.between(2, 14), d.between(300, 5000), y == 0 ? 0 : d.between(1, 8)};
    case 2:  // very wide: ranks of two limbs and of 32 bits
      return {d.between(2, 5),
              d.one_of<index_t>({1860, 1861, 8191, 20000, 32768, 32769, 40000}) -
                  (what == measure::spearman ? 0 : d.between(0, 70)),
              0};
    case 3:  // thin: few rows against many
      return {d.between(1, 4), d.one_of<index_t>({3, 8, 30, 64, 100, 129}), d.between(150, 900)};
    case 4:  // around the edges of tiles
      return {d.one_of<index_t>({31, 32, 33, 63, 64, 65, 127, 128, 129, 257}),
              d.one_of<index_t>({3, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 193}),
              y};
    default:
      return {d.between(2, 60), d.between(3, 60), y};
  }
}

// Rows of a few kinds, in the table and in y: groups that move together, some constant, some equal
// to another, some zero. Values are integers from 0 to 100, which every element type holds.
gpu::matrix<double> draw_values(draw& d, index_t rows, index_t cols) {
  const index_t largest = d.one_of<index_t>({1, 3, 10, 100});
  const index_t noise = d.between(0, 9);
  const index_t groups = d.between(1, 6);
  gpu::matrix<double> centres(groups, cols);
  for (index_t k = 0; k < groups * cols; ++k) {
    centres.data()[k] = static_cast<double>(d.between(0, largest));
  }
  gpu::matrix<double> out(rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    const index_t kind = d.between(0, 24);
    const index_t group = d.between(0, groups - 1);
    for (index_t j = 0; j < cols; ++j) {
      out(i, j) = kind == 0                 ? 7
                  : kind == 1               ? 0
                  : kind < 5 && i > 0       ? out(i - 1, j)
                  : d.between(0, 9) < noise ? static_cast<double>(d.between(0, largest))
                                            : centres(group, j);
    }
  }
  return out;
}

struct job {
  measure what = measure::spearman;
  shape of = {};
  gpu::matrix<double> rows;  // x and, behind it, y
  gpu::pair_filter keep;
  gpu::pair_options options;
  std::string text;
};

template <class T>
gpu::matrix<T> rows_of(const gpu::matrix<double>& from, index_t begin, index_t end) {
  gpu::matrix<T> out(end - begin, from.cols());
  for (index_t k = 0; k < out.rows() * out.cols(); ++k) {
    out.data()[k] = static_cast<T>(from.data()[begin * from.cols() + k]);
  }
  return out;
}

gpu::pair_filter draw_filter(draw& d, measure what) {
  gpu::pair_filter keep{.side = d.one_of({gpu::tail::two_sided, gpu::tail::two_sided,
                                          gpu::tail::greater, gpu::tail::less})};
  const bool has_p = gpu::info_of(what).test != gpu::significance::none;
  if (has_p) {
    keep.max_p = d.one_of({1.0, 0.7, 0.0513, 1.1e-3, 1.3e-6, 1.7e-12});
    keep.adjust = d.one_of({gpu::adjustment::none, gpu::adjustment::none,
                            gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg});
  }
  if (!has_p || d.one_in(3)) keep.min_abs = d.one_of({0.0, 0.3137, 0.8, 0.97, 1.0});
  return keep;
}

job draw_job(std::uint64_t seed) {
  draw d(seed);
  job out;
  out.what = d.one_of({measure::spearman, measure::pearson, measure::cosine, measure::bicor});
  out.of = draw_shape(d, out.what);
  out.rows = draw_values(d, out.of.rows + out.of.y_rows, out.of.cols);
  out.keep = draw_filter(d, out.what);
  out.options.exec.target = gpu::backend::cpu;
  out.options.p_method = gpu::p_method::t;  // that of the oracle
  out.options.exec.cpu_threads = static_cast<int>(d.between(1, 5));
  if (out.what == measure::spearman) {
    out.options.fold =
        d.one_of({gpu::row_folding::automatic, gpu::row_folding::never, gpu::row_folding::always});
  }
  if (d.one_in(4)) out.options.variant = gpu::pair_variant::naive;
  if (d.one_in(4)) {
    out.options.exec.workspace_bytes = static_cast<std::size_t>(d.between(300, 6000)) << 10;
  }
  std::ostringstream text;
  text << gpu::info_of(out.what).name << ' ' << out.of.rows << " x " << out.of.cols << " against "
       << out.of.y_rows << ", max_p " << out.keep.max_p << ", min_abs " << out.keep.min_abs
       << ", side " << static_cast<int>(out.keep.side) << ", adjust "
       << static_cast<int>(out.keep.adjust) << ", fold " << static_cast<int>(out.options.fold)
       << ", variant " << to_string(out.options.variant) << ", threads "
       << out.options.exec.cpu_threads << ", limit " << out.options.exec.workspace_bytes;
  out.text = text.str();
  return out;
}

/// What the oracle says of a pair: statistic, and whether it is kept; where that hangs on the last
/// places of the statistic, either.
struct known_pair {
  index_t row;
  index_t col;
  double statistic;
  bool may;
  bool must;
};

struct oracle {
  statistic_table table;  // of the call: x by y, or x by x
  std::vector<known_pair> pairs;
  double exactness = 0;  // how far a statistic may be off
};

oracle ask_oracle(const job& of) {
  oracle out;
  const auto view = gpu::matrix_view<const double>(of.rows.data(), of.rows.rows(), of.rows.cols());
  const statistic_table whole = of.what == measure::spearman  ? gpu_test::reference_spearman(view)
                                : of.what == measure::pearson ? gpu_test::reference_pearson(view)
                                : of.what == measure::bicor   ? gpu_test::reference_bicor(view)
                                                              : gpu_test::reference_cosine(view);
  out.exactness = of.what == measure::spearman ? 0 : 1e-13;
  const bool against = of.of.y_rows > 0;
  out.table = against ? gpu_test::reference_block(whole, of.of.rows) : whole;
  const auto found = against ? gpu_test::reference_rectangle_pairs(out.table)
                             : gpu_test::reference_pairs(out.table);
  const bool has_p = gpu::info_of(of.what).test != gpu::significance::none;
  double cut = of.keep.max_p;
  std::vector<double> p(found.size(), 0.0);
  if (has_p) {
    for (std::size_t e = 0; e < found.size(); ++e) {
      p[e] = gpu::correlation_p_value(found[e].statistic, of.of.cols, of.keep.side);
    }
    if (of.keep.adjust == gpu::adjustment::bonferroni) {
      cut /= static_cast<double>(std::max<std::size_t>(found.size(), 1));
    } else if (of.keep.adjust == gpu::adjustment::benjamini_hochberg) {
      cut = gpu_test::reference_benjamini_hochberg(p, cut);
    }
  }
  for (std::size_t e = 0; e < found.size(); ++e) {
    const double key = gpu_test::reference_key(found[e].statistic, of.keep.side);
    const double slack = 1e-9 * cut;
    const double off = out.exactness;
    const bool no_cut = cut >= 1 || !has_p;
    const bool by_size = of.keep.min_abs == 0;
    // p of the statistics that are as far off as they may be: next to 1 it changes by far more.
    const auto p_of = [&](double more) {
      const double r = std::clamp(key + more, -1.0, 1.0);
      const bool is_negative = of.keep.side == gpu::tail::less;
      return gpu::correlation_p_value(is_negative ? -r : r, of.of.cols, of.keep.side);
    };
    const double least_p = has_p && off > 0 ? p_of(off) : p[e];
    const double most_p = has_p && off > 0 ? p_of(-off) : p[e];
    out.pairs.push_back(
        {found[e].row, found[e].col, found[e].statistic,
         (no_cut || least_p <= cut + slack) && (by_size || key >= of.keep.min_abs - off - 1e-15),
         (no_cut || most_p < cut - slack) && (by_size || key >= of.keep.min_abs + off + 1e-15)});
  }
  return out;
}

template <class T>
class runs {
 public:
  explicit runs(const job& of)
      : job_(of),
        x_(rows_of<T>(of.rows, 0, of.of.rows)),
        y_(rows_of<T>(of.rows, of.of.rows, of.rows.rows())) {}

  template <class Sink>
  auto call(const gpu::pair_options& options, const Sink& sink) const {
    return job_.of.y_rows > 0 ? gpu::all_pairs(job_.what, x_, y_, options, sink)
                              : gpu::all_pairs(job_.what, x_, options, sink);
  }
  [[nodiscard]] std::vector<gpu::edge> edges(const gpu::pair_options& options) const {
    const auto found = call(options, gpu::edge_sink{.keep = job_.keep});
    return {found.edges.begin(), found.edges.end()};
  }
  /// The edges of a call with the rows of y prepared.
  [[nodiscard]] std::vector<gpu::edge> edges_of_prepared(const gpu::pair_options& options) const {
    const gpu::prepared_rows kept = gpu::prepare_rows(job_.what, y_, options);
    const auto found =
        gpu::all_pairs(job_.what, x_, kept, options, gpu::edge_sink{.keep = job_.keep});
    return {found.edges.begin(), found.edges.end()};
  }

 private:
  const job& job_;
  gpu::matrix<T> x_;
  gpu::matrix<T> y_;
};

void check_edges(std::span<const gpu::edge> got, const oracle& known) {
  std::size_t at = 0;
  for (const known_pair& of : known.pairs) {
    const bool there = at < got.size() && got[at].row == of.row && got[at].col == of.col;
    if (!there) {
      expect(!of.must, "the edge " + std::to_string(of.row) + ", " + std::to_string(of.col) +
                           " is missing, its statistic is " + std::to_string(of.statistic));
      continue;
    }
    expect(of.may, "the edge " + std::to_string(of.row) + ", " + std::to_string(of.col) +
                       " is kept, its statistic is " + std::to_string(of.statistic));
    expect(std::abs(got[at].statistic - of.statistic) <= known.exactness,
           "a statistic is " + std::to_string(got[at].statistic) + ", not " +
               std::to_string(of.statistic));
    ++at;
  }
  expect(at == got.size(), "edges of no pair, or out of order");
}

bool same_edges(std::span<const gpu::edge> a, std::span<const gpu::edge> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const gpu::edge& x, const gpu::edge& y) {
                      return x.row == y.row && x.col == y.col && x.statistic == y.statistic &&
                             (x.p == y.p || (x.p != x.p && y.p != y.p));
                    });
}

template <class T>
void check_counts(const job& of, const runs<T>& run, std::span<const gpu::edge> edges, draw& d) {
  const index_t bins = d.one_of<index_t>({0, 1, 7, 200});
  const auto got = run.call(of.options, gpu::count_sink{.keep = of.keep, .histogram_bins = bins});
  expect(got.kept == edges.size(), "the count of kept pairs");
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(of.of.rows));
  std::vector<std::uint32_t> y_degree(static_cast<std::size_t>(of.of.y_rows));
  std::vector<std::uint64_t> histogram(static_cast<std::size_t>(bins));
  for (const gpu::edge& e : edges) {
    ++degree[e.row];
    ++(of.of.y_rows > 0 ? y_degree[e.col] : degree[e.col]);
    if (bins == 0) continue;
    const double place = std::floor((e.statistic + 1) * static_cast<double>(bins) / 2);
    ++histogram[static_cast<std::size_t>(std::min(place, static_cast<double>(bins - 1)))];
  }
  expect(got.degree == degree && got.y_degree == y_degree, "the degrees");
  expect(got.histogram == histogram, "the histogram");
}

template <class T>
void check_dense(const job& of, const runs<T>& run, const oracle& known) {
  if (of.rows.rows() > 400) return;
  const auto got = run.call(of.options, gpu::dense_sink{});
  const double off = of.what == measure::spearman ? 0 : 1e-12;
  for (index_t i = 0; i < got.rows(); ++i) {
    for (index_t j = 0; j < got.cols(); ++j) {
      const double wanted = known.table[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      const double there = got(i, j);
      if (of.of.y_rows == 0 && i == j && there == 1.0) continue;
      expect((there != there && wanted != wanted) || std::abs(there - wanted) <= off,
             "dense element " + std::to_string(i) + ", " + std::to_string(j) + " is " +
                 std::to_string(there) + ", not " + std::to_string(wanted));
    }
  }
}

template <class T>
void check_partners(const job& of, const runs<T>& run, const oracle& known, draw& d) {
  const index_t k = d.one_of<index_t>({1, 3, 20});
  const auto order =
      d.one_of({gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value});
  const auto got = run.call(of.options, gpu::top_k_sink{.k = k, .order = order});
  for (index_t i = 0; i < of.of.rows; ++i) {
    std::vector<double> row = known.table[static_cast<std::size_t>(i)];
    if (of.of.y_rows == 0) row[static_cast<std::size_t>(i)] = std::nan("");
    const auto best = gpu_test::reference_best(row, k, order);
    const auto count = static_cast<std::size_t>(got.count[static_cast<std::size_t>(i)]);
    expect(count == best.size(), "the number of partners of row " + std::to_string(i));
    for (std::size_t e = 0; e < count; ++e) {
      const auto place = static_cast<index_t>(e);
      const bool same_partner = got.index(i, place) == best[e].col;
      // Of statistics that differ in their last places, either is the better one.
      expect(same_partner || known.exactness > 0, "a partner of row " + std::to_string(i));
      expect(std::abs(std::abs(got.statistic(i, place)) - std::abs(best[e].statistic)) <=
                 known.exactness,
             "the statistic of a partner of row " + std::to_string(i));
    }
  }
}

template <class T>
void check_parts(const job& of, const runs<T>& run, std::span<const gpu::edge> edges, draw& d) {
  gpu::pair_options options = of.options;
  std::vector<gpu::edge> joined;
  std::uint64_t counted = 0;
  options.part.of = d.between(2, 7);
  for (options.part.index = 0; options.part.index < options.part.of; ++options.part.index) {
    const auto found = run.edges(options);
    joined.insert(joined.end(), found.begin(), found.end());
    counted += run.call(options, gpu::count_sink{.keep = of.keep}).kept;
  }
  expect(same_edges(joined, edges), std::to_string(options.part.of) + " parts joined");
  expect(counted == edges.size(), "counts of parts");
}

template <class T>
void check_stream(const job& of, const runs<T>& run, std::span<const gpu::edge> edges, draw& d) {
  std::vector<gpu::edge> streamed;
  const gpu::stream_sink sink{.keep = of.keep,
                              .consume =
                                  [&](std::span<const gpu::edge> batch) {
                                    streamed.insert(streamed.end(), batch.begin(), batch.end());
                                  },
                              .batch_edges = d.one_of<index_t>({1, 17, 1 << 20})};
  const auto summary = run.call(of.options, sink);
  expect(same_edges(streamed, edges), "the stream");
  expect(summary.pairs_kept == edges.size(), "pairs_kept of the stream");
}

bool has_gpu() {
  static const bool usable = gpu::available_backends().back().usable;
  return usable;
}

template <class T>
void check_on_cuda(const job& of, const runs<T>& run, std::span<const gpu::edge> edges) {
  if (!has_gpu()) return;
  gpu::pair_options options = of.options;
  options.exec.target = gpu::backend::cuda;
  options.exec.workspace_bytes = 0;
  // What the naive kernels do not take.
  const bool folds = options.fold == gpu::row_folding::always;
  if (folds || of.of.cols > 4096) options.variant = gpu::pair_variant::automatic;
  const auto found = run.edges(options);
  expect(same_edges(found, edges), "CUDA and CPU");
}

template <class T>
void check_job(const job& of, draw& d) {
  const oracle known = ask_oracle(of);
  const runs<T> run(of);
  std::vector<gpu::edge> edges;
  try {
    edges = run.edges(of.options);
  } catch (const gpu::out_of_memory&) {
    if (of.options.exec.workspace_bytes == 0) throw;
    return;  // the limit that was drawn is too low for the shape
  }
  check_edges(edges, known);
  check_counts(of, run, edges, d);
  check_dense(of, run, known);
  check_partners(of, run, known, d);
  check_stream(of, run, edges, d);
  // What Benjamini and Hochberg keep cannot be told from a part.
  if (of.keep.adjust != gpu::adjustment::benjamini_hochberg && d.one_in(2)) {
    check_parts(of, run, edges, d);
  }
  if (of.of.y_rows > 0 && of.options.exec.workspace_bytes == 0) {
    gpu::pair_options options = of.options;
    options.fold = gpu::row_folding::automatic;
    expect(same_edges(run.edges_of_prepared(options), edges), "prepared rows");
  }
  gpu::pair_options other = of.options;
  other.exec.cpu_threads = static_cast<int>(d.between(1, 8));
  other.exec.workspace_bytes = 0;
  expect(same_edges(run.edges(other), edges), "other threads, no limit");
  check_on_cuda(of, run, edges);
}

void run_job(std::uint64_t seed) {
  const job of = draw_job(seed);
  draw d(seed + 0x9e3779b97f4a7c15u);
  try {
    switch (d.between(0, 4)) {
      case 0:
        return check_job<std::uint8_t>(of, d);
      case 1:
        return check_job<std::int16_t>(of, d);
      case 2:
        return check_job<std::int32_t>(of, d);
      case 3:
        return check_job<float>(of, d);
      default:
        return check_job<double>(of, d);
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(of.text + ": " + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5;
  std::uint64_t seed = 1;
  std::uint64_t jobs = std::numeric_limits<std::uint64_t>::max();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seconds") {
      seconds = std::stod(argv[i + 1]);
    } else if (name == "--seed") {
      seed = std::stoull(argv[i + 1]);
    } else if (name == "--jobs") {
      jobs = std::stoull(argv[i + 1]);
    } else {
      std::cerr << "got " << name << ", expected --seconds, --seed or --jobs\n";
      return 2;
    }
  }
  gpu_test::keep_no_large_blocks();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t done = 0;
  std::size_t early_bytes = 0;
  int failures = 0;
  for (; done < jobs && elapsed() < seconds && failures < 10; ++done) {
    try {
      run_job(seed + done);
    } catch (const std::exception& error) {
      std::cout << "seed " << seed + done << " (repeat with --jobs 1): " << error.what()
                << std::endl;
      ++failures;
    }
    if (early_bytes == 0 && elapsed() > seconds / 4) {
      early_bytes = gpu_test::measure_host_memory().in_use;
    }
  }
  const std::size_t late_bytes = gpu_test::measure_host_memory().in_use;
  if (early_bytes != 0 && late_bytes > early_bytes + (std::size_t{16} << 20)) {
    std::cout << "memory in use has grown from " << early_bytes << " to " << late_bytes
              << " bytes\n";
    ++failures;
  }
  std::cout << done << " jobs from seed " << seed << (has_gpu() ? ", on the GPU as well" : "")
            << ": " << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}
