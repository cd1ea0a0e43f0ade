// All pairs: every variant and sink of each measure.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "soak/cases.hpp"
#include "support/correlated_rows.hpp"
#include "support/generators.hpp"

namespace gpu_test {
namespace {

using gpu::index_t;
using gpu::pair_variant;

struct spearman_measure {
  static constexpr const char* name = "spearman ";
  static constexpr bool has_folding = true;
  static constexpr bool has_p = true;
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::spearman_all_pairs(data, options, sink);
  }
};
struct pearson_measure {
  static constexpr const char* name = "pearson ";
  static constexpr bool has_folding = false;
  static constexpr bool has_p = true;
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::pearson_all_pairs(data, options, sink);
  }
};

struct bicor_measure {
  static constexpr const char* name = "bicor ";
  static constexpr bool has_folding = false;
  static constexpr bool has_p = true;
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::bicor_all_pairs(data, options, sink);
  }
};

struct kendall_measure {
  static constexpr const char* name = "kendall ";
  static constexpr std::size_t resident_bytes = std::size_t{1} << 30;  // whose rows are not staged
  static constexpr bool has_folding = false;
  static constexpr bool has_p = true;
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::kendall_all_pairs(data, options, sink);
  }
};

struct cosine_measure {
  static constexpr const char* name = "cosine ";
  static constexpr bool has_folding = false;
  static constexpr bool has_p = false;
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::cosine_all_pairs(data, options, sink);
  }
};

/// A measure of rows with missing values, pair by pair: every result has the CPU's bits.
template <class Measure>
struct pair_by_pair : Measure {
  static constexpr bool has_folding = false;
  static constexpr bool has_cpu_bits = true;
  static constexpr index_t most_rows = 300;  // with more the CPU's answer takes long

