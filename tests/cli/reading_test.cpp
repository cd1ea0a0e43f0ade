// What the command says of how it read a table.
#include <string>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu_test::report_value;
using gpu_test::run_command;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("A header of years is no variable", "[cli][reading]") {
  const gpu_test::temporary_folder folder;
  const std::string in = folder.write(
      "in.csv", "country,1990,1991,1992,1993\nSweden,5,3,8,1\nNorway,4,2,9,7\nChad,5,1,2,2\n");
  const auto taken = run_command({"spearman", in, "--report", folder.path("r.json")});
  INFO(taken.err);
  CHECK(taken.exit_code == 0);
  CHECK_FALSE(has(taken.out, "country"));
  CHECK(has(taken.err, "note: " + in +
                           ": line 1 ('country', '1990', '1991', ...) was taken for the "
                           "names of the columns: --header no"));
  CHECK(has(taken.err, "3 names of rows from column 1, 4 names of columns from line 1"));
  const std::string report = gpu_test::read_file(folder.path("r.json"));
  CHECK(has(report,
            "\"names\": {\"rows\": 3, \"rows_from\": \"column 1\", \"columns\": 4, "
            "\"columns_from\": \"line 1\"}"));
  CHECK(has(report, "\"notes\": [\"line 1 ("));

  const auto forced = run_command({"spearman", in, "--header", "no"});
  CHECK(has(forced.out, "country\tSweden"));
  CHECK_FALSE(has(forced.err, "note:"));
  CHECK(has(forced.err, "4 names of rows from column 1, no names of columns"));
  CHECK(run_command({"spearman", in, "--quiet"}).err.empty());
}

TEST_CASE("Identifiers in front of rows are no observations", "[cli][reading]") {
  const gpu_test::temporary_folder folder;
  const std::string in = folder.write(
      "in.tsv", "7157\t0.5\t1.5\t2.5\t2.0\n672\t0.25\t1\t3.5\t7\n675\t1.5\t2.5\t0\t1\n");
  const auto edges = run_command({"spearman", in});
  CHECK(has(edges.out, "7157\t672\t"));
  CHECK(has(edges.err, "--row-names no"));
  const auto ranks = run_command({"rank", in});
  CHECK(has(ranks.out, "7157\t1\t2\t4\t3\n"));
  CHECK(has(ranks.err, "--row-names no"));
  CHECK(has(ranks.err, "3 names of rows from column 1, no names of columns"));
}
