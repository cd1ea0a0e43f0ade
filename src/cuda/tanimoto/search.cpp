// Tanimoto similarities on CUDA: rows prepared once; pairs decided where warpgroups count them, or
// by a kernel that reads the product of a rectangle that stays in the second-level cache.

#include "tanimoto/search.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "base/round_up.hpp"
#include "cuda/binary_matmul/binary_matmul.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda/tanimoto/prepared_operand.hpp"
#include "cuda/transfer/row_download.hpp"
#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/index_range.hpp"
#include "cuda_runtime/memory_cache.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/tanimoto/kernels.hpp"
#include "pairs/tables.hpp"
#include "plan/binary_matmul_variants.hpp"
#include "stats/set_similarity.hpp"

namespace gpu::cuda {
namespace {

using kernels::bit_columns;
using tanimoto::partner_rows;

constexpr double no_p = std::numeric_limits<double>::quiet_NaN();
// A rectangle of a product: 32 MiB, which the second-level cache of large devices holds.
constexpr index_t product_rows = 4096;
constexpr index_t product_cols = 2048;
// Rows of a rectangle begin at multiples of every tile.
constexpr index_t tile_multiple = kernels::tensor_tile;
// Candidates of a row between two joins.
constexpr int most_candidates = 1024;
// Of a dense result that are computed before they are copied.
constexpr std::size_t block_bytes = std::size_t{64} << 20;
// Columns that are looked at before the first join. Every panel may be twice as wide as the one
// before: of columns in no order, half of the best of all so far are in it.
constexpr index_t first_panel = 256;
constexpr std::size_t usual_room = std::size_t{1} << 30;

// Which product counts the bits.
binary_matmul_variant product_of(pair_variant asked) {
  switch (asked) {
    case pair_variant::automatic:
      return binary_matmul_variant::automatic;
    case pair_variant::hopper:
      return binary_matmul_variant::hopper;
    case pair_variant::tensor:
      return binary_matmul_variant::tensor;
    case pair_variant::shared_tiled:
      return binary_matmul_variant::popcount_tiled;
    case pair_variant::naive:
    case pair_variant::tiled:
      break;
  }
  throw unsupported(
      fmt::format("options.variant: {} is not offered for rows of bits on cuda, expected "
                  "automatic, shared_tiled, tensor or hopper",
                  to_string(asked)));
}

binary_matmul_variant choose(pair_variant of, detail::binary_matmul_shape shape,
                             const execution& exec) {
  using variant = binary_matmul_variant;
  const variant asked = product_of(of);
  shape = on_device_of(shape, exec);
  const variant chosen = detail::choose_binary_matmul_variant(backend::cuda, asked, shape);
  const bool is_deep = shape.k > kernels::bit_hopper_policy::most_pass_bits;
  if (chosen != variant::hopper || !is_deep) return chosen;
  if (asked == variant::hopper) {
    throw unsupported(fmt::format("options.variant: hopper takes up to {} columns, got {}",
                                  kernels::bit_hopper_policy::most_pass_bits, shape.k));
  }
  return variant::tensor;
}

detail::binary_matmul_shape shape_of(const detail::pair_input& input) {
  return {.m = input.rows_of_x(), .n = input.area.cols.size(), .k = input.cols()};
}

pair_variant pair_variant_of(binary_matmul_variant product) {
  switch (product) {
    case binary_matmul_variant::hopper:
      return pair_variant::hopper;
    case binary_matmul_variant::tensor:
      return pair_variant::tensor;
    default:
      return pair_variant::shared_tiled;
  }
}

kernels::bit_layout layout_for(binary_matmul_variant product) {
  return product == binary_matmul_variant::hopper ? kernels::bit_layout::tiles
                                                  : kernels::bit_layout::rows;
}

// Their memory is one of the device, and written.
void wait_for_tables(const detail::pair_tables& tables, const execution& exec, int device) {
  if (!detail::is_on_device(tables)) return;
  const int devices[] = {device};
  check_tables(tables, devices, exec);
  wait_for_callers_stream(exec, devices);
}

// Prepared rows of y.
class kept_bits final : public detail::prepared_table {
 public:
  kept_bits(const detail::pair_request& request, int on)
      : ordinal(on),
        product(choose(request.variant,
                       {.m = detail::rows_of(request.tables.x),
                        .n = detail::rows_of(request.tables.x),
                        .k = detail::cols_of(request.tables)},
                       request.exec)),
        operand(request.tables.x, detail::cols_of(request.tables), layout_for(product), own.get()) {
    what = request.what.info.what;
    rows = detail::rows_of(request.tables.x);
    cols = detail::cols_of(request.tables);
    where = backend::cuda;
    variant = pair_variant_of(product);
    device = select_device(request.exec).name;
  }
  ~kept_bits() override {
    int before = 0;
    const bool known = cudaGetDevice(&before) == cudaSuccess;
    static_cast<void>(cudaSetDevice(ordinal));
    operand = {};
    if (known) static_cast<void>(cudaSetDevice(before));
  }

