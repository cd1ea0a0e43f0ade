// Every operation of the CPU backend from several threads at once: each call gives the bytes that
// the same call gives alone. Built with the preset `tsan`, it also finds what only luck keeps
// right.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gpu/similarity.hpp>

#include "io/read/read_table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu_test::random_matrix;
using gpu_test::tied_matrix;

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

const gpu::matrix<std::int32_t>& counts() {
  static const auto data = tied_matrix<std::int32_t>(600, 30, 1);
  return data;
}
const gpu::matrix<float>& wide() {
  static const auto data = random_matrix<float>(150, 200, 2);
  return data;
}
/// Sparse counts of few columns: many rows have equal ranks.
const gpu::matrix<std::uint8_t>& repeated() {
  static const auto data = tied_matrix<std::uint8_t>(800, 6, 3, 0.9, 2);
  return data;
}
const gpu::matrix<double>& row_of_doubles() {
  static const auto data = random_matrix<double>(1, 60'000, 4);
  return data;
}

void add_ranks(std::vector<operation>& all) {
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

void add_folding(std::vector<operation>& all) {
  all.push_back({"folded edges", [](const gpu::execution& exec) {
                   const gpu::pair_options options{.fold = gpu::row_folding::always, .exec = exec};
                   const auto folded =
                       gpu::spearman_all_pairs(view(repeated()), options, gpu::folded_edge_sink{});
                   return answer().add(folded.edges).add(folded.patterns.members);
                 }});
  all.push_back({"plan", [](const gpu::execution& exec) {
                   const auto plan = gpu::plan_spearman_all_pairs(view(counts()), {.exec = exec},
                                                                  {.max_p = 0.05});
                   return answer().add_value(plan.kept_estimate).add_value(plan.pairs);
                 }});
}

void add_filters(std::vector<operation>& all) {
  all.push_back({"mean_filter and convolve", [](const gpu::execution& exec) {
                   answer out;
                   for (const gpu::index_t window : {5, 101, 1001}) {
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

void add_selection(std::vector<operation>& all) {
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

void add_products(std::vector<operation>& all) {
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

void add_files(std::vector<operation>& all) {
  all.push_back(
      {"files", [](const gpu::execution& exec) {
         const gpu_test::temporary_folder folder;
         std::string text;
         for (gpu::index_t i = 0; i < counts().rows(); ++i) {
           for (const int value : counts().row(i)) text += std::to_string(value) + ' ';
           text.back() = '\n';
         }
         const auto table =
             gpu::io::read_table(folder.write("counts.txt", text), {.threads = exec.cpu_threads});
         const auto result = gpu::spearman_all_pairs(view(counts()), {.exec = exec},
                                                     gpu::edge_sink{.keep = {.max_p = 0.05}});
         gpu::io::output_file out(folder.path("edges.tsv"));
         const auto writer = gpu::io::make_edge_writer(gpu::io::result_format::tsv, out,
                                                       {.names = table.names,
                                                        .rows = table.rows(),
                                                        .observations = table.cols(),
                                                        .threads = exec.cpu_threads});
         writer->write(result.edges);
         writer->finish();
         out.commit();
         return answer().add_value(table.rows()).add(gpu_test::read_file(folder.path("edges.tsv")));
       }});
}

std::vector<operation> every_operation() {
  std::vector<operation> all;
  add_ranks(all);
  add_pairs(all, "spearman, counts", spearman_of(counts()));
  add_pairs(all, "spearman, wide", spearman_of(wide()));
  add_pairs(all, "pearson", pearson_of(wide()));
  add_folding(all);
  add_filters(all);
  add_selection(all);
  add_products(all);
  add_files(all);
  return all;
}

}  // namespace

TEST_CASE("Calls from several threads do not meet", "[threads]") {
  const auto all = every_operation();
  constexpr std::size_t callers = 4;
  for (const int cpu_threads : {1, 2}) {
    const gpu::execution exec{.target = gpu::backend::cpu, .cpu_threads = cpu_threads};
    std::vector<answer> alone;
    for (const operation& each : all) alone.push_back(each.call(exec));

    // Every caller begins with another operation, and two of them with the same one.
    std::vector<std::vector<answer>> got(callers, std::vector<answer>(all.size()));
    std::vector<std::jthread> threads;
    for (std::size_t caller = 0; caller < callers; ++caller) {
      threads.emplace_back([&, caller] {
        for (std::size_t turn = 0; turn < all.size(); ++turn) {
          const std::size_t at = (turn + caller / 2 * (all.size() / 2)) % all.size();
          got[caller][at] = all[at].call(exec);
        }
      });
    }
    threads.clear();
    for (std::size_t at = 0; at < all.size(); ++at) {
      INFO(all[at].name << " with cpu_threads " << cpu_threads);
      std::size_t differing = 0;
      for (const auto& answers : got) {
        if (answers[at] != alone[at]) ++differing;
      }
      CHECK(differing == 0);
    }
  }
}