  /// Scattered holes, or a few masks that many rows share.
  static void refine(gpu::matrix<float>& x, gpu::pair_options& options, dice& d) {
    options.nans = gpu::nan_policy::pairwise;
    options.min_observations = d.one_of<index_t>({3, 3, 5, 20});
    const index_t masks = d.one_of<index_t>({0, 1, 2, 20});
    const index_t missing = d.one_of<index_t>({1, 5, 30, 70});  // in a hundred
    const std::uint64_t seed = d.seed();
    for (index_t i = 0; i < x.rows(); ++i) {
      dice own(seed + static_cast<std::uint64_t>(masks == 0 ? i : i % masks), 1);
      for (index_t k = 0; k < x.cols(); ++k) {
        if (own.between(1, 100) <= missing) x(i, k) = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }
};

/// Spearman with p by permutations, of rows without ties or with some.
struct exact_p_measure : spearman_measure {
  static constexpr bool has_folding = false;
  static constexpr bool has_cpu_bits = true;

  static void refine(gpu::matrix<float>& x, gpu::pair_options& options, dice& d) {
    options.p_method = gpu::p_method::exact;
    const index_t untied = d.one_of<index_t>({1, 2, 5, 5});  // one row in so many has no ties
    for (index_t i = 0; i < x.rows(); i += untied) {
      for (index_t k = 0; k < x.cols(); ++k) {
        x(i, k) += 1e-3F * static_cast<float>(d.between(1, 1 << 20)) * 0x1p-20F;
      }
    }
  }
};

template <class T>
gpu::matrix<T> draw_rows(dice& d, index_t most_rows) {
  const index_t rows = std::min(d.rows(), most_rows);
  const index_t cols = d.one_of<index_t>({3, 8, 30, 31, 32, 57, 64, 100, 128, 130, 300});
  if (d.coin()) {
    return correlated_matrix<T>({.rows = rows,
                                 .cols = cols,
                                 .pairs_in_blocks = d.one_of({0.001, 0.05, 0.5}),
                                 .levels = d.one_of({0, 3, 12}),
                                 .seed = d.seed()});
  }
  return tied_matrix<T>(rows, cols, d.seed(), d.one_of({0.0, 0.5, 0.95}), d.one_of({2, 10, 100}));
}

template <class Measure>
gpu::pair_filter draw_filter(dice& d) {
  if (!Measure::has_p) {
    return {.min_abs = d.one_of({0.0, 0.3, 0.8, 0.95, 0.99}),
            .side = d.one_of({gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less})};
  }
  return {.max_p = d.one_of({1e-12, 1e-6, 1e-3, 0.05, 1.0}),
          .side = d.one_of(
              {gpu::tail::two_sided, gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}),
          .adjust = d.one_of({gpu::adjustment::none, gpu::adjustment::none,
                              gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg})};
}

/// Largest error of a dense Pearson of the tensor cores, of rows of `cols` elements, as
/// docs/pearson.md says.
double tensor_error(index_t cols) {
  const auto padded = static_cast<double>((cols + 15) / 16 * 16);
  return 3 * 0x1p-22 + 30 * 0x1p-26 * std::min(padded, 64.0) + 0x1p-24 * std::ceil(padded / 64);
}

/// Makes one call on both backends and compares the results by compare(cuda, cpu), or by
/// compare(cuda, cpu, cols).
template <class Measure, class T, class Sink, class Compare>
void run_pairs(dice& d, pair_variant variant, cudaStream_t, const Sink& sink,
               const Compare& compare) {
  index_t most_rows = d.most_rows();
  if constexpr (requires { Measure::most_rows; }) most_rows = Measure::most_rows;
  gpu::matrix<T> x = draw_rows<T>(d, most_rows);
  gpu::pair_options options{.variant = variant, .exec = {.target = gpu::backend::cuda}};
  if (Measure::has_folding) {
    options.fold =
        d.one_of({gpu::row_folding::automatic, gpu::row_folding::never, gpu::row_folding::always});
  }
  if (d.between(0, 3) == 0) {
    options.exec.workspace_bytes = static_cast<std::size_t>(d.between(1 << 20, 8 << 20));
    if constexpr (requires { Measure::resident_bytes; }) {
      options.exec.workspace_bytes += Measure::resident_bytes;
    }
  }
  if constexpr (requires { Measure::refine(x, options, d); }) Measure::refine(x, options, d);
  gpu::pair_options on_cpu = options;
  on_cpu.variant = pair_variant::automatic;
  on_cpu.exec = by_cpu();
  const auto got = Measure::run(x, options, sink);
  const auto wanted = Measure::run(x, on_cpu, sink);
  const std::string shape = std::to_string(x.rows()) + " x " + std::to_string(x.cols());
  if constexpr (std::is_invocable_v<Compare, decltype(got), decltype(wanted), index_t>) {
    expect(compare(got, wanted, x.cols()), shape);
  } else {
    expect(compare(got, wanted), shape);
  }
}

/// p may be NaN, of a measure without a test.
bool same_edge(const gpu::edge& a, const gpu::edge& b) {
  return a.row == b.row && a.col == b.col && a.statistic == b.statistic &&
         (a.p == b.p || (std::isnan(a.p) && std::isnan(b.p)));
}

template <class Measure, class T>
void edges(dice& d, pair_variant variant, cudaStream_t stream) {
  const gpu::edge_sink sink{.keep = draw_filter<Measure>(d)};
  run_pairs<Measure, T>(d, variant, stream, sink, [](const auto& got, const auto& wanted) {
    return std::ranges::equal(got.edges, wanted.edges, same_edge) &&
           got.summary.constant_rows == wanted.summary.constant_rows;
  });
}

template <class Measure, class T>
void counts(dice& d, pair_variant variant, cudaStream_t stream) {
  const gpu::count_sink sink{.keep = draw_filter<Measure>(d),
                             .histogram_bins = d.one_of<index_t>({0, 20, 200, 5000})};
  run_pairs<Measure, T>(d, variant, stream, sink, [](const auto& got, const auto& wanted) {
    return got.kept == wanted.kept && got.tested == wanted.tested && got.degree == wanted.degree &&
           got.histogram == wanted.histogram;
  });
}

template <class Measure, class T>
void neighbors(dice& d, pair_variant variant, cudaStream_t stream) {
  const gpu::top_k_sink sink{
      .k = d.one_of<index_t>({1, 3, 10, 40}),
      .keep = {.max_p = Measure::has_p ? d.one_of({1.0, 0.05}) : 1.0},
      .order = d.one_of({gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value})};
  run_pairs<Measure, T>(d, variant, stream, sink, [](const auto& got, const auto& wanted) {
    return got.count == wanted.count && same_values(got.index, wanted.index) &&
           same_values(got.statistic, wanted.statistic);
  });
}

/// The largest error that dense results have had, as a share of what they may have.
class error_share {
 public:
  void note(double share) {
    double known = largest_;
    while (share > known && !largest_.compare_exchange_weak(known, share)) {
    }
  }
  [[nodiscard]] double largest() const { return largest_; }

 private:
  std::atomic<double> largest_{0};
};
error_share dense_errors;

/// Throws where an element is further off than `tolerance`.
void compare_dense(const gpu::matrix<double>& got, const gpu::matrix<double>& wanted,
                   double tolerance) {
  expect(got.rows() == wanted.rows() && got.cols() == wanted.cols(), "the shape");
  double largest = 0;
  for (index_t i = 0; i < wanted.rows() * wanted.cols(); ++i) {
    const double a = got.data()[i];
    const double b = wanted.data()[i];
    const double error = a != a && b != b ? 0 : std::fabs(a - b);
    if (!(error <= tolerance)) {
      throw wrong_answer("element " + std::to_string(i) + " of " + std::to_string(wanted.rows()) +
                         " rows is " + std::to_string(a) + ", not " + std::to_string(b) +
                         ", off by " + std::to_string(error / tolerance) + " times its bound");
    }
    largest = std::max(largest, error);
  }
  if (tolerance > 0) dense_errors.note(largest / tolerance);
}

template <class Measure, class T>
void dense(dice& d, pair_variant variant, cudaStream_t stream) {
  const bool has_same_bits = Measure::has_folding || requires {
    Measure::has_cpu_bits;
  } || variant == pair_variant::naive || variant == pair_variant::shared_tiled;
  run_pairs<Measure, T>(d, variant, stream, gpu::dense_sink{},
                        [&](const auto& got, const auto& wanted, index_t cols) {
                          compare_dense(got, wanted, has_same_bits ? 0 : tensor_error(cols));
                          return true;
                        });
}

constexpr std::initializer_list<pair_variant> all_variants{
    pair_variant::automatic, pair_variant::naive, pair_variant::shared_tiled, pair_variant::tensor,
    pair_variant::hopper};

template <class Measure, class T>
void add_measure(std::vector<soak_case>& all, const std::string& type,
                 std::initializer_list<pair_variant> variants = all_variants) {
  for (const pair_variant variant : variants) {
    const auto add = [&](const std::string& sink, auto function) {
      all.push_back({Measure::name + sink + ", " + type + ", " + std::string(to_string(variant)),
                     [=](dice& d, cudaStream_t stream) { function(d, variant, stream); }});
    };
    add("edges", &edges<Measure, T>);
    add("counts", &counts<Measure, T>);
    add("neighbours", &neighbors<Measure, T>);
    add("dense", &dense<Measure, T>);
  }
}

}  // namespace

double largest_dense_error() {
  return dense_errors.largest();
}

std::vector<soak_case> pair_cases() {
  std::vector<soak_case> all;
  add_measure<spearman_measure, std::int32_t>(all, "int32");
  add_measure<spearman_measure, float>(all, "float");
  add_measure<spearman_measure, std::uint8_t>(all, "uint8");
  add_measure<pearson_measure, float>(all, "float");
  add_measure<pearson_measure, double>(all, "double");
  add_measure<cosine_measure, float>(all, "float");
  add_measure<cosine_measure, std::uint8_t>(all, "uint8");
  add_measure<bicor_measure, float>(all, "float");
  add_measure<bicor_measure, std::uint8_t>(all, "uint8");
  add_measure<kendall_measure, float>(all, "float");
  add_measure<kendall_measure, std::uint8_t>(all, "uint8");
  const auto only = {pair_variant::automatic};
  add_measure<pair_by_pair<spearman_measure>, float>(all, "missing values", only);
  add_measure<pair_by_pair<pearson_measure>, float>(all, "missing values", only);
  add_measure<pair_by_pair<cosine_measure>, float>(all, "missing values", only);
  add_measure<pair_by_pair<kendall_measure>, float>(all, "missing values", only);
  add_measure<pair_by_pair<bicor_measure>, float>(all, "missing values", only);
  add_measure<exact_p_measure, float>(all, "exact p", only);
  return all;
}

}  // namespace gpu_test