  int ordinal;
  binary_matmul_variant product;
  stream own;
  prepared_operand operand;
};

// A query runs where its prepared rows are.
execution execution_of(const detail::pair_input& input) {
  execution out = input.exec;
  const auto* y = dynamic_cast<const kept_bits*>(input.tables.prepared_y.get());
  if (y == nullptr) return out;
  if (out.devices.empty()) out.devices = {y->ordinal};
  if (out.devices.front() == y->ordinal) return out;
  throw invalid_argument(fmt::format(
      "y: was prepared on device {}, execution.devices asks for another one", y->ordinal));
}

class cuda_search final : public tanimoto::search {
 public:
  cuda_search(const detail::measure_traits& what, const detail::pair_input& input,
              const execution& exec)
      : device_(device_of(exec)),
        guard_(device_),
        of_(what.weights),
        kept_(std::dynamic_pointer_cast<const kept_bits>(input.tables.prepared_y)),
        variant_(kept_ ? kept_->product : choose(input.variant, shape_of(input), exec)),
        name_(select_device(exec).name),
        is_against_(detail::has_y(input.tables)),
        cols_(input.area.cols.size()),
        threads_(detail::thread_count(input.exec.cpu_threads)),
        room_(room_of(input)) {
    keep_pool_memory();
    wait_for_tables(input.tables, exec, device_);
    const kernels::bit_layout layout = layout_for(variant_);
    left_ = prepared_operand(input.tables.x, input.cols(), layout, stream_.get());
    if (input.tables.y) {
      own_right_ = prepared_operand(*input.tables.y, input.cols(), layout, stream_.get());
    }
    if (variant_ != binary_matmul_variant::hopper) {
      product_ = device_buffer<std::int32_t>(product_rows * product_cols, stream_.get());
    }
  }

  bool edges(index_range rows, double least, std::uint64_t most, array<edge>& out) override;
  void count(index_range rows, double least, pair_counts& out) override;
  void partners(index_range rows, double least, const partner_rows& out) override;
  void dense(index_range rows, matrix_view<double> out) override { fill(rows, out); }
  void dense(index_range rows, matrix_view<float> out) override { fill(rows, out); }

  [[nodiscard]] index_t most_partners() const override { return most_candidates; }
  [[nodiscard]] pair_variant variant() const override { return pair_variant_of(variant_); }
  [[nodiscard]] std::string device() const override { return name_; }
  [[nodiscard]] index_t usual_rows() const override {
    constexpr index_t usual_pairs = index_t{1} << 35;
    const index_t rows = usual_pairs / std::max<index_t>(1, cols_);
    return round_up(std::max<index_t>(1, rows), kernels::bit_row_multiple);
  }
  [[nodiscard]] std::uint64_t usual_edges() const override {
    // Keys and counts twice, and what the sort takes.
    constexpr std::size_t edge_bytes = 2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) + 2;
    constexpr std::size_t sort_bytes = std::size_t{4} << 20;
    constexpr std::uint64_t usual = std::uint64_t{1} << 24;
    const std::uint64_t fitting = room_ > sort_bytes ? (room_ - sort_bytes) / edge_bytes : 0;
    return std::min(fitting, std::max<std::uint64_t>(usual, static_cast<std::uint64_t>(cols_)));
  }

