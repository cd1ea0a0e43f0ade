#include "cuda/pairs/rows/device_rows.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <type_traits>
#include <variant>
#include <vector>

#include <gpu/error.hpp>

#include "cuda/pairs/rows/pack_rows.hpp"
#include "cuda/transfer/staging_copy.hpp"
#include "cuda/transfer/upload_lane.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/host_threads.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "pairs/reading/gather.hpp"

namespace gpu::cuda {
namespace {

using detail::measure_traits;
using kernels::pair_tile_kind;

constexpr std::size_t block_bytes = std::size_t{64} << 20;

// Runs work(failed) on so many threads at once, with the current device; `failed` turns true where
// one of them throws, and its exception is thrown here. The calling thread is one of them.
template <class Work>
void on_threads(int threads, const Work& work) {
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  std::atomic<bool> failed = false;
  std::exception_ptr first_failure;
  const auto run = [&] {
    try {
      const device_guard guard(device);
      work(failed);
    } catch (...) {
      if (!failed.exchange(true)) first_failure = std::current_exception();
    }
  };
  run_on_threads(threads - 1, [&](int) { run(); }, run);
  if (first_failure) std::rethrow_exception(first_failure);
}

// Rows of a table that stands as it is uploaded.
struct block_source {
  detail::any_table table;
  detail::index_range rows;
};

// The rows of a table as they are uploaded: of another one gathered by `threads` threads in the
// memory of the lane.
block_source block_to_upload(const detail::any_table& table, detail::index_range rows, int threads,
                             upload_lane& lane) {
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

// The resident rows of the engines that share a call, open to each other while this lives.
class row_exchange {
 public:
  // The memory of `mine` is ordered on `stream`.
  row_exchange(pair_share& share, const row_memory& mine, cudaStream_t stream)
      : share_(share), mine_(mine) {
    mine_.norms = nullptr;  // every engine makes those of all rows
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
    all_ = share.exchange(&mine_);
  }
  ~row_exchange() { share_.leave(); }
  row_exchange(const row_exchange&) = delete;
  row_exchange& operator=(const row_exchange&) = delete;

  // Copies rows of this engine to all others; complete before this ends.
  void send(index_range rows, const row_format& format, cudaStream_t stream) const {
    const row_memory from = rows_from(format, mine_, rows.begin);
    for (const void* engine : all_) {
      if (engine == &mine_) continue;
      const auto& other = *static_cast<const row_memory*>(engine);
      copy_rows(format, rows.size(), from, rows_from(format, other, rows.begin), stream);
    }
  }

 private:
  pair_share& share_;
  row_memory mine_;
  std::vector<const void*> all_;  // of each engine its row_memory
};

}  // namespace

device_rows::device_rows(const measure_traits& what, const detail::pair_tables& tables,
                         row_format format, const execution& exec, pair_budget& budget,
                         pair_share& share, cudaStream_t stream, detail::row_info& info,
                         index_t front)
    : count_(0), front_(front), format_(format) {
  const auto start = std::chrono::steady_clock::now();
  look_at(what, tables, info);
  fresh_ = count_;
  const auto rows = static_cast<std::size_t>(count_ + front_);
  budget.take(rows * (sizeof(std::int64_t) + sizeof(kernels::row_norm)), "norms of the rows");
  // A quarter of what is left stays for the sinks. Rows that do not fit the rest live on the host,
  // and then two blocks of them are on the device at a time.
  fit_products(rows, budget);
  resident_ =
      rows * format_.bytes() <= resident_share(budget.left()) || finishes_statistics(format_.tile);
  if (!resident_ && format_.unit_bytes != 0) {
    format_ = unit_row_format(format_.cols, format_.centre);
  }
  allocate(budget, stream);
  choose_blocks(exec.cpu_threads, share, budget);
  prepare(what, tables, exec, share, stream);
  read_back(stream, info);
  if (is_pairwise(format_.tile)) classes_ = row_classes(all(), format_.tile, budget, stream);
  info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

device_rows::device_rows(const measure_traits& what, const detail::pair_tables& tables,
                         const device_rows& y, bool in_place, const execution& exec,
                         pair_budget& budget, cudaStream_t stream, detail::row_info& info)
    : count_(0), format_(y.format_) {
  const auto start = std::chrono::steady_clock::now();
  look_at(what, {.x = tables.x}, info);
  fresh_ = count_;
  count_ += y.count_;
  info.rows = count_;
  invalid_ = {1, stream};
  if (in_place && fresh_ <= y.front_) {
    at_ = rows_from(format_, y.at_, -fresh_);
    at_.rows = count_;
  } else {
    const auto rows = static_cast<std::size_t>(count_);
    budget.take(rows * (sizeof(std::int64_t) + sizeof(kernels::row_norm)), "norms of the rows");
    allocate(budget, stream);
    copy_rows(format_, y.count_, y.at_, rows_from(format_, at_, fresh_), stream);
  }
  if (finishes_statistics(format_.tile)) take_product_memory(budget);
  const auto alone = make_solo_share(exec.on_progress);
  choose_blocks(exec.cpu_threads, *alone, budget);
  prepare(what, {.x = tables.x}, exec, *alone, stream);
  read_back(stream, info);
  info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void device_rows::look_at(const measure_traits& what, const detail::pair_tables& tables,
                          detail::row_info& info) {
  std::size_t gathered_bytes = 0;
  const auto add_table = [&]<class View>(const View& view) {
    using value = typename View::value_type;
    count_ += view.rows();
    info.cols = view.cols();
    std::size_t row_bytes = static_cast<std::size_t>(view.cols()) * sizeof(detail::read_as<value>);
    if constexpr (std::is_same_v<View, device_table_view>) {
      row_bytes = read_row_bytes(view);
      gathered_bytes = std::max(gathered_bytes, gathered_row_bytes(view));
    }
    input_row_bytes_ = std::max(input_row_bytes_, row_bytes);
  };
  std::visit(add_table, tables.x);
  rows_of_x_ = count_;
  if (tables.y) std::visit(add_table, *tables.y);
  info.rows = count_;
  // Where one of two tables is elsewhere, both are copied.
  place_ = place_of(tables.x);
  if (tables.y && place_ == table_place::this_device) place_ = place_of(*tables.y);
  sent_row_bytes_ = place_ == table_place::this_device ? gathered_bytes : input_row_bytes_;
  ranks_row_bytes_ = scratch_row_bytes(what, format_);
}

std::size_t device_rows::ready_bytes(index_t cols, const detail::pair_area& area) {
  const index_t statistics = area.rows.size() * area.cols.size();
  return static_cast<std::size_t>(statistics + few_row_elements(ready_format(cols, {}), area)) *
         sizeof(double);
}

void device_rows::allocate(pair_budget& budget, cudaStream_t stream) {
  invalid_ = {1, stream};
  const std::size_t most_staged = std::min(8 * block_bytes, budget.left() / 4);
  block_rows_ = block_of(
      most_staged / std::max<std::size_t>(format_.bytes() + sent_row_bytes_ + ranks_row_bytes_, 1));
  if (resident_) {
    budget.take(static_cast<std::size_t>(count_ + front_) * format_.bytes(), "prepared rows");
  } else {
    const std::size_t slot = static_cast<std::size_t>(block_rows_) * format_.bytes();
    budget.take(2 * slot, "two blocks of prepared rows");
    for (auto& buffer : slots_) buffer = {slot, stream};
    host_values_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count_) *
                                                               format_.row_bytes);
  }
  take_memory(count_ + front_, stream);
  at_ = rows_from(format_, at_, front_);
  at_.rows = count_;
  if (!format_.ready) return;
  const detail::pair_area area = area_of_ready();
  products_ = {ready_bytes(format_.cols, area) / sizeof(double), stream};
  budget.take(products_.bytes(), "statistics of the rows");
  at_.few = {.unit_rows = products_.data() + area.rows.size() * area.cols.size(),
             .square_sums = at_.square_sums,
             .count = area.rows.size(),
             .statistics = products_.data(),
             .pitch = area.cols.size()};
}

void device_rows::take_memory(index_t rows, cudaStream_t stream) {
  const row_parts parts{.values = resident_ && format_.tile != pair_tile_kind::tensor_float,
                        .unit = resident_,
                        .rounding = resident_ && format_.rounded};
  const auto take = [&](arena& memory) { return take_rows(format_, rows, parts, memory); };
  memory_ = {bytes_taken(take), stream};
  arena pieces(memory_.data());
  at_ = take(pieces);
}

index_t device_rows::block_of(std::size_t rows) const {
  const auto most = static_cast<std::size_t>(std::max<index_t>(count_, 1));
  const auto fitting = static_cast<index_t>(std::clamp<std::size_t>(rows, 1, most));
  return fitting > 128 ? fitting / 128 * 128 : fitting;
}

void device_rows::choose_blocks(int cpu_threads, const pair_share& share,
                                const pair_budget& budget) {
  const upload_shape& shape = share.members() == 1 ? upload_alone : upload_shared;
  const std::size_t input_bytes = static_cast<std::size_t>(fresh_) * input_row_bytes_;
  const std::size_t per_row = std::max<std::size_t>(
      sent_row_bytes_ + ranks_row_bytes_ + (resident_ ? 0 : format_.row_bytes), 1);
  std::size_t wanted = input_bytes;
  if (place_ != table_place::host) {
    if (share.members() > 1) wanted = std::min(shape.block_bytes, wanted);
    if (sent_row_bytes_ != 0) wanted = std::min(block_bytes, wanted);
  } else if (input_upload::is_staged(input_bytes)) {
    const int threads = std::min(staging_threads(cpu_threads), most_upload_threads);
    (shape.together ? fillers_ : threads_) = threads;
    lanes_ = shape.lanes;
    piece_bytes_ = shape.piece_bytes;
    // Long rows are prepared a block of threads each, so there should be enough to fill the device.
    const auto fill = static_cast<std::size_t>(current_limits().multiprocessors);
    const std::size_t filling = fill * input_row_bytes_;
    wanted = std::clamp(input_bytes / (static_cast<std::size_t>(threads_) * shape.blocks),
                        shape.least_bytes, shape.block_bytes);
    wanted = std::max(wanted, std::min(filling, input_bytes));
  }
  const std::size_t room = budget.left() / 2;
  prepared_rows_ = block_of(std::min(wanted / input_row_bytes_, room / (lanes_ * per_row)));
  const std::size_t lanes_bytes = lanes_ * static_cast<std::size_t>(prepared_rows_) * per_row;
  threads_ = static_cast<int>(
      std::clamp<std::size_t>(room / lanes_bytes, 1, static_cast<std::size_t>(threads_)));
  budget.require(static_cast<std::size_t>(threads_) * lanes_bytes, "blocks of input rows");
}

void device_rows::prepare(const measure_traits& what, const detail::pair_tables& tables,
                          const execution& exec, pair_share& share, cudaStream_t stream) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(invalid_.data(), 0, invalid_.bytes(), stream));
  if (share.members() > 1 && share.agree(resident_)) {
    const row_exchange others(share, at_, stream);
    const auto walk = share.walk("prepare", fresh_, static_cast<std::uint64_t>(fresh_));
    const auto send = [&](row_range rows, const std::byte*, cudaStream_t on) {
      others.send(rows, format_, on);
    };
    prepare_blocks(what, tables, *walk, send);
    walk->finish();
  } else {
    const auto alone = make_solo_share(exec.on_progress);
    const auto walk = alone->walk("prepare", fresh_, static_cast<std::uint64_t>(fresh_));
    // The memory of the rows is ordered on the stream, and so may be what needs no other memory.
    const bool is_ordered = place_ == table_place::this_device && threads_ == 1 && resident_ &&
                            ranks_row_bytes_ == 0 && sent_row_bytes_ == 0;
    if (!is_ordered) GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
    const auto keep = [&](row_range rows, const std::byte* from, cudaStream_t on) {
      if (resident_) return;
      const std::size_t bytes = static_cast<std::size_t>(rows.size()) * format_.row_bytes;
      std::byte* to = host_values_.get() + static_cast<std::size_t>(rows.begin) * format_.row_bytes;
      GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, on));
    };
    prepare_blocks(what, tables, *walk, keep, is_ordered ? stream : nullptr);
    walk->finish();
  }
  kernels::launch_row_norms({at_.square_sums, fresh_, at_.norms}, invalid_.data(), stream);
}

