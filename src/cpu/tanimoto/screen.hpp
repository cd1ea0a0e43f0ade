#pragma once
// The inner loop that looks for pairs worth an exact decision, compiled once per instruction set.

#include <cstdint>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// Columns that one call looks at.
inline constexpr int screen_cols = 64;

/// Of one row and screen_cols rows of the other side: bit j of the result is 1 where
/// float(common) - t * ones[j] >= least, with the bits that are common to both,
/// own + ones[j] - unions[j]. See
/// src/stats/set_similarity.hpp for t, the right of a screen.
using screen_function = std::uint64_t (*)(const std::int32_t* unions, const std::int32_t* ones,
                                          std::int32_t own, float t, float least);

std::uint64_t screen_baseline(const std::int32_t* unions, const std::int32_t* ones,
                              std::int32_t own, float t, float least);
std::uint64_t screen_avx2(const std::int32_t* unions, const std::int32_t* ones, std::int32_t own,
                          float t, float least);
std::uint64_t screen_avx512(const std::int32_t* unions, const std::int32_t* ones, std::int32_t own,
                            float t, float least);

/// That of usable_instruction_set().
screen_function usable_screen();

}  // namespace gpu::cpu