 private:
  [[nodiscard]] std::size_t room_of(const detail::pair_input& input) const {
    std::size_t fixed = prepared_operand::bytes_of(input.tables.x, input.cols());
    if (input.tables.y) fixed += prepared_operand::bytes_of(*input.tables.y, input.cols());
    if (variant_ != binary_matmul_variant::hopper) {
      fixed += product_rows * product_cols * sizeof(std::int32_t);
    }
    const std::size_t limit = input.exec.workspace_bytes;
    if (limit == 0) return usual_room;
    const std::size_t least = fixed + row_bytes(1);
    if (limit < least) {
      throw out_of_memory(
          fmt::format("execution.workspace_bytes: got {}, expected at least the {} of the packed "
                      "rows and of what decides them",
                      limit, least),
          least);
    }
    return limit - fixed;
  }
  // What the lists of a row take while its partners are sought.
  static std::size_t row_bytes(index_t k) {
    return (static_cast<std::size_t>(k) + most_candidates) * sizeof(kernels::tanimoto_partner) +
           5 * sizeof(double);
  }

  [[nodiscard]] const prepared_operand& right() const {
    if (kept_) return kept_->operand;
    return is_against_ ? own_right_ : left_;
  }
  [[nodiscard]] bit_columns above() const {
    return is_against_ ? bit_columns::all : bit_columns::later;
  }
  [[nodiscard]] kernels::bit_area area(index_range rows, index_range cols, bit_columns met) const {
    return {left_.bits(), right().bits(), rows, cols, met, of_};
  }
  [[nodiscard]] index_range cols_of(index_range rows) const {
    return {is_against_ ? 0 : rows.begin, cols_};
  }

  // The statistic of rows with `common` bits in both.
  [[nodiscard]] double statistic(std::size_t row, std::size_t col, std::uint32_t common) const {
    return stats::set_similarity(static_cast<std::int32_t>(common), left_.ones()[row],
                                 right().ones()[col], of_);
  }

  template <class Sink>
  void take(const kernels::bit_area& area, const Sink& sink);
  template <class Value>
  void fill(index_range rows, matrix_view<Value> out);
  void multiply(index_range rows, index_range cols);
  void list_edges(index_range rows, std::uint64_t found, array<edge>& out);
  void join_panel(index_range rows, index_range cols, const kernels::tanimoto_partners& lists);
  kernels::tanimoto_partners take_lists(arena& memory, index_range rows, double least,
                                        index_t k) const;
  void write_partners(const kernels::tanimoto_partners& lists, index_t first,
                      const partner_rows& out);

  template <class T>
  std::vector<T> download(const T* from, std::size_t size) {
    std::vector<T> out(size);
    copy_down(out.data(), from, size);
    stream_.synchronize();
    return out;
  }
  template <class T>
  void copy_down(T* to, const T* from, std::size_t size) {
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpyAsync(to, from, size * sizeof(T), cudaMemcpyDeviceToHost, stream_.get()));
  }

  int device_;
  device_guard guard_;
  stats::set_weights of_;
  std::shared_ptr<const kept_bits> kept_;
  binary_matmul_variant variant_;
  std::string name_;
  bool is_against_;
  index_t cols_;
  int threads_;
  std::size_t room_;
  stream stream_;
  prepared_operand left_;
  prepared_operand own_right_;
  device_buffer<std::int32_t> product_;
  // Of edges: two of each for the sort.
  std::uint64_t edge_capacity_ = 0;
  device_buffer<std::uint64_t> keys_[2];
  device_buffer<std::uint32_t> common_[2];
};

// Leaves |a or b| of rows and columns that begin at tiles in product_.
void cuda_search::multiply(index_range rows, index_range cols) {
  const kernels::prepared_bits left = left_.rows(rows.begin, rows.end);
  const kernels::prepared_bits right_rows = right().rows(cols.begin, cols.end);
  const device_matrix_view<std::int32_t> out(product_.data(), rows.size(), cols.size(),
                                             product_cols);
  constexpr detail::bit_terms unions{.scale = -1, .per_one = 1, .constant = 0};
  if (variant_ == binary_matmul_variant::tensor) {
    kernels::launch_binary_tensor(left, right_rows, unions, out, stream_.get());
  } else {
    kernels::launch_binary_popcount_tiled(left, right_rows, unions, out, stream_.get());
  }
}

