#pragma once
// Tables that are prepared for several calls, inside of the library.

#include <memory>

#include <gpu/detail/prepared_table.hpp>

#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// A table that is kept in host memory: `view` stands for it in calls, with its rows and columns.
class host_prepared_table : public prepared_table {
 public:
  any_table view;
};

}  // namespace gpu::inline v0::detail

namespace gpu::cpu {
/// Ranks or scales the rows of a table, which a host_prepared_table then is.
std::shared_ptr<detail::prepared_table> prepare_table(const detail::measure_traits& what,
                                                      const detail::any_table& data,
                                                      const pair_options& options);
}  // namespace gpu::cpu

namespace gpu::cuda {
/// Prepares a table on the device that options.exec names.
std::shared_ptr<detail::prepared_table> prepare_table(const detail::measure_traits& what,
                                                      const detail::any_table& data,
                                                      const pair_options& options);
}  // namespace gpu::cuda
