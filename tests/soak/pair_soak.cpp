// pair_soak_test [--seconds S] [--seed N] [--jobs J]: random jobs of all pairs (soak/pair_jobs.hpp)
// beside a slow oracle: every measure and sink, whole and in parts. Memory in use must not grow. A
// wrong answer is printed with the seed that repeats it, and ends the program with 1. That other
// ways to run a job say the same: pair_ways_test, and soak_cuda for the GPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gpu/observations.hpp>
#include <gpu/similarity.hpp>

#include "reference/area_reference.hpp"
#include "reference/bicor_reference.hpp"
#include "reference/correlation_reference.hpp"
#include "reference/kendall_reference.hpp"
#include "soak/host_memory.hpp"
#include "soak/pair_jobs.hpp"

namespace {

using namespace gpu_test;

/// Statistics of integers have no rounding but the last.
bool has_integers(measure what) {
  return what == measure::spearman || what == measure::kendall;
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

template <class T>
auto run(const job<T>& of, const auto& sink) {
  return of.y.rows() > 0 ? gpu::all_pairs(of.what, of.x, of.y, of.options, sink)
                         : gpu::all_pairs(of.what, of.x, of.options, sink);
}

/// The statistics of the call: x by y, or x by x.
template <class T>
statistic_table statistics_of(const job<T>& of) {
  gpu::matrix<T> rows(of.x.rows() + of.y.rows(), of.x.cols());
  std::copy_n(of.x.data(), of.x.rows() * of.x.cols(), rows.data());
  std::copy_n(of.y.data(), of.y.rows() * of.x.cols(), rows.data() + of.x.rows() * of.x.cols());
  const auto view = gpu::matrix_view<const T>(rows.data(), rows.rows(), rows.cols());
  const statistic_table whole = of.what == measure::spearman  ? gpu_test::reference_spearman(view)
                                : of.what == measure::pearson ? gpu_test::reference_pearson(view)
                                : of.what == measure::bicor   ? gpu_test::reference_bicor(view)
                                : of.what == measure::kendall ? gpu_test::reference_kendall(view)
                                                              : gpu_test::reference_cosine(view);
  return of.y.rows() > 0 ? gpu_test::reference_block(whole, of.x.rows()) : whole;
}
/// Of rows with missing values: the dense result, whose oracle is in missing/missing_cases.hpp.
template <class T>
statistic_table dense_of(const job<T>& of) {
  const auto dense = run(of, gpu::dense_sink{});
  statistic_table out;
  for (index_t i = 0; i < dense.rows(); ++i) {
    out.emplace_back(dense.row(i).begin(), dense.row(i).end());
  }
  return out;
}

template <class T>
oracle ask_oracle(const job<T>& of) {
  oracle out;
  const bool misses = of.options.nans == gpu::nan_policy::pairwise;
  out.table = misses ? dense_of(of) : statistics_of(of);
  out.exactness = misses || has_integers(of.what) ? 0 : 1e-13;
  const bool against = of.y.rows() > 0;
  gpu::matrix<gpu::node_id> shared;
  if (misses) {
    shared = against ? gpu::shared_observations(of.x, of.y) : gpu::shared_observations(of.x);
  }
  const auto found = against ? gpu_test::reference_rectangle_pairs(out.table)
                             : gpu_test::reference_pairs(out.table);
  const bool has_p = of.what != measure::cosine && of.what != measure::kendall;
  double cut = of.keep.max_p;
  std::vector<double> p(found.size(), 0.0);
  if (has_p) {
    for (std::size_t e = 0; e < found.size(); ++e) {
      const index_t columns = misses ? index_t{shared(found[e].row, found[e].col)} : of.x.cols();
      p[e] = gpu::correlation_p_value(found[e].statistic, columns, of.keep.side);
    }
    if (of.keep.adjust == gpu::adjustment::bonferroni) {
      cut /= static_cast<double>(std::max<std::size_t>(found.size(), 1));
    } else if (of.keep.adjust == gpu::adjustment::benjamini_hochberg) {
      cut = gpu_test::reference_benjamini_hochberg(p, cut);
    }
  }
  for (std::size_t e = 0; e < found.size(); ++e) {
    const double key = gpu_test::reference_key(found[e].statistic, of.keep.side);
    // Statistics of integers are exact, and so is what a cut at one of them keeps.
    const double off = out.exactness;
    const double slack = off > 0 ? 1e-9 * cut : 0;
    const double rounding = off > 0 ? off + 1e-15 : 0;
    const bool no_cut = cut >= 1 || !has_p;
    const bool by_size = of.keep.min_abs == 0;
    // p of the statistics that are as far off as they may be: next to 1 it changes by far more.
    const auto p_of = [&](double more) {
      const double r = std::clamp(key + more, -1.0, 1.0);
      const bool is_negative = of.keep.side == gpu::tail::less;
      return gpu::correlation_p_value(is_negative ? -r : r, of.x.cols(), of.keep.side);
    };
    const double least_p = has_p && off > 0 ? p_of(off) : p[e];
    const double most_p = has_p && off > 0 ? p_of(-off) : p[e];
    out.pairs.push_back(
        {found[e].row, found[e].col, found[e].statistic,
         (no_cut || least_p <= cut + slack) && (by_size || key >= of.keep.min_abs - rounding),
         (no_cut || (off > 0 ? most_p < cut - slack : most_p <= cut)) &&
             (by_size || key >= of.keep.min_abs + rounding)});
  }
  return out;
}

template <class T>
std::vector<gpu::edge> edges_of(const job<T>& of) {
  const auto found = run(of, gpu::edge_sink{.keep = of.keep});
  return {found.edges.begin(), found.edges.end()};
}

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
void check_counts(const job<T>& of, std::span<const gpu::edge> edges, dice& d) {
  const index_t bins = d.one_of<index_t>({0, 1, 7, 200});
  const auto got = run(of, gpu::count_sink{.keep = of.keep, .histogram_bins = bins});
  expect(got.kept == edges.size(), "the count of kept pairs");
  const auto tests = static_cast<double>(std::max<std::uint64_t>(got.tested, 1));
  const auto kept = static_cast<double>(std::max<std::uint64_t>(got.kept, 1));
  const double cut = of.keep.adjust == gpu::adjustment::none         ? of.keep.max_p
                     : of.keep.adjust == gpu::adjustment::bonferroni ? of.keep.max_p / tests
                                                                     : of.keep.max_p * kept / tests;
  const bool is_known =  // else other pairs were found, too
      of.keep.adjust != gpu::adjustment::benjamini_hochberg || of.keep.min_abs == 0;
  expect(!is_known || got.summary.max_p_effective == cut, "the cut on p");
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(of.x.rows()));
  std::vector<std::uint32_t> y_degree(static_cast<std::size_t>(of.y.rows()));
  std::vector<std::uint64_t> histogram(static_cast<std::size_t>(bins));
  for (const gpu::edge& e : edges) {
    ++degree[e.row];
    ++(of.y.rows() > 0 ? y_degree[e.col] : degree[e.col]);
    if (bins == 0) continue;
    const double place = std::floor((e.statistic + 1) * static_cast<double>(bins) / 2);
    ++histogram[static_cast<std::size_t>(std::min(place, static_cast<double>(bins - 1)))];
  }
  expect(got.degree == degree && got.y_degree == y_degree, "the degrees");
  expect(got.histogram == histogram, "the histogram");
}

template <class T>
void check_dense(const job<T>& of, const oracle& known) {
  const auto got = run(of, gpu::dense_sink{});
  const double off = has_integers(of.what) ? 0 : 1e-12;
  for (index_t i = 0; i < got.rows(); ++i) {
    for (index_t j = 0; j < got.cols(); ++j) {
      const double wanted = known.table[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      const double there = got(i, j);
      if (of.y.rows() == 0 && i == j && there == 1.0) continue;
      expect((there != there && wanted != wanted) || std::abs(there - wanted) <= off,
             "dense element " + std::to_string(i) + ", " + std::to_string(j) + " is " +
                 std::to_string(there) + ", not " + std::to_string(wanted));
    }
  }
}

template <class T>
void check_partners(const job<T>& of, const oracle& known, dice& d) {
  const index_t k = d.one_of<index_t>({1, 3, 20});
  const auto order =
      d.one_of({gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value});
  const auto got = run(of, gpu::top_k_sink{.k = k, .order = order});
  for (index_t i = 0; i < of.x.rows(); ++i) {
    std::vector<double> row = known.table[static_cast<std::size_t>(i)];
    if (of.y.rows() == 0) row[static_cast<std::size_t>(i)] = std::nan("");
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
void check_parts(const job<T>& of, std::span<const gpu::edge> edges, dice& d) {
  job<T> part{.what = of.what,
              .x = of.x.clone(),
              .y = of.y.clone(),
              .keep = of.keep,
              .options = of.options};
  std::vector<gpu::edge> joined;
  std::uint64_t counted = 0;
  part.options.part.of = d.between(2, 7);
  for (index_t index = 0; index < part.options.part.of; ++index) {
    part.options.part.index = index;
    const auto found = edges_of(part);
    joined.insert(joined.end(), found.begin(), found.end());
    counted += run(part, gpu::count_sink{.keep = of.keep}).kept;
  }
  expect(same_edges(joined, edges), std::to_string(part.options.part.of) + " parts joined");
  expect(counted == edges.size(), "counts of parts");
}

template <class T>
void check_job(dice& d, measure what, std::string& text) {
  const kind rows = std::is_floating_point_v<T> && d.coin() ? kind::missing_values : kind::plain;
  job<T> of = draw_job<T>(d, what, rows, pair_variant::automatic,
                          {.products = 1'000'000, .cols = d.between(0, 9) == 0 ? 20'000 : 2100});
  of.options.p_method = gpu::p_method::t;  // as the oracle has it
  of.options.part = {};
  of.options.exec = {.target = gpu::backend::cpu, .cpu_threads = 2};
  if (what == measure::kendall)
    of.keep = {.min_abs = d.one_of({0.0, 0.3, 1.0}), .side = of.keep.side};
  std::ostringstream out;
  out << gpu::to_string(what) << ' ' << of.x.rows() << " x " << of.x.cols() << " against "
      << of.y.rows() << ", max_p " << of.keep.max_p << ", min_abs " << of.keep.min_abs << ", side "
      << static_cast<int>(of.keep.side) << ", adjust " << static_cast<int>(of.keep.adjust)
      << ", fold " << static_cast<int>(of.options.fold) << (rows == kind::plain ? "" : ", holes");
  text = out.str();
  const oracle known = ask_oracle(of);
  const std::vector<gpu::edge> edges = edges_of(of);
  check_edges(edges, known);
  check_counts(of, edges, d);
  if (rows == kind::plain) check_dense(of, known);
  check_partners(of, known, d);
  if (may_have_parts(of) && d.coin()) check_parts(of, edges, d);
}

void run_job(std::uint64_t seed) {
  dice d(seed, 900);
  const measure what = gpu::all_measures()[seed % gpu::all_measures().size()];
  std::string text;
  try {
    with_drawn_type(d, kind::plain, [&]<class T>(T) { check_job<T>(d, what, text); });
  } catch (const std::exception& error) {
    throw std::runtime_error(text + ": " + error.what());
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
  std::cout << done << " jobs from seed " << seed << ": " << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}
