// The device overloads: caller's buffers and workspace, very long vectors.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <numeric>

#include <gpu/error.hpp>

#include "support/device_memory.hpp"
#include "top_k/top_k_cases.hpp"

namespace {

template <class T>
class device_array : public gpu_test::device_array<T> {
 public:
  using base = gpu_test::device_array<T>;
  using base::base;
  explicit device_array(const std::vector<T>& host) : base(host.data(), host.size()) {}
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> host(this->size());
    this->copy_to(host.data());
    return host;
  }
  [[nodiscard]] gpu::device_vector_view<T> view() const {
    return {this->data(), static_cast<gpu::index_t>(this->size())};
  }
  [[nodiscard]] gpu::device_matrix_view<T> rows(gpu::index_t count) const {
    return {this->data(), count, static_cast<gpu::index_t>(this->size()) / count};
  }
};

std::vector<gpu::index_t> expected_indices(const std::vector<float>& x, std::size_t k) {
  std::vector<gpu::index_t> out;
  for (const auto& entry : gpu_test::reference_top_k(x.data(), x.size(), k, true)) {
    out.push_back(entry.index);
  }
  return out;
}

}  // namespace

TEST_CASE("top_k on device memory, with and without a workspace", "[top_k]") {
  const auto x = gpu_test::make_input<float>(gpu_test::input_kind::with_nans, 100003);
  const device_array<float> data(x);
  const device_array<float> values(20);
  const device_array<gpu::index_t> indices(20);
  const auto expected = expected_indices(x, 20);
  CHECK(gpu::top_k(data.view(), 20, values.view(), indices.view()) == 20);
  CHECK(indices.get() == expected);
  const auto plan = gpu::plan_top_k<float>(1, 100003, 20);
  const device_array<std::byte> workspace(plan.workspace_bytes);
  CHECK(gpu::top_k(data.view(), 20, values.view(), indices.view(),
                   {.workspace = workspace.view()}) == 20);
  CHECK(indices.get() == expected);
}

TEST_CASE("top_k on unaligned device memory and wider outputs", "[top_k]") {
  const auto x = gpu_test::make_input<float>(gpu_test::input_kind::random, 90000);
  const device_array<float> data(x);
  for (const gpu::index_t offset : {1, 2, 3}) {
    const std::vector<float> part(x.begin() + offset, x.end());
    const device_array<float> values(50);
    const device_array<gpu::index_t> indices(50);
    const gpu::device_vector_view<const float> view(data.data() + offset, 90000 - offset);
    CHECK(gpu::top_k(view, 33, values.view(), indices.view()) == 33);
    auto got = indices.get();
    got.resize(33);
    CHECK(got == expected_indices(part, 33));
  }
}

TEST_CASE("top_k of rows on device memory", "[top_k]") {
  const auto x = gpu_test::make_input<float>(gpu_test::input_kind::random, 50 * 700);
  const device_array<float> data(x);
  const device_array<float> values(50 * 12);
  const device_array<gpu::index_t> indices(50 * 12);
  CHECK(gpu::top_k(data.rows(50), 9, values.rows(50), indices.rows(50)) == 9);
  const auto got = indices.get();
  for (std::size_t i = 0; i < 50; ++i) {
    const std::vector<float> row(x.begin() + static_cast<std::ptrdiff_t>(700 * i),
                                 x.begin() + static_cast<std::ptrdiff_t>(700 * (i + 1)));
    const auto first = got.begin() + static_cast<std::ptrdiff_t>(12 * i);
    CHECK(std::vector<gpu::index_t>(first, first + 9) == expected_indices(row, 9));
  }
}

TEST_CASE("the device overloads refuse what does not fit", "[top_k]") {
  const device_array<float> data(std::vector<float>(100000, 1.0f));
  const device_array<float> values(20);
  const device_array<gpu::index_t> indices(20);
  const device_array<gpu::index_t> few(19);
  const device_array<std::byte> small(16);
  CHECK_THROWS_AS(gpu::top_k(data.view(), 20, values.view(), few.view()), gpu::invalid_argument);
  CHECK_THROWS_AS(
      gpu::top_k(data.view(), 20, values.view(), indices.view(), {.workspace = small.view()}),
      gpu::invalid_argument);
  gpu::top_k_options limited;
  limited.exec.workspace_bytes = 16;
  CHECK_THROWS_AS(gpu::top_k(data.view(), 20, values.view(), indices.view(), limited),
                  gpu::out_of_memory);
  gpu::top_k_options cpu;
  cpu.exec.target = gpu::backend::cpu;
  CHECK_THROWS_AS(gpu::top_k(data.view(), 20, values.view(), indices.view(), cpu),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::top_k(data.view(), 0, values.view(), indices.view()), gpu::invalid_argument);
}

TEST_CASE("top_k beyond 2^31 and 2^32 elements", "[top_k]") {
  for (const gpu::index_t n : {(gpu::index_t{1} << 31) + 100001, (gpu::index_t{1} << 32) + 5}) {
    const device_array<std::uint8_t> data(static_cast<std::size_t>(n));
    REQUIRE(cudaMemset(data.data(), 3, static_cast<std::size_t>(n)) == cudaSuccess);
    const auto put = [&](gpu::index_t at, int value) {
      REQUIRE(cudaMemset(data.data() + at, value, 1) == cudaSuccess);
    };
    put(n - 1, 250);
    put(n - 2, 9);
    put(12345, 9);
    put(n / 2, 251);
    const device_array<std::uint8_t> values(6);
    const device_array<gpu::index_t> indices(6);
    for (const auto variant : {gpu::top_k_variant::automatic, gpu::top_k_variant::radix_select}) {
      gpu::top_k_options options;
      options.variant = variant;
      gpu::top_k(data.view(), 6, values.view(), indices.view(), options);
      CHECK(indices.get() == std::vector<gpu::index_t>{n / 2, n - 1, 12345, n - 2, 0, 1});
    }
    const device_array<gpu::index_t> counts(6);
    const device_array<gpu::index_t> found(1);
    gpu::top_k_distinct(data.view(), 6, values.view(), indices.view(), counts.view(), found.view());
    CHECK(found.get().front() == 4);
    CHECK(counts.get() == std::vector<gpu::index_t>{1, 1, 2, n - 4, 0, 0});
    CHECK(indices.get() == std::vector<gpu::index_t>{n / 2, n - 1, 12345, 0, -1, -1});
  }
}
