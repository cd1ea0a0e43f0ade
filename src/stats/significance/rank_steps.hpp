#pragma once
// Where the bins of p begin for Spearman's rho, in terms that a device has too: p never grows with
// |rho|, or with rho towards the tail, so "-p is in bin k or beyond" is "the key of rho is at least
// so much". The host finds these keys once, to the last bit, by p itself.

#include <cstdint>
#include <vector>

#include <gpu/index.hpp>

#include "stats/bins.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::stats {

/// [bins + 1], ascending: from the key at place k on, the place of p_within is above k; infinite
/// where no rho has such a p, -infinite where every rho has. Keys are those of within.key().
[[nodiscard]] std::vector<double> steps_of(const spearman_cut& within, int of_class,
                                           const detail::p_bins& bins, int threads);

/// The most steps that a pair with a row of a tie sum reaches, by tie sum: the place of the least p
/// of its class. Empty where ties do not count.
[[nodiscard]] std::vector<std::int32_t> most_steps(const spearman_cut& within,
                                                   const detail::p_bins& bins);

}  // namespace gpu::stats
