// Every call of the command that touches a file fails in turn: failing_files.cpp is loaded into it.
// A run ends well with the whole result, or with a message, an exit code and nothing changed.
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

/// One way to use the command: its words, and its outputs in the folder of the run.
struct job {
  std::string name;
  std::string input;  ///< A file of the bench.
  /// The first is the subcommand; the input follows it. "@name" is a file of the bench.
  std::vector<std::string> words;
  std::vector<std::string> outputs;    ///< Options and file names in turn.
  bool is_to_standard_output = false;  ///< Then `out` is what stands there.
};

const std::vector<job>& jobs() {
  static const std::vector<job> all = {
      {"edges", "in.txt", {"spearman"}, {"-o", "out"}},
      {"edges as .npy", "in.txt", {"spearman", "--format", "npy"}, {"-o", "out"}},
      {"edges of .npy with a report", "in.npy", {"pearson"}, {"-o", "out", "--report", "report"}},
      {"edges of gzip", "in.txt.gz", {"spearman", "--threads", "1"}, {"-o", "out"}},
      {"edges to standard output", "in.txt", {"spearman"}, {}, true},
      {"dense", "in.txt", {"spearman", "--keep", "dense"}, {"-o", "out"}},
      {"dense as .npy",
       "in.txt",
       {"spearman", "--keep", "dense", "--format", "npy"},
       {"-o", "out"}},
      {"top-k", "in.txt", {"spearman", "--keep", "top-k", "-k", "7"}, {"-o", "out"}},
      {"degrees", "in.txt", {"spearman", "--keep", "counts"}, {"-o", "out"}},
      {"two results",
       "in.txt",
       {"spearman", "--nan", "pairwise", "--keep", "dense"},
       {"-o", "out", "--observations-output", "n"}},
      {"mean-filter", "in.txt", {"mean-filter", "-w", "3"}, {"-o", "out"}},
      {"differential",
       "in.txt",
       {"differential", "--groups", "@groups.txt"},
       {"-o", "out", "--report", "report"}},
  };
  return all;
}

/// Further jobs, for a campaign by hand: ./dev torture.
const std::vector<job>& more_jobs() {
  static const std::vector<job> all = {
      {"tanimoto", "bits.txt", {"tanimoto", "--input-format", "table"}, {"-o", "out"}},
      {"covariates", "in.txt", {"pearson", "--covariates", "@z.txt"}, {"-o", "out.tsv.gz"}},
      {"weights", "in.txt.gz", {"cosine", "--weights", "@w.txt"}, {"-o", "out"}},
      {"sparse",
       "in.mtx",
       {"cosine", "--names", "@names.txt"},
       {"-o", "out", "--report", "report"}},
      {"x against y", "in.txt", {"pearson", "--against", "@in.npy"}, {"-o", "out"}},
      {"q of partners",
       "in.txt",
       {"differential", "--groups", "@groups.txt", "--keep", "top-k", "-k", "9", "--adjust",
        "bonferroni"},
       {"-o", "out.tsv.gz"}},
      {"fits", "in.txt", {"soft-threshold"}, {"-o", "out", "--report", "report"}},
      {"rank", "in.npy", {"rank"}, {"-o", "out.csv.gz"}},
      {"largest", "in.txt.gz", {"top-k", "-k", "3"}, {"-o", "out"}},
  };
  return all;
}

/// A folder with the inputs, and what each job writes where nothing fails.
class bench {
 public:
  explicit bench(int rows, const std::vector<job>& of = jobs()) {
    static_cast<void>(folder_.write("in.txt", moving_rows(rows)));
    write_other_inputs(rows);
    REQUIRE(std::system(("gzip -k " + path("in.txt")).c_str()) == 0);
    REQUIRE(run_command(
                {"mean-filter", path("in.txt"), "-w", "1", "--format", "npy", "-o", path("in.npy")})
                .exit_code == 0);
    for (const job& j : of) {
      const auto result = run(j, {});
      INFO(j.name << ": " << result.err);
      REQUIRE(result.exit_code == 0);
      expected_[j.name] = outputs_of(j, result);
      remove_outputs(j);
    }
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (fs::canonical(folder_.path(".")) / name).string();
  }

