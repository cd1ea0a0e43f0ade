// Numbers from and to text, against the C library.
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "io/text/number.hpp"
#include "io/write/six_digits.hpp"
#include "support/catch.hpp"

namespace {

std::string printed(const char* format, int digits, double value) {
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), format, digits, value);
  return text.data();
}

std::string six_digits(double value) {
  std::array<char, gpu::io::six_digits_longest> text;
  return {text.data(), gpu::io::append_six_digits(text.data(), value)};
}

}  // namespace

TEST_CASE("Decimal numbers are read to the nearest double", "[io][number]") {
  std::mt19937_64 engine(3);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const double magnitude = std::pow(10.0, static_cast<double>(engine() % 30) - 12);
    const double value = (static_cast<double>(engine()) * 0x1p-63 - 1) * magnitude;
    const int digits = static_cast<int>(engine() % 18);
    const std::string text = printed(i % 2 == 0 ? "%.*f" : "%.*g", digits, value);
    const gpu::io::number n = gpu::io::parse_number(text);
    const double expected = std::strtod(text.c_str(), nullptr);
    if (n.kind == gpu::io::number_kind::integer) {
      wrong += static_cast<double>(n.integer) != expected;
    } else if (n.kind == gpu::io::number_kind::real) {
      wrong += n.real != expected;
    } else {
      wrong += std::fabs(expected) <= 0x1p53 ||
               text.find_first_not_of("-0123456789") != std::string::npos;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("Numbers at the ends of double's range are those of the C library", "[io][number]") {
  std::mt19937_64 engine(4);
  int wrong = 0;
  const auto check = [&](const std::string& text) {
    const gpu::io::number n = gpu::io::parse_number(text);
    const double expected = std::strtod(text.c_str(), nullptr);
    const bool is_right = std::isinf(expected)
                              ? n.kind == gpu::io::number_kind::overflow
                              : n.kind == gpu::io::number_kind::real && n.real == expected &&
                                    std::signbit(n.real) == std::signbit(expected);
    INFO(text);
    CHECK(is_right);
    wrong += is_right ? 0 : 1;
  };
  for (const char* text : {"1e-400",
                           "-1e-400",
                           "1e400",
                           "-1e400",
                           "4.9e-324",
                           "3e-324",
                           "2.5e-324",
                           "2.4e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "0.00001e-320",
                           "100000e-330",
                           "0e-99999",
                           "0.0e99999",
                           "1e99999999999999999999",
                           "-1e-99999999999999999999",
                           "0.0001e+400",
                           "1E-400",
                           "10000e305"}) {
    check(text);
  }
  const std::string zeros(400, '0');
  check("0." + zeros + "1");
  check("1" + zeros + ".0");
  check("1" + zeros + "e-900");
  check("0." + zeros + "1e900");
  check("0." + zeros + "1e400");
  for (int i = 0; i < 20000; ++i) {
    const int exponent = static_cast<int>(engine() % 760) - 380;
    const double mantissa = static_cast<double>(engine()) * 0x1p-62;
    check(printed("%.*f", static_cast<int>(engine() % 20), mantissa) + "e" +
          std::to_string(exponent));
  }
  CHECK(wrong == 0);
}

TEST_CASE("Leading zeros do not make an integer large", "[io][number]") {
  const std::string zeros(40, '0');
  for (const char* sign : {"", "-", "+"}) {
    for (const std::int64_t magnitude : {0L, 7L, 12345678901234L, 9007199254740992L}) {
      const gpu::io::number n = gpu::io::parse_number(sign + zeros + std::to_string(magnitude));
      CHECK(n.kind == gpu::io::number_kind::integer);
      CHECK(n.integer == (*sign == '-' ? -magnitude : magnitude));
    }
    for (const char* large : {"9007199254740993", "18446744073709551617", "99999999999999999999"}) {
      const auto kind = gpu::io::parse_number(sign + zeros + large).kind;
      CHECK(kind == gpu::io::number_kind::overflow);
    }
  }
}

TEST_CASE("An integer beyond 2^53 is read where a double holds it exactly", "[io][number]") {
  std::mt19937_64 engine(6);
  int wrong = 0;
  int exact = 0;
  for (int i = 0; i < 20000; ++i) {
    // From 2^53 on: doubles as printf writes them in full, and integers of as many digits.
    const double value =
        std::ldexp(static_cast<double>(engine() >> 11) + 0x1p53, static_cast<int>(engine() % 300));
    std::string text = printed("%.*f", 0, i % 2 == 0 ? value : -value);
    if (i % 3 == 0) text.back() = static_cast<char>('0' + engine() % 10);
    const gpu::io::number n = gpu::io::parse_number(text);
    const double nearest = std::strtod(text.c_str(), nullptr);
    const bool is_exact = printed("%.*f", 0, nearest) == text;
    exact += is_exact;
    wrong += is_exact ? n.kind != gpu::io::number_kind::real || n.real != nearest
                      : n.kind != gpu::io::number_kind::overflow;
  }
  CHECK(wrong == 0);
  CHECK(exact > 13000);
  CHECK(exact < 16000);
  for (const char* text : {"100000000000000000000", "-9007199254740994", "+00018014398509481984"}) {
    CHECK(gpu::io::parse_number(text).kind == gpu::io::number_kind::real);
  }
  const std::string nines(400, '9');
  for (const std::string& text : {std::string("9007199254740993"), "-" + nines, nines + "."}) {
    CHECK(gpu::io::parse_number(text).kind == gpu::io::number_kind::overflow);
  }
}

TEST_CASE("What only looks like a number is none", "[io][number]") {
  for (const char* text : {"", ".", "-", "+", "-.", "1.2.3", "1e", "e5", "--1", "+-1", "1 2", "0x1",
                           "1f", "in", "nano", "1,5", "-+1"}) {
    INFO(text);
    CHECK_FALSE(gpu::io::is_number(text));
  }
  for (const char* text : {"nan(1)", "NaN()", "-nan(ind)"}) {
    INFO(text);
    CHECK_FALSE(gpu::io::is_number(text));
  }
  for (const char* text : {"1.", ".5", "-.5", "+.5", "+1", "1e5", "1E-5", "inf", "-Infinity", "NaN",
                           "NA", "000000000000000000000000000001.5"}) {
    INFO(text);
    CHECK(gpu::io::is_number(text));
  }
}

TEST_CASE("Six digits are those of printf", "[io][number]") {
  const std::string longest = six_digits(-1.234567e-300);
  CHECK(longest.size() <= gpu::io::six_digits_longest);
  std::mt19937_64 engine(5);
  int wrong = 0;
  for (int i = 0; i < 300000; ++i) {
    double value = std::bit_cast<double>(engine());
    if (i % 3 == 1) value = static_cast<double>(engine()) * 0x1p-64;
    if (i % 3 == 2) value = static_cast<double>(static_cast<int>(engine() % 4000001) - 2000000) / 8;
    if (std::isnan(value)) continue;
    wrong += six_digits(value) != printed("%.*g", 6, value);
  }
  CHECK(wrong == 0);
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(six_digits(0) == "0");
  CHECK(six_digits(inf) == "inf");
  CHECK(six_digits(-inf) == "-inf");
  CHECK(six_digits(std::nan("")) == "nan");
  CHECK(six_digits(9.999995e-5) == printed("%.*g", 6, 9.999995e-5));
  CHECK(six_digits(999999.7) == "1e+06");
  CHECK(six_digits(0.00012345678) == "0.000123457");
  CHECK(six_digits(1e-308) == "1e-308");
  CHECK(six_digits(4.9e-324) == "4.94066e-324");
  CHECK(six_digits(1.7976931348623157e308) == "1.79769e+308");
}
