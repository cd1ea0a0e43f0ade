// The processor time of one call of each operation on a table of 32 numbers, on one CPU thread:
// what bench/peers/python_overhead.py subtracts from the same calls made from Python. Prints JSON,
// microseconds, the fastest of 40 batches of 200 calls.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <gpu/similarity.hpp>

namespace {

double processor_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double microseconds(const std::function<void()>& call) {
  constexpr int batches = 40;
  constexpr int calls = 200;
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {
    const double began = processor_microseconds();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, (processor_microseconds() - began) / calls);
  }
  return best;
}

struct operation {
  const char* name;
  std::function<void()> call;
};

std::vector<operation> operations(const gpu::matrix<double>& x) {
  gpu::execution one;
  one.target = gpu::backend::cpu;
  one.cpu_threads = 1;
  const gpu::pair_options pairs{.exec = one};
  const gpu::pair_filter keep{.max_p = 0.05};
  std::vector<operation> all;
  all.push_back({"spearman_edges",
                 [=, &x] { (void)gpu::spearman_all_pairs(x, pairs, gpu::edge_sink{keep}); }});
  all.push_back(
      {"pearson_edges", [=, &x] { (void)gpu::pearson_all_pairs(x, pairs, gpu::edge_sink{keep}); }});
  all.push_back({"top_k_partners",
                 [=, &x] { (void)gpu::spearman_all_pairs(x, pairs, gpu::top_k_sink{.k = 2}); }});
  all.push_back({"counts", [=, &x] {
                   (void)gpu::spearman_all_pairs(
                       x, pairs, gpu::count_sink{.keep = keep, .histogram_bins = 8});
                 }});
  all.push_back({"dense", [=, &x] { (void)gpu::spearman_all_pairs(x, pairs, gpu::dense_sink{}); }});
  all.push_back({"rank", [=, &x] { (void)gpu::rank_rows(x, gpu::rank_options{.exec = one}); }});
  all.push_back({"mean_filter", [=, &x] {
                   gpu::matrix<double> out(x.rows(), x.cols());
                   gpu::mean_filter(x, out, gpu::mean_filter_options{.window = 3, .exec = one});
                 }});
  all.push_back({"convolve", [=, &x] {
                   const std::vector<double> weights{1, 2, 1};
                   gpu::matrix<double> out(x.rows(), x.cols());
                   gpu::convolve(x, weights, out, gpu::convolve_options{.exec = one});
                 }});
  all.push_back({"top_k", [=, &x] { (void)gpu::top_k(x, 3, gpu::top_k_options{.exec = one}); }});
  all.push_back({"top_k_distinct",
                 [=, &x] { (void)gpu::top_k_distinct(x, 3, gpu::top_k_options{.exec = one}); }});
  all.push_back({"matmul", [=, &x] {
                   gpu::matmul_options options{.exec = one};
                   options.b = gpu::transposition::transpose;
                   (void)gpu::matmul(x, x, options);
                 }});
  all.push_back({"pack_bits", [=, &x] { (void)gpu::pack_bits(x, 0.0, one); }});
  const auto bits = std::make_shared<gpu::bit_matrix>(gpu::pack_bits(x, 0.0, one));
  all.push_back({"binary_matmul", [=] {
                   (void)gpu::binary_matmul(*bits, *bits, gpu::binary_matmul_options{.exec = one});
                 }});
  return all;
}

}  // namespace

int main() {
  gpu::matrix<double> x(4, 8);
  for (gpu::index_t i = 0; i < 4; ++i) {
    for (gpu::index_t j = 0; j < 8; ++j) x(i, j) = static_cast<double>((7 * i + 5 * j * j) % 11);
  }
  const char* separator = "{";
  for (const operation& each : operations(x)) {
    std::printf("%s\"%s\": %.3f", separator, each.name, microseconds(each.call));
    separator = ", ";
  }
  std::puts("}");
}
