// part_faults_test [--trials N] [--seconds S] [--seed N] [--sweep NAME|all]: draws jobs in parts
// and what goes wrong with them: calls on files that fail, processes that are killed in front of a
// call, inputs that are replaced there, parts that are damaged or forged, users' files in the
// folder. Then the job is brought to its end. The result is always that of the single run, every
// run that failed has said why, and no file of the user has changed.
//
// With --sweep nothing is drawn: of the job of that name (of each, with all) every single call on a
// file of its parts fails once by an error and once by a kill.
//
// GPU_SIMILARITY_TORTURE_SECONDS stands for --seconds. A failure ends the program with 1 and says
// --seed and --trials that repeat it.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu_test::command_result;
using gpu_test::command_settings;
using gpu_test::read_file;
using gpu_test::run_command;
using words = std::vector<std::string>;
namespace fs = std::filesystem;

constexpr int killed = 128 + SIGKILL;
constexpr int exit_bad_input = 3;
constexpr int exit_resources = 4;

void expect(bool is_true, const std::string& what) {
  if (!is_true) throw std::runtime_error(what);
}

words operator+(words first, const words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct sink {
  const char* name;
  words options;  ///< A word that is the name of a file of the inputs means that file.
  const char* input = "in.tsv";
  const char* verb = "spearman";
  const char* suffix = "";  ///< Of the result.
};

const std::vector<sink>& sinks() {
  static const std::vector<sink> all{
      {"edges", {"--max-p", "0.05"}},
      {"edges as .npy", {"--max-p", "0.05", "--format", "npy"}},
      {"counts", {"--max-p", "0.05", "--keep", "counts"}},
      {"counts as .npy", {"--max-p", "0.05", "--keep", "counts", "--format", "npy"}},
      {"top-k", {"--keep", "top-k", "-k", "3"}},
      {"dense", {"--keep", "dense"}},
      {"BH", {"--max-p", "0.05", "--adjust", "bh"}},
      {"q of top-k", {"--max-p", "0.2", "--adjust", "bh", "--keep", "top-k", "-k", "3"}},
      {"x against y", {"--max-p", "0.05", "--against", "y.tsv"}},
      {"edges of gzip", {"--max-p", "0.05"}, "in.tsv.gz"},
      {"edges of .npy", {"--max-p", "0.05"}, "in.npy"},
      {"edges to gzip", {"--max-p", "0.05"}, "in.tsv", "spearman", ".tsv.gz"},
      {"edges of a sparse file", {"--min-abs", "0.5"}, "in.mtx", "cosine"},
      {"covariates", {"--max-p", "0.2", "--covariates", "z.tsv"}, "in.tsv", "pearson"},
      {"weights", {"--min-abs", "0.5", "--weights", "w.tsv"}, "in.tsv", "cosine"},
      {"tanimoto", {"--threshold", "0.4", "--input-format", "table"}, "bits.tsv", "tanimoto"},
      {"differential", {"--max-p", "0.3", "--groups", "groups.txt"}, "wide.tsv", "differential"},
      {"BH of differential",
       {"--max-p", "0.9", "--adjust", "bh", "--groups", "groups.txt"},
       "wide.tsv",
       "differential"},
      {"q of partners of differential",
       {"--adjust", "bonferroni", "--keep", "top-k", "-k", "60", "--groups", "groups.txt"},
       "wide.tsv",
       "differential",
       ".tsv.gz"},
  };
  return all;
}

/// Rows with ties, repeats, and a constant one.
std::string table_of(std::mt19937& random, unsigned rows, unsigned cols = 7) {
  std::string text;
  for (unsigned i = 0; i < rows; ++i) {
    text += "gene" + std::to_string(i);
    for (unsigned j = 0; j < cols; ++j) {
      text += "\t" + std::to_string(i == 3 ? 1 : (random() % 4 + i % 3 * j));
    }
    text += "\n";
  }
  return text;
}

std::string bits_of(std::mt19937& random, unsigned rows) {
  std::string text;
  for (unsigned i = 0; i < rows; ++i) {
    text += "gene" + std::to_string(i);
    for (unsigned j = 0; j < 12; ++j) text += random() % 2 == 0 ? "\t0" : "\t1";
    text += "\n";
  }
  return text;
}

std::string mtx_of(std::mt19937& random, unsigned rows) {
  std::string text = "%%MatrixMarket matrix coordinate integer general\n" + std::to_string(rows) +
                     " 7 " + std::to_string(3 * rows) + "\n";
  for (unsigned i = 1; i <= rows; ++i) {
    const auto first = static_cast<unsigned>(random() % 5);
    for (const unsigned j : {first + 1, first + 2, first + 3}) {
      text += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(random() % 9 + 1) +
              "\n";
    }
  }
  return text;
}

/// How often each fault really happened.
std::map<std::string, int> faults;

/// One job, and all that happens to it.
class trial {
 public:
  explicit trial(std::uint64_t seed) : trial(seed, nullptr) {}
  explicit trial(const sink& job) : trial(1, &job) {}

 private:
  trial(std::uint64_t seed, const sink* job) : random_(static_cast<std::uint32_t>(seed)) {
    job_ = job != nullptr ? *job : sinks()[below(static_cast<unsigned>(sinks().size()))];
    of_ = static_cast<int>(2 + below(3));
    fs::create_directory(path("data"));
    fs::create_directory(path("parts"));
    const unsigned rows = 20 + below(30);
    make_inputs("old", table_of(random_, rows), rows);
    make_inputs("new", table_of(random_, rows), rows);
    for (const char* name :
         {"in.tsv", "in.tsv.gz", "in.npy", "y.tsv", "wide.tsv", "bits.tsv", "in.mtx"}) {
      fs::copy_file(path("old." + std::string(name)), data(name));
    }
    put(data("z.tsv"), "1\t4\t2\t8\t5\t7\t1\n");
    put(data("w.tsv"), "1\t2\t1\t0\t3\t1\t2\n");
    put(data("groups.txt"), "a\na\nb\nb\na\nb\n-\na\nb\nb\na\n");
    for (std::string& word : job_.options) {
      if (fs::exists(data(word))) word = data(word);
    }
    const command_result single = run_command(verb() + result_at("single"));
    expect(single.exit_code == 0, "single run: " + single.err);
  }

 public:
  /// A run with --resume in which the first, the second, ... call of a kind fails, each in a run of
  /// its own from the start, which a second run brings to its end. Returns how many calls there
  /// are.
  unsigned sweep(const std::string& call, int error) {
    for (unsigned nth = 1;; ++nth) {
      story_.clear();
      const command_result result =
          run_command(resumed(), {.environment = fault(path("parts"), call, nth, error)});
      tell(call + " " + std::to_string(nth) + " fails with " + std::to_string(error) + ": " +
           std::to_string(result.exit_code) + " " + result.err);
      const bool happened = fs::remove(path("mark"));
      check_end(result);
      expect(happened || result.exit_code == 0, "a run without a fault failed");
      finish_by_resume();
      check_results();
      fs::remove(path(result_name()));
      fs::create_directory(path("parts"));
      if (!happened) return nth - 1;
    }
  }

  void run() {
    plant();
    for (unsigned i = 2 + below(5); i > 0; --i) disturb();
    for (unsigned i = below(3); i > 0; --i) damage();
    below(2) == 0 ? finish_by_parts() : finish_by_resume();
    check_results();
    check_planted();
  }

  [[nodiscard]] std::string name() const {
    return std::string(job_.name) + " in " + std::to_string(of_) + " parts:" + story_;
  }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[below(static_cast<unsigned>(values.size()))];
  }
  void tell(const std::string& event) { story_ += "\n  " + event; }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] std::string data(const std::string& name) const { return path("data/" + name); }
  [[nodiscard]] std::string in(const std::string& name) const { return path("parts/" + name); }
  [[nodiscard]] words verb() const {
    return words{job_.verb, data(job_.input), "--backend", "cpu", "--threads", "1", "--quiet"} +
           job_.options;
  }
  [[nodiscard]] std::string result_name() const { return std::string("result") + job_.suffix; }
  [[nodiscard]] words result_at(const std::string& name) const {
    return {"-o", path(name + job_.suffix)};
  }
  [[nodiscard]] words part(int number) const {
    return verb() + words{"--part", std::to_string(number) + "/" + std::to_string(of_),
                          "--output-dir", path("parts")};
  }

  void make_inputs(const std::string& version, const std::string& text, unsigned rows) {
    put(path(version + ".wide.tsv"), table_of(random_, rows, 11));
    put(path(version + ".bits.tsv"), bits_of(random_, rows));
    put(path(version + ".in.mtx"), mtx_of(random_, rows));
    const std::string plain = path(version + ".in.tsv");
    put(plain, text);
    put(path(version + ".y.tsv"), text);
    expect(std::system(("gzip -kn " + plain).c_str()) == 0, "gzip");
    const command_result npy = run_command(
        {"mean-filter", plain, "-w", "1", "--format", "npy", "-o", path(version + ".in.npy")});
    expect(npy.exit_code == 0, npy.err);
  }

  /// Files of the user, under names that look like those of parts.
  void plant() {
    for (const char* name : {"part-a.tsv", "count-table.tsv", "header.tsv.bak", "notes.txt",
                             "part-1-of-2.md", "x.partial", "lock"}) {
      if (below(2) == 0) planted_[name] = std::string("words of ") + name;
    }
    for (const auto& [name, text] : planted_) put(in(name), text);
  }
  void check_planted() const {
    for (const auto& [name, text] : planted_) {
      expect(read_file(in(name)) == text, "a file of the user was changed: " + name);
    }
  }

  /// The environment in which the nth call of a kind on a file of the folder fails.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> fault(const std::string& folder,
                                                                       const std::string& call,
                                                                       unsigned nth,
                                                                       int error) const {
    return {{"LD_PRELOAD", GPU_SIMILARITY_FAILING_FILES},
            {"GPU_SIMILARITY_FAULT_FOLDER", folder},
            {"GPU_SIMILARITY_FAULT_CALL", call},
            {"GPU_SIMILARITY_FAULT_NTH", std::to_string(nth)},
            {"GPU_SIMILARITY_FAULT_ERROR", std::to_string(error)},
            {"GPU_SIMILARITY_FAULT_MARK", path("mark")}};
  }

  /// One part, or a run with --resume, with one fault.
  void disturb() {
    const bool is_part = below(3) > 0;
    const words job =
        is_part ? part(static_cast<int>(1 + below(static_cast<unsigned>(of_)))) : resumed();
    const bool replaces = below(3) == 0;
    const std::string call =
        replaces
            ? one_of<std::string>({"open", "read"})
            : one_of<std::string>({"create", "open", "read", "write", "fsync", "close", "rename"});
    // The first call that opens an input is for its digest: from then on it may not change.
    const unsigned nth = (replaces && call == "open" ? 2 : 1) + below(replaces ? 4 : 12);
    const int error = one_of<int>({-1, -1, ENOSPC, EIO, EACCES, 0});
    command_settings settings;
    settings.environment = fault(path(replaces ? "data" : "parts"), call, nth, error);
    const std::string file = job_.input;
    if (replaces) {
      fs::copy_file(path("new." + file), path("coming"), fs::copy_options::overwrite_existing);
      settings.environment.emplace_back("GPU_SIMILARITY_FAULT_NEW", path("coming"));
      settings.environment.emplace_back("GPU_SIMILARITY_FAULT_OLD", data(file));
    }
    const command_result result = run_command(job, settings);
    tell(std::string(is_part ? "--part" : "--resume") + ", " + call + " " + std::to_string(nth) +
         (replaces ? " replaces" : " fails with " + std::to_string(error)) + ": " +
         std::to_string(result.exit_code) + " " + result.err);
    const bool happened = fs::remove(path("mark"));
    if (happened) ++faults[replaces ? "replaced input" : error == -1 ? "kill" : call];
    check_end(result);
    fs::copy_file(path("old." + file), data(file), fs::copy_options::overwrite_existing);
    // What is whole is right, whatever happened.
    if (fs::exists(path(result_name()))) check_results();
  }

  void check_end(const command_result& result) const {
    const int code = result.exit_code;
    expect(code == 0 || code == exit_bad_input || code == exit_resources || code == killed,
           "code " + std::to_string(code));
    if (code == exit_bad_input || code == exit_resources) {
      expect(result.err.starts_with("gpu-similarity: "), "a failure without a message");
    }
  }

  void damage() {
    words there;
    if (!fs::exists(path("parts"))) return;  // a run with --resume came to its end
    for (const auto& entry : fs::directory_iterator(path("parts"))) {
      const std::string name = entry.path().filename();
      if (!planted_.contains(name) && fs::file_size(entry) > 0) there.push_back(name);
    }
    if (there.empty()) return;
    std::sort(there.begin(), there.end());
    const std::string name = one_of(there);
    const std::string file = in(name);
    const std::string other = read_file(in(one_of(there)));
    std::string text = read_file(file);
    const unsigned how = below(4);
    is_count_damaged_ = is_count_damaged_ || name.starts_with("count-");
    tell("damage " + std::to_string(how) + " of " + name);
    if (how == 0) text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    if (how == 1) text.resize(text.size() / 2);
    if (how == 2) text = other;
    how == 3 ? void(fs::remove(file)) : put(file, text);
  }

  /// A file that no part of the job names stays until the user takes it away, as the message says.
  bool take_away(const command_result& result) {
    if (result.err.find("is not replaced") == std::string::npos) return false;
    const std::size_t begin = result.err.find(path("parts/"));
    expect(begin != std::string::npos, "no file is named: " + result.err);
    const std::string file = result.err.substr(begin, result.err.find(": ", begin) - begin);
    tell("takes away " + file);
    expect(!planted_.contains(fs::path(file).filename()), "it is the user's: " + file);
    return fs::remove(file);
  }
  void run_to_the_end(const words& job) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const command_result result = run_command(job);
      if (result.exit_code == 0) return;
      tell(std::to_string(result.exit_code) + " " + result.err);
      expect(result.exit_code == exit_bad_input && take_away(result),
             "does not end: " + result.err);
    }
    throw std::runtime_error("does not end");
  }

  [[nodiscard]] words resumed() const {
    return verb() +
           words{"--resume", "--parts", std::to_string(of_), "--output-dir", path("parts")} +
           result_at("result");
  }
  void finish_by_resume() {
    run_to_the_end(resumed());
    expect(gone(), "parts are left");
  }
  /// Whether nothing but the user's files is left. Counts that are summed up are not computed
  /// again: where the manifest of one is damaged, nothing tells any more whose its files are.
  [[nodiscard]] bool gone() const {
    if (!fs::exists(path("parts"))) return planted_.empty();
    return std::all_of(fs::directory_iterator(path("parts")), {}, [&](const auto& entry) {
      const std::string name = entry.path().filename();
      return planted_.contains(name) || (is_count_damaged_ && name.starts_with("count-"));
    });
  }

  void finish_by_parts() {
    for (int round = 0; round < 8; ++round) {
      for (int number = 1; number <= of_; ++number) run_to_the_end(part(number));
      const command_result listed = run_command({"parts", path("parts"), "--format", "slurm"});
      expect(listed.exit_code == 0, listed.err);
      if (!listed.out.empty()) continue;
      return run_to_the_end(words{"merge", path("parts"), "--quiet"} + result_at("result"));
    }
    throw std::runtime_error("parts are never done");
  }

  void check_results() const {
    expect(read_file(path(result_name())) == read_file(path(std::string("single") + job_.suffix)),
           "another result");
  }

  gpu_test::temporary_folder folder_;
  std::mt19937 random_;
  sink job_;
  int of_ = 2;
  std::map<std::string, std::string> planted_;
  bool is_count_damaged_ = false;
  std::string story_;
};

