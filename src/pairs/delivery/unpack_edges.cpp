#include "pairs/delivery/unpack_edges.hpp"

#include <algorithm>
#include <cstdint>

#include "cpu/platform/instruction_set.hpp"

namespace gpu::delivery {
namespace {

// With fewer threads than these a device sends whole edges sooner than they compute p.
constexpr int least_threads = 12;

void unpack_singly(const detail::packed_edges& from, std::size_t first, std::size_t count,
                   const stats::p_function& p_of, edge* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const double statistic = from.statistics[first + i];
    to[i] = {.row = from.row(first + i),
             .col = from.col(first + i),
             .statistic = statistic,
             .p = p_of.table == nullptr ? 0 : p_of(statistic)};
  }
}

// Edges before the first one that starts a line of the cache; they are as long as 3 / 8 of a line.
[[maybe_unused]] std::size_t edges_before_line(const edge* to) {
  constexpr std::uintptr_t line = 64;
  static_assert(sizeof(edge) == 24);
  const std::uintptr_t words = reinterpret_cast<std::uintptr_t>(to) % line / 8;
  return words * 5 % 8;  // (words + 3 * 5 * words) % 8 == 0
}

}  // namespace

bool unpacks_fast(int threads) {
  return threads >= least_threads && cpu::usable_instruction_set() >= cpu::instruction_set::avx512;
}

void unpack_edges(const detail::packed_edges& from, std::size_t first, std::size_t count,
                  const stats::p_function& p_of, edge* to) {
#if defined(__x86_64__)
  if (p_of.table != nullptr && cpu::usable_instruction_set() >= cpu::instruction_set::avx512) {
    const std::size_t head = std::min(edges_before_line(to), count);
    unpack_singly(from, first, head, p_of, to);
    const std::size_t groups = (count - head) / avx512::edges_a_group;
    avx512::unpack_groups(from, first + head, groups, p_of, to + head);
    const std::size_t done = head + groups * avx512::edges_a_group;
    return unpack_singly(from, first + done, count - done, p_of, to + done);
  }
#endif
  unpack_singly(from, first, count, p_of, to);
}

}  // namespace gpu::delivery
