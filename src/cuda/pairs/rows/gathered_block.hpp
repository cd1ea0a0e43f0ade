#pragma once
// Rows that do not stand in host memory as they are uploaded.

#include <cstddef>
#include <variant>

#include <gpu/detail/any_view.hpp>

#include "cuda/transfer/upload_lane.hpp"
#include "cuda_runtime/index_range.hpp"
#include "pairs/reading/gather.hpp"

namespace gpu::cuda {

/// Rows of a table that stands as it is uploaded.
struct block_source {
  detail::any_table table;
  detail::index_range rows;
};

/// The rows of a table as they are uploaded: of another one gathered by `threads` threads in the
/// memory of the lane.
inline block_source block_to_upload(const detail::any_table& table, detail::index_range rows,
                                    int threads, upload_lane& lane) {
  if (!detail::is_gathered(table)) return {table, rows};
  lane.own.synchronize();  // the block before has left that memory
  const index_t cols = std::visit([](const auto& view) { return view.cols(); }, table);
  return std::visit(
      [&]<class T>(const matrix_view<const T>&) -> block_source {
        lane.gathered.resize(static_cast<std::size_t>(rows.size() * cols) * sizeof(T));
        detail::gather_rows(table, rows, lane.gathered.data(), threads);
        return {matrix_view<const T>(reinterpret_cast<const T*>(lane.gathered.data()), rows.size(),
                                     cols),
                {0, rows.size()}};
      },
      detail::gathered_type(table));
}

}  // namespace gpu::cuda
