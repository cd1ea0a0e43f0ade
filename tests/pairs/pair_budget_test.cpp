// What the parts of a call on CUDA take of its memory, and what it says where that does not
// suffice.

#include <string>

#include <gpu/error.hpp>

#include "cuda/pairs/rows/budget.hpp"
#include "support/catch.hpp"

TEST_CASE("A budget that is short says what all parts take together", "[memory]") {
  gpu::cuda::pair_budget budget(1000);
  budget.take(600, "some rows");
  CHECK(budget.left() == 400);
  budget.require(400, "a block");
  try {
    budget.take(700, "blocks of rows");
    FAIL("more than is left was given");
  } catch (const gpu::out_of_memory& error) {
    CHECK(error.requested_bytes() == 1300);
    CHECK(std::string(error.what()).find("blocks of rows need 700 bytes") != std::string::npos);
    CHECK(std::string(error.what()).find("400 of 1000 are left") != std::string::npos);
  }
  CHECK(budget.left() == 400);
  gpu::cuda::pair_budget enough(1300);
  enough.take(600, "some rows");
  enough.take(700, "blocks of rows");
  CHECK(enough.left() == 0);
}
