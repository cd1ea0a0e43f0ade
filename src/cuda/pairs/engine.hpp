#pragma once
// The CUDA pair engine: prepared rows, a stream for the tiles and one for what follows them. Its
// sinks are in dense.cpp, connectivity.cpp, top_k.cpp, counts.cpp and screened_sinks.cpp, the
// programs that some of them share with results in device memory in programs/; edges by tiles are
// functions of their own, in edges.hpp.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <gpu/execution.hpp>

#include "cuda/pairs/pair_screen.hpp"
#include "cuda/pairs/prepared_table.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/counting.hpp"
#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda/pairs/rows/row_products.hpp"
#include "cuda/pairs/team/share.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "pairs/engine.hpp"
#include "pairs/observations.hpp"
#include "pairs/pair_ties.hpp"

namespace gpu::cuda {

/// The variant that every one of the devices offers: the least of their own choices.
pair_variant choose_variant(index_t rows, index_t cols, pair_variant asked,
                            std::span<const device_info> devices);

/// Prepares `input` on each of several devices of this host, side by side, and returns an engine
/// that works on all of them: the same result as one device, edges that are ordered in the same
/// order. Each device has all rows, and the pairs of the area are shared out as the devices get
/// free. What the caller handed in (progress, receivers of edges) is called on the thread that
/// calls the engine. input.exec.workspace_bytes is per device. The same device may be given more
/// than once, which gains nothing but tests the sharing.
detail::made_engine make_device_group(const detail::measure_traits& what,
                                      const detail::pair_input& input,
                                      std::span<const device_info> devices, pair_variant variant);

/// What a request says of pairs; each may be null.
struct pair_decisions {
  const detail::observation_cuts* cuts = nullptr;
  const detail::observation_tests* tests = nullptr;
  const detail::tied_cut* tied = nullptr;
  const detail::bin_request* bins = nullptr;  ///< Of whose `tied` p is binned.
};

/// What tiles write of a pair whose p is not of the statistic alone, for the time of one sink: of
/// rows with missing values the cuts or tests by the number of shared columns, of Kendall's those
/// by the ties of both rows; their tables are in device memory.
class decision_scope {
 public:
  /// Nothing for other rows. Waits for the copies.
  decision_scope(device_rows& rows, const pair_budget& budget, const pair_decisions& by,
                 int cpu_threads, cudaStream_t stream);
  ~decision_scope() { rows_.decide_nothing(); }
  decision_scope(const decision_scope&) = delete;
  decision_scope& operator=(const decision_scope&) = delete;

 private:
  void decide_pairwise(const pair_budget& budget, const pair_decisions& by, int cpu_threads,
                       cudaStream_t stream);
  void decide_tied(const pair_budget& budget, const pair_decisions& by, int cpu_threads,
                   cudaStream_t stream);

  device_rows& rows_;
  device_buffer<detail::keep_range> cuts_;
  device_buffer<stats::p_table> tables_;
  device_buffer<double> steps_;
};

class cuda_engine final : public detail::pair_engine {
 public:
  /// `variant` is the variant to run, input.variant what the caller asked for. Resident rows are
  /// prepared together with the engines of `share`, where there is one.
  cuda_engine(const detail::measure_traits& what, const detail::pair_input& input,
              const device_info& device, pair_variant variant, pair_share* share = nullptr);

  /// Takes the work of the sinks called from now on from `share`, which outlives them. The engines
  /// that share a call are prepared from the same input for the same variant; what each of them
  /// then fills in is its part, to be added up.
  void join(pair_share& share) { share_ = &share; }

  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] const detail::row_info& rows() const override { return info_; }
  /// What rows() were folded from, to be taken once.
  [[nodiscard]] std::optional<detail::folded_rows> take_folded() {
    return std::exchange(folded_, std::nullopt);
  }
  [[nodiscard]] std::string device() const override { return device_name_; }
  [[nodiscard]] pair_variant variant() const override { return variant_; }

  void dense(matrix_view<double> out) override;
  void dense(matrix_view<float> out) override;
  void edges(const detail::edge_request& request, detail::edge_receiver& receiver) override;
  void top_k(const detail::top_k_request& request, neighbor_table& out) override;
  void counts(const detail::count_request& request, pair_counts& out) override;
  [[nodiscard]] detail::bin_counts bin_statistics(const detail::bin_request& request) override;
  void connectivity(const detail::connectivity_request& request, matrix_view<double> out) override;