  [[nodiscard]] command_result run(const job& j, const command_settings& settings) const {
    std::vector<std::string> words{j.words.front(), path(j.input)};
    for (auto word = j.words.begin() + 1; word != j.words.end(); ++word) {
      words.push_back(word->starts_with('@') ? path(word->substr(1)) : *word);
    }
    for (std::size_t i = 0; i < j.outputs.size(); i += 2) {
      words.push_back(j.outputs[i]);
      words.push_back(path(j.outputs[i + 1]));
    }
    words.push_back("--quiet");
    command_settings with_threads = settings;
    with_threads.environment.emplace_back("OMP_NUM_THREADS", "2");
    with_threads.environment.emplace_back("OPENBLAS_NUM_THREADS", "1");
    return run_command(words, with_threads);
  }

  /// What is not there is left out.
  [[nodiscard]] std::map<std::string, std::string> outputs_of(const job& j,
                                                              const command_result& result) const {
    std::map<std::string, std::string> found;
    if (j.is_to_standard_output) found["standard output"] = result.out;
    for (std::size_t i = 1; i < j.outputs.size(); i += 2) {
      if (fs::exists(path(j.outputs[i]))) found[j.outputs[i]] = read_file(path(j.outputs[i]));
    }
    return found;
  }

  void put_old_outputs(const job& j) const {
    for (std::size_t i = 1; i < j.outputs.size(); i += 2) {
      static_cast<void>(folder_.write(j.outputs[i], "old"));
    }
  }
  void remove_outputs(const job& j) const {
    for (std::size_t i = 1; i < j.outputs.size(); i += 2) fs::remove(path(j.outputs[i]));
  }

  /// Names of unfinished files; removes them.
  [[nodiscard]] std::vector<std::string> take_leftovers() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path(""))) {
      if (entry.path().extension() == ".partial") found.push_back(entry.path().string());
    }
    for (const std::string& name : found) contents_[name] = read_file(name);
    for (const std::string& name : found) fs::remove(name);
    return found;
  }
  /// Of a leftover that was taken.
  [[nodiscard]] const std::string& content_of(const std::string& leftover) const {
    return contents_.at(leftover);
  }

  /// Whether `content` is the whole output `name`. A report holds times: its end will do.
  [[nodiscard]] bool is_whole(const job& j, const std::string& name,
                              const std::string& content) const {
    if (name != "report") return content == expected_.at(j.name).at(name);
    return report_value(content, "status") == "\"complete\"" && content.ends_with("}\n");
  }
  [[nodiscard]] bool is_any_whole(const job& j, const std::string& content) const {
    const auto& outputs = expected_.at(j.name);
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const auto& output) { return is_whole(j, output.first, content); });
  }
  [[nodiscard]] std::size_t output_count(const job& j) const { return expected_.at(j.name).size(); }

 private:
  void write_other_inputs(int rows) const {
    std::string bits;
    std::string names;
    std::string entries;
    for (int i = 0; i < rows; ++i) {
      names += "g" + std::to_string(i) + "\n";
      for (int j = 0; j < 12; ++j) {
        bits += (i * j + i / 7) % 3 == 0 ? "1 " : "0 ";
        entries += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " +
                   std::to_string(1 + (i * j) % 5) + "\n";
      }
      bits += "\n";
    }
    static_cast<void>(folder_.write("bits.txt", bits));
    static_cast<void>(folder_.write("names.txt", names));
    static_cast<void>(folder_.write("in.mtx", "%%MatrixMarket matrix coordinate integer general\n" +
                                                  std::to_string(rows) + " 12 " +
                                                  std::to_string(12 * rows) + "\n" + entries));
    static_cast<void>(folder_.write("z.txt", "1 4 2 8 5 7 1 3 9 2 2 6\n"));
    static_cast<void>(folder_.write("w.txt", "1 2 1 1 3 1 2 1 1 2 1 4\n"));
    static_cast<void>(folder_.write("groups.txt", "a\nb\na\nb\na\nb\na\nb\na\nb\n-\n-\n"));
  }

  temporary_folder folder_;
  std::map<std::string, std::map<std::string, std::string>> expected_;
  mutable std::map<std::string, std::string> contents_;
};

