#include "tanimoto/jobs/job.hpp"

#include <fmt/format.h>

#include <limits>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "base/check_enumerator.hpp"
#include "base/counted.hpp"
#include "base/execution_checks.hpp"
#include "pairs/adjustment.hpp"
#include "pairs/checks.hpp"

namespace gpu::tanimoto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr index_t most_columns = std::numeric_limits<std::int32_t>::max();
constexpr index_t most_rows = std::numeric_limits<std::uint32_t>::max();

void check_tables(const bit_tables& tables) {
  const auto& [x, y, is_against] = tables;
  if (x.cols() != y.cols()) {
    throw invalid_argument(fmt::format("y: has {}, expected the {} of x",
                                       detail::counted(y.cols(), "column"), x.cols()));
  }
  if (x.cols() > most_columns) {
    throw invalid_argument(
        fmt::format("x: has {} columns, expected at most {}", x.cols(), most_columns));
  }
  const index_t rows = is_against ? y.rows() : 0;
  if (x.rows() > most_rows - std::min(rows, most_rows)) {
    throw invalid_argument(fmt::format("x: has {} rows{}, expected at most {}", x.rows(),
                                       is_against ? fmt::format(" and y {}", rows) : "",
                                       most_rows));
  }
}

std::unique_ptr<tanimoto::search> make_on_cpu(const bit_tables& tables,
                                              const tanimoto_options& options) {
  if (options.variant != binary_matmul_variant::automatic &&
      options.variant != binary_matmul_variant::popcount) {
    throw unsupported(
        fmt::format("options.variant: {} is not offered on cpu, expected automatic or popcount",
                    to_string(options.variant)));
  }
  return cpu::make_tanimoto_search(tables, options);
}

}  // namespace

detail::measure_traits as_measure() {
  detail::measure_traits out = detail::cosine_traits;
  out.info.name = "tanimoto";
  out.info.title = "Tanimoto similarity";
  return out;
}

double least_of(const pair_filter& keep) {
  return keep.side == tail::less && keep.min_abs > 0 ? infinity : keep.min_abs;
}

job::job(const bit_tables& tables, const tanimoto_options& options, detail::part_shape shape)
    : tables_(tables), exec_(options.exec) {
  detail::check_enumerator("options.variant", options.variant, binary_matmul_variant::hopper);
  validate::check_part(options.part);
  check_tables(tables);
  detail::check_no_stream(options.exec);
  detail::check_one_device(options.exec);
  used_ = resolve_backend(options.exec);
  const pair_part next{.index = options.part.index + 1, .of = options.part.of};
  const detail::part_shape cut = tables.is_against ? detail::part_shape::equal_rows : shape;
  rows_ = {detail::part_begin(tables.x.rows(), options.part, cut),
           detail::part_begin(tables.x.rows(), next, cut)};
  search_ = used_ == backend::cuda ? cuda::make_tanimoto_search(tables, options)
                                   : make_on_cpu(tables, options);
  pairs_start_ = clock::now();
}

std::uint64_t job::pairs(index_range rows) const {
  const index_t begin = tables_.is_against ? tables_.x.rows() : 0;
  return detail::pairs_in({.rows = rows, .cols = {begin, begin + tables_.y.rows()}});
}

pair_summary job::finish(const pair_filter& keep, const pair_checksum& kept) const {
  pair_summary out = finish(keep, kept.count);
  out.checksum = kept;
  return out;
}

pair_summary job::finish(const pair_filter& keep, std::uint64_t kept) const {
  const auto seconds = [](clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  const detail::effective_cut cut = detail::cut_at(as_measure(), 1.0, keep, 0);
  return {.rows = tables_.x.rows(),
          .cols = tables_.x.cols(),
          .y_rows = tables_.is_against ? tables_.y.rows() : 0,
          .part_begin = rows_.begin,
          .part_end = rows_.end,
          .pairs_tested = pairs(rows_),
          .pairs_kept = kept,
          .max_p_effective = cut.max_p,
          .min_abs_effective = cut.min_abs,
          .cut_at_least = cut.keep.at_least,
          .cut_at_most = cut.keep.at_most + 0.0,  // no -0
          .used = used_,
          .device = search_->device(),
          .variant = search_->pair_way(),
          .prepare_seconds = seconds(pairs_start_ - start_),
          .pairs_seconds = seconds(clock::now() - pairs_start_)};
}

pair_tally count_pairs(job& run, double least, index_t bins) {
  job_progress progress(run.exec(), "count", run.pairs(run.rows()));
  pair_tally out{.degree = detail::new_vector<std::uint32_t>(run.tables().x.rows()),
                 .y_degree = detail::new_vector<std::uint32_t>(
                     run.tables().is_against ? run.tables().y.rows() : 0),
                 .histogram = detail::new_vector<std::uint64_t>(bins)};
  for_each_range(run, [&](index_range rows) {
    run.search().count(rows, least, out);
    progress.pairs.advance(run.pairs(rows));
  });
  progress.pairs.finish();
  return out;
}

edge_ranges::edge_ranges(job& run, double least)
    : run_(run),
      least_(least),
      progress_(run.exec(), "pairs", run.pairs(run.rows())),
      first_(run.rows().begin),
      step_(run.search().usual_rows()) {}

bool edge_ranges::next(array<edge>& out) {
  const std::uint64_t most = run_.search().usual_edges();
  out.clear();
  while (first_ < run_.rows().end) {
    const index_range rows{first_, std::min(first_ + step_, run_.rows().end)};
    if (run_.search().edges(rows, least_, most, out)) {
      progress_.pairs.advance(run_.pairs(rows));
      first_ = rows.end;
      if (out.size() < most / 4) step_ = std::min(run_.search().usual_rows(), 2 * step_);
      return true;
    }
    if (rows.size() == 1) {
      const auto needed = static_cast<std::size_t>(run_.tables().y.rows()) * sizeof(edge);
      throw out_of_memory(
          fmt::format("execution.workspace_bytes: the edges of row {} do not fit, expected room "
                      "for up to {} bytes of them",
                      first_, needed),
          needed);
    }
    step_ = rows.size() / 2;
  }
  progress_.pairs.finish();
  return false;
}

}  // namespace gpu::tanimoto
