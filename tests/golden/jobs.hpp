#pragma once
// Seeded jobs and what they answer, as a line of golden.txt each.

#include <cstdint>
#include <cstdio>
#include <string>

#include <gpu/similarity.hpp>

#include "golden/checksum.hpp"

namespace gpu_test::golden {

struct answer {
  std::string job;   ///< What was asked.
  std::string said;  ///< The checksum of the result, or "refused" or "unsupported".
};

/// Runs `add`, which adds a result to a checksum.
template <class Add>
answer answer_of(std::string job, const Add& add) {
  checksum sum;
  try {
    add(sum);
  } catch (const gpu::invalid_argument&) {
    return {std::move(job), "refused"};
  } catch (const gpu::unsupported&) {
    return {std::move(job), "unsupported"};
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum.value()));
  return {std::move(job), text};
}

/// Jobs of all pairs from this number on have rows of several slices (stats/unit_rows.hpp).
inline constexpr std::uint64_t first_sliced_job = 500;

/// Job `number` of all pairs.
answer answer_of_pairs(std::uint64_t number, const gpu::execution& where);

/// Job `number` of the other operations: differential correlation, max-T, Tanimoto, ranks, best
/// values, moving means, products of bits.
answer answer_of_others(std::uint64_t number, const gpu::execution& where);

}  // namespace gpu_test::golden