void check_complete(const bench& b, const job& j, const command_result& result) {
  CHECK(result.exit_code == 0);
  const auto found = b.outputs_of(j, result);
  CHECK(found.size() == b.output_count(j));
  for (const auto& [name, content] : found) {
    INFO(name);
    CHECK(b.is_whole(j, name, content));
  }
}

/// A run that failed: it says why, and no output is half there. `old` stood there before, or
/// nothing.
void check_failed(const bench& b, const job& j, const command_result& result, bool had_old,
                  bool may_name_leftover) {
  CHECK((result.exit_code == exit_resources || result.exit_code == exit_bad_input));
  CHECK(result.err.starts_with("gpu-similarity: "));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  bool is_result_new = false;
  for (const auto& [name, content] : b.outputs_of(j, result)) {
    if (j.is_to_standard_output) break;
    INFO(name);
    const bool is_old = had_old && content == "old";
    CHECK((is_old || b.is_whole(j, name, content)));
    if (!is_old && name.starts_with("out")) is_result_new = true;
  }
  // A report that fails says that the result is there.
  if (is_result_new && !may_name_leftover) {
    CHECK(result.err.find("the result is complete") != std::string::npos);
  }
  for (const std::string& leftover : b.take_leftovers()) {
    INFO(leftover);
    CHECK(may_name_leftover);
    CHECK(result.err.find(leftover) != std::string::npos);
    CHECK(b.is_any_whole(j, b.content_of(leftover)));
  }
}

struct file_fault {
  const char* call;
  int error_number;  ///< 0: half of what was asked for.
  bool stays = false;
};
const file_fault faults[] = {{"create", ENOSPC},
                             {"open", EACCES},
                             {"read", EIO},
                             {"write", ENOSPC},
                             {"fsync", EIO},
                             {"close", EDQUOT},
                             {"write", ENOSPC, true},
                             {"rename", EACCES},
                             // These change nothing.
                             {"read", 0},
                             {"write", 0},
                             {"read", EINTR},
                             {"write", EINTR},
                             {"fsync", EINTR},
                             {"close", EINTR}};

using more_environment = std::vector<std::pair<std::string, std::string>>;

/// The n-th such call on a file of `folder` fails, or is preceded by what `more` says, and then b
/// has a file "mark".
command_settings fault_at(const bench& b, const std::string& folder, const std::string& call,
                          int nth, const more_environment& more) {
  command_settings settings;
  settings.environment = {{"LD_PRELOAD", GPU_SIMILARITY_FAILING_FILES},
                          {"GPU_SIMILARITY_FAULT_FOLDER", b.path(folder)},
                          {"GPU_SIMILARITY_FAULT_CALL", call},
                          {"GPU_SIMILARITY_FAULT_NTH", std::to_string(nth)},
                          {"GPU_SIMILARITY_FAULT_MARK", b.path("mark")}};
  settings.environment.insert(settings.environment.end(), more.begin(), more.end());
  return settings;
}