template <class T, class Pack>
void device_rows::feed(matrix_view<const T> data, row_range rows, upload_lane& lane, bool& as_bytes,
                       const Pack& pack) const {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    auto* const bytes = reinterpret_cast<std::int8_t*>(lane.input.data());
    as_bytes =
        as_bytes && data.row_stride() == data.cols() &&
        lane.upload.copy_as_bytes(data.row(rows.begin),
                                  static_cast<std::size_t>(rows.size() * data.cols()), bytes);
    if (as_bytes) {
      pack(device_matrix_view<const std::int8_t>(bytes, rows.size(), data.cols()));
      return;
    }
  }
  const std::size_t row_bytes = static_cast<std::size_t>(data.cols()) * sizeof(T);
  lane.upload.copy(reinterpret_cast<const std::byte*>(data.row(rows.begin)),
                   static_cast<std::size_t>(rows.size()), row_bytes,
                   static_cast<std::size_t>(data.row_stride()) * sizeof(T), lane.input.data());
  pack(device_matrix_view<const T>(reinterpret_cast<const T*>(lane.input.data()), rows.size(),
                                   data.cols()));
}

template <class Pack>
void device_rows::feed(const device_table_view& data, row_range rows, upload_lane& lane, bool&,
                       const Pack& pack) const {
  const cudaStream_t stream = lane.own.get();
  if (place_ == table_place::this_device) {
    return with_block(data, rows, lane.input.data(), stream, pack);
  }
  const device_table_view here = bring_rows(data, rows, lane.input.data(), stream);
  with_block(here, {0, rows.size()}, nullptr, stream, pack);
}

