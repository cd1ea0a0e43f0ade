#pragma once
// The prepared rows of one input, of x against y those of x with those of y behind them: on the
// device where they fit the budget, else on the host, from where blocks of them come to the device
// as they are needed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda/pairs/rows/row_format.hpp"
#include "cuda/pairs/rows/row_memory.hpp"
#include "cuda/pairs/team/share.hpp"
#include "cuda/transfer/upload_lane.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/index_range.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

using row_range = index_range;

/// The rows with missing values of a table by their masks, the columns that they have: where few
/// masks are shared by many rows, what a row adds to its pairs with the rows of a mask is computed
/// once.
class row_classes {
 public:
  /// No classes.
  row_classes() = default;
  /// Those of packed rows, of the tile pairwise_ranks or pairwise_values, in device memory: none
  /// where masks are many, rows too long, or memory too short, and of the other tiles. Waits for
  /// what was on the stream before, not for the tables.
  row_classes(const kernels::pair_operand& rows, kernels::pair_tile_kind tile, pair_budget& budget,
              cudaStream_t stream);

  /// For kernels; this outlives their launches.
  [[nodiscard]] const kernels::mask_classes& tables() const { return tables_; }

 private:
  kernels::mask_classes tables_;
  device_buffer<std::byte> memory_;
};

class device_rows {
 public:
  /// Uploads, ranks or scales, and packs. `info` receives what was found out. Engines that share
  /// the call each prepare a part of what is resident and write it to the memory of all. Resident
  /// rows have room for `front` rows before them.
  device_rows(const detail::measure_traits& what, const detail::pair_tables& tables,
              row_format format, const execution& exec, pair_budget& budget, pair_share& share,
              cudaStream_t stream, detail::row_info& info, index_t front = 0);
  /// The rows of `tables.x` with those of `y` behind them, which is resident and has room for
  /// `front` rows before its own: in that room where `in_place`, else in a copy. `y` outlives this.
  device_rows(const detail::measure_traits& what, const detail::pair_tables& tables,
              const device_rows& y, bool in_place, const execution& exec, pair_budget& budget,
              cudaStream_t stream, detail::row_info& info);

  /// Leaves one row of each pattern and returns the patterns, where they are at most `most_share`
  /// of the rows; ranks only. Rows before `border` have no pattern with those from it on. `info`
  /// tells which rows have a statistic. Waits for the stream.
  std::optional<detail::row_patterns> find_patterns(double most_share, int threads, index_t border,
                                                    const detail::row_info& info,
                                                    const pair_budget& budget, cudaStream_t stream);

  /// What the tiles of rows with missing values write of a pair, from now on.
  void decide_by(const kernels::pairwise_decision& decision) { decision_ = decision; }
  /// What the tile signs writes of a pair, from now on.
  void decide_by(const stats::kendall_decision& decision) { tied_ = decision; }
  /// The statistics themselves again.
  void decide_nothing() {
    decision_ = {};
    tied_ = stats::decide_nothing(format_.cols);
  }

  [[nodiscard]] index_t count() const { return count_; }
  [[nodiscard]] const row_format& format() const { return format_; }
  [[nodiscard]] bool resident() const { return resident_; }

  /// Statistics of a format that is ready, of rows of the area by its columns; null of others.
  [[nodiscard]] const double* statistics() const { return at_.few.statistics; }
  /// Bytes of these, and of the unit rows of x.
  [[nodiscard]] static std::size_t ready_bytes(index_t cols, const detail::pair_area& area);

  /// Every row, for what needs no packed values where the rows are not resident.
  [[nodiscard]] kernels::pair_operand all() const;

  /// Where resident rows lie; of others, what there is of all.
  [[nodiscard]] const row_memory& memory() const { return at_; }
  /// Every row as the screen of exact ranks takes it: ranks of 8 bits, or signs after make_ranks().
  [[nodiscard]] kernels::screen_ranks ranks() const;
  /// Bytes of the ranks of rows of signs; 0 of others.
  [[nodiscard]] std::size_t rank_bytes() const;
  /// Makes them, once.
  void make_ranks(cudaStream_t stream);
  /// What the tile signs writes of a pair.
  [[nodiscard]] const stats::kendall_decision& tied() const { return tied_; }

  /// The sum of the squares of the first rows, of ranks; 0 of a constant one, -1 of one with a NaN.
  /// Waits.
  [[nodiscard]] std::vector<std::int64_t> square_sums(index_t rows, cudaStream_t stream) const;

  /// Splits the unit rows into halves, for products_half, where there is memory for them and for
  /// their products; says whether they are there. Rows of tensor_float alone.
  bool make_half_rows(pair_budget& budget, cudaStream_t stream);

  /// Calls launch(panel) for the panels that make up rows x cols; `tile` is the format's or its
  /// deciding one, or shared_double for rows prepared for tensor_float, or tensor_half for resident
  /// ones. Launches are ordered on `stream`, the same one for all panels of products.
  void for_each_panel(row_range rows, row_range cols, kernels::pair_region region,
                      kernels::pair_tile_kind tile, cudaStream_t stream,
                      const std::function<void(const kernels::pair_panel&)>& launch);

