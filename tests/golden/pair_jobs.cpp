// Jobs of all pairs: measure x sink x shape x form of the input x part x holes x tail x adjustment.

#include <algorithm>
#include <array>
#include <sstream>

#include "golden/draws.hpp"
#include "golden/jobs.hpp"

namespace gpu_test::golden {
namespace {

using gpu::index_t;

enum class layout { rows, columns, csr };

/// A table and what it is called with, which may refer to its memory.
class stored_table {
 public:
  stored_table(const gpu::matrix<double>& values, layout how, const char* type) {
    if (how == layout::csr) {
      store_csr(values);
    } else if (std::string_view(type) == "double") {
      store<double>(values, how);
    } else if (std::string_view(type) == "float") {
      store<float>(values, how);
    } else if (std::string_view(type) == "int8") {
      store<std::int8_t>(values, how);
    } else if (std::string_view(type) == "int32") {
      store<std::int32_t>(values, how);
    } else {
      store<std::int64_t>(values, how);
    }
  }
  stored_table(const stored_table&) = delete;
  stored_table& operator=(const stored_table&) = delete;

  [[nodiscard]] const gpu::detail::any_table& view() const { return view_; }

 private:
  template <class T>
  void store(const gpu::matrix<double>& values, layout how) {
    const index_t rows = values.rows();
    const index_t cols = values.cols();
    bytes_.resize(static_cast<std::size_t>(rows * cols) * sizeof(T) + alignof(T));
    auto* const out = reinterpret_cast<T*>(bytes_.data());
    for (index_t r = 0; r < rows; ++r) {
      for (index_t c = 0; c < cols; ++c) {
        out[how == layout::rows ? r * cols + c : c * rows + r] = static_cast<T>(values(r, c));
      }
    }
    if (how == layout::rows) {
      view_ = gpu::matrix_view<const T>(out, rows, cols);
    } else {
      view_ = gpu::column_matrix_view<const T>(out, rows, cols);
    }
  }
  void store_csr(const gpu::matrix<double>& values) {
    begins_.push_back(0);
    for (index_t r = 0; r < values.rows(); ++r) {
      for (index_t c = 0; c < values.cols(); ++c) {
        if (values(r, c) == 0) continue;
        columns_.push_back(static_cast<std::int32_t>(c));
        stored_.push_back(values(r, c));
      }
      begins_.push_back(static_cast<std::int32_t>(columns_.size()));
    }
    view_ = gpu::csr_view<const double>(begins_.data(), columns_.data(), stored_.data(),
                                        values.rows(), values.cols());
  }

