// The job this project began with, whole: edges at Bonferroni 0.05, then counts, degrees and
// histogram at p <= 0.05, each timed from host rows to the host result, and the results left in
// files for an independent recount (bench/peers/recount_origin_job.py).
//
//   generate_counts counts.npy 9879896 dense 1
//   origin_job counts.npy FOLDER [bins]
//
// With 0 bins, edges alone.
//
// FOLDER/edges.bin holds gpu::edge records, looser_edges.bin those at p <= 1e-11, which are
// thousands, degrees.bin 32-bit and histogram.bin 64-bit numbers. Prints a line of JSON a call, the
// edges' twice: its seconds and what its summary says.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "io/read/read_table.hpp"

namespace {

constexpr double alpha = 0.05;
constexpr double looser = 1e-11;

template <class Values>
void write(const std::string& path, const Values& values) {
  using T = std::remove_cvref_t<decltype(*values.data())>;
  static_assert(std::is_trivially_copyable_v<T>);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  const bool written = std::fwrite(values.data(), sizeof(T), values.size(), file) == values.size();
  if (std::fclose(file) != 0 || !written) throw std::runtime_error("writing " + path + " failed");
}

template <class T, class Sink>
auto timed(const char* job, gpu::matrix_view<const T> data, const Sink& sink) {
  const auto start = std::chrono::steady_clock::now();
  auto result = gpu::spearman_all_pairs(data, {}, sink);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const gpu::pair_summary& said = result.summary;
  std::printf(
      "{\"job\": \"%s\", \"device\": \"%s\", \"variant\": \"%s\", \"rows\": %lld, \"cols\": %lld, "
      "\"seconds\": %.4f, \"prepare\": %.4f, \"pairs\": %.4f, \"tested\": %llu, \"kept\": %llu, "
      "\"max_p\": %.17g, \"min_abs\": %.17g, \"patterns\": %lld}\n",
      job, said.device.c_str(), std::string(gpu::to_string(said.variant)).c_str(),
      static_cast<long long>(said.rows), static_cast<long long>(said.cols), seconds.count(),
      said.prepare_seconds, said.pairs_seconds, static_cast<unsigned long long>(said.pairs_tested),
      static_cast<unsigned long long>(said.pairs_kept), said.max_p_effective,
      said.min_abs_effective, static_cast<long long>(said.patterns));
  std::fflush(stdout);
  return result;
}

template <class T>
void run(gpu::matrix_view<const T> data, const std::string& folder, gpu::index_t bins) {
  const gpu::edge_sink strict{.keep = {.max_p = alpha, .adjust = gpu::adjustment::bonferroni}};
  timed("edges, first call", data, strict);
  write(folder + "/edges.bin", timed("edges", data, strict).edges);
  write(folder + "/looser_edges.bin",
        timed("edges at p <= 1e-11", data, gpu::edge_sink{.keep = {.max_p = looser}}).edges);
  if (bins == 0) return;
  const auto counts =
      timed("counts", data, gpu::count_sink{.keep = {.max_p = alpha}, .histogram_bins = bins});
  write(folder + "/degrees.bin", counts.degree);
  write(folder + "/histogram.bin", counts.histogram);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "origin_job table.npy folder [bins]\n");
    return 2;
  }
  try {
    const gpu::io::table table = gpu::io::read_table(argv[1]);
    const gpu::index_t bins = argc > 3 ? std::atoll(argv[3]) : 200;
    std::visit([&](const auto& matrix) { run(matrix.view(), argv[2], bins); }, table.values);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "origin_job: %s\n", failure.what());
    return 1;
  }
  return 0;
}
