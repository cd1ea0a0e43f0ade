// Differences of correlations on CUDA: blocks of whole rows of the statistics of both groups in
// device memory, and a second kernel that finds the pairs that a screen lets pass. Only these come
// to the host, which decides them.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/rows/gathered_block.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda/pairs/team/team.hpp"
#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_info.hpp"
#include "kernels/pairs/differences/kernels.hpp"
#include "pairs/differential/difference_engine.hpp"
#include "pairs/tables.hpp"

namespace gpu::cuda {
namespace {

using detail::screened_pairs;
using kernels::difference_block;
using kernels::difference_search;

// Pairs that come to the host at a time, or all of a row where there are more.
constexpr std::size_t most_listed = std::size_t{1} << 20;
constexpr std::size_t listed_bytes = sizeof(node_id) + 2 * sizeof(double);
// Columns among which a row looks for its first partners, in all and for each of these.
constexpr index_t least_first_columns = 256;
constexpr index_t first_columns_per_partner = 2;
// Of a table of another device, or a row where that is longer.
constexpr std::size_t panel_bytes = std::size_t{8} << 20;

// These columns of `table`, which is in device memory, as doubles on the current device, one row
// behind the other. Takes what it returns from `budget`. A table of another device comes here a
// panel of rows at a time. Waits for the stream.
device_buffer<double> gather_columns(const detail::any_table& table,
                                     std::span<const index_t> columns, pair_budget& budget,
                                     cudaStream_t stream) {
  const auto count = static_cast<index_t>(columns.size());
  const auto elements = static_cast<std::size_t>(detail::rows_of(table) * count);
  budget.take(elements * sizeof(double), "the columns of a group");
  device_buffer<double> out(elements, stream);
  const auto numbers = upload(columns, stream);
  const device_table_view view = detail::device_view(table);
  if (place_of(table) == table_place::this_device) {
    kernels::launch_gather(view, numbers.data(), count, out.data(), stream);
  } else {
    const std::size_t row_bytes = read_row_bytes(view);
    const auto fitting = static_cast<index_t>(panel_bytes / row_bytes);
    const index_t step = std::clamp<index_t>(fitting, 1, view.rows());
    const std::size_t bytes = static_cast<std::size_t>(step) * row_bytes;
    budget.require(bytes, "rows of another device");
    const device_buffer<std::byte> panel(bytes, stream);
    for (index_t begin = 0; begin < view.rows(); begin += step) {
      const detail::index_range rows{begin, std::min(begin + step, view.rows())};
      kernels::launch_gather(bring_rows(view, rows, panel.data(), stream), numbers.data(), count,
                             out.data() + begin * count, stream);
    }
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

// Pairs that were found in a block: room for them on the device, and page-locked on the host.
class found_lists {
 public:
  found_lists(index_t rows, std::size_t capacity, cudaStream_t stream)
      : capacity_(capacity), stream_(stream) {
    const auto take = [&](arena& memory) {
      return places{.counts = memory.take<std::uint32_t>(rows),
                    .bars = memory.take<double>(rows),
                    .begins = memory.take<std::uint64_t>(rows + 1),
                    .cols = memory.take<node_id>(capacity),
                    .first = memory.take<double>(capacity),
                    .second = memory.take<double>(capacity)};
    };
    const std::size_t bytes = bytes_taken(take);
    device_memory_ = {bytes, stream};
    host_memory_ = pinned_buffer<std::byte>(bytes);
    arena device(device_memory_.data());
    arena host(host_memory_.data());
    device_ = take(device);
    host_ = take(host);
  }

  /// Of the host, [rows].
  [[nodiscard]] std::span<double> bars(index_t rows) const {
    return {host_.bars, static_cast<std::size_t>(rows)};
  }
  /// Makes them the bars of the searches that follow, which name device_bars().
  void send_bars(index_t rows) const { copy_elements(device_.bars, host_.bars, rows, stream_); }
  [[nodiscard]] const double* device_bars() const { return device_.bars; }

  /// take(pairs) for what is found, of as many rows at a time as there is room for.
  template <class Take>
  void find(const difference_block& block, const difference_search& search, const Take& take) {
    count(block, search);
    const std::uint64_t* const begin = host_.begins;
    const std::uint64_t* const last = begin + block.rows;
    if (*last == 0) return;
    copy_elements(device_.begins, begin, block.rows + 1, stream_);
    for (index_t i = 0; i < block.rows;) {
      const std::uint64_t* const beyond =
          std::upper_bound(begin + i + 1, last + 1, begin[i] + capacity_);
      const auto end = static_cast<index_t>(beyond - begin) - 1;
      if (begin[end] != begin[i]) take(read(block, search, {i, end}));
      i = end;
    }
  }

 private:
  // Fills host_.begins.
  void count(const difference_block& block, const difference_search& search) {
    kernels::launch_count_differences(block, search, device_.counts, stream_);
    copy_elements(host_.counts, device_.counts, block.rows, stream_);
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
    host_.begins[0] = 0;
    for (index_t i = 0; i < block.rows; ++i) {
      host_.begins[i + 1] = host_.begins[i] + host_.counts[i];
    }
  }

  // Those of some rows of the block, which there is room for.
  screened_pairs read(const difference_block& block, const difference_search& search,
                      index_range rows) {
    const std::uint64_t* const begin = host_.begins + rows.begin;
    const auto found = static_cast<index_t>(begin[rows.size()] - begin[0]);
    kernels::launch_write_differences(block, search, rows,
                                      {.begin = device_.begins,
                                       .cols = device_.cols,
                                       .first = device_.first,
                                       .second = device_.second},
                                      stream_);
    copy_elements(host_.cols, device_.cols, found, stream_);
    copy_elements(host_.first, device_.first, found, stream_);
    copy_elements(host_.second, device_.second, found, stream_);
    from_zero_.resize(static_cast<std::size_t>(rows.size()) + 1);
    std::transform(begin, begin + rows.size() + 1, from_zero_.begin(),
                   [&](std::uint64_t at) { return at - begin[0]; });
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return {.rows = {block.first_row + rows.begin, block.first_row + rows.end},
            .begin = from_zero_,
            .cols = host_.cols,
            .first = host_.first,
            .second = host_.second};
  }

  struct places {
    std::uint32_t* counts;  // [rows]
    double* bars;           // [rows]
    std::uint64_t* begins;  // [rows + 1]
    node_id* cols;          // [capacity], as the following
    double* first;
    double* second;
  };
  std::size_t capacity_;
  cudaStream_t stream_;
  device_buffer<std::byte> device_memory_;
  pinned_buffer<std::byte> host_memory_;
  places device_;
  places host_;
  std::vector<std::uint64_t> from_zero_;
};

// The rows of one group on one device.
struct group_rows {
  explicit group_rows(std::size_t bytes) : budget(bytes) {}
  pair_budget budget;
  detail::row_info info = {};
  std::optional<device_rows> rows = {};
};

// Both groups on one device. Each has half of the memory.
class device_groups {
 public:
  /// On the current device.
  device_groups(const detail::measure_traits& what,
                const std::array<detail::column_group, 2>& groups, pair_variant asked,
                const execution& exec, const device_info& device)
      : half_bytes_(std::max<std::size_t>(1, pair_budget(exec.workspace_bytes).limit() / 2)),
        groups_{group_rows(half_bytes_), group_rows(half_bytes_)} {
    keep_pool_memory();
    const std::unique_ptr<pair_share> alone = make_solo_share({});
    for (std::size_t g = 0; g < 2; ++g) {
      const detail::column_group& from = groups[g];
      const bool is_gathered = detail::is_on_device(from.table);
      const index_t rows = detail::rows_of(from.table);
      const index_t cols = is_gathered ? std::ssize(from.columns) : detail::cols_of(from.table);
      const pair_variant variant = choose_variant(rows, cols, asked, {&device, 1});
      row_format format = choose_row_format(what, variant, cols);
      const detail::pair_area all{.rows = {0, rows}, .cols = {0, rows}};
      choose_products(format, variant, all, limits_of(device.ordinal),
                      code_of(device.ordinal).capability);
      group_rows& own = groups_[g];
      detail::pair_tables tables{.x = from.table};
      device_buffer<double> gathered;
      if (is_gathered) {
        gathered = gather_columns(from.table, from.columns, own.budget, stream());
        tables.x = device_matrix_view<const double>(gathered.data(), rows, cols);
      }
      own.rows.emplace(what, tables, format, exec, own.budget, *alone, stream(), own.info);
      own.budget.give_back(gathered.bytes());  // the rows are packed
    }
  }

  [[nodiscard]] const detail::row_info& info(std::size_t group) const {
    return groups_[group].info;
  }
  [[nodiscard]] index_t count() const { return groups_[0].rows->count(); }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  /// Of some rows at a time: their statistics, and the pairs that are found.
  struct work_memory {
    index_t rows;
    std::array<device_buffer<double>, 2> statistics;
    found_lists lists;
  };
  [[nodiscard]] work_memory take_memory(index_t rows) const {
    const std::size_t row_bytes = static_cast<std::size_t>(count()) * sizeof(double);
    std::size_t left = groups_[0].budget.left();
    for (const group_rows& group : groups_) {
      group.budget.require(3 * row_bytes, "a row of statistics and the pairs that are found in it");
      left = std::min(left, group.budget.left());
    }
    const std::size_t wanted = std::max(memory_sizes::difference_block,
                                        static_cast<std::size_t>(rows_of_tile) * row_bytes);
    const std::size_t room = std::min(wanted, left / 2);
    const index_t taken = rows_of_block(rows, row_bytes, room);
    const auto block = static_cast<std::size_t>(taken * count());
    const auto least_listed = static_cast<std::size_t>(count());
    const std::size_t listed = std::clamp(std::min(left / 2 / listed_bytes, block), least_listed,
                                          std::max(least_listed, most_listed));
    return {.rows = taken,
            .statistics = {device_buffer<double>(block, stream()),
                           device_buffer<double>(block, stream())},
            .lists = found_lists(taken, listed, stream())};
  }

  /// The statistics of rows x cols, whose every pair is in the block.
  difference_block compute(const work_memory& memory, index_range rows, index_range cols) {
    for (std::size_t g = 0; g < 2; ++g) {
      device_rows& own = *groups_[g].rows;
      const auto step = dense_step(dense_tile_of<double>(own.format()), memory.statistics[g].data(),
                                   cols.size(), rows.begin, cols.begin);
      own.for_each_panel(rows, cols, kernels::pair_region::whole, step.tile, stream(),
                         [&](const kernels::pair_panel& panel) { step.launch(panel, stream()); });
    }
    return {.first = memory.statistics[0].data(),
            .second = memory.statistics[1].data(),
            .pitch = cols.size(),
            .rows = rows.size(),
            .first_row = rows.begin,
            .first_col = cols.begin,
            .cols = {0, cols.size()}};
  }

 private:
  std::size_t half_bytes_;
  cuda::stream stream_;
  std::array<group_rows, 2> groups_;
};

// Runs a function on the thread of the call, and waits for it.
using caller_thread = std::function<void(const std::function<void()>&)>;

class cuda_differences final : public detail::difference_engine {
 public:
  cuda_differences(const detail::measure_traits& what,
                   const std::array<detail::column_group, 2>& groups, pair_variant asked,
                   const execution& exec, const std::vector<device_info>& devices)
      : on_progress_(exec.on_progress), ordinals_(ordinals_of(devices)), devices_(devices.size()) {
    execution own = exec;
    own.on_progress = {};
    run_on_devices({}, [&](std::size_t at, pair_share&, const caller_thread&) {
      devices_[at] = std::make_unique<device_groups>(what, groups, asked, own, devices[at]);
    });
    for (std::size_t g = 0; g < 2; ++g) {
      const detail::row_info& found = devices_.front()->info(g);
      rows_[g] = {.constant = found.constant_rows,
                  .with_nan = found.nan_rows,
                  .device = describe_devices(devices)};
    }
  }
  ~cuda_differences() override {
    for (std::size_t at = 0; at < devices_.size(); ++at) {
      const device_guard guard(ordinals_[at]);
      devices_[at].reset();
    }
  }
  cuda_differences(const cuda_differences&) = delete;
  cuda_differences& operator=(const cuda_differences&) = delete;

  [[nodiscard]] const std::array<detail::rows_without_statistic, 2>& left_out() const override {
    return rows_;
  }

  void find_later(index_range rows, const stats::difference_screen& screen,
                  std::vector<std::uint32_t>* degrees, const pair_taker& take) override;
  void find_partners(index_range rows, const stats::difference_screen& screen, index_t k,
                     const partner_taker& take) override;

 private:
  // Runs work(at, share, on_caller) for every device, which is current then.
  template <class Work>
  void run_on_devices(const progress_callback& on_progress, const Work& work) const {
    if (ordinals_.size() == 1) {
      const device_guard guard(ordinals_.front());
      const std::unique_ptr<pair_share> alone = make_solo_share(on_progress);
      work(0, *alone, [](const std::function<void()>& body) { body(); });
      return;
    }
    pair_team team(static_cast<int>(ordinals_.size()), on_progress);
    team.run([&](int member, pair_share& share) {
      const auto at = static_cast<std::size_t>(member);
      const device_guard guard(ordinals_[at]);
      work(at, share, [&](const std::function<void()>& body) { team.call(body); });
    });
  }
  // Takes rows of `rows` in turn until none is left: find(range, taken of the walk).
  template <class Find>
  static void walk_rows(pair_walk& walk, index_range rows, index_t at_a_time, const Find& find) {
    const pair_walk::piece piece = walk.fair_pieces(at_a_time, rows.size());
    for (index_range taken = walk.take(piece); !taken.empty(); taken = walk.take(piece)) {
      find({rows.begin + taken.begin, rows.begin + taken.end}, taken);
    }
    walk.finish();
  }

  progress_callback on_progress_;
  std::vector<int> ordinals_;
  std::vector<std::unique_ptr<device_groups>> devices_;
  std::array<detail::rows_without_statistic, 2> rows_;
};

void cuda_differences::find_later(index_range rows, const stats::difference_screen& screen,
                                  std::vector<std::uint32_t>* degrees, const pair_taker& take) {
  if (rows.empty()) return;
  const index_range every_row{0, devices_.front()->count()};
  run_on_devices(on_progress_, [&](std::size_t at, pair_share& share,
                                   const caller_thread& on_caller) {
    device_groups& groups = *devices_[at];
    device_groups::work_memory memory = groups.take_memory(rows.size());
    device_buffer<std::uint32_t> counted;
    if (degrees != nullptr) {
      counted = zeroed<std::uint32_t>(static_cast<std::size_t>(every_row.end), groups.stream());
    }
    const difference_search search{
        .screen = screen, .later_alone = true, .degrees = counted.data()};
    const auto walk = share.walk("differential", rows.size(),
                                 detail::pairs_in({.rows = rows, .cols = every_row}));
    walk_rows(*walk, rows, memory.rows, [&](index_range range, index_range taken) {
      const difference_block block = groups.compute(memory, range, {range.begin, every_row.end});
      bool has_turn = false;
      memory.lists.find(block, search, [&](const screened_pairs& found) {
        if (!has_turn) walk->wait_for_turn(taken);
        has_turn = true;
        on_caller([&] { take(found); });
      });
      walk->release(taken);
      walk->advance(detail::pairs_in({.rows = range, .cols = every_row}));
    });
    if (degrees == nullptr) return;
    std::vector<std::uint32_t> own(counted.size());
    read_back(own.data(), counted.data(), counted.size(), groups.stream());
    on_caller([&] {
      std::transform(own.begin(), own.end(), degrees->begin(), degrees->begin(), std::plus<>());
    });
  });
}

void cuda_differences::find_partners(index_range rows, const stats::difference_screen& screen,
                                     index_t k, const partner_taker& take) {
  if (rows.empty()) return;
  const index_range every_row{0, devices_.front()->count()};
  // Of pairs of two rows of the panel, those with a later row: as on the CPU, which computes each
  // of them once.
  const auto pairs_of = [&](index_range range) {
    return static_cast<std::uint64_t>(range.size()) * static_cast<std::uint64_t>(rows.begin) +
           detail::pairs_in({.rows = range, .cols = every_row});
  };
  const index_t first_columns =
      std::max(least_first_columns, first_columns_per_partner * std::min(k, every_row.end));
  run_on_devices(
      on_progress_, [&](std::size_t at, pair_share& share, const caller_thread& on_caller) {
        device_groups& groups = *devices_[at];
        device_groups::work_memory memory = groups.take_memory(rows.size());
        const difference_search search{
            .screen = screen, .later_alone = false, .bars = memory.lists.device_bars()};
        const auto walk = share.walk("differential", rows.size(), pairs_of(rows));
        walk_rows(*walk, rows, memory.rows, [&](index_range range, index_range taken) {
          difference_block block = groups.compute(memory, range, every_row);
          const std::span<double> bars = memory.lists.bars(range.size());
          std::fill(bars.begin(), bars.end(), screen.bar);
          // What was found in the columns before is the bar of as many again.
          for (index_t begin = 0; begin < every_row.end; begin = block.cols.end) {
            block.cols = {begin, std::min(every_row.end, std::max(2 * begin, first_columns))};
            memory.lists.send_bars(range.size());
            memory.lists.find(block, search, [&](const screened_pairs& found) {
              const auto first = static_cast<std::size_t>(found.rows.begin - range.begin);
              const auto count = static_cast<std::size_t>(found.rows.size());
              on_caller([&] { take(found, bars.subspan(first, count)); });
            });
          }
          walk->release(taken);
          walk->advance(pairs_of(range));
        });
      });
}

}  // namespace

std::unique_ptr<detail::difference_engine> make_difference_engine(
    const detail::measure_traits& what, const std::array<detail::column_group, 2>& groups,
    pair_variant variant, const execution& exec) {
  const std::vector<device_info> devices = select_devices(exec);
  if (detail::is_on_device(groups[0].table)) {
    const std::vector<int> ordinals = ordinals_of(devices);
    const device_guard guard(ordinals.front());
    check_tables({.x = groups[0].table}, ordinals, exec);
    wait_for_callers_stream(exec, ordinals);
  }
  return std::make_unique<cuda_differences>(what, groups, variant, exec, devices);
}

}  // namespace gpu::cuda
