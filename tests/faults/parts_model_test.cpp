// parts_model_test [--trials N] [--seconds S] [--seed N] [--jobs N]: draws tables and jobs,
// computes each job alone and in parts, in a drawn number, order and mixture of ways, or by
// --resume with kills, and compares the joined bytes with those of the single run. They are always
// the same.
//
// parts_model_test --trial N: that trial alone. A failure ends the program with 1 and says this
// command line; the folder of the trial stays.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "faults/model/random_job.hpp"
#include "faults/model/random_source.hpp"
#include "faults/model/random_table.hpp"
#include "support/gzip_files.hpp"

namespace {

using gpu_test::command_result;
using gpu_test::command_settings;
using gpu_test::joined;
using gpu_test::random_job;
using gpu_test::random_source;
using gpu_test::random_table;
using gpu_test::read_file;
using gpu_test::words;
namespace fs = std::filesystem;

struct settings {
  int trials = 150;
  double seconds = 0;  ///< 0: as many trials as asked for, however long they take.
  std::uint64_t seed = 1;
  int jobs = 2;
  bool is_single = false;
};

settings read_settings(int argc, char** argv) {
  settings out;
  const words all(argv + 1, argv + argc);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    if (i + 1 == all.size()) throw std::invalid_argument(all[i] + " needs a value");
    const std::string& value = all[i + 1];
    if (all[i] == "--trials") {
      out.trials = std::stoi(value);
    } else if (all[i] == "--seconds") {
      out.seconds = std::stod(value);
    } else if (all[i] == "--seed") {
      out.seed = std::stoull(value);
    } else if (all[i] == "--jobs") {
      out.jobs = std::max(1, std::stoi(value));
    } else if (all[i] == "--trial") {
      out.seed = std::stoull(value);
      out.trials = 1;
      out.is_single = true;
    } else {
      throw std::invalid_argument("unknown argument " + all[i]);
    }
  }
  return out;
}

/// What was run, for the last line.
struct tally {
  std::atomic<int> trials{0};
  std::atomic<int> commands{0};
  std::atomic<int> kills{0};
  std::atomic<int> refused{0};  ///< Jobs that the single run refuses, and so does a part.
};

struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_cuda_there() {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", "1 2 3\n3 2 2\n2 1 5\n");
  return gpu_test::run_command({"spearman", input, "--backend", "cuda", "-o", folder.path("out")})
             .exit_code == 0;
}

/// One table and job, in a folder of their own.
class trial {
 public:
  trial(std::uint64_t number, bool has_cuda, tally& done)
      : random_(number), has_cuda_(has_cuda), done_(done) {}

  void run() {
    draw();
    const command_result alone = run_alone();
    if (alone.exit_code != 0) return expect_refusal(alone);
    random_.happens(0.3) ? run_resumed() : run_in_parts();
    ++done_.trials;
  }

  /// What a person needs who looks into a failure.
  [[nodiscard]] std::string story() const { return said_ + commands_; }
  /// Keeps the folder, and says where it is.
  [[nodiscard]] std::string kept_folder(std::uint64_t number) const {
    const fs::path to = fs::temp_directory_path() / ("parts_model_trial_" + std::to_string(number));
    std::error_code failed;
    fs::remove_all(to, failed);
    fs::copy(folder_.path("."), to, fs::copy_options::recursive, failed);
    return to.string();
  }

 private:
  void draw() {
    const bool is_large = random_.happens(0.05);
    const int rows = is_large                ? random_.between(8500, 13000)
                     : random_.happens(0.35) ? random_.between(1, 40)
                     : random_.happens(0.8)  ? random_.between(40, 160)
                                             : random_.between(160, 450);
    const int cols = is_large                ? random_.between(5, 7)
                     : random_.happens(0.05) ? random_.between(100, 500)
                                             : random_.between(3, 40);
    job_ = gpu_test::draw_job(random_, rows, is_large);
    of_ = is_large ? random_.between(2, 5) : random_.between(1, 16);
    words suffixes{"", "." + job_.format};
    if (job_.format != "npy") {
      suffixes.push_back("." + job_.format + ".gz");
      if (GPU_SIMILARITY_HAS_ZSTD != 0) suffixes.push_back("." + job_.format + ".zst");
    }
    suffix_ = random_.one_of(suffixes);
    input_ = add_table("in", rows, cols, is_large);
    // A process on CUDA takes as long to start as many on the CPU.
    may_use_cuda_ = random_.happens(0.1) && has_cuda_;
    if (job_.is_differential()) draw_groups(cols);
    if (random_.happens(0.25) && !job_.is_differential()) draw_partners(cols, is_large);
    if (random_.happens(0.3) && job_.may_have_columns()) draw_columns(cols);
  }

