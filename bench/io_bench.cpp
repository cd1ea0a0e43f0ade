// Reading tables and writing edges, beside what one would write by hand.
//
// The text is 1,000,000 x 30 small integers, generated once into the folder for temporary files,
// or the file that GPU_SIMILARITY_BENCH_TEXT names. Files are read from, and written to, the page
// cache: the figures are those of the code.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "io/read/read_table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"

namespace {

namespace fs = std::filesystem;

/// Files of this process, removed at its end.
class scratch_folder {
 public:
  scratch_folder() : path_(fs::temp_directory_path() / fmt::format("io_bench_{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

scratch_folder& scratch() {
  static scratch_folder folder;
  return folder;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// 1,000,000 x 30 counts from 0 to 40, a share of zeros per row from 0 to a half.
const std::string& counts_file() {
  static const std::string path = [] {
    if (const char* given = std::getenv("GPU_SIMILARITY_BENCH_TEXT")) return std::string(given);
    std::mt19937 engine(1);
    std::string text;
    for (int i = 0; i < 1000000; ++i) {
      const auto zeros = static_cast<unsigned>(engine() % 128);
      for (int j = 0; j < 30; ++j) {
        const auto draw = static_cast<unsigned>(engine());
        text += std::to_string(draw % 256 < zeros ? 0 : 1 + (draw >> 8) % 40);
        text += j == 29 ? '\n' : ' ';
      }
    }
    write_file(scratch().file("counts.txt"), text);
    return scratch().file("counts.txt");
  }();
  return path;
}

/// 200,000 x 30 normal values with five decimals, tabs between them.
const std::string& decimals_file() {
  static const std::string path = [] {
    std::mt19937 engine(1);
    std::normal_distribution<double> normal;
    std::string text;
    for (int i = 0; i < 200000; ++i) {
      for (int j = 0; j < 30; ++j) text += fmt::format("{:.5f}{}", normal(engine), "\t\n"[j == 29]);
    }
    write_file(scratch().file("decimals.tsv"), text);
    return scratch().file("decimals.tsv");
  }();
  return path;
}

const std::string& gzip_file() {
  static const std::string path = [] {
    std::ifstream in(counts_file(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    gzFile out = gzopen(scratch().file("counts.txt.gz").c_str(), "wb1");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return scratch().file("counts.txt.gz");
  }();
  return path;
}

void read_table(benchmark::State& state, const std::string& path, std::uintmax_t text_bytes) {
  const auto threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const gpu::io::table table = gpu::io::read_table(path, {.threads = threads});
    benchmark::DoNotOptimize(table.rows());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text_bytes));
}

void read_counts(benchmark::State& state) {
  read_table(state, counts_file(), fs::file_size(counts_file()));
}
void read_decimals(benchmark::State& state) {
  read_table(state, decimals_file(), fs::file_size(decimals_file()));
}
/// Bytes are those of the text.
void read_gzip(benchmark::State& state) {
  read_table(state, gzip_file(), fs::file_size(counts_file()));
}

constexpr gpu::index_t edge_count = 10000000;
constexpr gpu::index_t observations = 30;

/// Edges in order of their rows. `statistics` different values: ranks of few observations have
/// few, products of real numbers have as many as there are edges.
std::vector<gpu::edge> make_edges(std::size_t statistics) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform(0.6, 1.0);
  std::vector<double> values(statistics);
  for (double& value : values) value = uniform(engine);
  std::vector<gpu::edge> edges(edge_count);
  constexpr gpu::index_t edges_per_row = 1000;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const double statistic = values[engine() % statistics];
    edges[k] = {static_cast<gpu::node_id>(k / edges_per_row),
                static_cast<gpu::node_id>(20000 + k % edges_per_row * 900), statistic,
                std::exp(-30 * statistic)};
  }
  return edges;
}

const std::vector<gpu::edge>& edges_of(bool has_ties) {
  static const std::vector<gpu::edge> tied = make_edges(5000);
  static const std::vector<gpu::edge> distinct = make_edges(edge_count);
  return has_ties ? tied : distinct;
}

void count_edges(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * edge_count);
}

void write_edges(benchmark::State& state, gpu::io::result_format format, bool has_ties) {
  const auto& edges = edges_of(has_ties);
  const gpu::io::row_names names;
  const gpu::io::result_context context{.names = names,
                                        .rows = 1000000,
                                        .observations = observations,
                                        .threads = static_cast<int>(state.range(0))};
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();  // replacing the last result would count in
    fs::remove(scratch().file("edges"));
    state.ResumeTiming();
    gpu::io::output_file out(scratch().file("edges"));
    const auto writer = gpu::io::make_edge_writer(format, out, context);
    constexpr std::size_t batch = std::size_t{1} << 20;
    for (std::size_t k = 0; k < edges.size(); k += batch) {
      writer->write(std::span(edges).subspan(k, std::min(batch, edges.size() - k)));
    }
    writer->finish();
    out.commit();
    bytes = out.bytes_written();
  }
  count_edges(state);
  state.counters["bytes_per_edge"] = static_cast<double>(bytes) / static_cast<double>(edge_count);
}

/// What one writes by hand: three numbers of six digits and the names, a call for each edge.
void fprintf_loop(benchmark::State& state, bool has_ties) {
  const auto& edges = edges_of(has_ties);
  for (auto _ : state) {
    std::FILE* out = std::fopen(scratch().file("edges").c_str(), "w");
    for (const gpu::edge& e : edges) {
      const double r = e.statistic;
      const double t = r * std::sqrt((observations - 2) / ((1 + r) * (1 - r)));
      std::fprintf(out, "X%u\tX%u\t%g\t%g\t%g\n", e.row + 1, e.col + 1, r, t, e.p);
    }
    std::fclose(out);
  }
  count_edges(state);
}

void per_thread_count(benchmark::internal::Benchmark* bench) {
  bench->ArgName("threads")->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
  bench->Arg(1);
  if (omp_get_max_threads() > 1) bench->Arg(omp_get_max_threads());
}

BENCHMARK(read_counts)->Name("read/text/1000000x30_counts")->Apply(per_thread_count);
BENCHMARK(read_decimals)->Name("read/text/200000x30_decimals")->Apply(per_thread_count);
BENCHMARK(read_gzip)->Name("read/gzip/1000000x30_counts")->Apply(per_thread_count);
BENCHMARK_CAPTURE(write_edges, tied, gpu::io::result_format::tsv, true)
    ->Name("write/tsv/10M_edges_tied")
    ->Apply(per_thread_count);
BENCHMARK_CAPTURE(write_edges, distinct, gpu::io::result_format::tsv, false)
    ->Name("write/tsv/10M_edges_distinct")
    ->Apply(per_thread_count);
BENCHMARK_CAPTURE(write_edges, npy, gpu::io::result_format::npy, true)
    ->Name("write/npy/10M_edges")
    ->Apply(per_thread_count);
BENCHMARK_CAPTURE(fprintf_loop, tied, true)
    ->Name("write/fprintf_loop/10M_edges_tied")
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
