// The pair engine of rows of bits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "pairs/progress.hpp"
#include "stats/soft_power.hpp"
#include "stats/unit_rows.hpp"
#include "tanimoto/best_partners.hpp"
#include "tanimoto/search.hpp"

namespace gpu::tanimoto {
namespace {

// What a call reports, which its loops poll.
struct polled_progress {
  detail::pair_progress pairs;
  detail::poll_scope scope{&pairs};
  polled_progress(const execution& exec, std::uint64_t total)
      : pairs(exec.on_progress, "pairs", total) {}
};

// No similarity is negative, and a filter of the lower tail keeps all or none.
double least_of(const detail::keep_range& keep) {
  return keep.at_most >= 0 ? 0.0 : keep.at_least;
}

class bit_engine final : public detail::pair_engine {
 public:
  bit_engine(const detail::pair_input& input, std::unique_ptr<tanimoto::search> by, double seconds)
      : search_(std::move(by)),
        area_(input.area),
        exec_(input.exec),
        info_{.rows = input.rows(), .cols = input.cols(), .seconds = seconds} {}

  [[nodiscard]] const detail::row_info& rows() const override { return info_; }
  [[nodiscard]] std::string device() const override { return search_->device(); }
  [[nodiscard]] pair_variant variant() const override { return search_->variant(); }

  void dense(matrix_view<double> out) override { fill(out); }
  void dense(matrix_view<float> out) override { fill(out); }
  void edges(const detail::edge_request& request, detail::edge_receiver& receiver) override;
  void top_k(const detail::top_k_request& request, neighbor_table& out) override;
  void counts(const detail::count_request& request, pair_counts& out) override;
  [[nodiscard]] detail::bin_counts bin_statistics(const detail::bin_request&) override {
    throw unsupported("bins of p: the similarity of sets has no significance test");
  }
  void connectivity(const detail::connectivity_request& request, matrix_view<double> out) override;

 private:
  // Pairs i < j of some rows, and all that they are part of.
  [[nodiscard]] std::uint64_t pairs(index_range rows) const {
    return detail::pairs_in({.rows = rows, .cols = area_.cols});
  }
  [[nodiscard]] std::uint64_t meetings(index_range rows) const {
    return static_cast<std::uint64_t>(rows.size()) * static_cast<std::uint64_t>(area_.cols.size());
  }
  // take(rows) for consecutive ranges of at most `step` rows of the area.
  template <class Take>
  void for_each_range(index_t step, const Take& take) const {
    for (index_t first = area_.rows.begin; first < area_.rows.end; first += step) {
      take(index_range{first, std::min(first + step, area_.rows.end)});
    }
  }
  // take(i, statistics) for each row of the area, by all threads: those with every row of y.
  template <class Take>
  void for_each_row(const Take& take);
  template <class Value>
  void fill(matrix_view<Value> out);