template <class Done>
void device_rows::prepare_blocks(const measure_traits& what, const detail::pair_tables& tables,
                                 pair_walk& walk, const Done& done, cudaStream_t ordered) {
  const auto most = static_cast<std::size_t>(prepared_rows_);
  const index_t border =
      tables.y ? std::visit([](const auto& view) { return view.rows(); }, tables.x) : fresh_;
  // A block is of one table.
  const pair_walk::piece piece = [&](index_t begin) {
    return begin < border ? std::min(prepared_rows_, border - begin) : prepared_rows_;
  };
  on_threads(threads_, [&](const std::atomic<bool>& failed) {
    std::deque<upload_lane> lanes;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      lanes.emplace_back(most * sent_row_bytes_, most * ranks_row_bytes_,
                         resident_ ? 0 : most * format_.row_bytes, piece_bytes_, fillers_);
    }
    // Small integers that are ranked travel as bytes, whose ranks are the same, a quarter of the
    // traffic, until one does not fit.
    const bool small = piece_bytes_ != 0 && detail::packs_ranks(what);
    bool as_bytes[2] = {small, small};
    for (std::size_t turn = 0; !failed; ++turn) {
      const row_range rows = walk.take(piece);
      if (rows.empty()) break;
      upload_lane& lane = lanes[turn % lanes_];
      const cudaStream_t stream = ordered != nullptr ? ordered : lane.own.get();
      packed_rows place = place_of(format_, at_, rows.begin, lane.ranks.data());
      if (!resident_) place.values = lane.packed.data();
      const bool of_y = rows.begin >= border;
      const row_range in_table = of_y ? row_range{rows.begin - border, rows.end - border} : rows;
      const auto from = block_to_upload(of_y ? *tables.y : tables.x, in_table, fillers_, lane);
      std::visit(
          [&]<class View>(const View& data) {
            if constexpr (detail::is_read_in_place<View>) {
              feed(data, from.rows, lane, as_bytes[of_y ? 1 : 0],
                   [&](const auto& block) { pack_rows(what, format_, block, place, stream); });
            }
          },
          from.table);
      if (at_.rounding != nullptr) measure_rounding(format_, rows, at_, stream);
      done(rows, place.values, stream);
      walk.advance(static_cast<std::uint64_t>(rows.size()));
    }
    if (ordered != nullptr) return;
    for (const upload_lane& lane : lanes) lane.own.synchronize();
  });
}