  /// Groups that are too small are refused, by every part alike.
  void draw_groups(int cols) {
    const words labels = gpu_test::draw_groups(random_, cols);
    const bool is_file = random_.happens(0.5);
    std::string text;
    for (const std::string& label : labels) {
      text += (text.empty() || is_file ? "" : ",") + label + (is_file ? "\n" : "");
    }
    const std::string groups = is_file ? folder_.write("groups.txt", text) : text;
    job_.options = joined(job_.options, {"--groups", groups});
  }

  void draw_partners(int cols, bool is_large) {
    const int partners = is_large ? random_.between(1, 2000) : random_.between(1, 200);
    const bool is_itself = random_.happens(0.1);
    const std::string y = is_itself ? input_ : add_table("y", partners, cols, is_large);
    job_.options = joined(job_.options, {"--against", y});
  }

  /// Too many covariates, or too few weights that are not 0, are refused, by every part alike.
  void draw_columns(int cols) {
    job_.has_columns = true;
    const bool is_weighted =
        job_.measure == "cosine" || (job_.measure == "pearson" && random_.happens(0.5));
    if (is_weighted) {
      const std::string file =
          folder_.write("weights.tsv", gpu_test::draw_numbers(random_, 1, cols, true));
      job_.options = joined(job_.options, {"--weights", file});
      if (job_.has_test()) {
        job_.options = joined(job_.options, {"--effective-observations", std::to_string(cols)});
      }
    }
    if (job_.measure == "cosine" || (is_weighted && random_.happens(0.5))) return;
    const int covariates = random_.between(1, 3);
    const std::string file =
        folder_.write("z.tsv", gpu_test::draw_numbers(random_, covariates, cols, false));
    job_.options = joined(job_.options, {"--covariates", file});
  }

  std::string add_table(const std::string& name, int rows, int cols, bool is_large) {
    const random_table table = job_.is_tanimoto()
                                   ? gpu_test::draw_bits(random_, rows, cols)
                                   : gpu_test::draw_table(random_, rows, cols, is_large);
    if (table.has_nan && !says_nan_) {
      says_nan_ = true;
      job_.is_pairwise = random_.happens(0.5) && job_.may_be_pairwise();
      job_.options =
          joined(job_.options, job_.is_pairwise ? words{"--nan", "pairwise", "--min-observations",
                                                        std::to_string(random_.between(3, 6))}
                                                : words{"--nan", "propagate"});
      if (job_.is_pairwise && (job_.keep == "edges" || job_.keep == "top-k"))
        job_.options = joined(job_.options, {"--observations"});
    }
    said_ += name + ": " + table.kind + "\n";
    const bool is_npy = random_.happens(0.3);
    const bool has_names = random_.happens(0.5);
    const bool is_packed = random_.happens(0.2);
    if (random_.happens(0.15)) return folder_.write(name + ".mtx", gpu_test::mtx_of(table));
    if (is_npy) return folder_.write(name + ".npy", gpu_test::npy_of(table));
    const std::string text = gpu_test::text_of(table, has_names);
    if (!is_packed) return folder_.write(name + ".tsv", text);
    const std::string path = folder_.path(name + ".tsv.gz");
    gpu_test::write_gzip(path, text);
    return path;
  }

  [[nodiscard]] words way() { return gpu_test::draw_way(random_, job_, may_use_cuda_); }

  command_result run(const words& arguments, command_settings how = {}) {
    how.longest_seconds = 100;  // a command that hangs is a failure
    commands_ += GPU_SIMILARITY_COMMAND;
    for (const std::string& word : arguments) commands_ += " " + word;
    const command_result result = gpu_test::run_command(arguments, how);
    commands_ += "\n    # code " + std::to_string(result.exit_code) + " " + result.err;
    if (commands_.back() != '\n') commands_ += '\n';
    ++done_.commands;
    return result;
  }
  command_result expect_success(const words& arguments) {
    command_result result = run(arguments);
    if (result.exit_code != 0) throw wrong("a command failed that should not");
    return result;
  }
  void expect(bool holds, const std::string& what) const {
    if (!holds) throw wrong(what);
  }

