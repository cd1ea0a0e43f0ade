// n behind the p of a pair with missing values, and the matrix of n beside a dense result.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

/// 40 rows of 12 as text, a fifth of them missing, and which are there.
struct holed_table {
  std::string text;
  std::vector<std::vector<bool>> is_there;
  [[nodiscard]] int shared(std::size_t i, std::size_t j) const {
    int count = 0;
    for (std::size_t k = 0; k < is_there[i].size(); ++k) {
      count += is_there[i][k] && is_there[j][k] ? 1 : 0;
    }
    return count;
  }
};

holed_table with_holes() {
  holed_table out;
  unsigned state = 11;
  const auto draw = [&state](unsigned below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % below;
  };
  for (unsigned i = 0; i < 40; ++i) {
    out.is_there.emplace_back();
    for (unsigned j = 0; j < 12; ++j) {
      const bool is_there = draw(5) != 0;
      out.is_there.back().push_back(is_there);
      out.text += (is_there ? std::to_string(draw(9) + i % 3 * j) : "NA") + ",";
    }
    out.text.back() = '\n';
  }
  return out;
}

/// The number of a row "X12", from 0.
std::size_t row_of(const std::string& name) {
  return static_cast<std::size_t>(std::stoi(name.substr(1)) - 1);
}

}  // namespace

TEST_CASE("Lines of pairs with missing values have n behind p", "[cli][observations]") {
  const temporary_folder folder;
  // x and y share five columns; z has one less.
  const std::string in =
      folder.write("in.csv", "name,a,b,c,d,e\nx,1,2,3,4,5\ny,1,3,2,5,4\nz,2,1,3,,4\n");
  const auto run = [&](const std::string& measure, const std::vector<std::string>& more) {
    std::vector<std::string> all{measure, in, "--nan", "pairwise", "--observations", "-q"};
    all.insert(all.end(), more.begin(), more.end());
    const auto got = run_command(all);
    INFO(got.err);
    CHECK(got.exit_code == 0);
    return lines_of(got.out);
  };
  const auto edges = run("spearman", {});
  REQUIRE(edges.size() == 4);
  CHECK(edges[0] == "name_i\tname_j\trho\tt\tp\tn");
  CHECK(edges[1] == "x\ty\t0.8\t2.3094\t0.104088\t5");
  CHECK(edges[2] == "x\tz\t0.8\t1.88562\t0.2\t4");
  // With bounds of four columns, and q of three tests.
  const auto all =
      run("spearman", {"--confidence", "0.95", "--adjust", "bonferroni", "--format", "csv"});
  CHECK(all[0] == "name_i,name_j,rho,t,p,n,lower,upper,q");
  CHECK(all[2] == "x,z,0.8,1.88562,0.2,4,-0.818816,0.997543,0.6");
  CHECK(run("kendall", {})[0] == "name_i\tname_j\ttau\tp\tn");
  CHECK(run("cosine", {})[0] == "name_i\tname_j\tcosine\tn");
  const auto partners = run("spearman", {"--keep", "top-k", "-k", "2"});
  CHECK(partners[0] == "name_i\trank\tname_j\trho\tt\tp\tn");
  CHECK(partners[1] == "x\t1\ty\t0.8\t2.3094\t0.104088\t5");
  CHECK(partners[2] == "x\t2\tz\t0.8\t1.88562\t0.2\t4");
  CHECK(run("spearman", {"--min-observations", "5"}).size() == 2);
  CHECK(run_command({"spearman", in, "--min-observations", "4"}).exit_code == exit_usage);
  // Of a table without missing values all columns.
  const std::string whole = folder.write("whole.csv", "x,1,2,3,4,5\ny,1,3,2,5,4\n");
  const auto of_whole =
      run_command({"spearman", whole, "--nan", "pairwise", "--observations", "-q"});
  CHECK(lines_of(of_whole.out).back() == "x\ty\t0.8\t2.3094\t0.104088\t5");
}