 private:
  void prepare(const detail::measure_traits& what, const detail::pair_tables& tables,
               const execution& exec, pair_share& share, cudaStream_t stream);
  // About that many rows, at least one.
  [[nodiscard]] index_t block_of(std::size_t rows) const;
  // How many threads prepare blocks of how many rows.
  void choose_blocks(int cpu_threads, const pair_share& share, const pair_budget& budget);
  // Takes blocks of `walk` on several threads, prepares each on a stream of its thread, and hands
  // it to done(rows, values, stream). Everything is complete once this returns; with `ordered`, it
  // is on that stream, put there by this thread alone.
  template <class Done>
  void prepare_blocks(const detail::measure_traits& what, const detail::pair_tables& tables,
                      pair_walk& walk, const Done& done, cudaStream_t ordered = nullptr);
  // Calls pack(block) with rows of `data` as they are on this device, uploaded where need be; as
  // bytes where `as_bytes`, until a value does not fit.
  template <class T, class Pack>
  void feed(matrix_view<const T> data, row_range rows, upload_lane& lane, bool& as_bytes,
            const Pack& pack) const;
  template <class Pack>
  void feed(const device_table_view& data, row_range rows, upload_lane& lane, bool& as_bytes,
            const Pack& pack) const;
  // The values of tensor_float, made from the unit rows when tiles first ask for them.
  void make_float_rows(cudaStream_t stream);
  // Those of tensor_half, in the same way.
  void make_halves(cudaStream_t stream);
  // Those of products_limbs, in the same way, and memory for products.
  void make_product_rows(cudaStream_t stream);
  // The ties of the rows that were prepared here, of signs alone.
  void read_ties(cudaStream_t stream, detail::row_info& info) const;
  // Leaves products out where there is no memory for them.
  void fit_products(std::size_t rows, pair_budget& budget);
  // Memory for the statistics of a query of prepared rows, which go through it.
  void take_product_memory(pair_budget& budget);
  // Bytes of products, with the bits of product_memory::kept where rows have them.
  [[nodiscard]] std::size_t product_bytes(std::size_t elements) const;
  [[nodiscard]] static std::size_t kept_words(index_t elements);
  void read_back(cudaStream_t stream, detail::row_info& info);
  std::optional<detail::row_patterns> fold_resident(double most_share, index_t border,
                                                    const detail::row_info& info,
                                                    const pair_budget& budget, cudaStream_t stream);
  std::optional<detail::row_patterns> fold_on_host(double most_share, int threads, index_t border,
                                                   cudaStream_t stream);
  // The pairs of a format that is ready: all of x against y.
  [[nodiscard]] detail::pair_area area_of_ready() const {
    return {{0, rows_of_x_}, {rows_of_x_, count_}};
  }
  kernels::pair_operand stage(row_range rows, int slot, kernels::pair_tile_kind tile,
                              cudaStream_t stream);

  // How rows come here, and what of them goes through a lane.
  void look_at(const detail::measure_traits& what, const detail::pair_tables& tables,
               detail::row_info& info);
  // Memory for all rows, with the room in front of them.
  void allocate(pair_budget& budget, cudaStream_t stream);
  // Takes memory for so many rows, and lets at_ point to it.
  void take_memory(index_t rows, cudaStream_t stream);

  index_t count_;
  index_t fresh_ = 0;  // the first rows, which are prepared here
  index_t rows_of_x_ = 0;
  index_t front_ = 0;  // rows that there is room for before the first
  row_format format_;
  kernels::pairwise_decision decision_;
  row_classes classes_;
  stats::kendall_decision tied_;
  bool resident_ = true;
  index_t block_rows_ = 0;       // rows of a block that is staged at a time
  int threads_ = 1;              // that prepare blocks
  int fillers_ = 1;              // copying threads for each of these
  std::size_t lanes_ = 1;        // staging buffers of a thread, used in turn
  std::size_t piece_bytes_ = 0;  // page-locked, of the upload of a lane; 0: pageable
  index_t prepared_rows_ = 0;    // rows of a block that a thread prepares at a time
  table_place place_ = table_place::host;
  std::size_t input_row_bytes_ = 0;
  std::size_t sent_row_bytes_ = 0;  // of a row of input on its way: none where it is here already
  std::size_t ranks_row_bytes_ = 0;
  // Where the resident rows lie, in memory_, in memory of prepared rows behind them, or in the
  // buffers that follow; of others, what there is of all rows.
  row_memory at_;
  device_buffer<std::byte> memory_;
  device_buffer<std::byte> floats_;  // of tensor_float
  device_buffer<std::byte> halves_;
  device_buffer<std::byte> product_rows_;  // of tensor_float those of products_half
  device_buffer<double> products_;
  device_buffer<std::uint32_t> kept_;  // see kernels::product_memory, of rows with missing values
  index_t product_elements_ = 0;
  device_buffer<std::int8_t> sign_ranks_;
  device_buffer<std::int64_t> sign_rank_sums_;
  device_buffer<unsigned long long> invalid_;
  device_buffer<std::byte> slots_[2];
  std::unique_ptr<std::byte[]> host_values_;
};

}  // namespace gpu::cuda
