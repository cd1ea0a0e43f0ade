#include <gpu/array.hpp>

#if defined(__linux__)
#include <malloc.h>
#include <sys/resource.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/pair_sinks.hpp>

#include "support/catch.hpp"

namespace {

std::vector<int> ascending(std::size_t size) {
  std::vector<int> out(size);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

static_assert(std::ranges::contiguous_range<const gpu::edge_list> &&
              std::ranges::sized_range<gpu::edge_list> &&
              std::ranges::contiguous_range<const gpu::differential_edges>);

TEST_CASE("A list of edges is a range of its edges", "[array]") {
  gpu::edge_list list;
  CHECK(std::ranges::empty(list));
  for (gpu::node_id i = 0; i < 4; ++i) list.edges.push_back({i, i + 1, i / 4.0, 0.5});
  double sum = 0;
  for (const gpu::edge& e : list) sum += e.statistic;
  CHECK(sum == 1.5);
  CHECK(std::ranges::max(list, {}, &gpu::edge::statistic) == list.edges.back());
  CHECK(std::ranges::equal(list, list.edges));
}

TEST_CASE("An array holds what was added to it", "[array]") {
  const std::vector<int> values = ascending(100'000);
  gpu::array<int> x;
  CHECK(x.empty());
  CHECK(x == std::vector<int>{});
  for (std::size_t first = 0; first < values.size(); first += 1000) {
    x.append(std::span(values).subspan(first, 1000));
  }
  x.push_back(-1);
  REQUIRE(x.size() == values.size() + 1);
  CHECK(x.front() == 0);
  CHECK(x[777] == 777);
  CHECK(x.back() == -1);
  x.resize(values.size());
  CHECK(x == values);
  CHECK(values == x);
  CHECK(x.to_vector() == values);
  CHECK(static_cast<std::vector<int>>(x) == values);
  CHECK(std::span<const int>(x).size() == values.size());
}

TEST_CASE("An array is copied, moved and exchanged", "[array]") {
  gpu::array<int> x{1, 2, 3};
  const gpu::array<int> same = x;
  CHECK(same == x);
  gpu::array<int> taken = std::move(x);
  CHECK(taken == same);
  x = {};
  CHECK(x.empty());
  x = taken;
  CHECK(x == same);
  x.swap(taken);
  taken.clear();
  CHECK(taken.empty());
  CHECK(x == same);
  x = std::move(taken);
  CHECK(x.empty());
}

TEST_CASE("Room that is not used is given back", "[array]") {
  gpu::array<std::uint64_t> x;
  x.reserve(std::size_t{1} << 28);  // 2 GiB that nobody touches
  CHECK(x.capacity() >= std::size_t{1} << 28);
  const auto* place = x.data();
  x.resize(1000);
  CHECK(x.data() == place);
  x[999] = 7;
  x.shrink_to_fit();
  CHECK(x.capacity() == 1000);
  CHECK(x[999] == 7);
  x.clear();
  x.shrink_to_fit();
  CHECK(x.capacity() == 0);
}

TEST_CASE("A large array keeps its elements wherever it moves", "[array]") {
  constexpr std::size_t step = std::size_t{3} << 20;
  gpu::array<std::uint64_t> x;
  gpu::array<std::uint64_t> other;  // takes places that x may want
  for (std::size_t size = step; size <= 8 * step; size += step) {
    x.reserve(size);
    x.resize(size);
    for (std::size_t at = size - step; at < size; at += 509) x[at] = at;
    other.reserve(size + step);
  }
  x.resize(7 * step);
  x.shrink_to_fit();
  std::size_t wrong = 0;
  for (std::size_t size = 0; size < 7 * step; size += step) {
    for (std::size_t at = size; at < size + step; at += 509) wrong += x[at] == at ? 0U : 1U;
  }
  CHECK(wrong == 0);
  x.resize(1000);
  x.shrink_to_fit();
  CHECK(x[509] == 509);
  CHECK(gpu::array<std::uint64_t>(x) == x);
}

TEST_CASE("An array grows past any size of its parts", "[array]") {
  // Sizes that end within a large page, where the array is a mapping of its own.
  const std::vector<int> values = ascending(100'003);
  gpu::array<int> x;
  for (int part = 0; part < 120; ++part) x.append(values);
  REQUIRE(x.size() == 120 * values.size());
  bool same = true;
  for (std::size_t i = 0; i < x.size(); ++i) same = same && x[i] == values[i % values.size()];
  CHECK(same);
}

#if defined(__linux__)
namespace {

// By this process, since it began.
long pages_fetched() {
  rusage usage{};
  REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_minflt;
}

}  // namespace

TEST_CASE("Lists of some MiB take no fresh pages each", "[array]") {
#if defined(__GLIBC__)
  // The C library's own limit at first, which it raises as other tests give large blocks back.
  // Allocators that stand in for it, those of sanitizers, have none and refuse.
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, 128 << 10));
#endif
  // As a call makes its list: room for what a sample promised, of which a little is given back.
  const auto make_list = [](std::size_t edges) {
    gpu::array<gpu::edge> x;
    x.reserve(edges + edges / 15);
    x.resize(edges);
    std::fill(x.begin(), x.end(), gpu::edge{1, 2, 0.5, 0.1});
    x.shrink_to_fit();
    CHECK(x.capacity() == edges);
    CHECK(x.back().col == 2);
  };
  for (const std::size_t edges : {139'590U, 60'000U}) {
    make_list(edges);
    constexpr long lists = 20;
    const long before = pages_fetched();
    for (long list = 0; list < lists; ++list) make_list(edges);
    INFO(edges << " edges");
    CHECK((pages_fetched() - before) / lists < 50);  // of 4 KiB: 340 and more hold them
  }
}

TEST_CASE("A small array leaves the other pages of a large one to the next", "[array]") {
  constexpr std::size_t large = std::size_t{64} << 20;
  const auto fill = [](std::size_t bytes) {
    gpu::array<char> x(bytes);
    const long before = pages_fetched();
    std::fill(x.begin(), x.end(), '1');
    return pages_fetched() - before;
  };
  {
    // More than is ever kept, so that nothing is left of other tests.
    std::vector<gpu::array<char>> all(4);
    for (auto& x : all) x.resize(std::size_t{80} << 20);
  }
  const long fresh = fill(large);
  fill(std::size_t{8} << 20);
  const long used = fill(large);
  INFO("faults on fresh pages " << fresh << ", on used ones " << used);
  CHECK(used <= fresh / 4 + 8);
}

TEST_CASE("A large array takes the pages of one that is gone", "[array]") {
  constexpr std::size_t size = std::size_t{48} << 20;
  const auto fill = [&](std::size_t bytes, char value) {
    gpu::array<char> x;
    x.reserve(bytes + size / 4);  // more than is written, as for a result of unknown size
    x.resize(bytes);
    const long before = pages_fetched();
    std::fill(x.begin(), x.end(), value);
    const long taken = pages_fetched() - before;
    bool same = true;
    for (const char byte : x) same = same && byte == value;
    CHECK(same);
    x.shrink_to_fit();
    return taken;
  };
  // More than is ever kept, so that nothing is left of other tests.
  std::vector<gpu::array<char>> all(4);
  for (auto& x : all) x.resize(std::size_t{80} << 20);
  const long fresh = fill(size, 1);
  const long used = fill(size, 2);
  INFO("faults on fresh pages " << fresh << ", on used ones " << used);
  CHECK(used <= fresh / 4 + 8);
  CHECK(fill(size / 2, 3) <= fresh / 4 + 8);  // a part of it
  fill(2 * size, 4);                          // and more than there is
}
#endif

TEST_CASE("An array that no memory can hold is refused", "[array]") {
  gpu::array<gpu::edge> x{gpu::edge{1, 2, 0.5, 0.1}};
  CHECK_THROWS_AS(x.reserve(~std::size_t{0} / 2), std::bad_alloc);
  REQUIRE(x.size() == 1);
  CHECK(x[0].col == 2);
}
