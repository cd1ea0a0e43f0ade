// gpu-similarity-mpi: one job of pairs by all ranks of an MPI job. Each rank computes parts into
// one folder, as gpu-similarity --part does; the first rank joins them.
#include <fmt/format.h>
#include <gpu/mpi.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/parts/joined_parts.hpp"
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
constexpr index_t parts_a_rank = 16;
constexpr std::uint64_t no_limit = ~std::uint64_t{0};

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
  explicit rank_run(const pairs_command& job) : job_(job), folder_(folder_of(job)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    job_.pairs.exec = mpi::on_this_rank(MPI_COMM_WORLD, job_.pairs.exec);
    job_.quiet = job_.quiet || rank_ != first_rank;
  }

  void run() {
    check_execution(job_.pairs.exec);
    if (rank_ == first_rank) folder_.create();
    MPI_Barrier(MPI_COMM_WORLD);
    const job_key key = key_of(job_);
    index_t of = rank_ == first_rank ? parts_of_job() : 0;
    send(of);
    folder_.expect_job(key, of);
    compute(key, of);
    show_totals();
    if (rank_ == first_rank) join();
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  static std::string folder_of(const pairs_command& job) {
    if (!job.part_folder.empty()) return job.part_folder;
    return hidden_folder_of(io::resolve_output(job.output).path);
  }

  /// How many parts the job was begun with, or is to have.
  [[nodiscard]] index_t parts_of_job() const {
    const index_t begun = folder_.list().of;
    if (begun != 0) return begun;
    return job_.parts != 0 ? job_.parts : parts_a_rank * ranks_;
  }

  void compute(const job_key& key, index_t of) {
    progress_line line(job_.quiet);
    const input_tables tables = read_input(job_, line);
    MPI_Barrier(MPI_COMM_WORLD);
    read_seconds_ = watch_.seconds();
    io::byte_budget budget(job_.force ? no_limit : job_.max_output_bytes);
    part_job parts({job_, tables, key, folder_, line, budget});
    for (;;) {
      const round now = next_round(key, of);
      {
        mpi::part_dealer dealer(MPI_COMM_WORLD, static_cast<index_t>(now.numbers.size()));
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
      parts_seconds_ = watch_.seconds() - read_seconds_;
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
  void show_totals() {
    std::vector<std::uint64_t> sums{tested_, computed_};
    std::uint64_t most = computed_;
    std::uint64_t least = computed_;
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (job_.quiet) return;
    say(fmt::format(
        "{} ranks computed {} parts, {} to {} each, with {} pairs; read {:.3f} s, parts {:.3f} s\n",
        ranks_, sums[1], least, most, sums[0], read_seconds_, parts_seconds_));
  }

  void join() {
    const joined_parts joined = check_parts(folder_);
    io::output_file out(job_.output, {.stop = is_interrupted});
    write_joined(joined, folder_, out);
    out.commit();
    if (!job_.quiet) say(to_text(joined) + fmt::format("total {:.3f} s\n", watch_.seconds()));
    if (job_.part_folder.empty()) resume_folder(folder_.path()).remove();
  }

  pairs_command job_;
  part_folder folder_;
  int rank_ = 0;
  int ranks_ = 1;
  std::uint64_t tested_ = 0;
  std::uint64_t computed_ = 0;
  double read_seconds_ = 0;   // until all ranks have the table
  double parts_seconds_ = 0;  // from then until all parts are there
  stopwatch watch_;
};

void check(const pairs_command& job) {
  if (job.is_part || job.plan_only || !job.report.empty()) {
    throw usage_error("--part, --plan and --report do not go with gpu-similarity-mpi");
  }
}

int run_command_line(int argc, char** argv) {
  // Every job of many ranks goes on from the parts that are there.
  std::string resume = "--resume";
  std::vector<char*> words(argv, argv + argc);
  if (argc > 2) words.push_back(resume.data());
  const parsed_command parsed = parse_command_line(static_cast<int>(words.size()), words.data());
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto* job = std::get_if<pairs_command>(&std::get<command>(parsed));
  if (job == nullptr) throw usage_error("gpu-similarity-mpi runs spearman and pearson");
  check(*job);
  rank_run(*job).run();
  return exit_ok;
}

}  // namespace
}  // namespace gpu::cli

int main(int argc, char** argv) {
  gpu::cli::open_standard_streams();
  MPI_Init(&argc, &argv);
  gpu::cli::handle_signals();
  const int code = gpu::cli::guarded_run([&] { return gpu::cli::run_command_line(argc, argv); });
  // Ranks that wait for this one cannot be told otherwise.
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
