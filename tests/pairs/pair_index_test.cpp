// Where pairs and rows stand, by host arithmetic alone, past 2^31 and 2^32 pairs and up
// to the most rows there can be.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/team/share.hpp"
#include "support/catch.hpp"

namespace {

using gpu::index_t;
using gpu::cuda::pairs_of_rows;
using gpu::cuda::rows_of_pairs;
using gpu::detail::pair_area;

pair_area whole(index_t count) {
  return {.rows = {0, count}, .cols = {0, count}};
}

// Around 2^31 and 2^32 pairs, the origin job, 2^31 and 2^32 rows.
constexpr index_t row_counts[] = {
    2,       3,         65'536,     65'537,        92'682,       92'683,
    131'072, 9'879'896, 94'906'266, 2'147'483'649, 4'294'967'294};

__extension__ using wide = unsigned __int128;

wide pairs_of(index_t begin, index_t end, index_t count) {
  return static_cast<wide>(end - begin) *
         (static_cast<wide>(count - 1 - begin) + static_cast<wide>(count - end)) / 2;
}

}  // namespace

TEST_CASE("Pairs of rows are counted in 64 bits", "[pair_index]") {
  std::mt19937_64 engine(1);
  for (const index_t count : row_counts) {
    INFO(count << " rows");
    CHECK(pairs_of_rows(whole(count), {0, count}) == pairs_of(0, count, count));
    CHECK(pairs_of_rows(whole(count), {count - 1, count}) == 0);
    for (int i = 0; i < 200; ++i) {
      const auto rows = static_cast<std::uint64_t>(count) + 1;
      auto begin = static_cast<index_t>(engine() % rows);
      auto end = static_cast<index_t>(engine() % rows);
      if (begin > end) std::swap(begin, end);
      CHECK(pairs_of_rows(whole(count), {begin, end}) == pairs_of(begin, end, count));
      const pair_area against{.rows = {0, begin}, .cols = {begin, count}};
      CHECK(pairs_of_rows(against, {begin / 2, begin}) ==
            static_cast<wide>(begin - begin / 2) * static_cast<wide>(count - begin));
    }
  }
}

TEST_CASE("Launches take the pairs they are asked for and cover all rows", "[pair_index]") {
  for (const index_t count : row_counts) {
    for (const double pairs : {1.0, 6.7e7, 4.3e9, 1e13}) {
      INFO(count << " rows, " << pairs << " pairs a launch");
      std::uint64_t covered = 0;
      index_t begin = 0;
      bool fitting = true;
      // The end of the triangle where there are too many launches to walk them all.
      const double all = static_cast<double>(count) * static_cast<double>(count) / 2;
      if (all / pairs > 1e5) begin = count - std::min<index_t>(count, 300'000);
      const index_t first = begin;
      for (int launches = 0; begin < count && launches < 400'000; ++launches) {
        const index_t rows = rows_of_pairs(whole(count), begin, pairs);
        if (rows < 1 || rows > count - begin) break;
        const std::uint64_t taken = pairs_of_rows(whole(count), {begin, begin + rows});
        // At most a row more than asked for.
        fitting &= rows == 1 || static_cast<double>(taken) <=
                                    pairs * 1.000001 + static_cast<double>(count - begin);
        covered += taken;
        begin += rows;
      }
      CHECK(fitting);
      CHECK(begin == count);
      CHECK(covered == pairs_of(first, count, count));
    }
  }
}

TEST_CASE("A walk of more than 2^32 items takes each once", "[pair_index]") {
  const index_t items = (index_t{1} << 33) + 12'345;
  const gpu::progress_callback none;
  const auto share = gpu::cuda::make_solo_share(none);
  const auto walk = share->walk("pairs", items, std::uint64_t{1} << 63);
  index_t next = 0;
  bool each_once = true;
  int repeats = 3;
  CHECK(gpu::cuda::walk_items(
      *walk, items,
      [&](index_t first, index_t last) {
        each_once &= first == next && last > first && last <= items;
        if (repeats > 0 && first > items / 3) {
          --repeats;
          return gpu::cuda::slice_outcome::repeat;
        }
        walk->advance(static_cast<std::uint64_t>(last - first));
        next = last;
        return gpu::cuda::slice_outcome::done;
      },
      index_t{1} << 30));
  CHECK(each_once);
  CHECK(next == items);
  CHECK(repeats == 0);
}
