// gpu-similarity-mpi: one job of pairs by all ranks of an MPI job. Each rank computes parts into
// one folder, as gpu-similarity --part does; the first rank joins them.
#include <fmt/format.h>
#include <gpu/execution.hpp>
#include <gpu/mpi.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cli/options/library_words.hpp"
#include "cli/options/options.hpp"
#include "cli/parts/joining/joined_parts.hpp"
#include "cli/parts/part_job.hpp"
#include "cli/parts/resume_folder.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/guarded_run.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {
namespace {

constexpr int first_rank = 0;
/// Tells all ranks what the first one knows.
template <class Value>
void send(Value& value) {
  MPI_Bcast(&value, static_cast<int>(sizeof(Value)), MPI_BYTE, first_rank, MPI_COMM_WORLD);
}

void send(std::vector<index_t>& values) {
  auto size = static_cast<std::int64_t>(values.size());
  send(size);
  values.resize(static_cast<std::size_t>(size));
  MPI_Bcast(values.data(), static_cast<int>(size), MPI_INT64_T, first_rank, MPI_COMM_WORLD);
}

/// What is to be done next, as the first rank finds it in the folder.
struct round {
  int step = 0;
  std::uint64_t is_decided = 0;
  discovery_search search = {};
  std::vector<index_t> numbers = {};

  [[nodiscard]] job_step job() const {
    return {.step = step, .search = is_decided != 0 ? std::optional(search) : std::nullopt};
  }
};

class rank_run {
 public:
  /// @param watch runs since the process began.
  rank_run(const pairs_command& job, const stopwatch& watch)
      : job_(job), folder_(folder_of(job)), watch_(watch) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    job_.pairs.exec = mpi::on_this_rank(MPI_COMM_WORLD, job_.pairs.exec);
    job_.quiet = job_.quiet || rank_ != first_rank;
  }

  void run() {
    check_execution(job_.pairs.exec);
    check_outputs(job_);
    expect_no_part_names(folder_, job_);
    if (rank_ == first_rank) folder_.create();
    MPI_Barrier(MPI_COMM_WORLD);
    seconds_.start = watch_.seconds();
    const job_key key = key_of(job_);
    progress_line line(job_.quiet);
    const input_tables tables = read_input(job_, line);
    expect_same_input(key, job_, tables);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds_.read = watch_.seconds() - seconds_.start;
    index_t of = rank_ == first_rank ? parts_of_job(tables) : 0;
    send(of);
    folder_.expect_job(key, of);
    compute(key, of, tables, line);
    line.clear();
    const stopwatch joining;
    std::string joined;
    if (rank_ == first_rank) joined = join();
    MPI_Barrier(MPI_COMM_WORLD);
    seconds_.join = joining.seconds();
    show_totals(joined);
  }

 private:
  static part_folder folder_of(const pairs_command& job) {
    return folder_of_resumed(job, io::resolve_output(job.output).path);
  }

  /// How many parts the job was begun with, or is to have.
  [[nodiscard]] index_t parts_of_job(const input_tables& tables) const {
    const index_t begun = folder_.list().of;
    if (begun != 0) return begun;
    if (job_.parts != 0) return job_.parts;
    return mpi::suggested_parts(tables.rows(), tables.y ? tables.y->rows() : 0, ranks_,
                                resolve_backend(job_.pairs.exec));
  }

