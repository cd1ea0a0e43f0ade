// All pairs by the ranks of a communicator, beside a call alone. Started by mpirun; every rank
// checks.
#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/mpi.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

constexpr gpu::index_t rows = 300;
constexpr gpu::index_t cols = 20;
int failures = 0;
int rank = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "rank %d: %s\n", rank, what);
}

gpu::matrix<int> some_rows() {
  std::mt19937 random(7);  // NOLINT: the same rows on every rank
  gpu::matrix<int> out(rows, cols);
  std::vector<int> factor(cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    if (i % 25 == 0) {
      for (int& f : factor) f = static_cast<int>(random() % 30);
    }
    for (gpu::index_t j = 0; j < cols; ++j) {
      out(i, j) = i == 5 ? 0
                         : factor[static_cast<std::size_t>(j)] +
                               static_cast<int>(random() % static_cast<unsigned>(2 + i % 25));
    }
  }
  return out;
}

bool is_same(const gpu::pair_summary& a, const gpu::pair_summary& b) {
  return a.rows == b.rows && a.cols == b.cols && a.constant_rows == b.constant_rows &&
         a.pairs_tested == b.pairs_tested && a.pairs_kept == b.pairs_kept &&
         a.checksum == b.checksum && a.max_p_effective == b.max_p_effective &&
         a.cut_at_least == b.cut_at_least && a.cut_at_most == b.cut_at_most;
}

/// Edges of all ranks, in order, on every rank.
std::vector<gpu::edge> gathered(std::vector<gpu::edge> mine) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> bytes(static_cast<std::size_t>(ranks));
  const int own = static_cast<int>(mine.size() * sizeof(gpu::edge));
  MPI_Allgather(&own, 1, MPI_INT, bytes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> begins(bytes.size());
  int total = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    begins[i] = total;
    total += bytes[i];
  }
  std::vector<gpu::edge> all(static_cast<std::size_t>(total) / sizeof(gpu::edge));
  MPI_Allgatherv(mine.data(), own, MPI_BYTE, all.data(), bytes.data(), begins.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
  std::sort(all.begin(), all.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  });
  return all;
}

void check_results(const gpu::matrix<int>& x, const gpu::pair_filter& keep, gpu::index_t parts) {
  const gpu::mpi::distribution how{.parts = parts};
  const auto alone =
      gpu::spearman_all_pairs(x, gpu::count_sink{.keep = keep, .histogram_bins = 10});
  const auto counts = gpu::mpi::all_pairs(MPI_COMM_WORLD, gpu::measure::spearman, x, {},
                                          gpu::count_sink{.keep = keep, .histogram_bins = 10}, how);
  check(is_same(counts.summary, alone.summary), "the summary of counts differs");
  check(counts.kept == alone.kept && counts.tested == alone.tested, "counts differ");
  check(counts.degree == alone.degree, "degrees differ");
  check(counts.histogram == alone.histogram, "the histogram differs");

  const auto list = gpu::pearson_all_pairs(x, gpu::edge_sink{.keep = keep});
  std::vector<gpu::edge> mine;
  const auto consume = [&](std::span<const gpu::edge> edges) {
    mine.insert(mine.end(), edges.begin(), edges.end());
  };
  const auto summary = gpu::mpi::all_pairs(MPI_COMM_WORLD, gpu::measure::pearson, x, {},
                                           gpu::stream_sink{.keep = keep, .consume = consume}, how);
  check(is_same(summary, list.summary), "the summary of a stream differs");
  const std::vector<gpu::edge> all = gathered(mine);
  check(all.size() == list.edges.size() &&
            std::equal(all.begin(), all.end(), list.edges.begin(), list.edges.end()),
        "the edges of all ranks are not those of a call alone");
}

/// Rows that repeat, of which each part decides whether to fold its own.
void check_repeated_rows() {
  std::mt19937 random(5);  // NOLINT: the same rows on every rank
  gpu::matrix<int> x(12'000, 6);
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t j = 0; j < x.cols(); ++j) x(i, j) = static_cast<int>(random() % 3);
  }
  const gpu::count_sink sink{.keep = {.max_p = 1e-4}};
  const auto alone = gpu::spearman_all_pairs(x, sink);
  for (const gpu::index_t parts : {1, 2, 6}) {
    const auto counts =
        gpu::mpi::all_pairs(MPI_COMM_WORLD, gpu::measure::spearman, x, {}, sink, {.parts = parts});
    check(is_same(counts.summary, alone.summary), "the summary of repeated rows differs");
    check(counts.degree == alone.degree, "degrees of repeated rows differ");
    check(counts.summary.patterns == (parts == 1 ? alone.summary.patterns : 0),
          "the number of patterns is not that of all parts");
  }
}

