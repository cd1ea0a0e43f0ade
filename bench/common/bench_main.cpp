// Entry point of every benchmark program: names the CPU threads and the GPU beside the figures.
// Benchmarks that need a device have "cuda" in their name and are left out where there is none.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <string>

#include <gpu/execution.hpp>
#include <gpu/version.hpp>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("gpu_similarity", GPU_SIMILARITY_VERSION);
  const auto devices = gpu::available_devices();
  for (const auto& device : devices) {
    benchmark::AddCustomContext("gpu_" + std::to_string(device.ordinal), device.name);
  }
  benchmark::AddCustomContext("openmp_threads", std::to_string(omp_get_max_threads()));
  const std::string asked = benchmark::GetBenchmarkFilter();
  const bool asks_for_all = asked.empty() || asked == "." || asked == "all";
  if (devices.empty() && asks_for_all) {
    benchmark::RunSpecifiedBenchmarks("-cuda");
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  benchmark::Shutdown();
  return 0;
}