  void compute(const job_key& key, index_t of, const input_tables& tables, progress_line& line) {
    const stopwatch computing;
    io::byte_budget budget(job_.force ? io::no_byte_limit : job_.max_output_bytes);
    for (;;) {
      const round now = next_round(key, of);
      {
        mpi::part_dealer dealer(MPI_COMM_WORLD, static_cast<index_t>(now.numbers.size()));
        part_job parts({job_, tables, key, folder_, line, budget, [&] { dealer.serve(); }});
        for (auto at = dealer.next(); at; at = dealer.next()) {
          const index_t number = now.numbers[static_cast<std::size_t>(*at)];
          const part_manifest done = parts.run(now.job(), number, of);
          tested_ += now.step == 0 ? done.summary.pairs_tested : 0;
          ++computed_;
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == first_rank) wait_for(now, of);
      if (now.step != 0) continue;
      seconds_.parts = computing.seconds();
      return;
    }
  }

  /// Collective.
  [[nodiscard]] round next_round(const job_key& key, index_t of) const {
    round now;
    if (rank_ == first_rank) {
      const job_step step = step_of(folder_, key, of);
      now.step = step.step;
      now.is_decided = step.search ? 1 : 0;
      now.search = step.search.value_or(discovery_search{});
      for (index_t number = 1; number <= of; ++number) {
        const part_status there = folder_.check({now.step, number, of}, part_check::digests);
        if (there.state != part_state::done) now.numbers.push_back(number);
      }
    }
    send(now.step);
    send(now.is_decided);
    send(now.search);
    send(now.numbers);
    return now;
  }

  /// Until this host sees what other hosts wrote: a shared file system takes a while.
  void wait_for(const round& now, index_t of) const {
    constexpr auto patience = std::chrono::seconds(60);
    constexpr auto pause = std::chrono::milliseconds(200);
    const auto start = std::chrono::steady_clock::now();
    for (const index_t number : now.numbers) {
      while (folder_.check({now.step, number, of}, part_check::sizes).state != part_state::done) {
        if (std::chrono::steady_clock::now() - start > patience)
          return;  // merge says what is missing
        std::this_thread::sleep_for(pause);
      }
    }
  }

  /// Collective: the ranks' own sums, beside what the manifests say.
  void show_totals(const std::string& joined) {
    std::vector<std::uint64_t> sums{tested_, computed_};
    std::uint64_t most = computed_;
    std::uint64_t least = computed_;
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (job_.quiet) return;
    say(fmt::format(
        "{} ranks computed {} parts, {} to {} each, with {} pairs\n{}"
        "start {:.3f} s, read {:.3f} s, parts {:.3f} s, join {:.3f} s, total {:.3f} s\n",
        ranks_, sums[1], least, most, sums[0], joined, seconds_.start, seconds_.read,
        seconds_.parts, seconds_.join, watch_.seconds()));
  }

  /// Writes the result and returns its report.
  [[nodiscard]] std::string join() {
    const joined_parts joined = check_parts(folder_);
    pair_outputs outputs(job_);
    write_joined(joined, folder_, outputs);
    write_report(outputs.report(), to_json(report_of_run(joined, job_, watch_.seconds())));
    if (job_.part_folder.empty()) resume_folder(folder_).remove(joined.job);
    return to_text(joined);
  }

  /// Seconds by the clock of the first rank; a phase ends when the last rank ends it.
  struct phases {
    double start = 0;  // of processes, MPI and devices
    double read = 0;   // the input, twice: its digest and its values
    double parts = 0;
    double join = 0;
  };

  pairs_command job_;
  part_folder folder_;
  int rank_ = 0;
  int ranks_ = 1;
  std::uint64_t tested_ = 0;
  std::uint64_t computed_ = 0;
  phases seconds_;
  const stopwatch& watch_;
};

void check(const pairs_command& job) {
  if (job.is_part || job.plan_only) {
    throw usage_error("--part and --plan do not go with gpu-similarity-mpi");
  }
}

int run_command_line(int argc, char** argv, const stopwatch& watch) {
  // Every job of many ranks goes on from the parts that are there.
  std::string resume = "--resume";
  std::vector<char*> words(argv, argv + argc);
  if (argc > 2) words.push_back(resume.data());
  const parsed_command parsed = parse_command_line(static_cast<int>(words.size()), words.data());
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto* job = std::get_if<pairs_command>(&std::get<command>(parsed));
  if (job == nullptr || job->is_differential())
    throw usage_error("gpu-similarity-mpi runs only the measures of all pairs");
  check(*job);
  rank_run(*job, watch).run();
  return exit_ok;
}

}  // namespace
}  // namespace gpu::cli

int main(int argc, char** argv) {
  const gpu::cli::stopwatch watch;
  gpu::cli::open_standard_streams();
  int level = 0;  // other threads compute, this one calls MPI
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  gpu::cli::handle_signals();
  const int code = gpu::cli::guarded_run(
      [&] { return gpu::cli::run_command_line(argc, argv, watch); }, gpu::cli::in_words_of_command);
  // Ranks that wait for this one cannot be told otherwise.
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
