// Edges of the CPU pair engine, panel by panel of rows. Where rows come in windows, the edges of a
// range of rows wait until it has met all columns.
#include <algorithm>
#include <string>
#include <utility>

#include "cpu/pairs/collected_hits.hpp"
#include "cpu/pairs/engine.hpp"
#include "cpu/pairs/loops/kernels.hpp"

namespace gpu::cpu {

void cpu_engine::edges_of_window(collected_hits& hits, detail::pair_progress& meter) {
  pair_search& search = this->search(hits.task());
  if (!source_) hits.tell_expected(search.estimate());
  for (index_t begin = asked_.begin; begin < asked_.end && !hits.has_enough();) {
    index_t end = std::min({begin + panel_rows_at(begin),
                            begin + hits.rows_that_fit(search, window_cols()), asked_.end});
    while (!hits.collect(search, begin, end, end - begin == 1)) {
      const index_t fewer = std::min((end - begin) / 2, hits.rows_that_fit(search, window_cols()));
      end = begin + std::max<index_t>(1, fewer);
    }
    hits.flush();
    meter.advance(pairs_in(begin, end));
    search.reconsider();
    begin = end;
  }
}

// A range of rows meets all columns before the next range begins. Where it has more edges than may
// wait, it is made smaller, and the edges of its first rows are kept.
void cpu_engine::ordered_edges(collected_hits& hits, detail::pair_progress& meter) {
  index_t step = range_rows();
  for (index_t begin = area_rows_.begin; begin < area_rows_.end && !hits.has_enough();) {
    index_t rows = std::min(step, area_rows_.end - begin);
    std::uint64_t reported = 0;
    const auto search_window = [&] {
      pair_search& search = this->search(hits.task());
      if (reported == 0) rows = std::min(rows, hits.rows_that_fit(search, area_cols_.size()));
      for (index_t from = 0; from < rows;) {
        const index_t to = std::min(from + panel_rows(), rows);
        if (!hits.collect(search, from, to, rows == 1)) {
          rows = std::max<index_t>(1, rows / 2);
          hits.drop_from(rows);
          continue;
        }
        const std::uint64_t in_range = pairs_of({begin, begin + rows});
        const std::uint64_t news =
            std::min(pairs_in(from, to), in_range - std::min(in_range, reported));
        reported += news;
        meter.advance(news);
        search.reconsider();
        from = to;
      }
    };
    index_t col = area_cols_.begin;
    if (!is_across_) {
      col = std::min(begin + 2 * half_window_, area_cols_.end);
      load({begin, col}, {}, {0, rows});
      search_window();
    }
    while (col < area_cols_.end) {
      col = load_beside({begin, begin + rows}, col, area_cols_.end);
      search_window();
    }
    const bool is_few = hits.found() < panel_edges_ / 4;
    hits.flush();
    const std::uint64_t in_range = pairs_of({begin, begin + rows});
    meter.advance(in_range - std::min(in_range, reported));
    begin += rows;
    step = is_few ? std::min(range_rows(), 2 * rows) : rows;
  }
}

std::string cpu_engine::explain_edges(const detail::keep_range& keep) {
  std::string said;
  for_each_window([&] {  // of a sample there is one
    said = search({.wanted = pair_task::output::matches, .keep = keep}).explain();
  });
  return said;
}

std::string explain_edges(detail::pair_engine& engine, const detail::keep_range& keep) {
  return dynamic_cast<cpu_engine&>(engine).explain_edges(keep);
}

void cpu_engine::edges(const detail::edge_request& request, detail::edge_receiver& receiver) {
  collected_hits hits(*this, request, receiver);
  detail::pair_progress meter(on_progress_, "pairs", pairs_of(area_rows_));
  const detail::poll_scope polled(&meter);
  if (source_ && request.order != edge_order::unspecified) {
    ordered_edges(hits, meter);
  } else {
    for_each_window([&] { edges_of_window(hits, meter); });
  }
  if (hits.has_enough()) return;
  hits.finish();
  meter.finish();
}

}  // namespace gpu::cpu
