// All-pairs jobs on rows that move together, timed from host rows to the host result: the shares of
// pairs that real tables keep, for bench/peers/edges_torch.py to run beside.
//
//   edges_job < jobs
//
// A line of the input is one job:
//   measure rows cols pairs_in_blocks factor_variance levels max_p sink calls [table.npy]
// measure: spearman, pearson, cosine, ...; the next five are those of
// tests/support/correlated_rows.hpp (pairs_in_blocks 0: independent rows) and of the filter, whose
// cut is one on the magnitude for a measure without p; sink: edges, unordered, stream, counts,
// dense or top_k (10), on the CPU behind "cpu:"; calls: timed ones behind one that is not; the
// table is written where a name is given. Prints a line of each: the job, how many pairs were kept,
// their share, the median, best and worst call in seconds, preparation and pairs of the last call,
// edges a second by the median, and the checksum of the result: the same for the same result,
// whatever the order, the memory or the device. max_p may be several cuts with commas between them,
// each stricter than the one before. The last line is then the largest ratio of the time of a
// stricter cut to that of a looser one.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "common/digest.hpp"
#include "tests/support/correlated_rows.hpp"

namespace {

struct job {
  gpu::measure what = gpu::measure::spearman;
  gpu_test::correlated_shape shape;
  std::vector<double> cuts;
  bool on_cpu;
  std::string sink;
  int calls;
  std::string table;
};

std::vector<double> read_cuts(const std::string& text) {
  std::vector<double> cuts;
  std::istringstream in(text);
  for (std::string cut; std::getline(in, cut, ',');) cuts.push_back(std::stod(cut));
  return cuts;
}

bool read_job(const std::string& line, job& out) {
  constexpr std::string_view cpu = "cpu:";
  std::istringstream in(line);
  std::string cuts;
  std::string name;
  in >> name >> out.shape.rows >> out.shape.cols >> out.shape.pairs_in_blocks >>
      out.shape.factor_variance >> out.shape.levels >> cuts >> out.sink >> out.calls;
  if (in.fail()) return false;
  out.what = gpu::measure_of(name);
  out.cuts = read_cuts(cuts);
  out.on_cpu = out.sink.starts_with(cpu);
  if (out.on_cpu) out.sink.erase(0, cpu.size());
  in >> out.table;
  return true;
}

gpu::matrix<float> make_rows(gpu_test::correlated_shape shape) {
  if (shape.pairs_in_blocks <= 0) {
    shape.pairs_in_blocks = 1e-9;  // every row is a block of its own
    shape.block_variance = 0;
  }
  return gpu_test::correlated_matrix<float>(shape);
}

// NumPy's file format, version 1.0.
void write_npy(const std::string& path, gpu::matrix_view<const float> rows) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows.rows()) + ", " + std::to_string(rows.cols()) + "), }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::ofstream out(path, std::ios::binary);
  const char start[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        static_cast<char>(header.size() % 256),
                        static_cast<char>(header.size() / 256)};
  out.write(start, sizeof start);
  out << header;
  out.write(reinterpret_cast<const char*>(rows.data()),
            static_cast<std::streamsize>(rows.rows() * rows.cols()) *
                static_cast<std::streamsize>(sizeof(float)));
}

template <class Sink>
auto run(const job& asked, gpu::matrix_view<const float> rows, const Sink& sink) {
  gpu::pair_options options;
  if (asked.on_cpu) options.exec.target = gpu::backend::cpu;
  // Continuous rows do not repeat, and ties should not hide.
  options.fold = gpu::row_folding::never;
  return gpu::all_pairs(asked.what, rows, options, sink);
}

// The last call: its summary, and a checksum of its result.
struct outcome {
  gpu::pair_summary summary;
  std::string checksum;
};

