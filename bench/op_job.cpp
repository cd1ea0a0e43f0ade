// One call of an operation on data from a file, by the CPU: what bench/peers/cpu_peers.py runs
// beside its peers, on the same data.
//
//   op_job OPERATION[:NUMBER] input output repeats
//
// The operations are in main(). Prints the seconds of each call after one that is not counted, as
// JSON, and leaves the answer in `output`, to be compared. OMP_NUM_THREADS sets the threads.
#include <omp.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <gpu/similarity.hpp>

#include "common/data.hpp"
#include "io/read/read_table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"

namespace {

const gpu::execution on_cpu{.target = gpu::backend::cpu};

struct job {
  gpu::index_t number = 0;
  std::string input;
  std::string output;
  int repeats = 1;
};

/// Times call(), and hands the last answer to save(answer). Giving an answer's memory back is not
/// timed, here and in the peers.
template <class Call, class Save>
void measure(const job& asked, const Call& call, const Save& save) {
  std::optional<std::invoke_result_t<const Call&>> answer;
  std::string seconds;
  for (int turn = 0; turn <= asked.repeats; ++turn) {
    answer.reset();
    const auto start = std::chrono::steady_clock::now();
    answer.emplace(call());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (turn > 0) seconds += (turn > 1 ? ", " : "") + std::to_string(taken.count());
  }
  save(*answer);
  std::printf("[%s]\n", seconds.c_str());
}

template <class T>
void save_elements(const job& asked, std::span<const T> values) {
  std::ofstream(asked.output, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

template <class T>
std::span<const T> elements(const gpu::matrix<T>& m) {
  return {m.data(), static_cast<std::size_t>(m.rows() * m.cols())};
}

template <class T>
gpu::matrix<T> load(const job& asked) {
  gpu::io::table table = gpu::io::read_table(asked.input);
  if (auto* values = std::get_if<gpu::matrix<T>>(&table.values)) return std::move(*values);
  throw std::invalid_argument("the input holds elements of type " +
                              std::string(table.element_name()));
}

void rank_rows(const job& asked) {
  const auto data = load<std::int32_t>(asked);
  measure(
      asked, [&] { return gpu::rank_rows(data.view(), {.exec = on_cpu}); },
      [&](const gpu::matrix<double>& ranks) { save_elements(asked, elements(ranks)); });
}

void mean_filter(const job& asked) {
  const auto data = load<double>(asked);
  gpu::matrix<double> out(data.rows(), data.cols());
  const gpu::mean_filter_options options{
      .window = asked.number, .boundary = gpu::boundary::zero, .exec = on_cpu};
  const auto filter = [&] {
    gpu::mean_filter(data.view(), out.view(), options);
    return true;
  };
  measure(asked, filter, [&](bool) { save_elements(asked, elements(out)); });
}

/// The limit of the mean filter: memcpy by all threads.
void copy(const job& asked) {
  const auto data = load<double>(asked);
  gpu::matrix<double> out(data.rows(), data.cols());
  const std::span<const double> from = elements(data);
  const auto copy_parts = [&] {
#pragma omp parallel
    {
      const auto threads = static_cast<std::size_t>(omp_get_num_threads());
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      const std::size_t begin = from.size() * thread / threads;
      const std::size_t end = from.size() * (thread + 1) / threads;
      std::memcpy(out.data() + begin, from.data() + begin, (end - begin) * sizeof(double));
    }
    return true;
  };
  measure(asked, copy_parts, [&](bool) { save_elements(asked, elements(out)); });
}

void top_k(const job& asked) {
  const auto data = load<float>(asked);
  measure(
      asked, [&] { return gpu::top_k(elements(data), asked.number, {.exec = on_cpu}); },
      [&](const auto& best) { save_elements<gpu::index_t>(asked, best.indices); });
}

/// The answer: values, each as a 64-bit integer, then how often each occurs.
void top_k_distinct(const job& asked) {
  const auto data = load<std::int32_t>(asked);
  measure(
      asked, [&] { return gpu::top_k_distinct(elements(data), asked.number, {.exec = on_cpu}); },
      [&](const auto& best) {
        std::vector<gpu::index_t> told(best.values.begin(), best.values.end());
        told.insert(told.end(), best.counts.begin(), best.counts.end());
        save_elements<gpu::index_t>(asked, told);
      });
}

/// Times the product of packed rows by packed rows.
void binary_matmul(const job& asked) {
  const auto data = load<float>(asked);
  const gpu::bit_matrix bits = gpu::pack_bits(data.view(), 0.0F, on_cpu);
  measure(
      asked, [&] { return gpu::binary_matmul(bits.view(), bits.view(), {.exec = on_cpu}); },
      [&](const gpu::matrix<std::int32_t>& dots) { save_elements(asked, elements(dots)); });
}

/// The answer: the elements as the file's narrowest type, here of small counts.
void read_text(const job& asked) {
  measure(
      asked, [&] { return gpu::io::read_table(asked.input); },
      [&](const gpu::io::table& table) {
        std::visit([&](const auto& values) { save_elements(asked, elements(values)); },
                   table.values);
      });
}

constexpr gpu::index_t observations = 30;

constexpr std::uint64_t few_statistics = 5000;      // ranks of few observations
constexpr std::uint64_t many_statistics = 1 << 30;  // hardly two alike

/// Edges of so many different statistics. The input is not read.
std::vector<gpu::edge> make_edges(gpu::index_t count, std::uint64_t distinct = few_statistics) {
  std::vector<gpu::edge> edges(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const double r = 0.6 + 0.4 * static_cast<double>(gpu_bench::hash(k) % distinct) /
                               static_cast<double>(distinct);
    edges[k] = {static_cast<gpu::node_id>(k / 1000),
                static_cast<gpu::node_id>(20'000 + k % 1000 * 900), r, std::exp(-30 * r)};
  }
  return edges;
}

/// With as many threads as OMP_NUM_THREADS says.
void write_edges(const job& asked, gpu::io::result_format format, std::uint64_t distinct) {
  const auto edges = make_edges(asked.number, distinct);
  const gpu::io::row_names names;
  const auto write = [&] {
    gpu::io::output_file out(asked.output);
    const auto writer = gpu::io::make_edge_writer(
        format, out, {.names = names, .rows = 1'000'000, .observations = observations});
    constexpr std::size_t batch = std::size_t{1} << 20;
    for (std::size_t k = 0; k < edges.size(); k += batch) {
      writer->write(std::span(edges).subspan(k, std::min(batch, edges.size() - k)));
    }
    writer->finish();
    out.commit();
    return true;
  };
  measure(asked, write, [](bool) {});
}

void write_few(const job& asked) {
  write_edges(asked, gpu::io::result_format::tsv, few_statistics);
}
void write_many(const job& asked) {
  write_edges(asked, gpu::io::result_format::tsv, many_statistics);
}
void write_npy(const job& asked) {
  write_edges(asked, gpu::io::result_format::npy, few_statistics);
}

/// What one writes by hand: the names and three numbers of six digits, a call for each edge.
void print_edges(const job& asked) {
  const auto edges = make_edges(asked.number);
  const auto print = [&] {
    std::FILE* out = std::fopen(asked.output.c_str(), "w");
    std::fprintf(out, "i\tj\trho\tt\tp\n");
    for (const gpu::edge& e : edges) {
      const double r = e.statistic;
      const double t = r * std::sqrt((observations - 2) / ((1 + r) * (1 - r)));
      std::fprintf(out, "X%u\tX%u\t%g\t%g\t%g\n", e.row + 1, e.col + 1, r, t, e.p);
    }
    return std::fclose(out);
  };
  measure(asked, print, [](int) {});
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const job&)> operations{{"rank_rows", rank_rows},
                                                               {"mean_filter", mean_filter},
                                                               {"copy", copy},
                                                               {"top_k", top_k},
                                                               {"top_k_distinct", top_k_distinct},
                                                               {"binary_matmul", binary_matmul},
                                                               {"read_text", read_text},
                                                               {"write_edges", write_few},
                                                               {"write_many", write_many},
                                                               {"write_npy", write_npy},
                                                               {"print_edges", print_edges}};
  const std::string what = argc == 5 ? argv[1] : "";
  const std::size_t colon = what.find(':');
  const auto operation = operations.find(what.substr(0, colon));
  if (operation == operations.end() || std::atoi(argv[4]) < 1) {
    std::fprintf(stderr, "op_job OPERATION[:NUMBER] input output repeats; operations:\n");
    for (const auto& each : operations) std::fprintf(stderr, "  %s\n", each.first.c_str());
    return 2;
  }
  try {
    operation->second({.number = colon == what.npos ? 0 : std::stoll(what.substr(colon + 1)),
                       .input = argv[2],
                       .output = argv[3],
                       .repeats = std::atoi(argv[4])});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}