struct settings {
  std::uint64_t trials = 60;
  double seconds = 0;  ///< More than 0: as many trials as fit.
  std::uint64_t seed = 1;
  std::string sweep;  ///< A name of sinks(), or all.
};

settings read_settings(int argc, char** argv) {
  settings out;
  if (const char* const seconds = std::getenv("GPU_SIMILARITY_TORTURE_SECONDS")) {
    out.seconds = std::stod(seconds);
  }
  const words all(argv + 1, argv + argc);
  for (std::size_t i = 0; i < all.size(); i += 2) {
    if (i + 1 == all.size()) throw std::invalid_argument(all[i] + " needs a value");
    const std::string& value = all[i + 1];
    if (all[i] == "--trials") {
      out.trials = std::stoull(value);
    } else if (all[i] == "--seconds") {
      out.seconds = std::stod(value);
    } else if (all[i] == "--seed") {
      out.seed = std::stoull(value);
    } else if (all[i] == "--sweep") {
      out.sweep = value;
    } else {
      throw std::invalid_argument("got " + all[i] +
                                  ", expected --trials, --seconds, --seed or --sweep");
    }
  }
  return out;
}

bool run_trial(std::uint64_t seed) {
  std::string name = "no job";
  try {
    trial one(seed);
    try {
      one.run();
      return true;
    } catch (const std::exception& e) {
      std::cerr << one.name() << "\n  " << e.what() << '\n';
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
  }
  std::cerr << "again: part_faults_test --trials 1 --seed " << seed << '\n';
  return false;
}

int run_sweeps(const std::string& which) {
  unsigned jobs = 0;
  for (const sink& job : sinks()) {
    if (which != "all" && which != job.name) continue;
    ++jobs;
    trial one(job);
    unsigned calls = 0;
    try {
      for (const char* call : {"create", "open", "read", "write", "fsync", "close", "rename"}) {
        for (const int error : {EIO, -1}) calls += one.sweep(call, error);
      }
    } catch (const std::exception& e) {
      std::cerr << one.name() << "\n  " << e.what() << '\n';
      return 1;
    }
    std::cout << job.name << ": " << calls << " faults, no finding" << std::endl;
    if (calls == 0) return 1;
  }
  if (jobs == 0) throw std::invalid_argument("got --sweep " + which + ", expected a job or all");
  return 0;
}

int run_all(const settings& asked) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&](std::uint64_t done) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return asked.seconds > 0 ? passed.count() >= asked.seconds : done >= asked.trials;
  };
  std::uint64_t done = 0;
  for (; !is_over(done); ++done) {
    if (!run_trial(asked.seed + done)) return 1;
  }
  std::cout << done << " trials, no finding; faults:";
  for (const auto& [what, times] : faults) std::cout << ' ' << times << ' ' << what;
  std::cout << '\n';
  constexpr std::uint64_t many = 60;  // by then, each fault has happened
  constexpr std::size_t kinds = 9;
  return done >= many && faults.size() < kinds ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const settings asked = read_settings(argc, argv);
    return asked.sweep.empty() ? run_all(asked) : run_sweeps(asked.sweep);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
}