/// Lets the n-th such call fail for every n; returns how many there were.
int sweep(const bench& b, const job& j, const file_fault& fault) {
  constexpr int most_calls = 200;
  for (int nth = 1; nth <= most_calls; ++nth) {
    const bool has_old = nth % 2 == 0;
    if (has_old) b.put_old_outputs(j);
    const command_result result =
        b.run(j, fault_at(b, "", fault.call, nth,
                          {{"GPU_SIMILARITY_FAULT_OUTPUT", j.is_to_standard_output ? "1" : "0"},
                           {"GPU_SIMILARITY_FAULT_ERROR", std::to_string(fault.error_number)},
                           {"GPU_SIMILARITY_FAULT_STAYS", fault.stays ? "1" : "0"}}));
    INFO(j.name << ": " << fault.call << ' ' << nth << ": "
                << (fault.error_number == 0 ? "half" : std::strerror(fault.error_number))
                << (fault.stays ? ", and all from then on" : "") << ": exit " << result.exit_code
                << ": " << result.err);
    const bool happened = fs::remove(b.path("mark"));
    const bool is_harmless = fault.error_number == 0 || fault.error_number == EINTR;
    if (!happened || is_harmless || result.exit_code == 0) {
      // A result that cannot be brought to the disk is not a success. The file is synchronised
      // first, then its folder.
      CHECK_FALSE((happened && !is_harmless && nth == 1 && std::strcmp(fault.call, "fsync") == 0));
      check_complete(b, j, result);
      CHECK(b.take_leftovers().empty());
    } else {
      check_failed(b, j, result, has_old, std::strcmp(fault.call, "rename") == 0);
    }
    b.remove_outputs(j);
    if (!happened) return nth - 1;
  }
  FAIL("too many calls of " << fault.call);
  return 0;
}

}  // namespace

TEST_CASE("A call on a file that fails leaves all or nothing", "[faults][files]") {
  const bench b(120);
  std::map<std::string, int> calls;
  for (const job& j : jobs()) {
    for (const file_fault& fault : faults) calls[fault.call] += sweep(b, j, fault);
  }
  // The faults did reach the command, of each kind.
  for (const auto& [call, count] : calls) {
    INFO(call);
    CHECK(count >= static_cast<int>(jobs().size()) - 1);  // one job writes to standard output
  }
}

TEST_CASE("A call on a file of any other job that fails leaves all or nothing",
          "[.][faults][campaign]") {
  const bench b(120, more_jobs());
  for (const job& j : more_jobs()) {
    for (const file_fault& fault : faults) CHECK(sweep(b, j, fault) > 0);
  }
}

TEST_CASE("The digest in a report is that of what was read", "[faults][files]") {
  const bench b(120, {});
  fs::create_directory(b.path("data"));
  const std::string input = b.path("data/in.txt");
  const std::string first = read_file(b.path("in.txt"));
  std::string other = first;
  other[0] = other[0] == '9' ? '8' : '9';
  // The result and its digest of a run on `text`; in front of that call `other` takes its place.
  const auto run = [&](const std::vector<std::string>& verb, const std::string& text,
                       const char* call, int nth) {
    std::ofstream(input) << text;
    std::ofstream(b.path("coming")) << other;
    std::vector<std::string> words{verb.front(), input,           "-q", "-o", b.path("out"),
                                   "--report",   b.path("report")};
    words.insert(words.end(), verb.begin() + 1, verb.end());
    const command_result result =
        run_command(words, fault_at(b, "data", call, nth,
                                    {{"GPU_SIMILARITY_FAULT_NEW", b.path("coming")},
                                     {"GPU_SIMILARITY_FAULT_OLD", input}}));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_file(b.path("out")) + report_value(read_file(b.path("report")), "crc32");
  };
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"pearson"},
        {"rank"},
        {"differential", "--groups", "a,b,a,b,a,b,a,b,a,b,-,-"}}) {
    const std::string of_first = run(verb, first, "none", 1);
    const std::string of_other = run(verb, other, "none", 1);
    REQUIRE(of_first != of_other);
    for (const char* call : {"open", "read"}) {
      for (int nth = 1; nth <= 3; ++nth) {
        const std::string got = run(verb, first, call, nth);
        INFO(verb.front() << ", " << call << ' ' << nth << ": " << got.substr(got.size() - 10));
        CHECK((got == of_first || got == of_other));
      }
    }
    CHECK(run(verb, first, "open", 1) == of_other);
  }
}

