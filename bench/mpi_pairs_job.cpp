// Times Spearman of all pairs by the ranks of MPI, from the rows in the memory of each rank to the
// result on every rank. The time includes preparing the rows, dealing the parts and adding up; it
// does not include starting processes, MPI and devices.
//
//   mpirun -n RANKS --bind-to none mpi_pairs_job ROWS COLS SINK MAX_P PARTS CALLS [THREADS]
//
// SINK: edges or counts; PARTS: 0 for the library's own number; THREADS: of a rank, 0 for its share
// of the cores. Rows are independent small counts with ties. The time of a call is that of its
// slowest rank. The first rank prints one line: the median, shortest and longest call, the least
// and most seconds that a rank computed in the median call, the checksum, all calls in the order in
// which they were made, and the timelines of the shortest, the median and the longest call: when
// each stage of each rank began and ended, in milliseconds since the call of that rank began.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/mpi.hpp>

namespace {

struct job {
  gpu::index_t rows = 0;
  gpu::index_t cols = 0;
  std::string sink;
  gpu::pair_filter keep;
  gpu::mpi::distribution how;
  int calls = 1;
  int threads = 0;
};

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", seconds * 1e3);
  return text;
}

// The stages of one call on this rank, as the library reports them.
class timeline {
 public:
  void begin() {
    start_ = clock_type::now();
    text_.clear();
    is_open_ = false;
  }
  void note(const gpu::progress& state) {
    const std::string now = milliseconds(seconds_since(start_));
    if (!is_open_) text_.append(std::string(state.stage)).append(" ").append(now);
    is_open_ = state.done < state.total;
    if (!is_open_) text_.append("-").append(now).append(" ");
  }
  // The whole call has returned.
  void end() { text_.append("returned ").append(milliseconds(seconds_since(start_))); }

  // Of all ranks, on the first one.
  [[nodiscard]] std::string of_all_ranks() const {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    constexpr std::size_t most = 400;
    std::string mine = text_.substr(0, most);
    mine.resize(most, '\0');
    std::vector<char> all(most * static_cast<std::size_t>(ranks));
    MPI_Gather(mine.data(), most, MPI_CHAR, all.data(), most, MPI_CHAR, 0, MPI_COMM_WORLD);
    std::string out;
    for (std::size_t at = 0; rank == 0 && at < all.size(); at += most) {
      out.append(out.empty() ? "\"" : ", \"").append(all.data() + at).append("\"");
    }
    return out;
  }

 private:
  clock_type::time_point start_;
  std::string text_;
  bool is_open_ = false;
};

struct timed_call {
  double seconds = 0;
  double least_busy = 0;
  double most_busy = 0;
  std::string stages = {};
};

// 64 well-mixed bits of a number (the finaliser of splitmix64).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Values from 0 to 40, every fourth of them 0; the same on every rank.
gpu::matrix<std::int8_t> make_rows(gpu::index_t rows, gpu::index_t cols) {
  gpu::matrix<std::int8_t> out(rows, cols);
  const auto count = static_cast<std::uint64_t>(rows * cols);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mix(i);
    out.data()[i] = static_cast<std::int8_t>((bits & 3) == 0 ? 0 : 1 + (bits >> 8) % 40);
  }
  return out;
}

double over_ranks(double mine, MPI_Op what) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, what, MPI_COMM_WORLD);
  return mine;
}

gpu::pair_summary run(const job& wanted, const gpu::matrix<std::int8_t>& x, timeline& stages) {
  gpu::pair_options options;
  options.exec.cpu_threads = wanted.threads;
  options.exec.on_progress = [&](const gpu::progress& state) {
    stages.note(state);
    return gpu::progress_reply::proceed;
  };
  if (wanted.sink == "counts") {
    return gpu::mpi::all_pairs(MPI_COMM_WORLD, gpu::measure::spearman, x, options,
                               gpu::count_sink{.keep = wanted.keep}, wanted.how)
        .summary;
  }
  const gpu::stream_sink stream{.keep = wanted.keep, .consume = [](std::span<const gpu::edge>) {}};
  return gpu::mpi::all_pairs(MPI_COMM_WORLD, gpu::measure::spearman, x, options, stream,
                             wanted.how);
}

timed_call time_call(const job& wanted, const gpu::matrix<std::int8_t>& x,
                     gpu::pair_summary& summary) {
  timeline stages;
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = clock_type::now();
  stages.begin();
  summary = run(wanted, x, stages);
  stages.end();
  const double seconds = seconds_since(start);
  const double busy = summary.prepare_seconds + summary.pairs_seconds;
  return {.seconds = over_ranks(seconds, MPI_MAX),
          .least_busy = over_ranks(busy, MPI_MIN),
          .most_busy = over_ranks(busy, MPI_MAX),
          .stages = stages.of_all_ranks()};
}

void print(const job& wanted, int ranks, const gpu::pair_summary& summary,
           std::vector<timed_call> calls) {
  std::string in_order;
  for (const timed_call& call : calls) {
    in_order.append(in_order.empty() ? "" : ", ").append(milliseconds(call.seconds));
  }
  std::sort(calls.begin(), calls.end(),
            [](const timed_call& a, const timed_call& b) { return a.seconds < b.seconds; });
  const timed_call& median = calls[calls.size() / 2];
  std::printf(
      "{\"ranks\": %d, \"rows\": %lld, \"cols\": %lld, \"sink\": \"%s\", \"kept\": %llu, "
      "\"seconds\": %.5f, \"best\": %.5f, \"worst\": %.5f, \"least_busy\": %.5f, \"most_busy\": "
      "%.5f, \"backend\": \"%s\", \"device\": \"%s\", \"checksum\": \"%s\", \"calls_ms\": [%s], "
      "\"stages_ms\": {\"best\": [%s], \"median\": [%s], \"worst\": [%s]}}\n",
      ranks, static_cast<long long>(wanted.rows), static_cast<long long>(wanted.cols),
      wanted.sink.c_str(), static_cast<unsigned long long>(summary.pairs_kept), median.seconds,
      calls.front().seconds, calls.back().seconds, median.least_busy, median.most_busy,
      std::string(gpu::to_string(summary.used)).c_str(), summary.device.c_str(),
      gpu::to_string(summary.checksum).c_str(), in_order.c_str(), calls.front().stages.c_str(),
      median.stages.c_str(), calls.back().stages.c_str());
}

void measure(const job& wanted) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const gpu::matrix<std::int8_t> x = make_rows(wanted.rows, wanted.cols);
  gpu::pair_summary summary;
  static_cast<void>(time_call(wanted, x, summary));  // devices wake
  std::vector<timed_call> calls;
  for (int i = 0; i < wanted.calls; ++i) calls.push_back(time_call(wanted, x, summary));
  if (rank == 0) print(wanted, ranks, summary, std::move(calls));
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;  // other threads compute, this one calls MPI
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int code = 2;
  try {
    if (argc == 7 || argc == 8) {
      measure({.rows = std::atoll(argv[1]),
               .cols = std::atoll(argv[2]),
               .sink = argv[3],
               .keep = {.max_p = std::atof(argv[4])},
               .how = {.parts = std::atoll(argv[5])},
               .calls = std::atoi(argv[6]),
               .threads = argc == 8 ? std::atoi(argv[7]) : 0});
      code = 0;
    } else {
      std::fprintf(stderr,
                   "usage: mpi_pairs_job ROWS COLS edges|counts MAX_P PARTS CALLS [THREADS]\n");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_pairs_job: %s\n", error.what());
    code = 1;
  }
  if (code == 1) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