  std::unique_ptr<tanimoto::search> search_;
  detail::pair_area area_;
  execution exec_;
  detail::row_info info_;
};

template <class Value>
void bit_engine::fill(matrix_view<Value> out) {
  polled_progress progress(exec_, meetings(area_.rows));
  for_each_range(search_->usual_rows(), [&](index_range rows) {
    search_->dense(
        rows, {out.row(rows.begin - area_.rows.begin), rows.size(), out.cols(), out.row_stride()});
    progress.pairs.advance(meetings(rows));
  });
  progress.pairs.finish();
}

template <class Take>
void bit_engine::for_each_row(const Take& take) {
  constexpr index_t panel_values = index_t{1} << 22;
  const index_t cols = area_.cols.size();
  const index_t step = std::clamp<index_t>(panel_values / std::max<index_t>(1, cols), 1,
                                           std::max<index_t>(1, area_.rows.size()));
  matrix<double> panel(step, cols);
  polled_progress progress(exec_, meetings(area_.rows));
  for_each_range(step, [&](index_range rows) {
    search_->dense(rows, {panel.data(), rows.size(), cols});
    detail::parallel_for(rows.size(), detail::thread_count(exec_.cpu_threads),
                         [&](index_t i, int) { take(rows.begin + i, panel.row(i)); });
    progress.pairs.advance(meetings(rows));
  });
  progress.pairs.finish();
}

void bit_engine::edges(const detail::edge_request& request, detail::edge_receiver& receiver) {
  const double least = least_of(request.keep);
  const std::uint64_t most = search_->usual_edges();
  polled_progress progress(exec_, pairs(area_.rows));
  array<edge> found;
  index_t step = search_->usual_rows();
  for (index_t first = area_.rows.begin; first < area_.rows.end && receiver.wants_more();) {
    const index_range rows{first, std::min(first + step, area_.rows.end)};
    found.clear();
    if (search_->edges(rows, least, most, found)) {
      deliver_batches({found.data(), found.size()}, request.batch_edges, receiver);
      progress.pairs.advance(pairs(rows));
      first = rows.end;
      if (found.size() < most / 4) step = std::min(search_->usual_rows(), 2 * step);
      continue;
    }
    if (rows.size() == 1) {
      const std::size_t needed = static_cast<std::size_t>(area_.cols.size()) * sizeof(edge);
      throw out_of_memory(
          fmt::format("execution.workspace_bytes: the edges of row {} do not fit, expected room "
                      "for up to {} bytes of them",
                      first, needed),
          needed);
    }
    step = rows.size() / 2;
  }
  progress.pairs.finish();
}

void bit_engine::top_k(const detail::top_k_request& request, neighbor_table& out) {
  const double least = least_of(request.keep);
  const index_t before = area_.rows.begin;
  if (request.k > search_->most_partners()) {
    return for_each_row([&](index_t i, std::span<const double> statistics) {
      best_partners best(request.k, least, {});
      for (index_t j = 0; j < area_.cols.size(); ++j) {
        if (area_.is_against() || i != j) {
          best.offer(static_cast<node_id>(j), statistics[static_cast<std::size_t>(j)]);
        }
      }
      const index_t at = i - before;
      out.count[static_cast<std::size_t>(at)] =
          best.write(out.index.row(at).data(), out.statistic.row(at).data());
    });
  }
  polled_progress progress(exec_, meetings(area_.rows));
  for_each_range(search_->usual_rows(), [&](index_range rows) {
    const index_t at = rows.begin - before;
    search_->partners(rows, least,
                      {{out.index.row(at).data(), rows.size(), request.k},
                       {out.statistic.row(at).data(), rows.size(), request.k},
                       out.count.data() + at});
    if (request.take_final_rows) request.take_final_rows({at, at + rows.size()});
    progress.pairs.advance(meetings(rows));
  });
  progress.pairs.finish();
}

void bit_engine::counts(const detail::count_request& request, pair_counts& out) {
  const double least = least_of(request.keep);
  out.kept = 0;
  out.degree.assign(static_cast<std::size_t>(info_.rows), 0);
  out.histogram.assign(static_cast<std::size_t>(request.histogram_bins), 0);
  polled_progress progress(exec_, pairs(area_.rows));
  for_each_range(search_->usual_rows(), [&](index_range rows) {
    search_->count(rows, least, out);
    progress.pairs.advance(pairs(rows));
  });
  progress.pairs.finish();
}

// Column j is added to partial sum j mod 8, in ascending order, whatever computed them.
void bit_engine::connectivity(const detail::connectivity_request& request,
                              matrix_view<double> out) {
  const bool takes_logarithms =
      std::any_of(request.steps.begin(), request.steps.end(), stats::takes_logarithm);
  for_each_row([&](index_t i, std::span<const double> statistics) {
    struct step_sums {
      double partial[detail::partial_sums] = {};
    };
    std::vector<step_sums> sums(request.steps.size());
    for (index_t j = 0; j < area_.cols.size(); ++j) {
      if (i == j) continue;
      const double base =
          stats::soft_base(statistics[static_cast<std::size_t>(j)], request.network);
      const double logarithm = takes_logarithms ? stats::logarithm_of(base) : 0;
      double power = 0;
      step_sums* sum = sums.data();
      for (const stats::power_step& step : request.steps) {
        if (step.fraction >= 0) power = stats::power_of_fraction(base, step.fraction, logarithm);
        for (int factor = 0; factor < step.factors; ++factor) power *= base;
        (sum++)->partial[j % detail::partial_sums] += power;
      }
    }
    const step_sums* sum = sums.data();
    for (const stats::power_step& step : request.steps) {
      out(i - area_.rows.begin, index_t{step.column}) =
          detail::combine_partial_sums((sum++)->partial);
    }
  });
}

}  // namespace

std::unique_ptr<detail::pair_engine> make_engine(const detail::measure_traits& what,
                                                 const detail::pair_input& input, backend where) {
  const auto start = std::chrono::steady_clock::now();
  auto by = where == backend::cuda ? cuda::make_tanimoto_search(what, input)
                                   : cpu::make_tanimoto_search(what, input);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return std::make_unique<bit_engine>(input, std::move(by), taken.count());
}

}  // namespace gpu::tanimoto
