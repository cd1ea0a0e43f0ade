#include <gpu/kendall.hpp>

#include <fmt/format.h>

#include <gpu/error.hpp>

#include "base/memory_errors.hpp"
#include "pairs/pair_ties.hpp"
#include "pairs/prepared_table.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {

std::vector<row_ties> kendall_ties(const any_table& data) {
  return with_memory_errors("kendall_ties", [&] {
    const pair_tables tables{data};
    if (is_on_device(tables)) {
      throw unsupported("kendall_ties: takes data in host memory, got data in device memory");
    }
    return find_ties(tables, 0);
  });
}

std::vector<row_ties> kendall_ties(const prepared_table& data) {
  return with_memory_errors("kendall_ties", [&] {
    const auto* const kept = dynamic_cast<const host_prepared_table*>(&data);
    if (data.what != measure::kendall || kept == nullptr) {
      throw invalid_argument(fmt::format("data: was prepared for {}, expected {}",
                                         to_string(data.what), to_string(measure::kendall)));
    }
    return find_ties(*kept);
  });
}

}  // namespace gpu::inline v0::detail
