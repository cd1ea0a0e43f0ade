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
/// Ranks or scales the rows of x, which a host_prepared_table then is.
std::shared_ptr<detail::prepared_table> prepare_table(const detail::pair_request& request);
}  // namespace gpu::cpu

namespace gpu::cuda {
/// Prepares x on the device that the request names.
std::shared_ptr<detail::prepared_table> prepare_table(const detail::pair_request& request);
}  // namespace gpu::cuda