template <class Sink>
void cuda_search::take(const kernels::bit_area& area, const Sink& sink) {
  if (variant_ == binary_matmul_variant::hopper) {
    return kernels::launch_tanimoto_hopper(area, sink, limits_of(device_).multiprocessors,
                                           stream_.get());
  }
  const auto tile_of = [](index_t at) { return at / tile_multiple * tile_multiple; };
  for (index_t row = tile_of(area.rows.begin); row < area.rows.end; row += product_rows) {
    for (index_t col = tile_of(area.cols.begin); col < area.cols.end; col += product_cols) {
      const index_range rows{row, std::min(row + product_rows, area.rows.end)};
      const index_range cols{col, std::min(col + product_cols, area.cols.end)};
      if (area.met == bit_columns::later && cols.end <= row + 1) continue;
      multiply(rows, cols);
      kernels::bit_area part = area;
      part.rows = {std::max(rows.begin, area.rows.begin), rows.end};
      part.cols = {std::max(cols.begin, area.cols.begin), cols.end};
      const std::int32_t* const first =
          product_.data() + (part.rows.begin - row) * product_cols + (part.cols.begin - col);
      kernels::launch_tanimoto_select(part,
                                      device_matrix_view<const std::int32_t>(
                                          first, part.rows.size(), part.cols.size(), product_cols),
                                      sink, stream_.get());
    }
  }
}

bool cuda_search::edges(index_range rows, double least, std::uint64_t most, array<edge>& out) {
  if (least > 1 || rows.empty() || cols_ == 0) return true;
  if (edge_capacity_ == 0) {
    // No later range has more rows than the first.
    const auto pairs = static_cast<std::uint64_t>(rows.size()) * static_cast<std::uint64_t>(cols_);
    edge_capacity_ = std::min(most, pairs);
    for (int i = 0; i < 2; ++i) {
      keys_[i] = device_buffer<std::uint64_t>(edge_capacity_, stream_.get());
      common_[i] = device_buffer<std::uint32_t>(edge_capacity_, stream_.get());
    }
  }
  const auto count = zeroed<std::uint64_t>(1, stream_.get());
  take(area(rows, cols_of(rows), above()),
       kernels::tanimoto_edges{.least = least,
                               .first_row = rows.begin,
                               .capacity = std::min(most, edge_capacity_),
                               .count = count.data(),
                               .keys = keys_[0].data(),
                               .common = common_[0].data()});
  const std::uint64_t found = download(count.data(), 1)[0];
  if (found > std::min(most, edge_capacity_)) return false;
  if (found > 0) list_edges(rows, found, out);
  return true;
}

void cuda_search::list_edges(index_range rows, std::uint64_t found, array<edge>& out) {
  const int bits = 32 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows.size())));
  const std::size_t scratch_bytes = kernels::tanimoto_sort_bytes(found);
  const device_buffer<std::byte> scratch(scratch_bytes, stream_.get());
  const int sorted = kernels::sort_tanimoto_edges(
      scratch.data(), scratch_bytes, {keys_[0].data(), keys_[1].data()},
      {common_[0].data(), common_[1].data()}, found, bits, stream_.get());
  array<std::uint64_t> keys(found);
  array<std::uint32_t> common(found);
  copy_down(keys.data(), keys_[sorted].data(), found);
  copy_down(common.data(), common_[sorted].data(), found);
  stream_.synchronize();
  const std::size_t before = out.size();
  out.resize(before + found);
  constexpr std::uint64_t edges_at_once = std::uint64_t{1} << 16;
  const auto tasks = static_cast<index_t>((found + edges_at_once - 1) / edges_at_once);
  detail::parallel_for(tasks, threads_, [&](index_t task, int) {
    const std::uint64_t begin = static_cast<std::uint64_t>(task) * edges_at_once;
    for (std::uint64_t e = begin; e < std::min(found, begin + edges_at_once); ++e) {
      const auto row = static_cast<std::uint64_t>(rows.begin) + (keys[e] >> 32);
      const auto col = static_cast<node_id>(keys[e] & 0xffffffffU);
      out[before + e] = {static_cast<node_id>(row), col, statistic(row, col, common[e]), no_p};
    }
  });
}

