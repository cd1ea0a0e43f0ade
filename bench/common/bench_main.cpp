// Entry point of every benchmark program: names the CPU threads and the GPU beside the figures.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <string>

#include <gpu/backend.hpp>
#include <gpu/version.hpp>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("gpu_similarity", GPU_SIMILARITY_VERSION);
  for (const auto& device : gpu::available_devices()) {
    benchmark::AddCustomContext("gpu_" + std::to_string(device.ordinal), device.name);
  }
  benchmark::AddCustomContext("openmp_threads", std::to_string(omp_get_max_threads()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
