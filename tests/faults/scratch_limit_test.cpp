// Every operation on the CPU under execution::workspace_bytes, from one byte on: a call gives its
// right answer within the limit, or ends in gpu::out_of_memory; where it says what it needs, it
// runs with that. Its own program: it replaces operator new to count the bytes in use.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "faults/replaced_new.hpp"

namespace {

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> peak{0};

}  // namespace

void* gpu_test::allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)),
                     std::max<std::size_t>(bytes, 1)) != 0) {
    throw std::bad_alloc();
  }
  const std::size_t now = in_use += malloc_usable_size(memory);
  std::size_t seen = peak;
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
  return memory;
}

void gpu_test::release(void* memory) {
  if (memory != nullptr) in_use -= malloc_usable_size(memory);
  std::free(memory);
}

namespace {

using gpu::index_t;

// Tables of threads' vectors, messages, the progress of a call: what no limit is about.
constexpr std::size_t small_things = 24 << 10;

struct entry {
  std::string name;
  std::size_t result_bytes;  ///< What the call returns or keeps, beside its scratch.
  /// Runs it, writes a number that depends on the whole answer.
  std::function<double(const gpu::execution&)> call;
};

template <class T>
gpu::matrix<T> numbers(index_t rows, index_t cols, int values) {
  gpu::matrix<T> data(rows, cols);
  std::uint64_t state = 7;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      data(i, j) = static_cast<T>((state >> 33) % static_cast<unsigned>(values));
    }
  }
  return data;
}

template <class T>
double sum_of(const gpu::matrix<T>& values) {
  double sum = 0;
  double weight = 1;
  for (index_t i = 0; i < values.rows() * values.cols(); ++i) {
    sum += static_cast<double>(values.data()[i]) * weight;
    weight = weight > 1000 ? 1 : weight + 0.5;
  }
  return sum;
}

std::size_t bytes_of(index_t rows, index_t cols, std::size_t element) {
  return static_cast<std::size_t>(rows * cols) * element;
}

void add_row_operations(std::vector<entry>& to) {
  struct shape {
    index_t rows;
    index_t cols;
  };
  static const auto wide = numbers<float>(3, 200000, 1 << 20);
  static const auto square = numbers<float>(300, 500, 300);
  static const auto narrow = numbers<std::int16_t>(5000, 30, 100);
  for (const auto* data : {&wide, &square}) {
    const std::string of = " of " + std::to_string(data->rows()) + " rows";
    to.push_back({"rank" + of, bytes_of(data->rows(), data->cols(), 8),
                  [=](const auto& exec) { return sum_of(gpu::rank_rows(*data, {.exec = exec})); }});
    for (const auto variant : {gpu::top_k_variant::threshold, gpu::top_k_variant::sort}) {
      for (const index_t k : {index_t{5}, index_t{300}}) {
        const std::string what = of + ", " + std::string(to_string(variant)) + std::to_string(k);
        const std::size_t entries = bytes_of(data->rows(), k, 12);
        to.push_back({"top_k" + what, entries, [=](const auto& exec) {
                        const auto best = gpu::top_k(*data, k, {.variant = variant, .exec = exec});
                        return sum_of(best.values) + sum_of(best.indices);
                      }});
        to.push_back({"top_k_distinct" + what, entries + bytes_of(data->rows(), k + 1, 8),
                      [=](const auto& exec) {
                        const auto best =
                            gpu::top_k_distinct(*data, k, {.variant = variant, .exec = exec});
                        return sum_of(best.values) + sum_of(best.indices) + sum_of(best.counts);
                      }});
      }
    }
    for (const index_t window : {index_t{5}, index_t{301}}) {
      to.push_back(
          {"mean_filter" + of, bytes_of(data->rows(), data->cols(), 4), [=](const auto& exec) {
             return sum_of(gpu::mean_filter(*data, {.window = window, .exec = exec}));
           }});
    }
    to.push_back({"convolve" + of, bytes_of(data->rows(), data->cols(), 4), [=](const auto& exec) {
                    const std::vector<double> weights{0.25, 0.5, 0.25};
                    return sum_of(gpu::convolve(*data, weights, {.exec = exec}));
                  }});
  }
  to.push_back({"rank of 5000 rows", bytes_of(5000, 30, 8),
                [](const auto& exec) { return sum_of(gpu::rank_rows(narrow, {.exec = exec})); }});
}