  std::vector<char> bytes_;
  std::vector<std::int32_t> begins_;
  std::vector<std::int32_t> columns_;
  std::vector<double> stored_;
  gpu::detail::any_table view_;
};

struct shape {
  index_t rows;
  index_t cols;
};

/// So small that 480 of them end within seconds at every level of the CPU, also pair by pair.
shape draw_shape(draws& from, gpu::measure what, bool is_pairwise) {
  shape out{from.one_of<index_t>({2, 3, 5, 9, 17, 33, 64, 65, 100, 129, 200, 300}),
            from.one_of<index_t>({4,  5,   8,   9,   12,  16,  30,   31,   57,   64,
                                  96, 128, 129, 200, 257, 513, 1030, 2050, 4100, 9000})};
  const bool is_slow =
      what == gpu::measure::kendall || (is_pairwise && what == gpu::measure::bicor);
  const index_t most_products = is_slow ? 500'000 : 8'000'000;
  if (is_slow) out.cols = std::min<index_t>(out.cols, 300);
  while (out.rows > 2 && out.rows * out.rows * out.cols > most_products) out.rows /= 2;
  return out;
}

// "folded" are edges of rows that are folded, whether that pays or not.
constexpr std::array all_sinks{"dense", "dense_f32", "edges",  "stream",      "counts",
                               "top_k", "bh_step",   "folded", "connectivity"};

struct job {
  gpu::measure what{};
  std::string sink;
  gpu::matrix<double> x;
  gpu::matrix<double> y;
  layout how{};
  const char* type = "double";
  gpu::pair_filter keep;
  gpu::pair_options options;
  index_t k = 1;
  index_t bins = 0;
  bool signed_order = false;
  bool with_q = false;
  std::vector<double> covariates;
  std::vector<double> weights;
  std::string text;
};

template <class Sink>
auto call(const job& j, const Sink& sink) {
  const stored_table x(j.x, j.how, j.type);
  gpu::detail::pair_tables tables{.x = x.view()};
  if (j.y.rows() == 0) return gpu::detail::all_pairs(j.what, tables, j.options, sink);
  const stored_table y(j.y, layout::rows, "double");
  tables.y = y.view();
  return gpu::detail::all_pairs(j.what, tables, j.options, sink);
}

template <class Value>
void add_dense(const job& j, checksum& sum) {
  const auto out = call(j, gpu::basic_dense_sink<Value>{});
  sum.add(static_cast<const gpu::matrix<Value>&>(out));
  sum.add(out.summary);
}

void add_answer(const job& j, checksum& sum) {
  if (j.sink == "dense") {
    add_dense<double>(j, sum);
  } else if (j.sink == "dense_f32") {
    add_dense<float>(j, sum);
  } else if (j.sink == "edges" || j.sink == "folded") {
    const auto out = call(j, gpu::edge_sink{.keep = j.keep});
    sum.add(std::span<const gpu::edge>(out.edges));
    sum.add(out.summary);
  } else if (j.sink == "stream") {
    // Batches may be cut elsewhere: the edges alone count.
    const auto summary = call(j, gpu::stream_sink{.keep = j.keep,
                                                  .consume =
                                                      [&](std::span<const gpu::edge> batch) {
                                                        for (const gpu::edge& e : batch) sum.add(e);
                                                      },
                                                  .batch_edges = 100});
    sum.add(summary);
  } else if (j.sink == "counts") {
    const auto out = call(j, gpu::count_sink{.keep = j.keep, .histogram_bins = j.bins});
    sum.add(out.degree);
    sum.add(out.y_degree);
    sum.add(out.histogram);
    sum.add(out.summary);
  } else if (j.sink == "top_k") {
    const auto out =
        call(j, gpu::top_k_sink{.k = j.k,
                                .keep = j.keep,
                                .order = j.signed_order ? gpu::neighbor_order::by_value
                                                        : gpu::neighbor_order::by_absolute_value,
                                .q = j.with_q ? gpu::neighbor_q::exact : gpu::neighbor_q::none});
    sum.add(out.index);
    sum.add(out.statistic);
    sum.add(out.count);
    sum.add(out.q);
    sum.add(out.summary);
  } else if (j.sink == "bh_step") {
    const auto out =
        call(j, gpu::discovery_sink{.keep = {.max_p = j.keep.max_p, .side = j.keep.side}});
    sum.add(out.below);
    sum.add(out.at_or_above);
    sum.add(out.bins);
    sum.add(out.summary);
  } else {
    const auto out = call(j, gpu::connectivity_sink{});
    sum.add(out.connectivity);
    sum.add(out.summary);
  }
}

void draw_options(draws& from, job& j, holes missing) {
  gpu::pair_options& options = j.options;
  if (missing == holes::rows) options.nans = gpu::nan_policy::propagate;
  const bool is_pairwise = missing == holes::scattered || missing == holes::patterns;
  if (is_pairwise) {
    options.nans = gpu::nan_policy::pairwise;
    if (from.one_in(3)) options.min_observations = 5;
  }
  if (from.one_in(4)) {
    options.part.of = 3;
    options.part.index = static_cast<index_t>(from.below(3));
  }
  const bool may_weigh =
      !is_pairwise && j.what != gpu::measure::bicor && j.what != gpu::measure::kendall;
  if (may_weigh && from.one_in(6)) {
    if (j.what != gpu::measure::cosine) {
      const index_t number = 1 + static_cast<index_t>(from.below(2));
      for (index_t i = 0; i < number * j.x.cols(); ++i) j.covariates.push_back(from.normal());
      options.covariates = {j.covariates.data(), number, j.x.cols()};
    }
    if (j.what != gpu::measure::spearman && from.one_in(2)) {
      for (index_t i = 0; i < j.x.cols(); ++i) {
        j.weights.push_back(static_cast<double>(1 + from.below(4)));
      }
      options.column_weights = j.weights;
      if (j.what == gpu::measure::pearson) options.effective_observations = j.x.cols();
    }
  }
  if (j.what == gpu::measure::spearman && !is_pairwise && j.covariates.empty() && from.one_in(5)) {
    options.p_method = gpu::p_method::exact;
  }
}

void draw_filter(draws& from, job& j) {
  const bool has_p =
      j.what != gpu::measure::cosine && (j.weights.empty() || j.options.effective_observations > 0);
  if (has_p && !from.one_in(5)) j.keep.max_p = from.one_of({0.5, 0.05, 1e-3, 1e-9});
  if (from.one_in(3)) j.keep.min_abs = from.one_of({0.1, 0.5, 0.8, 1.0});
  if (from.one_in(2)) j.keep.side = from.one_of({gpu::tail::greater, gpu::tail::less});
  const bool may_adjust = has_p && j.keep.max_p < 1;
  if (may_adjust && from.one_in(2)) {
    const bool may_step = j.options.part.of == 1;
    j.keep.adjust = may_step && from.one_in(2) ? gpu::adjustment::benjamini_hochberg
                                               : gpu::adjustment::bonferroni;
  }
  j.k = from.one_of<index_t>({1, 2, 5, 40});
  j.bins = from.one_of<index_t>({0, 20, 200});
  j.signed_order = from.one_in(3);
  j.with_q = j.keep.adjust != gpu::adjustment::none && from.one_in(2);
}

void describe(job& j, values kind, holes missing) {
  constexpr std::array value_words{"normal", "alike", "levels", "counts", "sparse"};
  constexpr std::array hole_words{"", " nan-rows", " holes", " patterns"};
  constexpr std::array layout_words{"", " by-columns", " csr"};
  std::ostringstream out;
  out << gpu::to_string(j.what) << ' ' << j.sink << ' ' << j.x.rows() << 'x' << j.x.cols() << ' '
      << value_words[static_cast<std::size_t>(kind)] << ' ' << j.type
      << layout_words[static_cast<std::size_t>(j.how)]
      << hole_words[static_cast<std::size_t>(missing)];
  if (j.y.rows() > 0) out << " y=" << j.y.rows();
  if (j.options.part.of > 1) out << " part=" << j.options.part.index << "/3";
  if (!j.covariates.empty()) out << " covariates=" << j.options.covariates.rows();
  if (!j.weights.empty()) out << " weights";
  if (j.options.p_method == gpu::p_method::exact) out << " exact";
  if (j.options.min_observations != 3) out << " min-observations=5";
  out << " max-p=" << j.keep.max_p << " min-abs=" << j.keep.min_abs;
  constexpr std::array tails{"", " greater", " less"};
  out << tails[static_cast<std::size_t>(j.keep.side)];
  constexpr std::array adjustments{"", " bonferroni", " bh"};
  out << adjustments[static_cast<std::size_t>(j.keep.adjust)];
  if (j.sink == "top_k")
    out << " k=" << j.k << (j.signed_order ? " by-value" : "") << (j.with_q ? " q" : "");
  if (j.sink == "counts") out << " bins=" << j.bins;
  j.text = out.str();
}

job draw_job(std::uint64_t number) {
  draws from(number);
  job j;
  j.what = from.one_of({gpu::measure::spearman, gpu::measure::spearman, gpu::measure::pearson,
                        gpu::measure::pearson, gpu::measure::cosine, gpu::measure::bicor,
                        gpu::measure::kendall});
  if (number >= first_sliced_job) {
    j.what = from.one_of({gpu::measure::pearson, gpu::measure::cosine, gpu::measure::bicor});
  }
  j.sink = all_sinks[from.below(all_sinks.size())];
  if (j.sink == "folded") {
    if (j.what == gpu::measure::spearman) {
      j.options.fold = gpu::row_folding::always;
    } else {
      j.sink = "edges";
    }
  }
  holes missing = from.one_of(
      {holes::none, holes::none, holes::none, holes::rows, holes::scattered, holes::patterns});
  if (number >= first_sliced_job && missing != holes::rows) missing = holes::none;
  const bool is_pairwise = missing == holes::scattered || missing == holes::patterns;
  shape size = draw_shape(from, j.what, is_pairwise);
  if (number >= first_sliced_job) {
    size = {from.one_of<index_t>({2, 3, 9, 17}), from.one_of<index_t>({16'385, 20'481, 40'003})};
  }
  const values kind =
      from.one_of({values::normal, values::alike, values::levels, values::counts, values::sparse});
  j.x = draw_table(from, size.rows, size.cols, kind);
  draw_holes(from, j.x, missing);
  if (j.sink != "connectivity" && from.one_in(4)) {
    j.y = draw_table(from, 1 + static_cast<index_t>(from.below(40)), size.cols, kind);
    draw_holes(from, j.y, missing);
  }
  const bool are_integers = kind >= values::levels && missing == holes::none;
  j.type = are_integers ? from.one_of({"double", "float", "int8", "int32", "int64"})
                        : from.one_of({"double", "float"});
  j.how = from.one_of({layout::rows, layout::rows, layout::columns});
  if (kind == values::sparse && from.one_in(2)) {
    j.how = layout::csr;
    j.type = "double";
  }
  draw_options(from, j, missing);
  draw_filter(from, j);
  if (j.how == layout::csr) j.y = {};  // both tables would have to be sparse
  describe(j, kind, missing);
  return j;
}

}  // namespace

answer answer_of_pairs(std::uint64_t number, const gpu::execution& where) {
  job j = draw_job(number);
  j.options.exec = where;
  return answer_of(j.text, [&](checksum& sum) { add_answer(j, sum); });
}

}  // namespace gpu_test::golden