TEST_CASE("n is the columns that both rows have", "[cli][parts][observations]") {
  const holed_table table = with_holes();
  const files in(table.text);
  for (const std::string measure : {"spearman", "pearson", "kendall"}) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--max-p", "0.9"},
          {"--max-p", "0.9", "--min-observations", "7", "--confidence", "0.9"},
          {"--keep", "top-k", "-k", "3"}}) {
      if (measure == "kendall" && more.back() == "0.9" && more.size() > 2) continue;
      INFO(measure << " " << more.back());
      std::vector<std::string> without{measure, "--nan", "pairwise"};
      without.insert(without.end(), more.begin(), more.end());
      std::vector<std::string> job = without;
      job.emplace_back("--observations");
      // A folder of parts with n takes none without.
      const words part{in.input, "--part", "1/2", "--output-dir", in.folder.path("folder"), "-q"};
      CHECK(run_command(with(job, part)).exit_code == 0);
      check_refused(run_command(with(without, part)), exit_bad_input, "--observations");
      std::filesystem::remove_all(in.folder.path("folder"));

      const auto lines = lines_of(in.run(job, "whole.tsv"));
      const auto plain = lines_of(in.run(without, "plain.tsv"));
      REQUIRE(lines.size() == plain.size());
      REQUIRE(lines.size() > 60);
      const auto head = split(lines[0], '\t');
      const auto at =
          static_cast<std::size_t>(std::find(head.begin(), head.end(), "n") - head.begin());
      const std::size_t second = head[1] == "rank" ? 2 : 1;
      REQUIRE(at < head.size());
      CHECK(head[at - 1] == "p");
      std::size_t wrong = 0;
      std::size_t fewer = 0;
      for (std::size_t l = 0; l < lines.size(); ++l) {
        auto fields = split(lines[l], '\t');
        REQUIRE(fields.size() == head.size());
        if (l > 0) {
          const int n = table.shared(row_of(fields[0]), row_of(fields[second]));
          wrong += fields[at] != std::to_string(n) ? 1U : 0U;
          fewer += n < 12 ? 1U : 0U;
        }
        // All else is as without the column.
        fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(at));
        wrong += fields != split(plain[l], '\t') ? 1U : 0U;
      }
      CHECK(wrong == 0);
      CHECK(fewer > 50);
    }
  }
}

TEST_CASE("Records have n, also of two tables", "[cli][observations]") {
  const holed_table table = with_holes();
  const files in(table.text);
  const std::vector<std::string> job{"pearson",        "--nan",   "pairwise",
                                     "--observations", "--max-p", "0.5"};
  const std::string npy = in.run(job, "a.npy");
  CHECK(npy.find("('p', '<f8'), ('n', '<u4')]") != std::string::npos);
  constexpr std::size_t record_bytes = 28;
  const std::size_t begin = npy.find('\n') + 1;
  REQUIRE((npy.size() - begin) % record_bytes == 0);
  REQUIRE(npy.size() > begin + 50 * record_bytes);
  std::size_t wrong = 0;
  for (std::size_t at = begin; at < npy.size(); at += record_bytes) {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    std::uint32_t n = 0;
    std::memcpy(&row, npy.data() + at, 4);
    std::memcpy(&col, npy.data() + at + 4, 4);
    std::memcpy(&n, npy.data() + at + 24, 4);
    wrong += static_cast<int>(n) != table.shared(row, col) ? 1U : 0U;
  }
  CHECK(wrong == 0);

  // Of x against y, which is the first row.
  const std::string y = in.folder.write("y.csv", table.text.substr(0, table.text.find("\n") + 1));
  auto across = job;
  across.insert(across.end(), {"--against", y});
  const auto lines = lines_of(in.run(across, "across.tsv"));
  REQUIRE(lines.size() > 5);
  for (std::size_t l = 1; l < lines.size(); ++l) {
    const auto fields = split(lines[l], '\t');
    CHECK(fields.back() == std::to_string(table.shared(row_of(fields[0]), row_of(fields[1]))));
  }
}

