// Parts that each rank computed, and their sums over all ranks.
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/mpi.hpp>

namespace gpu::inline v0::mpi::detail {
namespace {

/// Sums over the ranks, in place, in pieces of a megabyte: MPI's own copy of a piece then stays in
/// the caches and in memory that it has already.
template <class Integer>
void sum_over_ranks(MPI_Comm comm, std::vector<Integer>& values, MPI_Datatype type) {
  constexpr std::size_t most = (std::size_t{1} << 20) / sizeof(Integer);
  for (std::size_t at = 0; at < values.size(); at += most) {
    const auto count = static_cast<int>(std::min(most, values.size() - at));
    MPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, type, MPI_SUM, comm);
  }
}

/// The lowest rank that computed a part: what is the same for all parts is taken from it.
int rank_with_part(MPI_Comm comm, bool has_part) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int lowest = has_part ? rank : size;
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm);
  return lowest;
}

template <class Value>
void send(MPI_Comm comm, int from, Value& value) {
  MPI_Bcast(&value, static_cast<int>(sizeof(Value)), MPI_BYTE, from, comm);
}

/// Where a call would run. Where it cannot run at all, the call itself reports that later.
backend usable_backend(const execution& exec) {
  try {
    return resolve_backend(exec);
  } catch (const error&) {
    return backend::cpu;
  }
}

template <class Value>
void send(MPI_Comm comm, int from, std::vector<Value>& values) {
  std::uint64_t size = values.size();
  send(comm, from, size);
  values.resize(size);
  constexpr std::size_t most = std::size_t{1} << 26;
  for (std::size_t at = 0; at < values.size(); at += most) {
    const std::size_t count = std::min(most, values.size() - at);
    MPI_Bcast(values.data() + at, static_cast<int>(count * sizeof(Value)), MPI_BYTE, from, comm);
  }
}

/// What all parts have in common, from the rank `from`.
void send_common(MPI_Comm comm, int from, pair_summary& s) {
  send(comm, from, s.rows);
  send(comm, from, s.cols);
  send(comm, from, s.observations);
  send(comm, from, s.y_rows);
  send(comm, from, s.constant_rows);
  send(comm, from, s.nan_rows);
  send(comm, from, s.infinite_rows);
  send(comm, from, s.y_constant_rows);
  send(comm, from, s.y_nan_rows);
  send(comm, from, s.y_infinite_rows);
  send(comm, from, s.max_p_effective);
  send(comm, from, s.min_abs_effective);
  send(comm, from, s.cut_at_least);
  send(comm, from, s.cut_at_most);
}

void add_sums(pair_summary& sum, const pair_summary& part) {
  sum.patterns = 0;  // each part folds rows of its own
  sum.pairs_tested += part.pairs_tested;
  sum.pairs_kept += part.pairs_kept;
  sum.pairs_by_t += part.pairs_by_t;
  sum.checksum += part.checksum;
  sum.prepare_seconds += part.prepare_seconds;
  sum.pairs_seconds += part.pairs_seconds;
}

}  // namespace

index_t parts_of(MPI_Comm comm, const distribution& how, index_t rows, const execution& exec) {
  if (how.parts < 0) throw invalid_argument("distribution.parts: is negative, expected 0 or more");
  if (how.parts > 0) return how.parts;
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  // One rank decides: others may be on hosts without a device.
  index_t parts = suggested_parts(rows, 0, ranks, usable_backend(exec));
  send(comm, 0, parts);
  return parts;
}

void run_parts(MPI_Comm comm, index_t parts, const pair_options& options,
               const std::function<void(const pair_options&)>& run) {
  std::exception_ptr failure;
  {
    part_dealer dealer(comm, parts);
    try {
      pair_options mine = options;
      mine.exec.on_progress = [&](const progress& state) {
        dealer.serve();
        return options.exec.on_progress ? options.exec.on_progress(state) : progress_reply::proceed;
      };
      for (auto number = dealer.next(); number; number = dealer.next()) {
        mine.part = {.index = *number, .of = parts};
        run(mine);
      }
    } catch (...) {
      failure = std::current_exception();
      dealer.stop();
    }
  }
  int failed = failure ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
  if (failure) std::rethrow_exception(failure);
  if (failed != 0) throw cancelled("all pairs: another rank failed, this one stopped");
}

