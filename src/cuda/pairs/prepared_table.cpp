#include "cuda/pairs/prepared_table.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include <gpu/error.hpp>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda_runtime/device_info.hpp"
#include "pairs/tables.hpp"

namespace gpu::cuda {

device_prepared_table::device_prepared_table(const detail::measure_traits& of,
                                             const detail::any_table& data, const execution& exec,
                                             const device_info& on, pair_variant chosen)
    : ordinal_(on.ordinal) {
  const detail::pair_tables tables{.x = data};
  const index_t width = std::visit([](const auto& view) { return view.cols(); }, data);
  const row_format format = choose_row_format(of, chosen, width);
  pair_budget budget(exec.workspace_bytes);
  const auto alone = make_solo_share(exec.on_progress);
  detail::row_info info;
  rows_.emplace(of, tables, format, exec, budget, *alone, own_.get(), info, front_rows);
  if (!rows_->resident()) {
    const std::size_t needed = static_cast<std::size_t>(info.rows) * format.bytes();
    throw out_of_memory(
        exec.workspace_bytes == 0
            ? fmt::format("prepared rows: {} bytes do not fit the device", needed)
            : fmt::format("execution.workspace_bytes: got {}, prepared rows need {} bytes and room "
                          "for their input",
                          exec.workspace_bytes, needed),
        needed);
  }
  own_.synchronize();
  what = of.info.what;
  rows = info.rows;
  cols = info.cols;
  constant_rows = std::move(info.constant_rows);
  nan_rows = std::move(info.nan_rows);
  ties = std::move(info.ties);
  where = backend::cuda;
  variant = chosen;
  device = on.name;
  seconds = info.seconds;
}

device_prepared_table::~device_prepared_table() {
  int before = 0;
  const bool known = cudaGetDevice(&before) == cudaSuccess;
  static_cast<void>(cudaSetDevice(ordinal_));
  rows_.reset();
  if (known) static_cast<void>(cudaSetDevice(before));
}

std::shared_ptr<detail::prepared_table> prepare_table(const detail::pair_request& request) {
  const detail::any_table& data = request.tables.x;
  const std::vector<device_info> devices = select_devices(request.exec);
  if (devices.size() > 1) {
    throw unsupported("execution.devices: rows are prepared on one device, several were named");
  }
  const detail::pair_tables tables{.x = data};
  const index_t rows = detail::rows_of(data);
  const index_t cols = std::visit([](const auto& view) { return view.cols(); }, data);
  const pair_variant variant = choose_variant(rows, cols, request.variant, devices);
  const device_guard guard(devices.front().ordinal);
  if (detail::is_on_device(data)) {
    const std::array ordinals{devices.front().ordinal};
    check_tables(tables, ordinals, request.exec);
    wait_for_callers_stream(request.exec, ordinals);
  }
  return std::make_shared<device_prepared_table>(request.what, data, request.exec, devices.front(),
                                                 variant);
}

}  // namespace gpu::cuda
