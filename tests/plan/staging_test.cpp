// How host data is cut into batches: random jobs and limits, held to what the plan promises.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>

#include <gpu/error.hpp>

#include "plan/memory/staging.hpp"
#include "support/catch.hpp"

namespace {

using gpu::index_t;
using gpu::detail::plan_staging;
using gpu::detail::staging_job;
using gpu::detail::staging_plan;
using gpu::detail::staging_room;

struct cost {
  std::size_t of_row;
  std::size_t of_batch;
  index_t pass_rows;  // scratch grows up to so many rows
  std::size_t of_scratch_row;
  [[nodiscard]] std::size_t bytes(index_t rows) const {
    return of_batch + of_row * static_cast<std::size_t>(rows) +
           of_scratch_row * static_cast<std::size_t>(std::min(rows, pass_rows));
  }
};

staging_job job_of(const cost& what, index_t rows, int lanes, std::size_t fixed) {
  return {.what = "a test of one row",
          .rows = rows,
          .lanes = lanes,
          .fixed_bytes = fixed,
          .batch_bytes = [what](index_t count) { return what.bytes(count); }};
}

// What holds of every plan.
void check_plan(const staging_job& job, const staging_plan& plan, std::size_t room) {
  REQUIRE(plan.batch_rows >= 1);
  REQUIRE(plan.batch_rows <= job.rows);
  REQUIRE(plan.lanes >= 1);
  REQUIRE(plan.lanes <= job.lanes);
  REQUIRE((plan.batch_rows < job.rows || plan.lanes == 1));
  REQUIRE(plan.bytes <= room);
  REQUIRE(plan.bytes == job.fixed_bytes + static_cast<std::size_t>(plan.lanes) * plan.lane_bytes);
  const index_t rest = job.rows % plan.batch_rows;
  REQUIRE(job.batch_bytes(plan.batch_rows) <= plan.lane_bytes);
  if (rest > 0) REQUIRE(job.batch_bytes(rest) <= plan.lane_bytes);
}

}  // namespace

TEST_CASE("Random jobs keep their limit, or are refused where one row exceeds it", "[staging]") {
  std::mt19937_64 random(5);
  const auto draw = [&](std::size_t most) {  // small numbers as often as large ones
    return random() % (most >> (random() % 20));
  };
  int refused = 0;
  int batched = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const cost what{draw(1 << 22) + 1, draw(1 << 22), static_cast<index_t>(draw(1 << 21) + 1),
                    draw(1 << 22)};
    const auto rows = static_cast<index_t>(draw(std::size_t{1} << 33) + 1);
    const staging_job job = job_of(what, rows, 1 + static_cast<int>(random() % 3), draw(1 << 22));
    const std::size_t limit = draw(std::size_t{1} << 40) + 1;
    CAPTURE(what.of_row, what.of_batch, what.pass_rows, what.of_scratch_row, rows, job.lanes,
            job.fixed_bytes, limit);
    const std::size_t least = job.fixed_bytes + what.bytes(1);
    if (least > limit) {
      ++refused;
      bool thrown = false;
      try {
        static_cast<void>(plan_staging(job, {.limit = limit}));
      } catch (const gpu::out_of_memory& error) {
        thrown = true;
        REQUIRE(error.requested_bytes() == least);
        REQUIRE(std::string(error.what()).find(std::to_string(least)) != std::string::npos);
      }
      REQUIRE(thrown);
      continue;
    }
    const staging_plan plan = plan_staging(job, {.limit = limit});
    check_plan(job, plan, limit);
    if (plan.batch_rows == rows) continue;
    ++batched;
    // No more rows would have fitted: batches of equal size are as many as they must be.
    const index_t batches = (rows + plan.batch_rows - 1) / plan.batch_rows;
    const index_t larger = (rows + batches - 2) / (batches - 1);
    REQUIRE(job.fixed_bytes + static_cast<std::size_t>(plan.lanes) * what.bytes(larger) > limit);
  }
  CHECK(refused > 500);
  CHECK(batched > 1000);
}

TEST_CASE("Lanes are given up before a call is refused", "[staging]") {
  const staging_job job = job_of({100, 0, 1, 0}, 10, 2, 50);
  CHECK(plan_staging(job, {.limit = 250}).lanes == 2);
  CHECK(plan_staging(job, {.limit = 249}).lanes == 1);
  CHECK(plan_staging(job, {.limit = 150}).batch_rows == 1);
  CHECK_THROWS_AS(plan_staging(job, {.limit = 149}), gpu::out_of_memory);
  CHECK(plan_staging(job, {.limit = 2050}).lanes == 1);
  CHECK(plan_staging(job, {.limit = 2050}).batch_rows == 10);
}

TEST_CASE("Without a limit batches share the usual memory, and a long row takes the free one",
          "[staging]") {
  staging_job job = job_of({100, 0, 1, 0}, 1000, 2, 0);
  job.usual_bytes = 10000;
  const staging_plan plan = plan_staging(job, {.free = 1 << 30});
  CHECK(plan.batch_rows == 50);
  CHECK(plan.bytes == 10000);
  job.usual_bytes = 10;
  CHECK(plan_staging(job, {.free = 1 << 30}).batch_rows == 1);
  CHECK(plan_staging(job, {.free = 1 << 30}).lanes == 1);
  job.usual_bytes = 0;
  CHECK(plan_staging(job, {.free = 1 << 30}).batch_rows == 1000);
  CHECK(plan_staging(job, {.free = 10000}).bytes <= 9000);
  std::string message;
  try {
    static_cast<void>(plan_staging(job, {.free = 90}));
  } catch (const gpu::out_of_memory& error) {
    message = error.what();
  }
  CHECK(message == "a test of one row takes 100 bytes on the device, 90 are free");
}

// The last batch may need more than a whole one: two pieces of 6 rows take less than one of 10.
TEST_CASE("Scratch that falls where rows grow is held to the limit too", "[staging]") {
  for (index_t rows = 1; rows < 200; ++rows) {
    for (std::size_t limit = 120; limit < 3000; limit += 37) {
      staging_job job{.what = "a test", .rows = rows, .lanes = 2};
      job.batch_bytes = [](index_t count) {
        const index_t pieces = (count + 9) / 10;
        return static_cast<std::size_t>(10 * count + 100 * ((count + pieces - 1) / pieces));
      };
      CAPTURE(rows, limit);
      check_plan(job, plan_staging(job, {.limit = limit}), limit);
    }
  }
}

TEST_CASE("No rows take nothing", "[staging]") {
  const staging_plan plan = plan_staging(job_of({1, 1, 1, 1}, 0, 2, 100), {.limit = 1});
  CHECK(plan.batch_rows == 0);
  CHECK(plan.bytes == 0);
}
