// --threads is kept by every verb, in reading and writing too: counted_threads.cpp is loaded into
// the command and counts pthread_create, and OMP_NUM_THREADS is a number that would stand out.
#include <cstdio>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

struct counts {
  int created = 0;
  int most = 0;
};

// A table of `rows` x `cols` numbers below 97, some of them missing.
std::string table(int rows, int cols, bool has_missing, char separator = '\t') {
  std::string text;
  unsigned state = 7;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      state = state * 1664525U + 1013904223U;
      text += has_missing && state % 31 == 0 ? "NA" : std::to_string((state >> 16) % 97);
      text += j + 1 == cols ? '\n' : separator;
    }
  }
  return text;
}

class bench {
 public:
  bench() {
    input_ = folder_.write("in.tsv", table(400, 24, false));
    holes_ = folder_.write("holes.tsv", table(150, 24, true));
    // More than reading by several threads begins with, twice.
    large_ = folder_.write("large.tsv", table(80'000, 40, false));
    groups_ = "a";
    for (int i = 1; i < 24; ++i) groups_ += i % 2 == 0 ? ",a" : ",b";
    weights_ = folder_.write("weights.tsv", table(1, 24, false));
    covariates_ = folder_.write("covariates.tsv", table(2, 24, false));
    std::string sparse = "%%MatrixMarket matrix coordinate integer general\n400 24 2400\n";
    for (int i = 0; i < 2400; ++i) {
      sparse += std::to_string(i / 6 + 1) + " " + std::to_string(i % 6 * 4 + 1) + " " +
                std::to_string(i % 13 + 1) + "\n";
    }
    sparse_ = folder_.write("sparse.mtx", sparse);
    std::string prints;
    for (int i = 0; i < 300; ++i) {
      char text[40];
      std::snprintf(text, sizeof(text), "%08x%08x\tm%d\n", 2654435761U * static_cast<unsigned>(i),
                    40503U * static_cast<unsigned>(i), i);
      prints += text;
    }
    prints_ = folder_.write("prints.fps", "#FPS1\n#num_bits=64\n" + prints);
  }

  [[nodiscard]] std::vector<words> jobs() const {
    const std::string out = folder_.path("out");
    std::vector<words> all;
    for (const char* suffix : {".tsv", ".csv", ".npy", ".tsv.gz"}) {
      all.push_back({"spearman", input_, "-o", out + suffix, "--report", folder_.path("report")});
      all.push_back({"pearson", input_, "--keep", "dense", "-o", out + suffix});
      all.push_back({"rank", large_, "-o", out + suffix});
    }
    all.push_back({"mean-filter", large_, "--window", "5", "-o", out + ".npy"});
    all.push_back({"top-k", large_, "-k", "3", "-o", out});
    for (const char* keep : {"counts", "top-k"}) {
      all.push_back({"spearman", input_, "--keep", keep, "-o", out});
    }
    for (const char* adjust : {"bh", "bonferroni", "max-t"}) {
      all.push_back({"pearson", input_, "--max-p", "0.2", "--adjust", adjust, "-o", out});
    }
    for (const char* measure : {"spearman", "pearson", "cosine", "bicor", "kendall"}) {
      all.push_back({measure, input_, "--keep", "dense", "-o", out + ".npy"});
      all.push_back({measure, holes_, "--nan", "pairwise", "--observations", "-o", out});
      all.push_back({measure, holes_, "--nan", "pairwise", "--keep", "top-k", "-o", out});
      all.push_back({measure, holes_, "--nan", "pairwise", "--keep", "dense", "-o", out + ".npy",
                     "--observations-output", folder_.path("n.npy")});
    }
    all.push_back({"spearman", input_, "--p-method", "exact", "-o", out});
    all.push_back({"spearman", input_, "--covariates", covariates_, "-o", out});
    all.push_back({"pearson", input_, "--weights", weights_, "-o", out});
    all.push_back({"spearman", input_, "--against", input_, "-o", out});
    all.push_back({"pearson", input_, "--transpose", "--keep", "dense", "-o", out});
    all.push_back({"pearson", sparse_, "-o", out});
    all.push_back({"spearman", input_, "--plan"});
    all.push_back({"spearman", input_, "--part", "1/2", "--output-dir", folder_.path("parts")});
    all.push_back({"spearman", input_, "--resume", "--parts", "3", "-o", folder_.path("resumed")});
    all.push_back({"pearson", input_, "--keep", "top-k", "--max-p", "0.5", "--adjust", "bh",
                   "--resume", "--parts", "2", "-o", folder_.path("partners")});
    for (const char* keep : {"edges", "counts", "top-k"}) {
      all.push_back({"differential", input_, "--groups", groups_, "--keep", keep, "-o", out});
    }
    all.push_back({"soft-threshold", input_, "-o", out});
    all.push_back({"soft-threshold", input_, "--powers", "6", "--keep", "connectivity", "-o", out});
    all.push_back({"tanimoto", prints_, "--threshold", "0.1", "-o", out});
    all.push_back({"tanimoto", prints_, "--keep", "dense", "-o", out + ".npy"});
    return all;
  }

  [[nodiscard]] counts run(words job, const std::string& threads) const {
    job.insert(job.end(), {"-q", "--backend", "cpu", "--threads", threads});
    const std::string file = folder_.path("threads");
    std::remove(file.c_str());
    command_settings settings;
    settings.environment = {{"LD_PRELOAD", GPU_SIMILARITY_COUNTED_THREADS},
                            {"GPU_SIMILARITY_THREADS_FILE", file},
                            {"OMP_NUM_THREADS", "12"},
                            {"OPENBLAS_NUM_THREADS", "1"}};
    const auto result = run_command(job, settings);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    counts out;
    CHECK(std::sscanf(read_file(file).c_str(), "%d %d", &out.created, &out.most) == 2);
    return out;
  }

 private:
  temporary_folder folder_;
  std::string input_, holes_, large_, groups_, weights_, covariates_, sparse_, prints_;
};

std::string line_of(const words& job) {
  std::string line;
  for (const std::string& word : job) line += word + ' ';
  return line;
}

}  // namespace

// The one that waits for signals is not counted.
TEST_CASE("--threads 1 starts no thread that works", "[cli]") {
  const bench b;
  for (const words& job : b.jobs()) {
    INFO(line_of(job));
    CHECK(b.run(job, "1").created == 1);
  }
}

TEST_CASE("--threads 2 has no more of a kind", "[cli]") {
  const bench b;
  for (const words& job : b.jobs()) {
    INFO(line_of(job));
    // One that computes next to the first; one that reads ahead or two that write; one that waits
    // for signals.
    CHECK(b.run(job, "2").most <= 4);
  }
}
