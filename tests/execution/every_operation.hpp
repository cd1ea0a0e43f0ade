#pragma once
// A call of every operation of the CPU backend, and of reading and writing, each with its own
// inputs: for tests of what holds of all calls.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/similarity.hpp>

#include "io/read/read_table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"
#include "support/csr_cases.hpp"
#include "support/generators.hpp"
#include "support/temporary_file.hpp"

namespace gpu_test {

/// What a call gave, as bytes: NaN and -0 count as what they are.
class answer {
 public:
  template <std::ranges::contiguous_range Range>
  answer& add(const Range& values) {
    const auto bytes = std::as_bytes(std::span(values));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  template <class T>
  answer& add(const gpu::matrix<T>& m) {
    return add(std::span(m.data(), static_cast<std::size_t>(m.rows() * m.cols())));
  }
  template <class T>
  answer& add_value(T value) {
    return add(std::span(&value, 1));
  }
  friend bool operator==(const answer&, const answer&) = default;

 private:
  std::vector<std::byte> bytes_;
};

/// A call with its own inputs, which all threads read.
struct operation {
  std::string_view name;
  std::function<answer(const gpu::execution&)> call;
};

template <class T>
gpu::matrix_view<const T> view(const gpu::matrix<T>& m) {
  return m.view();
}

template <class T>
std::span<const T> elements(const gpu::matrix<T>& m) {
  return {m.data(), static_cast<std::size_t>(m.rows() * m.cols())};
}

// ---- one function a family of operations ------------------------------------------------------

inline const gpu::matrix<std::int32_t>& counts() {
  static const auto data = tied_matrix<std::int32_t>(600, 30, 1);
  return data;
}
inline const gpu::matrix<float>& wide() {
  static const auto data = random_matrix<float>(150, 200, 2);
  return data;
}
/// Sparse counts of few columns: many rows have equal ranks.
inline const gpu::matrix<std::uint8_t>& repeated() {
  static const auto data = tied_matrix<std::uint8_t>(800, 6, 3, 0.9, 2);
  return data;
}
inline const gpu::matrix<double>& row_of_doubles() {
  static const auto data = random_matrix<double>(1, 60'000, 4);
  return data;
}

inline void add_ranks(std::vector<operation>& all) {
  all.push_back({"rank_rows, counting", [](const gpu::execution& exec) {
                   return answer().add(gpu::rank_rows(view(counts()), {.exec = exec}));
                 }});
  all.push_back({"rank_rows, sort", [](const gpu::execution& exec) {
                   return answer().add(gpu::rank_rows(
                       view(wide()), {.variant = gpu::rank_variant::sort, .exec = exec}));
                 }});
}

/// The sinks of all pairs; `run(options, sink)` is a measure on its data.
template <class Run>
void add_pairs(std::vector<operation>& all, std::string_view name, Run run) {
  all.push_back({name, [run](const gpu::execution& exec) {
                   const gpu::pair_options options{.exec = exec};
                   answer out;
                   for (const double max_p : {1e-10, 0.05}) {
                     out.add(run(options, gpu::edge_sink{.keep = {.max_p = max_p}}).edges);
                   }
                   const auto counted =
                       run(options, gpu::count_sink{.keep = {.max_p = 0.05}, .histogram_bins = 20});
                   out.add_value(counted.kept).add(counted.degree).add(counted.histogram);
                   const gpu::pair_filter adjusted{.max_p = 0.05,
                                                   .adjust = gpu::adjustment::benjamini_hochberg};
                   out.add_value(run(options, gpu::count_sink{.keep = adjusted}).kept);
                   out.add(run(options, gpu::dense_sink_f32{}));
                   const auto nearest = run(options, gpu::top_k_sink{.k = 5});
                   out.add(nearest.index).add(nearest.statistic).add(nearest.count);
                   const auto consume = [&](std::span<const gpu::edge> batch) { out.add(batch); };
                   (void)run(options,
                             gpu::stream_sink{
                                 .keep = {.max_p = 0.05}, .consume = consume, .batch_edges = 1000});
                   return out;
                 }});
}

template <class T>
auto spearman_of(const gpu::matrix<T>& data) {
  return [&data](const gpu::pair_options& options, const auto& sink) {
    return gpu::spearman_all_pairs(view(data), options, sink);
  };
}
template <class T>
auto pearson_of(const gpu::matrix<T>& data) {
  return [&data](const gpu::pair_options& options, const auto& sink) {
    return gpu::pearson_all_pairs(view(data), options, sink);
  };
}

inline void add_folding(std::vector<operation>& all) {
  all.push_back({"folded rows", [](const gpu::execution& exec) {
                   const gpu::pair_options options{.fold = gpu::row_folding::always, .exec = exec};
                   const auto folded =
                       gpu::spearman_all_pairs(view(repeated()), options, gpu::edge_sink{});
                   return answer().add(folded.edges).add_value(folded.summary.patterns);
                 }});
  all.push_back({"plan", [](const gpu::execution& exec) {
                   const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, view(counts()),
                                                         {.exec = exec}, {.max_p = 0.05});
                   return answer().add_value(plan.kept_estimate).add_value(plan.pairs);
                 }});
}

inline void add_filters(std::vector<operation>& all) {
  all.push_back({"mean_filter and convolve", [](const gpu::execution& exec) {
                   answer out;
                   for (const gpu::index_t window : {5, 101, 301}) {
                     const gpu::mean_filter_options options{.window = window, .exec = exec};
                     out.add(gpu::mean_filter(elements(row_of_doubles()), options));
                     out.add(gpu::mean_filter(view(wide()), options));
                   }
                   const std::vector<double> weights{0.25, 0.5, 0.25};
                   std::vector<double> smooth(elements(row_of_doubles()).size());
                   gpu::convolve(elements(row_of_doubles()), weights, std::span(smooth),
                                 {.exec = exec});
                   return out.add(smooth);
                 }});
}

inline void add_selection(std::vector<operation>& all) {
  all.push_back({"top_k", [](const gpu::execution& exec) {
                   const gpu::top_k_options options{.exec = exec};
                   const auto whole = gpu::top_k(elements(row_of_doubles()), 100, options);
                   const auto rows = gpu::top_k(view(wide()), 7, options);
                   return answer().add(whole.values).add(whole.indices).add(rows.indices);
                 }});
  all.push_back({"top_k_distinct", [](const gpu::execution& exec) {
                   const gpu::top_k_options options{.exec = exec};
                   const auto whole = gpu::top_k_distinct(elements(counts()), 8, options);
                   const auto rows = gpu::top_k_distinct(view(counts()), 2, options);
                   return answer().add(whole.values).add(whole.counts).add(rows.found);
                 }});
}

inline void add_products(std::vector<operation>& all) {
  all.push_back({"matmul", [](const gpu::execution& exec) {
                   const gpu::matmul_options options{.b = gpu::transposition::transpose,
                                                     .exec = exec};
                   auto naive = options;
                   naive.variant = gpu::matmul_variant::naive;
                   return answer()
                       .add(gpu::matmul(view(wide()), view(wide()), options))
                       .add(gpu::matmul(view(wide()), view(wide()), naive));
                 }});
  all.push_back({"pack_bits and binary_matmul", [](const gpu::execution& exec) {
                   const gpu::bit_matrix bits = gpu::pack_bits(view(wide()), 0.0F, exec);
                   return answer().add(
                       gpu::binary_matmul(bits.view(), bits.view(), {.exec = exec}));
                 }});
  all.push_back({"tanimoto_all_pairs", [](const gpu::execution& exec) {
                   const gpu::bit_matrix bits = gpu::pack_bits(view(wide()), 0.0F, exec);
                   const auto run = [&](const auto& sink) {
                     return gpu::tanimoto_all_pairs(bits, {.exec = exec}, sink);
                   };
                   const gpu::pair_filter keep{.min_abs = 0.3};
                   return answer()
                       .add(run(gpu::dense_sink{}))
                       .add(run(gpu::top_k_sink{.k = 3}).index)
                       .add(run(gpu::count_sink{.keep = keep}).degree)
                       .add_value(run(gpu::edge_sink{.keep = keep}).summary.checksum);
                 }});
}

/// Doubles of which a tenth are missing, in rows of their own.
inline const gpu::matrix<double>& with_holes() {
  static const auto data = [] {
    gpu::matrix<double> out = random_matrix<double>(120, 40, 5);
    for (gpu::index_t i = 0; i < out.rows(); ++i) {
      for (gpu::index_t k = i % 10; k < out.cols(); k += 10) out(i, k) = std::nan("");
    }
    return out;
  }();
  return data;
}

inline void add_measures(std::vector<operation>& all) {
  all.push_back(
      {"every measure, complete and pairwise", [](const gpu::execution& exec) {
         answer out;
         for (const gpu::measure what : gpu::all_measures()) {
           const gpu::pair_options pairwise{.nans = gpu::nan_policy::pairwise, .exec = exec};
           out.add(gpu::all_pairs(what, view(wide()), {.exec = exec}));
           out.add(gpu::all_pairs(what, view(with_holes()), pairwise));
           const auto best =
               gpu::all_pairs(what, view(with_holes()), pairwise, gpu::top_k_sink{.k = 3});
           out.add(best.index).add(best.statistic);
           out.add(gpu::all_pairs(what, view(counts()), view(counts()), {.exec = exec},
                                  gpu::count_sink{.keep = {.min_abs = 0.3}})
                       .degree);
           const auto prepared = gpu::prepare_rows(what, view(counts()), {.exec = exec});
           out.add(gpu::all_pairs(what, view(counts()), prepared, {.exec = exec},
                                  gpu::edge_sink{.keep = {.min_abs = 0.5}})
                       .edges);
         }
         return out;
       }});
  all.push_back(
      {"adjusted partners, exact p, covariates and weights", [](const gpu::execution& exec) {
         const gpu::top_k_sink adjusted{
             .k = 3,
             .keep = {.max_p = 0.2, .adjust = gpu::adjustment::benjamini_hochberg},
             .q = gpu::neighbor_q::exact};
         answer out;
         out.add(gpu::spearman_all_pairs(view(counts()), {.exec = exec}, adjusted).q);
         const auto exact = random_matrix<double>(60, 20, 6);
         const gpu::pair_options by_permutations{.p_method = gpu::p_method::exact, .exec = exec};
         out.add(gpu::spearman_all_pairs(view(exact), by_permutations,
                                         gpu::edge_sink{.keep = {.max_p = 0.05}})
                     .edges);
         gpu::pair_options partial{.exec = exec};
         const auto covariates = random_matrix<double>(2, 30, 7);
         partial.covariates = covariates.view();
         out.add(gpu::spearman_all_pairs(view(counts()), partial));
         gpu::pair_options weighted{.exec = exec};
         std::vector<double> weights(30, 1.0);
         weights[3] = 2;
         weighted.column_weights = weights;
         return out.add(gpu::pearson_all_pairs(view(counts()), weighted));
       }});
  all.push_back({"sparse rows", [](const gpu::execution& exec) {
                   const in_csr<std::uint8_t> sparse(repeated());
                   return answer()
                       .add(gpu::pearson_all_pairs(sparse.view(), {.exec = exec}))
                       .add(gpu::rank_rows(sparse.view(), {.exec = exec}));
                 }});
}

inline void add_callers_of_pairs(std::vector<operation>& all) {
  all.push_back({"differential_pairs", [](const gpu::execution& exec) {
                   std::vector<gpu::index_t> first;
                   std::vector<gpu::index_t> second;
                   for (gpu::index_t k = 0; k < 30; ++k) (k % 2 == 0 ? first : second).push_back(k);
                   const gpu::column_groups groups{first, second};
                   const gpu::pair_options options{.exec = exec};
                   answer out;
                   for (const auto& e : gpu::differential_pairs(gpu::measure::spearman,
                                                                view(counts()), groups, options)
                                            .edges) {
                     out.add_value(e.z);
                   }
                   return out;
                 }});
  all.push_back({"max_t", [](const gpu::execution& exec) {
                   return answer().add(gpu::max_t(gpu::measure::spearman, view(counts()),
                                                  {.exec = exec}, {.permutations = 5})
                                           .maxima);
                 }});
  all.push_back({"connectivity and overlap", [](const gpu::execution& exec) {
                   const auto table = gpu::pearson_all_pairs(view(wide()), {.exec = exec},
                                                             gpu::connectivity_sink{});
                   const auto dense = gpu::pearson_all_pairs(view(wide()), {.exec = exec});
                   return answer()
                       .add(table.connectivity)
                       .add(gpu::topological_overlap(dense.view(), {.exec = exec}));
                 }});
  all.push_back(
      {"observations, ties and p of given pairs", [](const gpu::execution& exec) {
         const gpu::execution on_cpu{.cpu_threads = exec.cpu_threads};
         const auto edges = gpu::kendall_all_pairs(
                                view(with_holes()),
                                {.nans = gpu::nan_policy::pairwise, .exec = exec}, gpu::edge_sink{})
                                .edges;
         answer out;
         out.add(gpu::shared_observations(view(with_holes()), on_cpu));
         out.add(gpu::shared_observations(view(with_holes()), edges, on_cpu));
         out.add(gpu::shared_kendall_p(view(with_holes()), edges, gpu::tail::two_sided, on_cpu));
         std::vector<double> r(9000, 0.25);
         gpu::p_values_of(gpu::measure::pearson, r, 30, gpu::tail::two_sided, r, on_cpu);
         out.add(r);
         for (const gpu::row_ties& ties : gpu::kendall_ties(view(counts()), on_cpu)) {
           out.add_value(ties.pairs);
         }
         std::vector<double> tests(300'000);
         for (std::size_t i = 0; i < tests.size(); ++i) {
           tests[i] = static_cast<double>(i * 7919 % 300'007) / 300'007.0;
         }
         const std::vector<double> p(tests.begin(), tests.begin() + 100);
         return out.add(gpu::adjusted_p_values(p, tests, 400'000,
                                               gpu::adjustment::benjamini_hochberg, on_cpu));
       }});
}

inline void add_files(std::vector<operation>& all) {
  all.push_back({"files", [](const gpu::execution& exec) {
                   const temporary_folder folder;
                   std::string text;
                   for (gpu::index_t i = 0; i < counts().rows(); ++i) {
                     for (const int value : counts().row(i)) text += std::to_string(value) + ' ';
                     text.back() = '\n';
                   }
                   const auto table = gpu::io::read_table(folder.write("counts.txt", text),
                                                          {.threads = exec.cpu_threads});
                   const auto result = gpu::spearman_all_pairs(
                       view(counts()), {.exec = exec}, gpu::edge_sink{.keep = {.max_p = 0.05}});
                   gpu::io::output_file out(folder.path("edges.tsv"));
                   const auto writer = gpu::io::make_edge_writer(gpu::io::result_format::tsv, out,
                                                                 {.names = table.names,
                                                                  .rows = table.rows(),
                                                                  .observations = table.cols(),
                                                                  .threads = exec.cpu_threads});
                   writer->write(result.edges);
                   writer->finish();
                   out.commit();
                   return answer().add_value(table.rows()).add(read_file(folder.path("edges.tsv")));
                 }});
}

inline std::vector<operation> every_operation() {
  std::vector<operation> all;
  add_ranks(all);
  add_pairs(all, "spearman, counts", spearman_of(counts()));
  add_pairs(all, "spearman, wide", spearman_of(wide()));
  add_pairs(all, "pearson", pearson_of(wide()));
  add_folding(all);
  add_filters(all);
  add_selection(all);
  add_products(all);
  add_measures(all);
  add_callers_of_pairs(all);
  add_files(all);
  return all;
}

}  // namespace gpu_test