// Which rows have no statistic: read only where there are any.
void device_rows::read_back(cudaStream_t stream, detail::row_info& info) {
  read_ties(stream, info);
  if (cuda::read_back(invalid_.data(), stream) == 0) return;
  const std::vector<std::int64_t> sums = square_sums(fresh_, stream);
  for (index_t i = 0; i < fresh_; ++i) {
    const std::int64_t sum = sums[static_cast<std::size_t>(i)];
    if (sum == -1) {
      info.nan_rows.push_back(i);
    } else if (sum <= 0) {
      info.constant_rows.push_back(i);
    }
  }
}

std::vector<std::int64_t> device_rows::square_sums(index_t rows, cudaStream_t stream) const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(rows));
  if (!out.empty()) cuda::read_back(out.data(), at_.square_sums, out.size(), stream);
  return out;
}

kernels::pair_operand device_rows::all() const {
  return operand_of(format_, format_.tile, {0, count_}, at_);
}

kernels::pair_operand device_rows::stage(row_range rows, int slot, pair_tile_kind tile,
                                         cudaStream_t stream) {
  row_memory from = at_;
  if (!resident_) {
    const auto first = static_cast<std::size_t>(rows.begin);
    const auto count = static_cast<std::size_t>(rows.size());
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpyAsync(slots_[slot].data(), host_values_.get() + first * format_.row_bytes,
                        count * format_.row_bytes, cudaMemcpyHostToDevice, stream));
    from.first = rows.begin;
    from.values = slots_[slot].data();
  }
  return operand_of(format_, tile, rows, from);
}