namespace {

/// A file system of `bytes` in memory, where the system lets this process mount one.
class small_disk {
 public:
  small_disk(const std::string& path, std::size_t bytes) : path_(path) {
    fs::create_directory(path);
    const std::string size = "size=" + std::to_string(bytes);
    is_mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  ~small_disk() {
    if (is_mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  [[nodiscard]] bool is_mounted() const { return is_mounted_; }

 private:
  std::string path_;
  bool is_mounted_ = false;
};

}  // namespace

TEST_CASE("A full disk leaves nothing behind", "[faults][files]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(300));
  const std::string disk = folder.path("disk");
  for (const std::size_t kib : {4U, 16U, 64U, 128U}) {
    const small_disk mounted(disk, kib << 10);
    if (!mounted.is_mounted()) {
      note_skip(missing::privilege,
                "a full disk: this process may not mount a file system of its own");
      return;
    }
    for (const std::vector<std::string>& kept :
         {std::vector<std::string>{"edges"},
          {"edges", "--format", "npy"},
          {"edges", "--format", "npy", "--threads", "8"},  // stored to mapped pages
          {"dense"}}) {
      std::vector<std::string> words{"spearman", input, "-o", disk + "/out", "--keep"};
      words.insert(words.end(), kept.begin(), kept.end());
      const auto result = run_command(words);
      INFO(kib << " KiB, " << kept.back() << ": " << result.err);
      CHECK(result.exit_code == exit_resources);
      CHECK(result.err.find("No space left on device") != std::string::npos);
      CHECK(fs::is_empty(disk));
      std::ofstream(disk + "/out") << "old";
      CHECK(run_command(words).exit_code == exit_resources);
      CHECK(read_file(disk + "/out") == "old");
      CHECK(std::distance(fs::directory_iterator(disk), fs::directory_iterator()) == 1);
      fs::remove(disk + "/out");
    }
  }
}

TEST_CASE("A disk that has room for a result takes it, however little is left", "[faults][files]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(400));
  const std::string disk = folder.path("disk");
  constexpr std::size_t edges = 400 * 399 / 2;
  constexpr std::size_t bytes = 192 + edges * 24;
  const small_disk mounted(disk, bytes + (64U << 10));
  if (!mounted.is_mounted()) {
    note_skip(missing::privilege,
              "a small disk: this process may not mount a file system of its own");
    return;
  }
  const auto result =
      run_command({"spearman", input, "-o", disk + "/out", "--keep", "edges", "--format", "npy"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(fs::file_size(disk + "/out") == bytes);
}

TEST_CASE("Signals at random moments leave all or nothing", "[faults][signal]") {
  const bench b(400);
  std::mt19937 random(20261122);
  constexpr int runs = 60;
  for (int run = 0; run < runs; ++run) {
    const job& j = jobs()[random() % jobs().size()];
    if (j.is_to_standard_output) continue;
    const int signal = std::vector{SIGINT, SIGTERM, SIGHUP, SIGKILL}[random() % 4];
    // Most runs take 20 to 200 ms; half of the moments are early.
    const std::chrono::microseconds moment(random() % (random() % 2 == 0 ? 30'000 : 250'000));
    const bool has_old = random() % 2 == 0;
    if (has_old) b.put_old_outputs(j);
    command_settings settings;
    settings.signal = signal;
    const auto start = std::chrono::steady_clock::now();
    settings.is_time_to_signal = [=] { return std::chrono::steady_clock::now() - start > moment; };
    const command_result result = b.run(j, settings);
    INFO(j.name << ", signal " << signal << " after " << moment.count() << " us: exit "
                << result.exit_code << ": " << result.err);
    if (result.exit_code == 0) {
      check_complete(b, j, result);
      CHECK(b.take_leftovers().empty());
    } else {
      CHECK(result.exit_code == 128 + signal);
      CHECK(result.seconds_after_signal < 5);
      for (const auto& [name, content] : b.outputs_of(j, result)) {
        INFO(name);
        const bool is_cut_report =
            name == "report" && report_value(content, "status") == "\"interrupted\"";
        CHECK(((has_old && content == "old") || is_cut_report || b.is_whole(j, name, content)));
      }
      for (const std::string& leftover : b.take_leftovers()) {
        INFO(leftover);
        CHECK(signal == SIGKILL);  // nothing can be done about it
      }
    }
    b.remove_outputs(j);
  }
}

TEST_CASE("A part whose input is replaced on the way is refused", "[faults][parts]") {
  const bench b(120);
  const auto run_part = [&](const std::string& input, int nth, const std::string& replaced) {
    fs::remove_all(b.path("parts"));
    return run_command({"spearman", input, "--against", b.path("data/y.txt"), "--backend", "cpu",
                        "--part", "1/2", "--output-dir", b.path("parts"), "--quiet"},
                       fault_at(b, "data", "open", nth,
                                {{"GPU_SIMILARITY_FAULT_NEW", b.path("coming")},
                                 {"GPU_SIMILARITY_FAULT_OLD", replaced}}));
  };
  fs::create_directory(b.path("data"));
  fs::copy_file(b.path("in.txt"), b.path("data/y.txt"));
  for (const std::string name : {"in.txt", "in.txt.gz", "in.npy"}) {
    const std::string input = b.path("data/" + name);
    // Both digests are computed, then both tables are read. A table of another shape of file is
    // still a table.
    for (const std::string& replaced : {input, b.path("data/y.txt")}) {
      fs::copy_file(b.path(name), input, fs::copy_options::overwrite_existing);
      fs::copy_file(b.path("in.txt"), b.path("data/y.txt"), fs::copy_options::overwrite_existing);
      std::string other = read_file(b.path("in.txt"));
      other[0] = other[0] == '9' ? '8' : '9';
      std::ofstream(b.path("coming")) << other;
      if (name == "in.npy" && replaced == input) {
        other = read_file(b.path(name));
        other.back() = static_cast<char>(other.back() ^ 1);
        std::ofstream(b.path("coming")) << other;
      }
      const command_result result = run_part(input, 3, replaced);
      INFO(name << ", " << replaced << ": " << result.err);
      CHECK(fs::remove(b.path("mark")));
      CHECK(result.exit_code == exit_bad_input);
      CHECK(result.err.find(replaced + ": was changed while this job ran") != std::string::npos);
      CHECK(fs::is_empty(b.path("parts")));
      // Now it is that file's part.
      const command_result again = run_part(input, 99, replaced);
      INFO(again.err);
      CHECK(again.exit_code == 0);
    }
  }
}

TEST_CASE("A read error in a file of labels is not its end", "[faults][files]") {
  const bench b(120);
  fs::create_directory(b.path("small"));
  std::string labels;
  for (int k = 0; k < 12; ++k) labels += std::string(k % 2 == 0 ? "a" : "b") + "\n";
  std::ofstream(b.path("small/groups")) << labels;
  REQUIRE(std::system(("gzip -k " + b.path("small/groups")).c_str()) == 0);
  const auto words_of = [&](const std::string& file) -> std::vector<std::string> {
    return {"differential", b.path("in.txt"), "--groups", b.path("small/" + file)};
  };
  for (const std::string file : {"groups", "groups.gz"}) {
    int seen = 0;
    for (const char* call : {"open", "read"}) {
      for (int nth = 1;; ++nth) {
        const command_result result = run_command(
            words_of(file),
            fault_at(b, "small", call, nth, {{"GPU_SIMILARITY_FAULT_ERROR", std::to_string(EIO)}}));
        INFO(file << ", " << call << ' ' << nth << ": " << result.err);
        if (!fs::remove(b.path("mark"))) {
          CHECK(result.exit_code == 0);
          break;
        }
        ++seen;
        CHECK(result.exit_code == exit_bad_input);
        CHECK(result.out.empty());
        CHECK(result.err.find(b.path("small/" + file)) != std::string::npos);
      }
    }
    CHECK(seen >= 3);  // where it is opened, at its beginning and behind it
  }
}
