#pragma once
// Where the bins of p begin for Spearman's rho, in terms that a device has too: p never grows with
// |rho|, or with rho towards the tail, so "-p is in bin k or beyond" is "the key of rho is at least
// so much". The host finds these keys once, to the last bit, by p itself.

#include <vector>

#include <gpu/index.hpp>

#include "stats/bins.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::stats {

/// [bins + 1], ascending: from the key at place k on, the place of p_within is above k; infinite
/// where no rho has such a p, -infinite where every rho has. Keys are those of within.key().
[[nodiscard]] std::vector<double> steps_of(const spearman_cut& within, rank_test by,
                                           const detail::p_bins& bins, int threads);

}  // namespace gpu::stats