/// Degrees that the ranks add up in several pieces; rank 0 had no part.
void check_many_degrees() {
  constexpr std::uint32_t many = 600'001;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::optional<gpu::pair_counts> mine;
  if (rank > 0 || ranks == 1) {
    mine.emplace();
    mine->summary.rows = many;
    mine->degree.resize(many);
    for (std::uint32_t i = 0; i < many; ++i) mine->degree[i] = i;
  }
  const gpu::pair_counts sum = gpu::mpi::detail::total(MPI_COMM_WORLD, std::move(mine));
  const auto of = static_cast<std::uint32_t>(std::max(1, ranks - 1));
  bool is_sum = sum.degree.size() == many;
  for (std::uint32_t i = 0; is_sum && i < many; ++i) is_sum = sum.degree[i] == of * i;
  check(is_sum, "degrees of many rows do not add up");
}

/// One rank's callback throws: every rank's call does.
void check_failure(const gpu::matrix<int>& x) {
  bool is_thrown = false;
  const auto consume = [](std::span<const gpu::edge>) {
    if (rank == 1) throw std::runtime_error("full");
  };
  try {
    (void)gpu::mpi::all_pairs(MPI_COMM_WORLD, gpu::measure::spearman, x, {},
                              gpu::stream_sink{.consume = consume}, {.parts = 64});
  } catch (const gpu::cancelled&) {
    is_thrown = rank != 1;
  } catch (const std::runtime_error&) {
    is_thrown = rank == 1;
  }
  // Where rank 1 got no part, nothing failed.
  int thrown = is_thrown ? 1 : 0;
  int least = thrown;
  MPI_Allreduce(&thrown, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  check(thrown == least, "some ranks threw and some did not");
}

void check_dealer() {
  for (const gpu::index_t numbers : {0, 1, 3, 4, 5, 100}) {
    std::vector<int> taken(static_cast<std::size_t>(numbers));
    {
      gpu::mpi::part_dealer dealer(MPI_COMM_WORLD, numbers);
      for (auto number = dealer.next(); number; number = dealer.next()) {
        ++taken[static_cast<std::size_t>(*number)];
        dealer.serve();
      }
      check(!dealer.next(), "a number after the last");
    }
    MPI_Allreduce(MPI_IN_PLACE, taken.data(), static_cast<int>(numbers), MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    check(std::count(taken.begin(), taken.end(), 1) == numbers, "a number was lost or dealt twice");
  }
}

void check_stopped_dealer() {
  for (const gpu::index_t numbers : {4, 100}) {
    gpu::mpi::part_dealer dealer(MPI_COMM_WORLD, numbers);
    dealer.stop();
    check(!dealer.next(), "a number after the stop");
  }
}

}  // namespace

void check_suggestions() {
  using gpu::backend;
  using gpu::mpi::suggested_parts;
  // A part is to take much longer than preparing its rows: few parts of few rows, more of many.
  check(suggested_parts(4'000'000, 0, 4, backend::cuda) == 4, "one part a rank expected");
  check(suggested_parts(4'000'000, 0, 4, backend::cpu) == 49, "49 parts expected");
  check(suggested_parts(100'000'000, 0, 4, backend::cuda) == 31, "31 parts expected");
  check(suggested_parts(100'000'000, 0, 4, backend::cpu) == 64, "16 parts a rank expected");
  check(suggested_parts(3, 0, 4, backend::cpu) == 4, "one part a rank of three rows expected");
  check(suggested_parts(0, 0, 1, backend::cuda) == 1, "one part of nothing expected");
  check(suggested_parts(1'000'000, 1'000'000, 1, backend::cpu) == 12, "12 parts expected");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const gpu::matrix<int> x = some_rows();
  check_dealer();
  check_stopped_dealer();
  check_suggestions();
  for (const gpu::index_t parts : {0, 1, 3, 50}) {
    check_results(x, {.max_p = 0.01}, parts);
    check_results(x, {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni}, parts);
    check_results(
        x,
        {.max_p = 0.05, .side = gpu::tail::greater, .adjust = gpu::adjustment::benjamini_hochberg},
        parts);
  }
  check_repeated_rows();
  check_many_degrees();
  check_failure(x);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d failures\n", failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
