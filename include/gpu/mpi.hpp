#pragma once
/// @file
/// All pairs by the ranks of an MPI communicator: parts of the job are dealt to whoever is free.
/// Needs <mpi.h> and the CMake target gpu::similarity_mpi; the umbrella header leaves it out.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <gpu/all_pairs.hpp>
#include <gpu/discovery.hpp>

namespace gpu {
inline namespace v0 {
/// Calls that all ranks of a communicator make together.
namespace mpi {

/// How a job is shared.
struct distribution {
  /// How many parts the job is cut into, at least 1; 0: suggested_parts(). More parts keep ranks of
  /// different speeds busy to the end, and each part prepares its rows again.
  index_t parts = 0;
};

/// Deals the numbers 0, 1, ..., each to one rank, first come first served: one fetch-and-add on a
/// counter that rank 0 holds, without a master that waits for messages. Where there are at most as
/// many numbers as ranks, rank r gets number r, and nobody asks.
class part_dealer {
 public:
  /// Collective. @param comm outlives the object. @param parts at least 0.
  part_dealer(MPI_Comm comm, index_t parts);
  /// Collective.
  ~part_dealer();
  part_dealer(const part_dealer&) = delete;
  part_dealer& operator=(const part_dealer&) = delete;
  /// The next number, which no other rank gets; nothing where all are dealt. Not collective.
  [[nodiscard]] std::optional<index_t> next();
  /// No rank gets a number from now on, because something failed. Not collective.
  void stop();
  /// For rank 0 to call a few times a second while it computes: over networks without one-sided
  /// operations, others get a number only while rank 0 is inside MPI. Takes at most half a
  /// millisecond there, and microseconds once all numbers are dealt; nothing on other ranks. Not
  /// collective.
  void serve() const;

 private:
  // Adds to the counter; returns what it was.
  std::int64_t add(std::int64_t value) const;
  MPI_Comm comm_;
  bool serves_;
  std::int64_t parts_;
  std::optional<index_t> own_ = {};  // the number of this rank, where nobody asks
  std::int64_t* counter_ = nullptr;  // rank 0's is the one
  MPI_Win window_ = MPI_WIN_NULL;    // none where nobody asks
};

/// `exec` completed, where the caller left it open, with what this rank takes of its host: the
/// device with the number of the rank among the ranks of the host, modulo the number of devices,
/// and its share of the cores that it may run on. Open MPI binds each of one or two ranks to one
/// core; `mpirun --bind-to none` leaves them all cores. Collective.
[[nodiscard]] execution on_this_rank(MPI_Comm comm, execution exec = {});

/// The number of parts of a job where the caller sets none: so many that a part takes about twenty
/// times as long as preparing its rows, but at least one and at most sixteen for each rank.
/// @param rows rows of the table, or of x.
/// @param y_rows rows of y; 0 where there is one table.
/// @param ranks number of ranks, at least 1.
/// @param used backend that computes the parts.
[[nodiscard]] index_t suggested_parts(index_t rows, index_t y_rows, int ranks, backend used);

namespace detail {

/// Deals the parts; `run` computes one. Where it throws on one rank, every rank throws.
void run_parts(MPI_Comm comm, index_t parts, const pair_options& options,
               const std::function<void(const pair_options&)>& run);
/// Collective.
index_t parts_of(MPI_Comm comm, const distribution& how, index_t rows, const execution& exec);
/// `mine` is the sum over the parts of this rank, or nothing where it had none: the summary of the
/// whole job, on every rank.
pair_summary total(MPI_Comm comm, std::optional<pair_summary> mine);
pair_counts total(MPI_Comm comm, std::optional<pair_counts> mine);
discovery_counts total(MPI_Comm comm, std::optional<discovery_counts> mine);
/// Adds what a further part of this rank gave.
void add(std::optional<pair_summary>& sum, pair_summary part);
void add(std::optional<pair_counts>& sum, pair_counts part);
void add(std::optional<discovery_counts>& sum, discovery_counts part);

/// Runs all parts of a sink and adds them up. `call(options, sink)` computes one.
template <class Sink, class Call>
auto sum_over_parts(MPI_Comm comm, index_t parts, const pair_options& options, const Sink& sink,
                    const Call& call) {
  std::optional<sink_result_t<Sink>> mine;
  run_parts(comm, parts, options, [&](const pair_options& part) { add(mine, call(part, sink)); });
  return total(comm, std::move(mine));
}

/// `sink` with its filter as one cut on p: that of the whole job, where it is Benjamini and
/// Hochberg's.
template <class Sink, class Call>
Sink pinned(MPI_Comm comm, index_t parts, const pair_options& options, Sink sink,
            const Call& call) {
  if (sink.keep.adjust != adjustment::benjamini_hochberg) return sink;
  std::optional<discovery_search> search;
  do {
    search = next_search(sum_over_parts(comm, parts, options,
                                        discovery_sink{.keep = sink.keep, .search = search}, call));
  } while (!search->is_decided());
  sink.keep.max_p = search->max_p_effective();
  sink.keep.adjust = adjustment::none;
  return sink;
}

template <class Data>
index_t rows_of(const Data& data) {
  const gpu::detail::any_table table = gpu::detail::read_table(data);
  return std::visit([](const auto& view) { return view.rows(); }, table);
}

template <class Sink, class Call>
auto all_pairs(MPI_Comm comm, index_t rows, const pair_options& options, const Sink& sink,
               const distribution& how, const Call& call) {
  pair_options mine = options;
  mine.exec = on_this_rank(comm, options.exec);
  const index_t parts = parts_of(comm, how, rows, mine.exec);
  return sum_over_parts(comm, parts, mine, pinned(comm, parts, mine, sink, call), call);
}

}  // namespace detail

/// The sinks that ranks share: what they give adds up, or passes by where it is found.
template <class Sink>
concept shared_sink = std::same_as<Sink, count_sink> || std::same_as<Sink, stream_sink>;

/// gpu::all_pairs by all ranks of `comm`. Collective: every rank gives the same data, options and
/// sink, and calls nothing else on `comm` meanwhile.
///
/// A count_sink gives every rank the counts of the whole job. A stream_sink gives each rank the
/// edges of the parts that it computed, ordered within each part; together they are the edges of
/// the whole call, decided by the same cut. The summary is about the whole job, on every rank,
/// with the same checksum whichever rank computed which part; its `patterns` is 0 unless the
/// job is one part. For Benjamini and Hochberg's cut one to three
/// counting passes over all parts come first.
///
/// @param comm a communicator whose ranks may make MPI calls from the calling thread.
/// @param what the measure.
/// @param data as gpu::all_pairs.
/// @param options as gpu::all_pairs, but `part`, which is set here; of `exec`, devices and threads
///   may differ from rank to rank: see on_this_rank for those that are left open.
/// @param sink a count_sink or a stream_sink.
/// @param how how many parts.
/// @return what the sink gives, as above.
/// @throw as gpu::all_pairs, on every rank: where another one failed, gpu::error with
///   error_code::cancelled. A rank that dies ends the job, as MPI has it.
/// Cost: each part prepares its rows again; one fetch-and-add a part, a sum of the results at the
/// end.
template <table_like Data, shared_sink Sink>
sink_result_t<Sink> all_pairs(MPI_Comm comm, measure what, const Data& data,
                              const pair_options& options, const Sink& sink,
                              const distribution& how = {}) {
  return detail::all_pairs(comm, detail::rows_of(data), options, sink, how,
                           [&](const pair_options& part, const auto& part_sink) {
                             return gpu::all_pairs(what, data, part, part_sink);
                           });
}

}  // namespace mpi
}  // namespace v0
}  // namespace gpu
