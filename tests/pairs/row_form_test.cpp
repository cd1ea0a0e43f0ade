// The form in which the CPU multiplies rows, as a pure function of their length: sums never outgrow
// what holds them, whatever the length.

#include <cmath>
#include <cstdint>
#include <limits>

#include "cpu/pairs/choice/row_form.hpp"
#include "support/catch.hpp"

using gpu::index_t;
using gpu::cpu::choose_cpu_rank_form;
using gpu::cpu::choose_cpu_unit_form;
using gpu::cpu::cpu_rank_bytes;
using gpu::cpu::cpu_row_form;

TEST_CASE("The form of ranks follows their length alone", "[plan]") {
  CHECK(choose_cpu_rank_form(128, true) == cpu_row_form::bytes);
  CHECK(choose_cpu_rank_form(128, false) == cpu_row_form::short_sums);
  CHECK(choose_cpu_rank_form(512, true) == cpu_row_form::short_sums);
  CHECK(choose_cpu_rank_form(513, true) == cpu_row_form::wide);
  CHECK(choose_cpu_rank_form(3'000'000, false) == cpu_row_form::wide);
  CHECK(choose_cpu_unit_form(299) == cpu_row_form::floats);
  CHECK(choose_cpu_unit_form(300) == cpu_row_form::wide);
}

TEST_CASE("The form that is chosen is one that rows can take", "[plan]") {
  for (const bool has_int8_sums : {false, true}) {
    for (index_t cols = 2; cols <= 3'000'000; cols += 1 + cols / 97) {
      CAPTURE(cols, has_int8_sums);
      CHECK(gpu::cpu::can_take_rank_form(choose_cpu_rank_form(cols, has_int8_sums), cols,
                                         has_int8_sums));
      // |sum| of a whole row is at most cols (cols^2 - 1) / 3.
      const auto n = static_cast<double>(cols);
      CHECK(gpu::cpu::can_take_rank_form(cpu_row_form::short_sums, cols, has_int8_sums) ==
            (n * (n * n - 1) / 3 < 2147483648.0));
    }
  }
}

TEST_CASE("Ranks and sums fit the form of every length", "[plan]") {
  for (const bool has_int8_sums : {false, true}) {
    cpu_row_form last = cpu_row_form::bytes;
    for (index_t cols = 2; cols <= 3'000'000; cols += 1 + cols / 97) {
      CAPTURE(cols, has_int8_sums);
      const cpu_row_form form = choose_cpu_rank_form(cols, has_int8_sums);
      CHECK(form >= last);
      last = form;
      const double largest = static_cast<double>(cols - 1);
      const int bits = 8 * static_cast<int>(cpu_rank_bytes(form, cols));
      CHECK(largest <= std::ldexp(1.0, bits - 1) - 1);
      if (form <= cpu_row_form::short_sums) {
        const double n = static_cast<double>(cols);
        CHECK(n * (n * n - 1) / 3 <= std::numeric_limits<std::int32_t>::max());
      }
    }
  }
}