TEST_CASE("A dense result has a matrix of n beside it", "[cli][observations]") {
  const holed_table table = with_holes();
  const files in(table.text);
  const std::string n_file = in.folder.path("n");
  const auto run = [&](const std::string& suffix, const std::vector<std::string>& more) {
    std::vector<std::string> job{"pearson", "--nan", "pairwise", "--keep", "dense"};
    job.insert(job.end(), {"--observations-output", n_file + suffix});
    job.insert(job.end(), more.begin(), more.end());
    (void)in.run(job, "r" + suffix);
    return read_file(n_file + suffix);
  };
  const std::size_t rows = table.is_there.size();
  for (const char separator : {'\t', ','}) {
    const auto lines = lines_of(run(separator == ',' ? ".csv" : ".tsv", {}));
    const auto statistics =
        lines_of(read_file(in.folder.path(separator == ',' ? "r.csv" : "r.tsv")));
    REQUIRE(lines.size() == rows + 1);
    REQUIRE(statistics.size() == rows + 1);
    CHECK(lines[0] == statistics[0]);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto fields = split(lines[i + 1], separator);
      REQUIRE(fields.size() == rows + 1);
      CHECK(row_of(fields[0]) == i);
      std::size_t wrong = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        wrong += fields[j + 1] == std::to_string(table.shared(i, j)) ? 0U : 1U;
      }
      CHECK(wrong == 0);
    }
  }
  const std::string npy = run(".npy", {});
  CHECK(npy.find("'<u4'") != std::string::npos);
  CHECK(npy.find("(40, 40)") != std::string::npos);
  REQUIRE(npy.size() == npy.find('\n') + 1 + rows * rows * 4);
  std::uint32_t last = 0;
  std::memcpy(&last, npy.data() + npy.size() - 4, 4);
  CHECK(static_cast<int>(last) == table.shared(rows - 1, rows - 1));

  // Of x against y, which is the first row.
  const std::string y = in.folder.write("y.csv", table.text.substr(0, table.text.find('\n') + 1));
  const auto across = lines_of(run(".tsv", {"--against", y}));
  REQUIRE(across.size() == rows + 1);
  CHECK(across[0] == "name\tY1");
  CHECK(across[7] == "X7\t" + std::to_string(table.shared(6, 0)));

  // A run has both or neither.
  const std::string full = in.folder.path("r.full.tsv");
  const auto failed = run_command({"pearson", in.input, "--nan", "pairwise", "--keep", "dense",
                                   "-o", full, "--observations-output", "/dev/full", "-q"});
  INFO(failed.err);
  CHECK(failed.exit_code == exit_resources);
  CHECK_FALSE(std::filesystem::exists(full));
}

TEST_CASE("A matrix of n is refused where nothing takes it", "[cli][observations]") {
  const files in(numbers());
  const std::string n_file = in.folder.path("n.tsv");
  const auto refused = [&](const words& more, const std::string& part) {
    check_refused(run_command(with({"spearman", in.input, "--observations-output", n_file}, more)),
                  exit_usage, part);
    CHECK_FALSE(std::filesystem::exists(n_file));
  };
  refused({"--keep", "dense"}, "--observations-output needs --nan pairwise");
  refused({"--nan", "pairwise"}, "--observations-output needs --keep dense");
  const auto refused_dense = [&](const words& more, const std::string& part) {
    refused(with({"--nan", "pairwise", "--keep", "dense"}, more), part);
  };
  refused_dense({"--plan"}, "--observations-output does not go with --plan");
  refused_dense({"-o", in.folder.path("r.tsv"), "--resume"},
                "--observations-output does not go with --resume");
  refused_dense({"--part", "1/2", "--output-dir", in.folder.path("parts")},
                "--observations-output does not go with --part");
  refused_dense({"-o", n_file}, "are the same file");
  refused_dense({"-o", in.folder.path("r.npy")}, "names tsv, expected npy");
}

TEST_CASE("n is refused where it has no place or says nothing", "[cli][observations]") {
  const files in(numbers());
  const auto refused = [&](const words& more, const std::string& part) {
    check_refused(run_command(with({"spearman", in.input, "--observations"}, more)), exit_usage,
                  part);
  };
  refused({}, "--observations needs --nan pairwise");
  refused({"--nan", "propagate"}, "--observations needs --nan pairwise");
  refused({"--nan", "pairwise", "--keep", "dense"}, "or --observations-output FILE");
  for (const std::string keep : {"counts", "dense"}) {
    refused({"--nan", "pairwise", "--keep", keep},
            "--observations does not go with --keep " + keep);
  }
}
