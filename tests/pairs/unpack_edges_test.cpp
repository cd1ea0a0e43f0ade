// Whole edges from packed ones, against p of one statistic and the place's two halves. Run once per
// instruction set.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "pairs/delivery/unpack_edges.hpp"
#include "stats/significance/p_table.hpp"
#include "support/catch.hpp"

namespace {

using gpu::edge;
using gpu::tail;
using gpu::detail::packed_edges;

// Edges with the numbers that they are packed into.
struct packed_case {
  std::vector<edge> edges;  // p is 0
  std::vector<double> statistics;
  std::vector<std::uint32_t> places;
  std::uint32_t first_row;
  int col_bits;

  [[nodiscard]] packed_edges packed() const {
    return {.statistics = statistics.data(),
            .places = places.data(),
            .count = edges.size(),
            .first_row = first_row,
            .col_bits = col_bits};
  }
};

// Statistics near 0, near 1, the ends themselves and those between, of either sign.
double some_statistic(std::mt19937_64& random) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  const double sign = random() % 2 == 0 ? 1 : -1;
  switch (random() % 8) {
    case 0:
      return sign * std::ldexp(u, -static_cast<int>(random() % 60));
    case 1:
      return sign * (1 - std::ldexp(u, -static_cast<int>(random() % 50)));
    case 2:
      return sign * static_cast<double>(random() % 2);
    default:
      return sign * u;
  }
}

packed_case make_case(std::size_t count, std::uint32_t first_row, int col_bits, unsigned seed) {
  std::mt19937_64 random(seed);
  packed_case out{
      .edges = {}, .statistics = {}, .places = {}, .first_row = first_row, .col_bits = col_bits};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t cols = std::uint64_t{1} << col_bits;
    const std::uint64_t rows =
        std::min(std::uint64_t{1} << (32 - col_bits), (std::uint64_t{1} << 32) - first_row);
    const auto row = static_cast<std::uint32_t>(random() % rows);
    const auto col = static_cast<std::uint32_t>(random() % cols);
    const double statistic = some_statistic(random);
    out.edges.push_back({.row = first_row + row, .col = col, .statistic = statistic, .p = 0});
    out.statistics.push_back(statistic);
    out.places.push_back(static_cast<std::uint32_t>(row * cols + col));
  }
  return out;
}

bool same_bits(const edge& a, const edge& b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return a.row == b.row && a.col == b.col && bits(a.statistic) == bits(b.statistic) &&
         bits(a.p) == bits(b.p);
}

// How many of `count` edges differ, unpacked from `first` on to the edge `offset` of a buffer, and
// how many of those around them were written.
std::size_t wrong_edges(const packed_case& from, std::size_t first, std::size_t count,
                        std::size_t offset, const gpu::stats::p_function& p_of) {
  const edge untouched{.row = 7, .col = 8, .statistic = 9, .p = 10};
  std::vector<edge> buffer(offset + count + 8, untouched);
  gpu::delivery::unpack_edges(from.packed(), first, count, p_of, buffer.data() + offset);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    edge wanted = untouched;
    if (i >= offset && i < offset + count) {
      wanted = from.edges[first + i - offset];
      if (p_of.table != nullptr) wanted.p = p_of(wanted.statistic);
    }
    if (!same_bits(buffer[i], wanted)) ++wrong;
  }
  return wrong;
}

}  // namespace

TEST_CASE("Unpacked edges hold the bits of p of their statistic", "[p_value]") {
  for (const gpu::index_t observations : {3, 4, 5, 8, 30, 57, 128, 1000, 100'000}) {
    const auto table = gpu::stats::p_table_for(observations);
    const packed_case from = make_case(20'000, 100, 15, static_cast<unsigned>(observations));
    for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
      INFO("observations " << observations << ", tail " << static_cast<int>(side));
      CHECK(wrong_edges(from, 0, from.edges.size(), 0, {table.get(), side}) == 0);
    }
  }
}

TEST_CASE("Unpacked edges whose statistics are alike hold the bits of p", "[p_value]") {
  for (const gpu::index_t observations : {5, 57, 1000}) {
    const auto table = gpu::stats::p_table_for(observations);
    // Up to the last piece of the table.
    for (int exponent = 0; exponent <= 53; ++exponent) {
      packed_case from = make_case(200, 0, 16, static_cast<unsigned>(exponent));
      for (std::size_t i = 0; i < from.edges.size(); ++i) {
        const double below_one = std::ldexp(1 + std::abs(from.statistics[i]) / 4, -exponent - 1);
        from.statistics[i] = from.edges[i].statistic = i % 3 == 0 ? below_one - 1 : 1 - below_one;
      }
      INFO("observations " << observations << ", 1 - r about 2^-" << exponent + 1);
      CHECK(wrong_edges(from, 0, 200, 0, {table.get(), tail::two_sided}) == 0);
    }
  }
}

TEST_CASE("Edges are unpacked to and from any place", "[p_value]") {
  const auto table = gpu::stats::p_table_for(57);
  const packed_case from = make_case(100, 0, 20, 1);
  for (const std::size_t count : {0u, 1u, 7u, 8u, 31u, 32u, 40u, 90u}) {
    for (std::size_t offset = 0; offset < 8; ++offset) {
      INFO(count << " edges at " << offset);
      CHECK(wrong_edges(from, offset, count, offset, {table.get(), tail::two_sided}) == 0);
      CHECK(wrong_edges(from, 3, count, offset, {nullptr, tail::two_sided}) == 0);
    }
  }
}

TEST_CASE("Places of every layout are taken apart", "[p_value]") {
  const auto table = gpu::stats::p_table_for(30);
  for (int col_bits = 0; col_bits <= 32; ++col_bits) {
    for (const std::uint32_t first_row : {0u, 12'345u, 0x7fff'ffffu}) {
      const packed_case from =
          make_case(50, first_row, col_bits, static_cast<unsigned>(col_bits + 1));
      INFO(col_bits << " bits of the column, first row " << first_row);
      CHECK(wrong_edges(from, 0, 50, 1, {table.get(), tail::two_sided}) == 0);
    }
  }
}
