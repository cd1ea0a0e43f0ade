#include "pairs/delivery/folded_delivery.hpp"

#include "stats/pair_checksums.hpp"

namespace gpu::delivery {

folded_totals deliver_folded(detail::folded_pair_engine& engine,
                             const detail::edge_request& request,
                             const stats::edge_p_values& p_values, int threads,
                             const folded_receiver& receive) {
  folded_totals totals;
  engine.folded_edges(request, [&](std::span<folded_edge> batch) {
    for (const folded_edge& e : batch) totals.pairs += e.pairs;
    totals.checksum += stats::checksum_of(std::span<const folded_edge>(batch), threads);
    receive(p_values, batch);
  });
  return totals;
}

}  // namespace gpu::delivery