  /// What this engine's share of the pairs adds to bin_statistics().
  struct bin_share {
    detail::bin_counts counts;
    bool drops = false;  ///< Whether pairs below the lowest bin were left out.
  };
  [[nodiscard]] bin_share bin_own_share(const detail::bin_request& request);
  /// The sum of all shares, with what they left out.
  [[nodiscard]] detail::bin_counts complete(bin_share sum) const;

 private:
  template <class Value>
  void write_dense(matrix_view<Value> out);
  // The tile of a dense result; makes the rows that it takes.
  template <class Value>
  kernels::pair_tile_kind dense_tile();

  // The rows of x beside those that are prepared already.
  void query_rows(const detail::pair_input& input);
  // Rows of equal ranks become one, where that pays; of x against y each side by itself.
  void fold_rows(detail::fold_scope scope);
  /// Of rows whose p is not of the statistic alone: what tiles write of a pair, as long as the
  /// scope lives.
  [[nodiscard]] decision_scope decide_pairs(const pair_decisions& by) {
    return {*rows_, budget_, by, cpu_threads_, stream()};
  }
  [[nodiscard]] device_buffer<std::uint32_t> upload_weights(
      std::span<const std::uint32_t> weights) const;
  [[nodiscard]] index_t count() const { return info_.rows; }
  [[nodiscard]] std::uint64_t pairs() const { return detail::pairs_in(area_); }
  [[nodiscard]] std::uint64_t pairs_of(row_range rows) const { return pairs_of_rows(area_, rows); }
  [[nodiscard]] std::shared_ptr<pair_walk> walk_pairs(std::string_view stage, index_t size) {
    return share_->walk(stage, size, pairs());
  }
  /// Few edges of few pairs, which one launch selects and writes to the host. False where there are
  /// more: then nothing was delivered.
  bool select_edges(const detail::edge_request& request, const detail::pair_cut& keep,
                    detail::edge_receiver& receiver);
  /// What a cut keeps of random pairs of the area, the same ones on every call. The sample is empty
  /// where the rows are not resident or not packed, and where long rows have so few pairs that a
  /// sample would take as long as the job. Waits for the stream.
  [[nodiscard]] detail::cut_sample sample_cut(const detail::pair_cut& keep) const;
  /// Edges and counts of a strict cut, where the variant screens. False where a screen would not
  /// pay, or turned out not to: then nothing was delivered and the tiles decide every pair.
  bool screen_edges(const detail::edge_request& request, const detail::pair_cut& keep,
                    detail::edge_receiver& receiver, const detail::cut_sample& sample);
  bool screen_counts(const detail::count_request& request, const detail::pair_cut& keep,
                     pair_counts& out);
  void count_by_tiles(kernels::pair_tile_kind tile, const detail::pair_cut& keep,
                      const count_terms& terms, pair_counts& out);
  /// Kept pairs and degrees of long unit rows from estimates by products of halves, where these are
  /// the fastest and there is memory.
  bool count_by_estimates(const detail::keep_range& keep, pair_counts& out);
  /// Kept pairs and degrees from half-precision products, where the device and the rows allow it.
  bool count_by_products(const detail::count_request& request, const detail::keep_range& keep,
                         pair_counts& out);
  /// Runs run(first, last) over this engine's share of the items of a counter.
  template <class Run>
  void count_items(std::string_view stage, index_t items, std::vector<std::uint32_t>* degrees,
                   const Run& run);
  struct class_counts {
    std::uint64_t kept = 0;           // where degrees were asked for
    std::vector<std::uint64_t> bins;  // below, bins..., at or above; none where none were asked for
  };
  /// Kept pairs, their bins and degrees at a looser cut, where the variant can: class by class.
  /// `request` and `degrees` may be null.
  std::optional<class_counts> count_by_classes(std::string_view stage,
                                               const detail::keep_range& keep,
                                               const detail::bin_request* request,
                                               std::vector<std::uint32_t>* degrees);
  /// Neighbours from the maxima of groups of partners, where the rows are resident and there is
  /// memory.
  bool top_k_by_groups(const detail::top_k_request& request, const detail::keep_range& keep,
                       neighbor_table& out);
  bool top_k_by_estimates(const detail::top_k_request& request, const detail::pair_cut& keep,
                          neighbor_table& out);
  template <class Search>
  void top_k_by_statistics(const detail::top_k_request& request, const detail::pair_cut& keep,
                           neighbor_table& out);
  /// Blocks of rows of the area: whole units, the last one of which may not be full.
  struct row_blocks {
    index_t unit;  ///< Rows of one.
    index_t most;  ///< Units of a block.
    double least;  ///< The same where several devices share the area.
  };
  /// Leaves the lists of rows of the area, counted from its first, on the device, on stream().
  using block_search = std::function<void(row_range rows, const kernels::neighbor_result& lists)>;
  /// The loop of all of these: one block is searched while the lists of the block before are
  /// delivered.
  void top_k_by_blocks(const detail::top_k_request& request, const row_blocks& blocks,
                       const block_search& search, neighbor_table& out);
  bool top_k_of_few_rows(const detail::top_k_request& request, const detail::keep_range& keep,
                         neighbor_table& out);
  /// What a screen has to let pass of a request: its cut of the statistic, or of signs that of the
  /// ranks that its cut of p and tau asks for.
  [[nodiscard]] detail::pair_cut screened_cut(const detail::pair_cut& keep,
                                              const detail::tied_cut* tied) const;
  /// Whether there is a screen for this cut, and every pair is not decided before it is under way.
  [[nodiscard]] bool may_screen(const detail::keep_range& keep, detail::screen_use use) const;
  [[nodiscard]] std::optional<pair_screen> make_screen(const detail::pair_cut& keep,
                                                       detail::screen_use use,
                                                       const detail::cut_sample& sample);
  [[nodiscard]] call_shape shape() const;
  /// Whether half-precision products should decide this cut: they are the fastest, at most
  /// `kept_share` and what is near the cut are computed anew, and memory suffices. Makes their
  /// rows.
  [[nodiscard]] bool estimates_by_halves(const detail::keep_range& keep, double kept_share);
  [[nodiscard]] kernels::pair_tile_kind edge_tile(const detail::keep_range& keep,
                                                  double kept_share);
  /// Walks this engine's share of all pairs i < j of the area in panels of rows, a few launches
  /// ahead of the device, with progress: launch(panel) is called for every panel, on stream().
  void walk_upper_pairs(std::string_view stage, kernels::pair_tile_kind tile,
                        const std::function<void(const kernels::pair_panel&)>& launch);
  /// Computes rows [rows.begin, rows.end) with all columns of the area, on stream().
  void launch_dense(const tile_step<kernels::dense_sink_args>& step, row_range rows);
  /// [below, bins..., at or above]
  std::vector<std::uint64_t> bin_pairs(std::string_view stage, const detail::pair_cut& keep,
                                       const detail::bin_request& request);
  std::vector<std::uint64_t> bin_rank_tests(const detail::bin_request& request);
  /// Of ranks tested by permutations: finds which rows have ties. Waits for the stream.
  void find_ties();
  /// What a request keeps by its statistic. Where one filter holds for all pairs of the rows, it is
  /// that one alone.
  [[nodiscard]] detail::pair_cut cut_of(const detail::keep_range& keep,
                                        const detail::tied_cut* tied) const;

  [[nodiscard]] cudaStream_t stream() const { return compute_.get(); }

  const detail::measure_traits& what_;
  int ordinal_;
  int multiprocessors_;
  int cpu_threads_;
  std::string device_name_;
  pair_variant variant_;
  bool has_warpgroup_products_;
  std::unique_ptr<pair_share> solo_;
  pair_share* share_;
  pair_budget budget_;
  cuda::stream compute_;
  cuda::stream output_{cuda::stream::priority::high};
  detail::pair_area area_;  // in rows of info_
  detail::row_info info_;
  std::optional<detail::folded_rows> folded_;
  std::shared_ptr<const device_prepared_table> prepared_;  // what rows_ may be a part of
  front_room front_;
  std::optional<device_rows> rows_;
  // Of ranks tested by permutations: whether there may be pairs of two rows without ties, and
  // others.
  bool have_untied_pairs_ = false;
  bool have_tied_pairs_ = false;
};

}  // namespace gpu::cuda
