// Every CUDA variant against the oracle, through the device overload (strided views, a stream of
// its own) and the host overload.
#include <gpu/matmul.hpp>

#include <algorithm>
#include <cstring>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "matmul/matmul_cases.hpp"
#include "support/device_memory.hpp"

namespace {

using gpu_test::device_array;
using gpu_test::operands;
using gpu_test::product_shape;
using gpu_test::test_stream;

const gpu::execution on_cuda{.target = gpu::backend::cuda};

// Elements that a view spans, the padding between its rows included.
template <class T>
std::size_t span_of(gpu::matrix_view<T> x) {
  return static_cast<std::size_t>(x.rows() * x.row_stride());
}
template <class T>
gpu::device_matrix_view<T> as(const device_array<std::remove_const_t<T>>& memory,
                              gpu::matrix_view<T> like) {
  return {memory.data(), like.rows(), like.cols(), like.row_stride()};
}

const auto multiply_on_host = [](auto a, auto b, auto c, const gpu::matmul_options& options) {
  gpu::matmul(a, b, c, options);
};

const auto multiply_on_device = [](auto a, auto b, auto c, const gpu::matmul_options& options) {
  using T = typename decltype(c)::value_type;
  const device_array<T> da(a.data(), span_of(a));
  const device_array<T> db(b.data(), span_of(b));
  const device_array<T> dc(c.data(), span_of(c));
  const test_stream stream;
  gpu::matmul_options on_stream = options;
  on_stream.exec.stream = stream.get();
  gpu::matmul(as(da, a), as(db, b), as(dc, c), on_stream);
  stream.synchronize();
  dc.copy_to(c.data());
};

template <class T>
std::vector<gpu::matmul_variant> variants() {
  using gpu::matmul_variant;
  std::vector<matmul_variant> offered;
  for (const auto variant :
       {matmul_variant::automatic, matmul_variant::naive, matmul_variant::pitched,
        matmul_variant::shared_tiled, matmul_variant::register_tiled, matmul_variant::tensor}) {
    try {
      static_cast<void>(gpu::plan_matmul<T>(1, 1, 1, {.variant = variant, .exec = on_cuda}));
      offered.push_back(variant);
    } catch (const gpu::unsupported&) {
    }
  }
  return offered;
}

}  // namespace

TEMPLATE_TEST_CASE("CUDA products stay within the error bound", "[matmul][cuda]", float, double) {
  for (const auto variant : variants<TestType>()) {
    gpu_test::check_edge_shapes<TestType>(multiply_on_device,
                                          {.variant = variant, .exec = on_cuda});
  }
}

TEMPLATE_TEST_CASE("Larger CUDA products stay within the error bound", "[matmul][cuda]", float,
                   double) {
  for (const auto variant : variants<TestType>()) {
    gpu::matmul_options options{.variant = variant, .exec = on_cuda};
    for (const auto a : gpu_test::transpositions) {
      for (const auto b : gpu_test::transpositions) {
        options.a = a;
        options.b = b;
        gpu_test::check_product<TestType>(multiply_on_device, {517, 771, 1030}, options);
      }
    }
    options.a = options.b = gpu::transposition::transpose;
    options.a = options.b = gpu::transposition::none;
    gpu_test::check_product<TestType>(multiply_on_device, {1024, 640, 512}, options);
    gpu_test::check_product<TestType>(multiply_on_device, {100, 60, 9000}, options);
    gpu_test::check_product<TestType>(multiply_on_device, {9000, 20, 40}, options);
    gpu_test::check_product<TestType>(multiply_on_device, {20, 9000, 40}, options);
  }
}

TEST_CASE("Large CUDA products by register_tiled stay within the error bound", "[matmul][cuda]") {
  gpu::matmul_options options{.variant = gpu::matmul_variant::register_tiled, .exec = on_cuda};
  for (const auto flip : gpu_test::transpositions) {
    options.a = options.b = flip;
    gpu_test::check_product<float>(multiply_on_device, {4100, 4096, 4096}, options);
  }
}

TEMPLATE_TEST_CASE("CUDA products of empty extents are empty or zero", "[matmul][cuda]", float,
                   double) {
  for (const auto variant : variants<TestType>()) {
    const gpu::matmul_options options{.variant = variant, .exec = on_cuda};
    gpu_test::check_empty_extents<TestType>(multiply_on_device, options);
    gpu_test::check_empty_extents<TestType>(multiply_on_host, options);
  }
}