  [[nodiscard]] std::string result(const std::string& name) const {
    return folder_.path(name + suffix_);
  }
  [[nodiscard]] words outputs(const std::string& name) const {
    return {"-o", result(name), "--report", folder_.path(name + ".report")};
  }
  [[nodiscard]] words job_words() const {
    return joined({job_.measure, input_, "-q"}, job_.options);
  }
  void expect_equal_results() const {
    // Compressed or not.
    expect(read_file(result("joined")) == read_file(result("single")),
           "the joined bytes are not those of the single run: joined, single");
    const std::string report = read_file(folder_.path("joined.report"));
    const std::string wanted = read_file(folder_.path("single.report"));
    const words of_rows{"status", "rows", "cols"};  // what a single run of differential says
    const words of_pairs{
        "status",          "rows",       "cols",       "y_rows",          "constant_rows",
        "y_constant_rows", "nan_rows",   "y_nan_rows", "infinite_rows",   "y_infinite_rows",
        "pairs_tested",    "pairs_kept", "checksum",   "max_p_effective", "min_abs_effective",
        "cut_at_least",    "cut_at_most"};
    for (const std::string& key : job_.is_differential() ? of_rows : of_pairs) {
      expect(gpu_test::report_value(report, key) == gpu_test::report_value(wanted, key),
             "the reports differ in " + key + ": joined.report, single.report");
    }
  }

  command_result run_alone() { return run(joined(joined(job_words(), way()), outputs("single"))); }

  /// What a single run refuses, a part refuses with the same code.
  void expect_refusal(const command_result& alone) {
    ++done_.refused;
    constexpr int killed = 128;
    expect(alone.exit_code < killed, "the single run crashed");
    expect(run_part(1).exit_code == alone.exit_code, "a part has another code than the single run");
  }

  command_result run_part(int number) {
    const words part =
        joined(job_words(), {"--part", std::to_string(number) + "/" + std::to_string(of_),
                             "--output-dir", folder_.path("parts")});
    words how = way();
    // So little memory that the rows come in windows: the refusal says how much it takes.
    const bool is_on_cpu = std::find(how.begin(), how.end(), "cuda") == how.end();
    if (random_.happens(0.1) && is_on_cpu) how = joined(how, least_memory(joined(part, how)));
    return run(joined(part, how));
  }

  /// The option for the least memory that `command` takes; none where it takes any.
  words least_memory(const words& command) {
    const command_result refused = run(joined(command, {"--memory-limit", "1"}));
    if (refused.exit_code == 0) return {};
    const std::string says = "need at least ";
    const std::size_t at = refused.err.find(says);
    if (at == std::string::npos) return {};
    const std::uint64_t least = std::stoull(refused.err.substr(at + says.size()));
    return {"--memory-limit",
            std::to_string(least + static_cast<std::uint64_t>(random_.below(20000)))};
  }

  void run_in_parts() {
    constexpr int most_rounds = 12;
    std::vector<int> numbers;
    for (int number = 1; number <= of_; ++number) numbers.push_back(number);
    const words listing{"parts", folder_.path("parts"), "--format", "slurm"};
    int damaged = random_.below(3);
    for (int round = 0;; ++round) {
      expect(round < most_rounds, "the parts are never all there");
      random_.shuffle(numbers);
      for (const int number : numbers) {
        command_result done = run_part(number);
        // What a cut has made of a manifest is nobody's that the command knows: the user moves it.
        while (take_away(done)) done = run_part(number);
        expect(done.exit_code == 0, "a part failed");
        if (random_.happens(0.05)) {
          expect(run_part(number).exit_code == 0, "a part that was there failed");
        }
      }
      if (damaged > 0 && random_.happens(0.3)) {
        --damaged;
        damage();
      }
      const command_result left = run(listing);
      if (left.exit_code == 0 && left.out.empty()) break;
      // The last manifest may have been removed.
      expect(left.exit_code == 0 || left.err.find("holds no part") != std::string::npos,
             "the parts cannot be listed");
    }
    expect_success(joined({"merge", folder_.path("parts")}, outputs("joined")));
    expect_equal_results();
  }

