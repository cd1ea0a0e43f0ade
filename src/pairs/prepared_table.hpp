#pragma once
// Tables that are prepared for several calls, inside of the library.

#include <memory>

#include <gpu/detail/prepared_table.hpp>

#include "pairs/engine.hpp"

namespace gpu::inline v0::detail {

/// A table that is kept in host memory as it is.
class host_prepared_table : public prepared_table {
 public:
  any_table view;
};

}  // namespace gpu::inline v0::detail

namespace gpu::cuda {
/// Prepares a table on the device that options.exec names.
std::shared_ptr<const detail::prepared_table> prepare_table(detail::measure what,
                                                            const detail::any_table& data,
                                                            const pair_options& options);
}  // namespace gpu::cuda