TEMPLATE_TEST_CASE("CUDA products follow IEEE for Inf, NaN and subnormals", "[matmul][cuda]", float,
                   double) {
  for (const auto variant : variants<TestType>()) {
    const gpu::matmul_options options{.variant = variant, .exec = on_cuda};
    gpu_test::check_special_values<TestType>(multiply_on_device, options);
    gpu_test::check_scaled_rows<TestType>(multiply_on_device, options);
  }
}

TEST_CASE("A product that is added takes its size as workspace", "[matmul][cuda][plan]") {
  gpu::matmul_options options{.variant = gpu::matmul_variant::naive, .exec = on_cuda};
  CHECK(gpu::plan_matmul<float>(100, 64, 10, options).workspace_bytes == 0);
  options.beta = 1;
  CHECK(gpu::plan_matmul<float>(100, 64, 10, options).workspace_bytes == 100 * 64 * 4);
  options.alpha = 0;
  CHECK(gpu::plan_matmul<float>(100, 64, 10, options).workspace_bytes == 0);
  options.alpha = 1;
  options.exec.workspace_bytes = 1000;
  CHECK_THROWS_AS(gpu::plan_matmul<float>(100, 64, 10, options), gpu::out_of_memory);
  // Panels of C where the limit holds no more, and the caller's own workspace.
  gpu::matmul_options panels{.alpha = 2, .beta = -1, .exec = on_cuda};
  panels.exec.workspace_bytes = 600 * 1024;
  gpu_test::check_scaled_product<float>(multiply_on_host, {700, 90, 200}, panels);
  gpu::matmul_options given{.alpha = 2, .beta = -1, .exec = on_cuda};
  const device_array<std::byte> workspace(
      gpu::plan_matmul<double>(300, 200, 500, given).workspace_bytes);
  given.workspace = {workspace.data(), static_cast<gpu::index_t>(workspace.size())};
  gpu_test::check_scaled_product<double>(multiply_on_device, {300, 200, 500}, given);
}

TEMPLATE_TEST_CASE("The same call gives the same bytes", "[matmul][cuda]", float, double) {
  for (const auto variant : variants<TestType>()) {
    const gpu::matmul_options options{.variant = variant, .exec = on_cuda};
    operands<TestType> x({300, 300, 2000}, options);
    operands<TestType> y({300, 300, 2000}, options);
    const auto run = [&](operands<TestType>& o) {
      multiply_on_device(std::as_const(o.a).view(), std::as_const(o.b).view(), o.c.view(), options);
    };
    run(x);
    run(y);
    CHECK(std::memcmp(x.c.view().data(), y.c.view().data(), 300 * 300 * sizeof(TestType)) == 0);
  }
}

TEST_CASE("A limit on device memory cuts a host product into panels", "[matmul][cuda]") {
  for (const auto a : gpu_test::transpositions) {
    gpu::matmul_options options{.a = a, .exec = on_cuda};
    options.exec.workspace_bytes = 400 * 1024;
    gpu_test::check_product<float>(multiply_on_host, {700, 90, 200}, options, 1);
  }
  gpu::matmul_options too_small{.exec = on_cuda};
  too_small.exec.workspace_bytes = 1024;
  operands<float> x({700, 90, 200}, too_small);
  CHECK_THROWS_AS(gpu::matmul(x.a.view(), x.b.view(), x.c.view(), too_small), gpu::out_of_memory);
}

TEST_CASE("automatic keeps within the workspace it is given", "[matmul][cuda][plan]") {
  gpu::matmul_options options{.exec = on_cuda};
  options.exec.workspace_bytes = 1024;
  const auto plan = gpu::plan_matmul<float>(2048, 2048, 2048, options);
  CHECK(plan.workspace_bytes <= 1024);
  CHECK(plan.variant == gpu::matmul_variant::register_tiled);
  options.variant = gpu::matmul_variant::pitched;
  CHECK_THROWS_AS(gpu::plan_matmul<float>(2048, 2048, 2048, options), gpu::out_of_memory);
}

TEST_CASE("Device memory is refused by a call for the CPU", "[matmul][cuda]") {
  const device_array<float> memory(12);
  const gpu::device_matrix_view<float> a(memory.data(), 2, 2);
  const gpu::device_matrix_view<float> b(memory.data() + 4, 2, 2);
  const gpu::device_matrix_view<float> c(memory.data() + 8, 2, 2);
  CHECK_THROWS_AS(gpu::matmul(a, b, c, {.exec = {.target = gpu::backend::cpu}}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::matmul(a, b, c, {.variant = gpu::matmul_variant::blas, .exec = on_cuda}),
                  gpu::unsupported);
  CHECK_THROWS_AS(gpu::matmul(a, b, a, {.exec = on_cuda}), gpu::invalid_argument);
}
