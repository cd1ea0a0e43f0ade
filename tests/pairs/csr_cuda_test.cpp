// Sparse tables on CUDA: blocks of rows are made dense before they are uploaded.
#include <cstdint>

#include "support/catch.hpp"
#include "support/csr_cases.hpp"

namespace {

const gpu_test::pair_target device{.where = gpu::backend::cuda};

}  // namespace

TEMPLATE_TEST_CASE("Sparse rows give the bytes of dense ones on CUDA, from every sink",
                   "[csr][cuda]", std::int32_t, std::uint8_t, float, double, std::int64_t) {
  gpu_test::sparse_gives_the_bytes_of_dense<TestType, std::int32_t>(device);
}

TEST_CASE("x against y, parts, little memory, NaN and plans read sparse rows on CUDA",
          "[csr][cuda]") {
  gpu_test::every_way_to_read_rows_takes_sparse(device);
}
