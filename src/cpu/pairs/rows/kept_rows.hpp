#pragma once
// Rows that are ranked or scaled once for many calls.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/platform/aligned_buffer.hpp"
#include "pairs/prepared_table.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

/// `view` is of the centred ranks, whose ranks they are again, or of the unit rows.
class kept_rows final : public detail::host_prepared_table {
 public:
  aligned_buffer<std::byte> values;       ///< What `view` is of.
  std::vector<std::int64_t> square_sums;  ///< Of ranks.
  std::vector<detail::row_kind> kinds;    ///< Of unit rows.
};

}  // namespace gpu::cpu
