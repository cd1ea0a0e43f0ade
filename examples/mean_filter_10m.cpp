// The width-5 moving mean of 10 million doubles with zeros beyond the ends, on the CPU and by every
// variant of the CUDA backend: times with the copies to and from the device, speed-up over one CPU
// thread, and a check of every output against it.
//
//   mean_filter_10m [elements [window]]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/mean_filter.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

// The best of a few runs, in milliseconds.
template <class Body>
double best_time(const Body& body) {
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const auto start = clock_type::now();
    body();
    const std::chrono::duration<double, std::milli> elapsed = clock_type::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

std::vector<double> normal_values(std::int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size));
  std::mt19937_64 engine(5);
  std::normal_distribution<double> step;
  for (double& value : values) value = step(engine);
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

struct named_options {
  std::string name;
  gpu::mean_filter_options options;
};

std::vector<named_options> variants(std::int64_t window) {
  const gpu::mean_filter_options zero_padded{.window = window, .boundary = gpu::boundary::zero};
  std::vector<named_options> out;
  const auto add = [&](const std::string& name, gpu::mean_filter_variant variant,
                       const gpu::execution& exec) {
    out.push_back({name, zero_padded});
    out.back().options.variant = variant;
    out.back().options.exec = exec;
  };
  const gpu::execution one_thread{.target = gpu::backend::cpu, .cpu_threads = 1};
  add("CPU, 1 thread, direct", gpu::mean_filter_variant::direct, one_thread);
  add("CPU, 1 thread, block sums", gpu::mean_filter_variant::block_sums, one_thread);
  add("CPU, all threads", gpu::mean_filter_variant::automatic, {.target = gpu::backend::cpu});
  if (!gpu::available_backends().back().usable) return out;
  const gpu::execution cuda{.target = gpu::backend::cuda};
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::constant_memory,
        gpu::mean_filter_variant::shared_memory, gpu::mean_filter_variant::block_sums,
        gpu::mean_filter_variant::automatic}) {
    add("CUDA, " + std::string(gpu::to_string(variant)), variant, cuda);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t size = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const std::int64_t window = argc > 2 ? std::atoll(argv[2]) : 5;
  if (size < 1 || window < 1) {
    std::fprintf(stderr, "usage: mean_filter_10m [elements [window]]\n");
    return EXIT_FAILURE;
  }
  const std::vector<double> in = normal_values(size);
  std::vector<double> out(in.size());
  std::vector<double> reference;
  double base = 0;
  bool all_right = true;
  std::printf("%lld doubles, window %lld\n%-28s %10s %9s  %s\n", static_cast<long long>(size),
              static_cast<long long>(window), "variant", "ms", "speed-up", "largest difference");
  for (const named_options& step : variants(window)) {
    try {
      const double ms =
          best_time([&] { gpu::mean_filter(std::span(in), std::span(out), step.options); });
      if (reference.empty()) {
        reference = out;
        base = ms;
      }
      const double difference = largest_difference(out, reference);
      const bool right = difference < 1e-14;
      all_right = all_right && right;
      std::printf("%-28s %10.3f %8.1fx  %.1e%s\n", step.name.c_str(), ms, base / ms, difference,
                  right ? "" : "  WRONG");
    } catch (const gpu::unsupported&) {
      std::printf("%-28s %10s\n", step.name.c_str(), "(not for this window)");
    }
  }
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
