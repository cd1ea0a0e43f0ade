// Sparse files and the command: its results are those of the dense table.
#include <random>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"
#include "support/temporary_file.hpp"

using namespace gpu_test;

namespace {

/// The same table as text with names, and as MatrixMarket without.
struct thin_table {
  std::string text;
  std::string market;
  std::string features;
};

thin_table make_thin_table(int rows, int cols) {
  std::mt19937 random(3);  // NOLINT: the same on every run
  thin_table out;
  std::string entries;
  int count = 0;
  for (int i = 0; i < rows; ++i) {
    out.text += "gene" + std::to_string(i);
    out.features += "gene" + std::to_string(i) + "\tSYM" + std::to_string(i) + "\n";
    for (int j = 0; j < cols; ++j) {
      const int value = random() % 10 < 8 ? 0 : static_cast<int>(random() % 9) - 2;
      out.text += "\t" + std::to_string(value);
      if (value == 0) continue;
      entries +=
          std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(value) + "\n";
      ++count;
    }
    out.text += "\n";
  }
  out.market = "%%MatrixMarket matrix coordinate integer general\n" + std::to_string(rows) + " " +
               std::to_string(cols) + " " + std::to_string(count) + "\n" + entries;
  return out;
}

/// A 10x folder with the table, and the table as text.
struct thin_files {
  thin_files(int rows, int cols) {
    const thin_table table = make_thin_table(rows, cols);
    text = folder.write("table.tsv", table.text);
    market = folder.path("matrix.mtx.gz");
    write_gzip(market, table.market);
    write_gzip(folder.path("features.tsv.gz"), table.features);
  }

  temporary_folder folder;
  std::string text;
  std::string market;
};

}  // namespace

TEST_CASE("Sparse files give the bytes of the dense table", "[cli][sparse]") {
  const thin_files files(40, 300);
  const std::vector<words> jobs{{"spearman", "--max-p", "0.2"},
                                {"pearson", "--keep", "top-k", "-k", "3"},
                                {"kendall", "--max-p", "0.1"},
                                {"cosine", "--keep", "dense"},
                                {"spearman", "--keep", "counts", "--max-p", "0.1"},
                                {"spearman", "--nan", "pairwise", "--max-p", "0.2"},
                                {"pearson", "--nan", "pairwise", "--observations"},
                                {"rank"},
                                {"top-k", "-k", "4"}};
  for (const words& job : jobs) {
    INFO(job[0]);
    const auto dense = run_command(with(job, {files.text, "-o", "-"}));
    const auto sparse = run_command(with(job, {files.market, "-o", "-"}));
    INFO(dense.err);
    INFO(sparse.err);
    CHECK(dense.exit_code == 0);
    CHECK(sparse.exit_code == 0);
    CHECK(sparse.out == dense.out);
    CHECK_FALSE(sparse.out.empty());
    CHECK(has(sparse.err, "40 names of rows from column 1 of features.tsv.gz"));
  }
}

TEST_CASE("Sparse files in both orientations and beside a second table", "[cli][sparse]") {
  const thin_files files(30, 50);
  const auto dense = run_command({"spearman", files.text, "--transpose", "--row-names", "yes"});
  const auto sparse = run_command({"spearman", files.market, "--transpose"});
  INFO(sparse.err);
  CHECK(sparse.exit_code == 0);
  CHECK(sparse.out == dense.out);
  const auto across = run_command({"pearson", files.market, "--against", files.text});
  CHECK(across.out == run_command({"pearson", files.text, "--against", files.text}).out);
  const auto symbols = run_command({"spearman", files.market, "--names-column", "2"});
  CHECK(has(symbols.out, "SYM0\tSYM1\t"));
  const std::string names = files.folder.write("few.txt", "a\nb\n");
  const auto refused = run_command({"spearman", files.market, "--names", names});
  CHECK(refused.exit_code == 3);
  CHECK(has(refused.err, "got 2 names, expected one for each of the 30 rows"));
}

TEST_CASE("Names next to a sparse file are of a job in parts, and it is planned", "[cli][sparse]") {
  const thin_files files(60, 90);
  const words job{"spearman", files.market, "--max-p", "0.2", "--quiet"};
  const std::string parts = files.folder.path("parts");
  CHECK(run_command(with(job, {"--part", "1/2", "--output-dir", parts})).exit_code == 0);
  // The names stand in the result: with others it is another job.
  write_gzip(files.folder.path("features.tsv.gz"), make_thin_table(61, 2).features);
  CHECK(run_command(with(job, {"--part", "1/2", "--output-dir", parts})).exit_code != 0);
  write_gzip(files.folder.path("features.tsv.gz"), make_thin_table(60, 2).features);
  const auto plan = run_command({"spearman", files.market, "--plan"});
  CHECK(plan.exit_code == 0);
  CHECK(has(plan.out, "60 rows x 90 columns, int8"));
}
