// Sums of powers of the statistics of each row: every row meets every column, in ascending order,
// so that the sums of a row do not depend on tiles, windows or threads.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "cpu/pairs/engine.hpp"
#include "stats/soft_power.hpp"

namespace gpu::cpu {
namespace {

// Column j of the packed rows is added in lane j mod 8, in ascending j.
constexpr index_t lane_count = 8;
using lanes = double __attribute__((vector_size(lane_count * sizeof(double))));

// What is raised of one row of a block, lane by lane, zeros around it.
struct row_bases {
  alignas(64) double values[pair_policy::block_cols + 2 * lane_count] = {};
  index_t groups = 0;
};

void fill_bases(row_bases& out, network_kind kind, const double* statistics, index_t count,
                index_t first_lane) {
  const index_t end = first_lane + count;
  out.groups = (end + lane_count - 1) / lane_count;
  std::fill_n(out.values, first_lane, 0.0);
  for (index_t j = 0; j < count; ++j) {
    out.values[first_lane + j] = stats::soft_base(statistics[j], kind);
  }
  std::fill(out.values + end, out.values + out.groups * lane_count, 0.0);
}

// Begins the chain of each lane.
void begin_chain(lanes& out, const double* bases, double fraction, const lanes& logarithms) {
  for (index_t l = 0; l < lane_count; ++l) {
    out[l] = stats::power_of_fraction(bases[l], fraction, logarithms[l]);
  }
}

// sums [steps][lane_count]: adds the powers of what is in `bases`.
void add_powers(std::span<const stats::power_step> steps, const row_bases& bases, double* sums) {
  const bool takes_logarithms = std::any_of(steps.begin(), steps.end(), stats::takes_logarithm);
  for (index_t group = 0; group < bases.groups; ++group) {
    const double* const from = bases.values + group * lane_count;
    lanes base;
    std::memcpy(&base, from, sizeof base);
    lanes logarithms{};
    if (takes_logarithms) {
      for (index_t l = 0; l < lane_count; ++l) logarithms[l] = stats::logarithm_of(from[l]);
    }
    lanes power{};
    double* sum = sums;
    for (const stats::power_step& step : steps) {
      if (step.fraction >= 0) begin_chain(power, from, step.fraction, logarithms);
      for (int factor = 0; factor < step.factors; ++factor) power *= base;
      lanes so_far;
      std::memcpy(&so_far, sum, sizeof so_far);
      so_far += power;
      std::memcpy(sum, &so_far, sizeof so_far);
      sum += lane_count;
    }
  }
}

// Rows whose sums take the place of the edges that wait elsewhere. Few rows at a time would have
// all others packed anew too often.
index_t rows_whose_sums_fit(std::size_t waiting_edges, index_t row_sums) {
  constexpr std::size_t bytes_per_edge = 40;
  const std::size_t row_bytes = static_cast<std::size_t>(row_sums) * sizeof(double);
  const auto fitting = static_cast<index_t>(waiting_edges * bytes_per_edge / row_bytes);
  return std::max(fitting / pair_policy::window_step * pair_policy::window_step,
                  pair_policy::least_window_rows);
}

double total_of(const double* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

}  // namespace

void cpu_engine::connectivity(const detail::connectivity_request& request,
                              matrix_view<double> out) {
  const index_t row_sums = static_cast<index_t>(request.steps.size()) * lane_count;
  std::vector<double> sums;  // [rows of a panel, or of a range of rows][steps][lane_count]
  const index_t most_rows = rows_whose_sums_fit(panel_edges_, row_sums);
  detail::pair_progress meter(on_progress_, "pairs", meetings());
  const detail::poll_scope polled(&meter);
  for_each_meeting(
      [&](const pair_tile& area) {
        pair_search& search = this->search({});
        const bool begins = packed(area.col_begin) == area_cols_.begin;
        const bool ends = packed(area.col_end - 1) + 1 == area_cols_.end;
        const index_t step = std::min(panel_rows(), most_rows);
        for_each_strip_of_rows(area, step, [&](const pair_tile& panel) {
          const index_t begin = panel.row_begin;
          // Where all columns are there, sums are needed for the rows of a panel alone.
          const index_t first = begins && ends ? begin : area.row_begin;
          const index_t room = (begins && ends ? panel.rows() : area.rows()) * row_sums;
          if (begins && begin == first) sums.assign(static_cast<std::size_t>(room), 0.0);
          double* const of_panel = sums.data() + (begin - first) * row_sums;
          sum_panel(search, request, panel, of_panel);
          if (ends) store_connectivity(request, panel, of_panel, out);
          meter.advance(meetings_of(panel));
        });
      },
      most_rows);
  meter.finish();
}

// Every row of the panel with every column of it; a task is some rows with all columns.
void cpu_engine::sum_panel(pair_search& search, const detail::connectivity_request& request,
                           const pair_tile& panel, double* sums) {
  const index_t row_sums = static_cast<index_t>(request.steps.size()) * lane_count;
  const index_t tasks_wanted = pair_policy::tasks_per_thread * index_t{team()};
  const index_t task_rows = std::clamp<index_t>((panel.rows() + tasks_wanted - 1) / tasks_wanted, 1,
                                                pair_policy::block_rows);
  for_each_tile(strips_of_rows(panel, task_rows), [&](const pair_tile& task, int thread) {
    row_bases bases;
    const auto add = [&](const pair_tile& block, const double* from) {
      const index_t first_lane = packed(block.col_begin) % lane_count;
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        fill_bases(bases, request.network, from + (i - block.row_begin) * pair_policy::block_cols,
                   block.cols(), first_lane);
        if (i >= block.col_begin && i < block.col_end) {
          bases.values[first_lane + (i - block.col_begin)] = 0;  // the row with itself
        }
        add_powers(request.steps, bases, sums + (i - panel.row_begin) * row_sums);
      }
    };
    for_each_block(search, task, search.scratch(thread), add);
  });
}

void cpu_engine::store_connectivity(const detail::connectivity_request& request,
                                    const pair_tile& panel, const double* sums,
                                    matrix_view<double> out) const {
  for (index_t i = panel.row_begin; i < panel.row_end; ++i) {
    for (const stats::power_step& step : request.steps) {
      out(result_row(i), index_t{step.column}) = total_of(sums);
      sums += lane_count;
    }
  }
}

}  // namespace gpu::cpu