void cuda_search::count(index_range rows, double least, pair_counts& out) {
  if (least > 1 || rows.empty() || cols_ == 0) return;
  const std::size_t bins = out.histogram.size();
  const auto row_degree =
      zeroed<std::uint32_t>(static_cast<std::size_t>(left_.bits().rows), stream_.get());
  const auto col_degree = zeroed<std::uint32_t>(static_cast<std::size_t>(cols_), stream_.get());
  const auto histogram = zeroed<std::uint64_t>(std::max<std::size_t>(1, bins), stream_.get());
  take(area(rows, cols_of(rows), above()),
       kernels::tanimoto_counts{.least = least,
                                .row_degree = row_degree.data(),
                                .col_degree = col_degree.data(),
                                .histogram = histogram.data(),
                                .bins = static_cast<index_t>(bins)});
  const std::vector<std::uint32_t> of_rows = download(row_degree.data(), row_degree.size());
  const std::vector<std::uint32_t> of_cols = download(col_degree.data(), col_degree.size());
  const std::vector<std::uint64_t> of_bins = download(histogram.data(), bins);
  std::uint32_t* const right_degree = out.degree.data() + (is_against_ ? of_rows.size() : 0);
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    out.degree[i] += of_rows[i];
    out.kept += of_rows[i];
  }
  for (std::size_t j = 0; j < of_cols.size(); ++j) right_degree[j] += of_cols[j];
  for (std::size_t b = 0; b < bins; ++b) out.histogram[b] += of_bins[b];
}

kernels::tanimoto_partners cuda_search::take_lists(arena& memory, index_range rows, double least,
                                                   index_t k) const {
  const index_t count = rows.size();
  return {.least = least,
          .of = of_,
          .first_row = rows.begin,
          .rows = count,
          .k = static_cast<int>(k),
          .capacity = most_candidates,
          .best = memory.take<kernels::tanimoto_partner>(count * k),
          .held = memory.take<std::uint32_t>(count),
          .worst = memory.take<double>(count),
          .screen = memory.take<stats::set_screen>(count),
          .candidates = memory.take<kernels::tanimoto_partner>(count * most_candidates),
          .found = memory.take<std::uint32_t>(count),
          .overflow = memory.take<std::uint32_t>(1)};
}

// The candidates of a panel of columns, joined to the best; in narrow panels where there are too
// many of some row, which no row can have of a narrow one.
void cuda_search::join_panel(index_range rows, index_range cols,
                             const kernels::tanimoto_partners& lists) {
  const bit_columns met = is_against_ ? bit_columns::all : bit_columns::others;
  const auto join = [&](index_range panel) {
    take(area(rows, panel, met), lists);
    kernels::launch_join_partners(lists, left_.bits().row_offsets, right().bits().row_offsets,
                                  stream_.get());
  };
  join(cols);
  if (cols.size() <= most_candidates || download(lists.overflow, 1)[0] == 0) return;
  kernels::launch_drop_candidates(lists, stream_.get());
  for (index_t col = cols.begin; col < cols.end; col += most_candidates) {
    detail::poll_progress();
    join({col, std::min<index_t>(col + most_candidates, cols.end)});
  }
}

void cuda_search::write_partners(const kernels::tanimoto_partners& lists, index_t first,
                                 const partner_rows& out) {
  const index_t k = lists.k;
  const auto held = download(lists.held, static_cast<std::size_t>(lists.rows));
  const auto best = download(lists.best, static_cast<std::size_t>(lists.rows * k));
  const auto write_row = [&](index_t row) {
    const auto count = static_cast<index_t>(held[static_cast<std::size_t>(row)]);
    node_id* const index = out.index.row(first + row);
    double* const statistics = out.statistic.row(first + row);
    for (index_t n = 0; n < count; ++n) {
      const kernels::tanimoto_partner& partner = best[static_cast<std::size_t>(row * k + n)];
      index[n] = partner.col;
      statistics[n] =
          statistic(static_cast<std::size_t>(lists.first_row + row), partner.col, partner.common);
    }
    std::fill(index + count, index + k, neighbor_table::no_neighbor);
    std::fill(statistics + count, statistics + k, std::numeric_limits<double>::quiet_NaN());
    out.count[first + row] = static_cast<node_id>(count);
  };
  constexpr index_t rows_at_once = 512;
  detail::parallel_for(ceil_div(lists.rows, rows_at_once), threads_, [&](index_t task, int) {
    const index_t end = std::min(lists.rows, (task + 1) * rows_at_once);
    for (index_t row = task * rows_at_once; row < end; ++row) write_row(row);
  });
}