// One call; the end of its result and the checksum are not part of it.
double timed(const job& asked, double max_p, gpu::matrix_view<const float> rows, outcome& last) {
  gpu::pair_summary& summary = last.summary;
  const bool has_p = gpu::info_of(asked.what).test != gpu::significance::none;
  const gpu::pair_filter keep =
      has_p ? gpu::pair_filter{.max_p = max_p} : gpu::pair_filter{.min_abs = max_p};
  const auto start = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double seconds = 0;
  if (asked.sink == "counts") {
    const auto result = run(asked, rows, gpu::count_sink{.keep = keep});
    seconds = since();
    summary = result.summary;
    last.checksum = gpu_bench::digest_of(result.degree);
    return seconds;
  } else if (asked.sink == "top_k") {
    const auto result = run(asked, rows, gpu::top_k_sink{.k = 10, .keep = keep});
    seconds = since();
    summary = result.summary;
  } else if (asked.sink == "dense") {
    const auto result = run(asked, rows, gpu::dense_sink_f32{});
    seconds = since();
    summary = result.summary;
    last.checksum = gpu_bench::digest_of(result.view());
    return seconds;
  } else if (asked.sink == "stream") {
    double checksum = 0;
    summary = run(asked, rows,
                  gpu::stream_sink{.keep = keep, .consume = [&](std::span<const gpu::edge> batch) {
                                     checksum += batch.front().statistic;
                                   }});
    seconds = since();
  } else {
    const auto order = asked.sink == "unordered" ? gpu::edge_order::unspecified
                                                 : gpu::edge_order::by_row_then_column;
    const auto result = run(asked, rows, gpu::edge_sink{.keep = keep, .order = order});
    seconds = since();
    summary = result.summary;
  }
  last.checksum = gpu::to_string(summary.checksum);
  return seconds;
}

// The median of the calls at one cut.
double run_cut(const job& asked, double max_p, gpu::matrix_view<const float> rows) {
  outcome last;
  timed(asked, max_p, rows, last);
  std::vector<double> seconds;
  for (int call = 0; call < asked.calls; ++call) {
    seconds.push_back(timed(asked, max_p, rows, last));
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  const gpu::pair_summary& summary = last.summary;
  std::printf(
      "%s %lldx%lld p<=%g %s%s kept %llu (%.3g) s %.5f best %.5f worst %.5f prepare %.5f pairs "
      "%.5f edges/s %.3g checksum %s\n",
      std::string(to_string(asked.what)).c_str(), static_cast<long long>(asked.shape.rows),
      static_cast<long long>(asked.shape.cols), max_p, asked.on_cpu ? "cpu:" : "",
      asked.sink.c_str(), static_cast<unsigned long long>(summary.pairs_kept),
      static_cast<double>(summary.pairs_kept) / static_cast<double>(summary.pairs_tested), median,
      seconds.front(), seconds.back(), summary.prepare_seconds, summary.pairs_seconds,
      static_cast<double>(summary.pairs_kept) / median, last.checksum.c_str());
  std::fflush(stdout);
  return median;
}

void run_job(const job& asked) {
  const gpu::matrix<float> rows = make_rows(asked.shape);
  if (!asked.table.empty()) write_npy(asked.table, rows.view());
  double worst = 0;
  double shortest = std::numeric_limits<double>::infinity();
  for (const double max_p : asked.cuts) {
    const double seconds = run_cut(asked, max_p, rows.view());
    worst = std::max(worst, seconds / shortest);
    shortest = std::min(shortest, seconds);
  }
  if (asked.cuts.size() > 1) std::printf("  stricter / looser at worst: %.3f\n", worst);
}

}  // namespace

int main() {
  int failures = 0;
  for (std::string line; std::getline(std::cin, line);) {
    job asked;
    if (line.empty() || line.front() == '#') continue;
    if (!read_job(line, asked) || asked.calls < 1 || asked.cuts.empty()) {
      std::fprintf(stderr, "no job: %s\n", line.c_str());
      return 2;
    }
    try {
      run_job(asked);
    } catch (const std::exception& failure) {
      std::printf("%s: %s\n", line.c_str(), failure.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