void add(std::optional<pair_summary>& sum, pair_summary part) {
  if (!sum) {
    sum = std::move(part);
    return;
  }
  add_sums(*sum, part);
}

void add(std::optional<pair_counts>& sum, pair_counts part) {
  if (!sum) {
    sum = std::move(part);
    return;
  }
  const auto add_all = [](auto& a, const auto& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  };
  sum->tested += part.tested;
  sum->kept += part.kept;
  add_all(sum->degree, part.degree);
  add_all(sum->histogram, part.histogram);
  add_sums(sum->summary, part.summary);
}

void add(std::optional<discovery_counts>& sum, discovery_counts part) {
  if (!sum) {
    sum = std::move(part);
    return;
  }
  *sum += part;
  add_sums(sum->summary, part.summary);
}

pair_summary total(MPI_Comm comm, std::optional<pair_summary> mine) {
  const int from = rank_with_part(comm, mine.has_value());
  const std::uint64_t has_part = mine ? 1 : 0;
  pair_summary out = mine ? std::move(*mine) : pair_summary{};
  const auto patterns = static_cast<std::uint64_t>(out.patterns);
  send_common(comm, from, out);
  std::vector<std::uint64_t> sums{out.pairs_tested,   out.pairs_kept,    out.pairs_by_t,
                                  out.checksum.count, out.checksum.mix1, out.checksum.mix2,
                                  has_part,           patterns};
  sum_over_ranks(comm, sums, MPI_UINT64_T);
  out.pairs_tested = sums[0];
  out.pairs_kept = sums[1];
  out.pairs_by_t = sums[2];
  out.checksum = {.count = sums[3], .mix1 = sums[4], .mix2 = sums[5]};
  out.patterns = sums[6] == 1 ? static_cast<index_t>(sums[7]) : 0;
  out.part_begin = 0;
  out.part_end = out.rows;
  return out;
}

pair_counts total(MPI_Comm comm, std::optional<pair_counts> mine) {
  const bool has_part = mine.has_value();
  pair_counts out = has_part ? std::move(*mine) : pair_counts{};
  out.summary = total(comm, has_part ? std::optional(std::move(out.summary)) : std::nullopt);
  std::uint64_t bins = out.histogram.size();
  MPI_Allreduce(MPI_IN_PLACE, &bins, 1, MPI_UINT64_T, MPI_MAX, comm);
  out.degree.resize(static_cast<std::size_t>(out.summary.rows));
  out.histogram.resize(bins);
  sum_over_ranks(comm, out.degree, MPI_UINT32_T);
  sum_over_ranks(comm, out.histogram, MPI_UINT64_T);
  out.tested = out.summary.pairs_tested;
  out.kept = out.summary.pairs_kept;
  return out;
}

discovery_counts total(MPI_Comm comm, std::optional<discovery_counts> mine) {
  const bool has_part = mine.has_value();
  discovery_counts out = has_part ? std::move(*mine) : discovery_counts{};
  const int from = rank_with_part(comm, has_part);
  out.summary = total(comm, has_part ? std::optional(std::move(out.summary)) : std::nullopt);
  send(comm, from, out.search);
  std::uint64_t bins = out.bins.size();
  MPI_Allreduce(MPI_IN_PLACE, &bins, 1, MPI_UINT64_T, MPI_MAX, comm);
  out.bins.resize(bins);
  out.bins.push_back(out.below);
  out.bins.push_back(out.at_or_above);
  sum_over_ranks(comm, out.bins, MPI_UINT64_T);
  out.at_or_above = out.bins.back();
  out.bins.pop_back();
  out.below = out.bins.back();
  out.bins.pop_back();
  return out;
}

}  // namespace gpu::inline v0::mpi::detail
