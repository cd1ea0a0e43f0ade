// Differences of correlations on CUDA: blocks of whole rows of the statistics of both groups in
// device memory, and a second kernel that finds the pairs that a screen lets pass. Only these come
// to the host, which decides them.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/tile_step.hpp"
#include "cuda/pairs/rows/gather_columns.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda/pairs/team/team.hpp"
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

// Pairs that were found in a block: room for them on the device, and page-locked on the host.
class found_lists {
 public:
  found_lists(index_t rows, std::size_t capacity, cudaStream_t stream)
      : capacity_(capacity),
        stream_(stream),
        counts_(static_cast<std::size_t>(rows), stream),
        bars_(static_cast<std::size_t>(rows), stream),
        begins_(static_cast<std::size_t>(rows) + 1, stream),
        cols_(capacity, stream),
        first_(capacity, stream),
        second_(capacity, stream),
        host_counts_(static_cast<std::size_t>(rows)),
        host_bars_(static_cast<std::size_t>(rows)),
        host_begins_(static_cast<std::size_t>(rows) + 1),
        host_cols_(capacity),
        host_first_(capacity),
        host_second_(capacity) {}

  /// Of the host, [rows].
  [[nodiscard]] std::span<double> bars(index_t rows) const {
    return {host_bars_.data(), static_cast<std::size_t>(rows)};
  }
  /// Makes them the bars of the searches that follow, which name device_bars().
  void send_bars(index_t rows) const {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(bars_.data(), host_bars_.data(),
                                              static_cast<std::size_t>(rows) * sizeof(double),
                                              cudaMemcpyHostToDevice, stream_));
  }
  [[nodiscard]] const double* device_bars() const { return bars_.data(); }

  /// take(pairs) for what is found, of as many rows at a time as there is room for.
  template <class Take>
  void find(const difference_block& block, const difference_search& search, const Take& take) {
    count(block, search);
    const std::uint64_t* const begin = host_begins_.data();
    const std::uint64_t* const last = begin + block.rows;
    if (*last == 0) return;
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
        begins_.data(), begin, static_cast<std::size_t>(block.rows + 1) * sizeof(std::uint64_t),
        cudaMemcpyHostToDevice, stream_));
    for (index_t i = 0; i < block.rows;) {
      const std::uint64_t* const beyond =
          std::upper_bound(begin + i + 1, last + 1, begin[i] + capacity_);
      const auto end = static_cast<index_t>(beyond - begin) - 1;
      if (begin[end] != begin[i]) take(read(block, search, {i, end}));
      i = end;
    }
  }

 private:
  // Fills host_begins_.
  void count(const difference_block& block, const difference_search& search) {
    kernels::launch_count_differences(block, search, counts_.data(), stream_);
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpyAsync(host_counts_.data(), counts_.data(),
                        static_cast<std::size_t>(block.rows) * sizeof(std::uint32_t),
                        cudaMemcpyDeviceToHost, stream_));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::uint64_t* const begin = host_begins_.data();
    begin[0] = 0;
    for (index_t i = 0; i < block.rows; ++i) begin[i + 1] = begin[i] + host_counts_.data()[i];
  }

  // Those of some rows of the block, which there is room for.
  screened_pairs read(const difference_block& block, const difference_search& search,
                      index_range rows) {
    const std::uint64_t* const begin = host_begins_.data() + rows.begin;
    const auto found = static_cast<std::size_t>(begin[rows.size()] - begin[0]);
    kernels::launch_write_differences(block, search, rows,
                                      {.begin = begins_.data(),
                                       .cols = cols_.data(),
                                       .first = first_.data(),
                                       .second = second_.data()},
                                      stream_);
    const auto copy = [&](auto* to, const auto* from) {
      GPU_SIMILARITY_CUDA_CHECK(
          cudaMemcpyAsync(to, from, found * sizeof(*from), cudaMemcpyDeviceToHost, stream_));
    };
    copy(host_cols_.data(), cols_.data());
    copy(host_first_.data(), first_.data());
    copy(host_second_.data(), second_.data());
    from_zero_.resize(static_cast<std::size_t>(rows.size()) + 1);
    std::transform(begin, begin + rows.size() + 1, from_zero_.begin(),
                   [&](std::uint64_t at) { return at - begin[0]; });
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return {.rows = {block.first_row + rows.begin, block.first_row + rows.end},
            .begin = from_zero_,
            .cols = host_cols_.data(),
            .first = host_first_.data(),
            .second = host_second_.data()};
  }

  std::size_t capacity_;
  cudaStream_t stream_;
  device_buffer<std::uint32_t> counts_;
  device_buffer<double> bars_;
  device_buffer<std::uint64_t> begins_;
  device_buffer<node_id> cols_;
  device_buffer<double> first_;
  device_buffer<double> second_;
  pinned_buffer<std::uint32_t> host_counts_;
  pinned_buffer<double> host_bars_;
  pinned_buffer<std::uint64_t> host_begins_;
  pinned_buffer<node_id> host_cols_;
  pinned_buffer<double> host_first_;
  pinned_buffer<double> host_second_;
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
      : ordinal_(device.ordinal),
        half_bytes_(std::max<std::size_t>(1, pair_budget(exec.workspace_bytes).limit() / 2)),
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

  [[nodiscard]] int ordinal() const { return ordinal_; }
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
  int ordinal_;
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
      : on_progress_(exec.on_progress), devices_(devices.size()) {
    execution own = exec;
    own.on_progress = {};
    const progress_callback nobody;
    run_on_devices(
        nobody, ordinals_of(devices), [&](std::size_t at, pair_share&, const caller_thread&) {
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
    for (auto& device : devices_) {
      if (!device) continue;
      const device_guard guard(device->ordinal());
      device.reset();
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
  static void run_on_devices(const progress_callback& on_progress, const std::vector<int>& ordinals,
                             const Work& work) {
    if (ordinals.size() == 1) {
      const device_guard guard(ordinals.front());
      const std::unique_ptr<pair_share> alone = make_solo_share(on_progress);
      work(0, *alone, [](const std::function<void()>& body) { body(); });
      return;
    }
    pair_team team(static_cast<int>(ordinals.size()), on_progress);
    team.run([&](int member, pair_share& share) {
      const auto at = static_cast<std::size_t>(member);
      const device_guard guard(ordinals[at]);
      work(at, share, [&](const std::function<void()>& body) { team.call(body); });
    });
  }
  // The same with the groups of every device.
  template <class Work>
  void run_on_groups(const Work& work) {
    std::vector<int> ordinals;
    for (const auto& device : devices_) ordinals.push_back(device->ordinal());
    run_on_devices(on_progress_, ordinals,
                   [&](std::size_t at, pair_share& share, const caller_thread& on_caller) {
                     work(*devices_[at], share, on_caller);
                   });
  }
  // Takes rows of `rows` in turn until none is left: find(range, taken of the walk).
  template <class Find>
  static void walk_rows(pair_walk& walk, index_range rows, index_t at_a_time, const Find& find) {
    const pair_walk::piece piece = [&](index_t begin) {
      return static_cast<index_t>(
          walk.fair(static_cast<double>(at_a_time), static_cast<double>(rows.size() - begin), 1));
    };
    for (index_range taken = walk.take(piece); !taken.empty(); taken = walk.take(piece)) {
      find({rows.begin + taken.begin, rows.begin + taken.end}, taken);
    }
    walk.finish();
  }

  progress_callback on_progress_;
  std::vector<std::unique_ptr<device_groups>> devices_;
  std::array<detail::rows_without_statistic, 2> rows_;
};

void cuda_differences::find_later(index_range rows, const stats::difference_screen& screen,
                                  std::vector<std::uint32_t>* degrees, const pair_taker& take) {
  if (rows.empty()) return;
  const index_range every_row{0, devices_.front()->count()};
  run_on_groups([&](device_groups& groups, pair_share& share, const caller_thread& on_caller) {
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
    read_back(own.data(), counted, groups.stream());
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
  run_on_groups([&](device_groups& groups, pair_share& share, const caller_thread& on_caller) {
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
          const auto at = static_cast<std::size_t>(found.rows.begin - range.begin);
          const auto count = static_cast<std::size_t>(found.rows.size());
          on_caller([&] { take(found, bars.subspan(at, count)); });
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
