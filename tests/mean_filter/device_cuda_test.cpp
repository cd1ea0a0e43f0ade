// Device views: streams, odd addresses, more than 2^31 elements.
#include <cuda_runtime_api.h>

#include <gpu/error.hpp>

#include "mean_filter/filter_checks.hpp"
#include "support/device_memory.hpp"
#include "support/skip.hpp"

namespace {

using namespace gpu_test;

void check_cuda(cudaError_t status) {
  REQUIRE(status == cudaSuccess);
}

template <class T>
class device_values : public gpu_test::device_array<T> {
 public:
  using base = gpu_test::device_array<T>;
  explicit device_values(index_t size) : base(static_cast<std::size_t>(size)) {}
  explicit device_values(const std::vector<T>& values) : base(values.data(), values.size()) {}
  [[nodiscard]] std::size_t bytes() const { return this->size() * sizeof(T); }
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> values(this->size());
    this->copy_to(values.data());
    return values;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Device views at any alignment", "[mean_filter][cuda]", double, float,
                   std::uint8_t, std::uint16_t) {
  const test_stream work;
  const index_t size = 9001;
  const auto in = test_row<TestType>(size + 16, 111);
  const device_values<TestType> device_in(in);
  for (const index_t offset : {0, 1, 3, 7}) {
    for (const index_t window : {5, 16, 101}) {
      device_values<TestType> device_out(size + 16);
      const mean_filter_options options{.window = window,
                                        .exec = {.stream = gpu::stream_ref(work.get())}};
      gpu::mean_filter(gpu::device_vector_view<const TestType>(device_in.data() + offset, size),
                       gpu::device_vector_view<TestType>(device_out.data() + 2 * offset + 1, size),
                       options);
      check_cuda(cudaStreamSynchronize(work.get()));
      const auto out = device_out.to_host();
      INFO("offset " << offset << " window " << window);
      CHECK(first_wrong<TestType, TestType>(
                std::span<const TestType>(in.data() + offset, static_cast<std::size_t>(size)),
                std::span<const TestType>(out.data() + 2 * offset + 1,
                                          static_cast<std::size_t>(size)),
                options, 13) == -1);
    }
  }
}

TEST_CASE("Device views do not run on the CPU, and keep the workspace limit",
          "[mean_filter][cuda]") {
  device_values<float> in(100000);
  device_values<float> out(100000);
  const auto run = [&](const mean_filter_options& options) {
    gpu::mean_filter(gpu::device_vector_view<const float>(in.data(), 100000),
                     gpu::device_vector_view<float>(out.data(), 100000), options);
  };
  CHECK_THROWS_AS(run({.exec = {.target = gpu::backend::cpu}}), gpu::invalid_argument);
  mean_filter_options options{.window = 50000, .variant = mean_filter_variant::multi_level};
  options.exec.workspace_bytes = 16;
  CHECK_THROWS_AS(run(options), gpu::out_of_memory);
  options.exec.target = gpu::backend::cuda;
  options.exec.workspace_bytes = 0;
  const auto plan = gpu::plan_mean_filter<float>(1, 100000, options);
  options.exec.workspace_bytes = plan.workspace_bytes;
  CHECK_NOTHROW(run(options));
  check_cuda(cudaDeviceSynchronize());
}

TEST_CASE("A convolution takes the caller's workspace for its weights", "[mean_filter][cuda]") {
  const auto values = test_row<float>(1000, 137);
  device_values<float> in(1000);
  device_values<float> out(1000);
  check_cuda(cudaMemcpy(in.data(), values.data(), in.bytes(), cudaMemcpyHostToDevice));
  const std::vector<double> weights{0.25, 0.5, 0.25};
  gpu::convolve_options options{.variant = mean_filter_variant::direct};
  const auto plan = gpu::plan_convolve<float>(1, 1000, 3, options);
  CHECK(plan.workspace_bytes == 3 * sizeof(double));
  CHECK(gpu::plan_convolve<float>(1, 1000, 3).workspace_bytes == 0);
  const device_values<std::byte> workspace(512);
  const auto run = [&](std::byte* memory, index_t bytes) {
    options.workspace = {memory, bytes};
    gpu::convolve(gpu::device_vector_view<const float>(in.data(), 1000), weights,
                  gpu::device_vector_view<float>(out.data(), 1000), options);
  };
  run(workspace.data(), 24);
  std::vector<float> result(1000);
  check_cuda(cudaDeviceSynchronize());
  check_cuda(cudaMemcpy(result.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost));
  CHECK(result == gpu::convolve(values, weights, {.exec = {.target = gpu::backend::cpu}}));
  CHECK_THROWS_AS(run(workspace.data(), 23), gpu::invalid_argument);
  CHECK_THROWS_AS(run(workspace.data() + 8, 24), gpu::invalid_argument);
}

TEST_CASE("More than 2^31 elements", "[mean_filter][cuda][large]") {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  const index_t size = (index_t{1} << 31) + 100003;
  if (free_bytes < 5 * static_cast<std::size_t>(size) / 2) {
    gpu_test::note_skip(gpu_test::missing::device, "more than 2^31 elements: too little memory");
    return;
  }
  device_values<std::uint8_t> in(size);
  device_values<std::uint8_t> out(size);
  check_cuda(cudaMemset(in.data(), 7, in.bytes()));
  const index_t piece = 20000;
  const auto tail = test_row<std::uint8_t>(piece, 131);
  check_cuda(
      cudaMemcpy(in.data() + size - piece, tail.data(), tail.size(), cudaMemcpyHostToDevice));
  for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::shared_memory,
                             mean_filter_variant::block_sums, mean_filter_variant::multi_level}) {
    mean_filter_options options{.window = 5, .boundary = boundary::zero, .variant = variant};
    if (variant == mean_filter_variant::multi_level) options.window = 5001;
    check_cuda(cudaMemset(out.data(), 0, out.bytes()));
    gpu::mean_filter(gpu::device_vector_view<const std::uint8_t>(in.data(), size),
                     gpu::device_vector_view<std::uint8_t>(out.data(), size), options);
    std::vector<std::uint8_t> got(static_cast<std::size_t>(piece));
    check_cuda(
        cudaMemcpy(got.data(), out.data() + size - piece, got.size(), cudaMemcpyDeviceToHost));
    // Windows wholly inside the tail, against the oracle on the tail alone.
    const index_t inner = options.window;
    index_t wrong = 0;
    for (index_t j = inner; j < piece; j += 7) {
      const auto expected = reference_mean<std::uint8_t>(tail, options, j);
      wrong += !is_right<std::uint8_t, std::uint8_t>(got[static_cast<std::size_t>(j)], expected,
                                                     options.window);
    }
    std::uint8_t middle = 0;
    check_cuda(cudaMemcpy(&middle, out.data() + (size / 2), 1, cudaMemcpyDeviceToHost));
    INFO("variant " << gpu::to_string(variant));
    CHECK(wrong == 0);
    CHECK(middle == 7);
  }
}