void add_products(std::vector<entry>& to) {
  static const auto x = numbers<float>(200, 700, 3);
  static const auto y = numbers<float>(300, 700, 3);
  to.push_back({"matmul naive", bytes_of(200, 300, 4), [](const auto& exec) {
                  gpu::matrix<float> c(200, 300);
                  std::fill_n(c.data(), 200 * 300, 2.0f);
                  gpu::matmul(x.view(), y.view(), c.view(),
                              {.b = gpu::transposition::transpose,
                               .beta = 1,
                               .variant = gpu::matmul_variant::naive,
                               .exec = exec});
                  return sum_of(c);
                }});
  static const gpu::bit_matrix a = gpu::pack_bits(x, 1.0f);
  static const gpu::bit_matrix b = gpu::pack_bits(y, 1.0f);
  to.push_back({"binary_matmul", bytes_of(200, 300, 4), [](const auto& exec) {
                  return sum_of(gpu::binary_matmul(a.view(), b.view(), {.exec = exec}));
                }});
  to.push_back({"pack_bits", bytes_of(200, 22, 4), [](const auto& exec) {
                  const gpu::bit_matrix bits = gpu::pack_bits(x, 1.0f, exec);
                  double sum = 0;
                  for (index_t i = 0; i < bits.rows(); ++i) sum += bits.view().row(i)[i % 22];
                  return sum;
                }});
}

void add_pairs(std::vector<entry>& to) {
  constexpr std::size_t tables = 512 << 10;  // of p and of classes: of one size, whatever the rows
  static const auto data = numbers<float>(2000, 40, 5);
  static const auto other = numbers<float>(600, 40, 5);
  for (const auto measure : {gpu::measure::spearman, gpu::measure::pearson, gpu::measure::cosine,
                             gpu::measure::bicor, gpu::measure::kendall}) {
    const std::string name(gpu::info_of(measure).name);
    to.push_back({name + " counts", tables + bytes_of(2000, 1, 8), [=](const auto& exec) {
                    const auto counts = gpu::all_pairs(measure, data, {.exec = exec},
                                                       gpu::count_sink{.keep = {.min_abs = 0.3}});
                    return static_cast<double>(counts.summary.pairs_kept);
                  }});
    to.push_back({name + " best", tables + bytes_of(2000, 4, 24), [=](const auto& exec) {
                    const auto best = gpu::all_pairs(measure, data, other, {.exec = exec},
                                                     gpu::top_k_sink{.k = 4});
                    return static_cast<double>(best.summary.pairs_kept);
                  }});
    to.push_back(
        {name + " nearly all edges", tables, [=](const auto& exec) {
           double sum = 0;
           const auto add = [&](std::span<const gpu::edge> edges) {
             for (const gpu::edge& e : edges) sum += e.statistic + e.row - 2.0 * e.col;
           };
           static_cast<void>(gpu::all_pairs(
               measure, other, {.exec = exec},
               gpu::stream_sink{.keep = {.min_abs = 0.001}, .consume = add, .batch_edges = 100}));
           return sum;
         }});
  }
}

// Rows so long that windows of few of them are packed, and that a row of a thread is no small
// thing.
void add_long_pairs(std::vector<entry>& to) {
  constexpr std::size_t tables = 512 << 10;
  constexpr index_t rows = 22;
  static const auto data = numbers<float>(rows, 14000, 1000);
  static const auto of_signs = numbers<float>(rows, 1200, 1000);
  static const auto of_sorts = numbers<float>(rows, 2500, 1000);
  static auto with_missing = numbers<float>(rows, 4500, 1000);
  for (index_t i = 0; i < rows; i += 2) {
    for (index_t k = i; k < with_missing.cols(); k += 37) {
      with_missing(i, k) = std::numeric_limits<float>::quiet_NaN();
    }
  }
  const auto edges_of = [&](gpu::measure measure, const gpu::matrix<float>* table,
                            gpu::nan_policy nans) {
    std::string name = std::string(gpu::info_of(measure).name) + " edges of " +
                       std::to_string(table->cols()) + " columns";
    if (nans == gpu::nan_policy::pairwise) name += ", some missing";
    to.push_back(
        {name, tables + bytes_of(rows, rows, 2 * sizeof(gpu::edge)), [=](const auto& exec) {
           const auto found = gpu::all_pairs(measure, *table, {.nans = nans, .exec = exec},
                                             gpu::edge_sink{.keep = {.min_abs = 0.001}});
           double sum = 0;
           for (const gpu::edge& e : found.edges) sum += e.statistic + e.row;
           return sum;
         }});
  };
  for (const auto measure : gpu::all_measures()) {
    const bool has_signs = measure == gpu::measure::kendall;
    edges_of(measure, has_signs ? &of_signs : &data, gpu::nan_policy::reject);
    if (has_signs) edges_of(measure, &of_sorts, gpu::nan_policy::reject);
    edges_of(measure, has_signs ? &of_signs : &with_missing, gpu::nan_policy::pairwise);
  }
  // Kernels take more rows at a time than there are.
  static const auto few = numbers<float>(3, 60000, 1000);
  for (const auto measure : {gpu::measure::spearman, gpu::measure::pearson}) {
    const std::string name(gpu::info_of(measure).name);
    for (const auto* table : {&data, &few}) {
      const index_t count = table->rows();
      const std::string of = " of " + std::to_string(count) + " long rows";
      to.push_back(
          {name + " dense" + of, tables + bytes_of(count, count, 8), [=](const auto& exec) {
             return sum_of<double>(gpu::all_pairs(measure, *table, {.exec = exec}));
           }});
      to.push_back({name + " best" + of, tables + bytes_of(count, 4, 24), [=](const auto& exec) {
                      const auto best =
                          gpu::all_pairs(measure, *table, {.exec = exec}, gpu::top_k_sink{.k = 2});
                      return sum_of(best.statistic);
                    }});
    }
  }
  static auto few_with_missing = numbers<float>(3, 60000, 1000);
  few_with_missing(0, 7) = std::numeric_limits<float>::quiet_NaN();
  edges_of(gpu::measure::pearson, &few_with_missing, gpu::nan_policy::pairwise);
}