  /// Removes the damaged file that a part would not replace; whether there was one.
  bool take_away(const command_result& result) {
    const std::size_t says = result.err.find(": is not a manifest of a part, and is not replaced");
    if (result.exit_code == 0 || says == std::string::npos) return false;
    const std::string file = damaged_files_.back();
    expect(result.err.find(file) != std::string::npos, "another file is named than was damaged");
    commands_ += "rm " + file + "\n";
    return fs::remove(file);
  }

  /// Removes, cuts or changes a file of the folder.
  void damage() {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_.path("parts"))) {
      files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    const std::string& file = random_.one_of(files);
    damaged_files_.push_back(file);
    std::string text = read_file(file);
    const int way = text.empty() ? 0 : random_.below(3);
    commands_ += (way == 0 ? "rm " : way == 1 ? "truncate " : "flip a byte of ") + file + "\n";
    fs::remove(file);
    if (way == 0) return;
    const auto at = static_cast<std::size_t>(random_.below(static_cast<int>(text.size())));
    if (way == 1) text.resize(at);
    if (way == 2) text[at] = static_cast<char>(text[at] ^ (1 << random_.below(8)));
    static_cast<void>(folder_.write("parts/" + fs::path(file).filename().string(), text));
  }

  void run_resumed() {
    const words resumed = joined(joined(job_words(), outputs("joined")),
                                 {"--resume", "--parts", std::to_string(of_)});
    const int kills = random_.below(4);
    for (int i = 0; i < kills; ++i) {
      command_settings killed;
      killed.signal = random_.happens(0.8) ? SIGKILL : SIGINT;
      int polls = random_.below(5);
      killed.is_time_to_signal = [&] { return polls-- <= 0; };
      const int code = run(joined(resumed, way()), killed).exit_code;
      constexpr int interrupted = 130;
      expect(code == 0 || code == 128 + SIGKILL || code == interrupted,
             "a run ended by itself with an error");
      done_.kills += code == 0 ? 0 : 1;
    }
    expect_success(joined(resumed, way()));
    expect(!fs::exists(folder_.path(".joined" + suffix_ + ".parts")),
           "the folder of the parts is left behind");
    expect_equal_results();
  }

  random_source random_;
  bool has_cuda_;
  tally& done_;
  gpu_test::temporary_folder folder_;
  random_job job_;
  std::string input_;
  int of_ = 1;
  bool may_use_cuda_ = false;
  bool says_nan_ = false;
  std::string suffix_;  ///< Of the results.
  std::vector<std::string> damaged_files_;
  std::string said_;
  std::string commands_;
};

/// Trials by number until there are enough of them, time is over, or one fails.
class campaign {
 public:
  campaign(const settings& how, const std::string& program)
      : how_(how), program_(program), has_cuda_(is_cuda_there()), next_(how.seed) {}

  int run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < how_.jobs; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (!failure_.empty()) {
      std::cout << failure_ << std::endl;
      return EXIT_FAILURE;
    }
    std::cout << done_.trials << " jobs in parts gave the bytes of a single run, " << done_.refused
              << " were refused alike; " << done_.commands << " commands, " << done_.kills
              << " of them killed; from --seed " << how_.seed
              << (has_cuda_ ? ", CPU and CUDA" : ", CPU") << std::endl;
    return EXIT_SUCCESS;
  }

 private:
  [[nodiscard]] bool goes_on(std::uint64_t number) const {
    if (is_over_) return false;
    if (how_.seconds <= 0) return number < how_.seed + static_cast<std::uint64_t>(how_.trials);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return passed.count() < how_.seconds;
  }

  void work() {
    for (std::uint64_t number = next_++; goes_on(number); number = next_++) {
      trial one(number, has_cuda_, done_);
      try {
        one.run();
        if (how_.is_single) std::cout << one.story();
      } catch (const std::exception& error) {
        const std::scoped_lock lock(mutex_);
        is_over_ = true;
        failure_ += one.story() + "wrong: " + error.what() + "\nits files are in " +
                    one.kept_folder(number) + "\nrepeat with: " + program_ + " --trial " +
                    std::to_string(number) + "\n";
      }
    }
  }

  settings how_;
  std::string program_;
  bool has_cuda_;
  std::atomic<std::uint64_t> next_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;
  std::string failure_;
  tally done_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return campaign(read_settings(argc, argv), argv[0]).run();
  } catch (const std::exception& error) {
    std::cerr << "parts_model_test: " << error.what() << '\n';
    return 2;
  }
}
