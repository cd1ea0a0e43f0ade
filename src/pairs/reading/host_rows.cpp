#include "pairs/reading/host_rows.hpp"

#include <type_traits>

#include "pairs/reading/computed_rows.hpp"

namespace gpu::inline v0::detail {

host_rows::host_rows(const any_table& table) {
  std::visit(
      [&]<class View>(const View& view) {
        if constexpr (View::space == memory_space::host) {
          rows_ = view.rows();
          cols_ = view.cols();
          may_hold_nan_ = std::is_floating_point_v<typename View::value_type>;
          if constexpr (std::is_constructible_v<any_matrix_view, View>) plain_ = view;
        }
      },
      table);
  if (!is_gathered(table)) return;
  if (&source_of(table) != &table) may_hold_nan_ = host_rows(source_of(table)).may_hold_nan();
  gathered_ = table;
  plain_ = gathered_type(table);
}

}  // namespace gpu::inline v0::detail