void add_differences(std::vector<entry>& to) {
  constexpr std::size_t tables = 512 << 10;
  static const auto data = numbers<float>(700, 40, 1000);
  static const auto wide = numbers<std::int16_t>(60, 3000, 1000);
  for (const bool is_wide : {false, true}) {
    const auto call = [is_wide](gpu::measure measure, const gpu::execution& exec,
                                const auto& sink) {
      std::vector<index_t> first;
      std::vector<index_t> second;
      const index_t cols = is_wide ? wide.cols() : data.cols();
      for (index_t k = 0; k < cols; ++k) (k % 2 == 0 ? first : second).push_back(k);
      const gpu::column_groups groups{first, second};
      return is_wide ? gpu::differential_pairs(measure, wide, groups, {.exec = exec}, sink)
                     : gpu::differential_pairs(measure, data, groups, {.exec = exec}, sink);
    };
    const index_t rows = is_wide ? wide.rows() : data.rows();
    for (const auto measure : {gpu::measure::pearson, gpu::measure::spearman}) {
      const std::string name = "differential " + std::string(gpu::info_of(measure).name) +
                               (is_wide ? " of long rows" : "");
      to.push_back({name + " edges", tables + bytes_of(rows, rows, sizeof(gpu::differential_edge)),
                    [=](const auto& exec) {
                      const auto found =
                          call(measure, exec, gpu::differential_edge_sink{.keep = {.max_p = 0.1}});
                      double sum = 0;
                      for (const gpu::differential_edge& e : found.edges) sum += e.z + e.row;
                      return sum;
                    }});
      to.push_back({name + " best", tables + bytes_of(rows, 3, 128), [=](const auto& exec) {
                      return sum_of(call(measure, exec, gpu::differential_top_k_sink{.k = 3}).z);
                    }});
    }
  }
}

int failures = 0;

void expect(bool holds, const std::string& name, std::size_t limit, const char* what,
            std::size_t bytes) {
  if (holds) return;
  std::printf("%s, limit %zu: %s (%zu bytes)\n", name.c_str(), limit, what, bytes);
  ++failures;
}

// Whether the call ran; `needs` is what it says that it needs where it did not.
bool runs_within(const entry& of, std::size_t limit, int threads, double expected,
                 std::size_t& needs) {
  const gpu::execution exec{
      .target = gpu::backend::cpu, .workspace_bytes = limit, .cpu_threads = threads};
  const std::size_t before = in_use;
  peak = before;
  try {
    const double got = of.call(exec);
    const std::size_t taken = peak - before;
    expect(got == expected, of.name, limit, "another answer", taken);
    expect(limit == 0 || taken <= limit + of.result_bytes + small_things, of.name, limit,
           "takes more than its limit", taken - std::min(taken, of.result_bytes));
    return true;
  } catch (const gpu::out_of_memory& error) {
    needs = error.requested_bytes();
    const std::size_t taken = peak - before;
    expect(taken <= limit + of.result_bytes + small_things, of.name, limit,
           "is refused, but not before it takes memory", taken);
    expect(std::string(error.what()).find("workspace_bytes: got " + std::to_string(limit)) !=
               std::string::npos,
           of.name, limit, error.what(), needs);
    return false;
  }
}

}  // namespace

int main() {
  std::vector<entry> entries;
  add_row_operations(entries);
  add_products(entries);
  add_pairs(entries);
  add_long_pairs(entries);
  add_differences(entries);
  int ran = 0;
  int refused = 0;
  for (const entry& of : entries) {
    for (const int threads : {1, 4}) {
      std::size_t needs = 0;
      const double expected =
          of.call({.target = gpu::backend::cpu, .workspace_bytes = 0, .cpu_threads = threads});
      for (std::size_t limit = 1; limit < std::size_t{64} << 20; limit = limit * 5 / 2 + 1) {
        if (runs_within(of, limit, threads, expected, needs)) {
          ++ran;
          continue;
        }
        ++refused;
        expect(needs > limit, of.name, limit, "is refused, but needs no more", needs);
        const std::size_t again = needs;
        expect(runs_within(of, again, threads, expected, needs), of.name, again,
               "is refused, although it said that it needs no more", needs);
      }
    }
  }
  std::printf("%zu calls: %d times within a limit, %d times refused, %d failures\n", entries.size(),
              ran, refused, failures);
  return failures == 0 && ran > 100 && refused > 100 ? EXIT_SUCCESS : EXIT_FAILURE;
}
