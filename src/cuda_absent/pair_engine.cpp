#include "cuda_absent/absent.hpp"
#include "pairs/differential/difference_engine.hpp"
#include "pairs/engine.hpp"
#include "pairs/on_device.hpp"

namespace gpu::cuda {

detail::made_engine make_pair_engine(const detail::measure_traits&, const detail::pair_input&) {
  throw_not_built();
}

detail::engine_plan plan_pair_engine(const detail::measure_traits&, const detail::pair_input&) {
  throw_not_built();
}

std::shared_ptr<detail::prepared_table> prepare_table(const detail::pair_request&) {
  throw_not_built();
}

index_t first_nan_column(const device_table_view&, index_t, const execution&,
                         std::span<const index_t>) {
  throw_not_built();
}

std::vector<index_t> infinite_rows(const device_table_view&, std::span<const index_t>,
                                   std::span<const index_t>, const execution&) {
  throw_not_built();
}

std::vector<row_ties> find_device_ties(const device_table_view&, const execution&) {
  throw_not_built();
}

std::unique_ptr<detail::difference_engine> make_difference_engine(
    const detail::measure_traits&, const std::array<detail::column_group, 2>&, pair_variant,
    const execution&) {
  throw_not_built();
}

void all_pairs_on_device(const detail::device_pair_call&) {
  throw_not_built();
}

std::size_t device_workspace_of(const detail::device_pair_call&) {
  throw_not_built();
}

detail::engine_plan plan_all_pairs_on_device(const detail::device_pair_call&) {
  throw_not_built();
}

}  // namespace gpu::cuda