void cuda_search::partners(index_range rows, double least, const partner_rows& out) {
  const index_t k = out.index.cols();
  const auto fitting = static_cast<index_t>(room_ / row_bytes(k));
  if (fitting < 1) {
    throw out_of_memory(
        fmt::format(
            "execution.workspace_bytes: the lists of one row take {} bytes, got room for {}",
            row_bytes(k), room_),
        row_bytes(k));
  }
  const index_t step = std::min(rows.size(), fitting);
  const std::size_t list_bytes =
      bytes_taken([&](arena& memory) { return take_lists(memory, {0, step}, least, k); });
  const device_buffer<std::byte> memory(list_bytes, stream_.get());
  for (index_t first = rows.begin; first < rows.end; first += step) {
    const index_range part{first, std::min(first + step, rows.end)};
    arena pieces(memory.data());
    const kernels::tanimoto_partners lists = take_lists(pieces, part, least, k);
    kernels::launch_clear_partners(lists, stream_.get());
    const index_t most = least > 1 ? 0 : cols_;
    for (index_t begin = 0, width = first_panel; begin < most;) {
      detail::poll_progress();
      const index_t end = std::min(begin + width, most);
      join_panel(part, {begin, end}, lists);
      width = end;  // as many as were looked at
      begin = end;
    }
    write_partners(lists, first - rows.begin, out);
  }
}

template <class Value>
void cuda_search::fill(index_range rows, matrix_view<Value> out) {
  if (rows.empty() || cols_ == 0) return;
  const std::size_t row_bytes = static_cast<std::size_t>(cols_) * sizeof(Value);
  const auto fitting = static_cast<index_t>(std::min(room_, block_bytes) / row_bytes);
  if (room_ < row_bytes) {
    throw out_of_memory(
        fmt::format(
            "execution.workspace_bytes: a row of the result takes {} bytes, got room for {}",
            row_bytes, room_),
        row_bytes);
  }
  const index_t step = std::clamp<index_t>(fitting, 1, rows.size());
  const device_buffer<Value> block(static_cast<std::size_t>(step * cols_), stream_.get());
  row_download<Value> download(out, threads_, stream_.get());
  for (index_t first = rows.begin; first < rows.end; first += step) {
    detail::poll_progress();
    const index_range part{first, std::min(first + step, rows.end)};
    take(area(part, {0, cols_}, bit_columns::all),
         kernels::tanimoto_matrix<Value>{block.data(), cols_, first, 0});
    download.copy(block.data(), {first - rows.begin, part.end - rows.begin});
  }
  download.finish();
}

}  // namespace

std::unique_ptr<tanimoto::search> make_tanimoto_search(const detail::measure_traits& what,
                                                       const detail::pair_input& input) {
  return std::make_unique<cuda_search>(what, input, execution_of(input));
}

detail::engine_plan plan_tanimoto_search(const detail::pair_input& input) {
  const binary_matmul_variant product = choose(input.variant, shape_of(input), input.exec);
  const bool is_hopper = product == binary_matmul_variant::hopper;
  std::size_t bytes = prepared_operand::bytes_of(input.tables.x, input.cols());
  if (input.tables.y) bytes += prepared_operand::bytes_of(*input.tables.y, input.cols());
  return {.device = select_device(input.exec).name,
          .variant = pair_variant_of(product),
          .tile_rows = is_hopper ? kernels::bit_hopper_policy::tile_rows : tile_multiple,
          .tile_cols = is_hopper ? kernels::bit_hopper_policy::tile_cols : tile_multiple,
          .workspace_bytes = bytes};
}

std::shared_ptr<detail::prepared_table> prepare_bits(const detail::pair_request& request) {
  const auto start = std::chrono::steady_clock::now();
  const int device = device_of(request.exec);
  const device_guard guard(device);
  wait_for_tables(request.tables, request.exec, device);
  auto out = std::make_shared<kept_bits>(request, device);
  out->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace gpu::cuda