void device_rows::make_float_rows(cudaStream_t stream) {
  if (at_.values != nullptr || count_ == 0) return;
  floats_ = {static_cast<std::size_t>(count_) * format_.row_bytes, stream};
  at_.values = floats_.data();
  split_unit_rows(format_, at_, {}, stream);
}

void device_rows::make_halves(cudaStream_t stream) {
  if (at_.halves != nullptr || count_ == 0) return;
  halves_ = {static_cast<std::size_t>(count_) * half_row_bytes(format_), stream};
  at_.halves = halves_.data();
  halve_unit_rows(format_, at_, stream);
}

void device_rows::make_product_rows(cudaStream_t stream) {
  if (products_.data() != nullptr || count_ == 0) return;
  products_ = {static_cast<std::size_t>(product_elements_), stream};
  if (is_pairwise(format_.tile)) kept_ = {kept_words(product_elements_), stream};
  if (format_.product_row_bytes() == 0) return;
  product_rows_ = {product_rows_bytes(format_, count_), stream};
  at_.products = product_rows_.data();
  pack_product_rows(format_, at_, stream);
}

bool device_rows::make_half_rows(pair_budget& budget, cudaStream_t stream) {
  if (!resident_ || format_.tile != pair_tile_kind::tensor_float || count_ == 0) return false;
  if (product_rows_.data() != nullptr) return true;
  const row_format halves = half_row_format(format_.cols, format_.centre);
  const std::size_t bytes = product_rows_bytes(halves, count_);
  const index_t elements = product_elements(halves, count_, count_);
  const std::size_t more =
      format_.products ? 0 : static_cast<std::size_t>(elements) * sizeof(double);
  if (bytes + more > budget.left() / 2) return false;
  budget.take(bytes + more, "halves of the rows");
  if (!format_.products) product_elements_ = elements;
  if (products_.data() == nullptr) {
    products_ = {static_cast<std::size_t>(product_elements_), stream};
  }
  product_rows_ = {bytes, stream};
  at_.products = product_rows_.data();
  split_into_half_planes(format_, at_, stream);
  return true;
}

void device_rows::for_each_panel(row_range rows, row_range cols, kernels::pair_region region,
                                 pair_tile_kind tile, cudaStream_t stream,
                                 const std::function<void(const kernels::pair_panel&)>& launch) {
  if (tile == pair_tile_kind::tensor_float) make_float_rows(stream);
  if (tile == pair_tile_kind::tensor_half) make_halves(stream);
  kernels::product_memory products;
  if (format_.products && tile == format_.deciding_tile()) make_product_rows(stream);
  if (tile == pair_tile_kind::products_half ||
      (format_.products && tile == format_.deciding_tile())) {
    products = {.sums = products_.data(), .capacity = product_elements_, .kept = kept_.data()};
  }
  const index_t step = resident_ ? std::max<index_t>(count_, 1) : block_rows_;
  for (index_t i = rows.begin; i < rows.end; i += step) {
    const row_range row_block{i, std::min(i + step, rows.end)};
    const kernels::pair_operand row_operand = stage(row_block, 0, tile, stream);
    for (index_t j = cols.begin; j < cols.end; j += step) {
      const row_range col_block{j, std::min(j + step, cols.end)};
      if (region == kernels::pair_region::above_diagonal && col_block.end <= row_block.begin + 1) {
        continue;
      }
      if (format_.ready) products = ready_products(at_.few, area_of_ready(), row_block, col_block);
      launch({row_operand, stage(col_block, 1, tile, stream), region, products, decision_, tied_,
              classes_.tables()});
    }
  }
}

}  // namespace gpu::cuda
