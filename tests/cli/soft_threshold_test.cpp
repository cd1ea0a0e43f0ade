// gpu-similarity soft-threshold. The numbers are those of WGCNA 1.72-1 in R 4.2:
// pickSoftThreshold(t(x), powerVector = c(1, 2, 6, 12)), softConnectivity and TOMsimilarity.
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

template <std::size_t Rows, std::size_t Cols>
void check_numbers(const std::vector<std::vector<std::string>>& got, std::size_t first,
                   const std::array<std::array<double, Cols>, Rows>& wanted) {
  REQUIRE(got.size() == Rows + 1);
  for (std::size_t i = 0; i < Rows; ++i) {
    REQUIRE(got[i + 1].size() == Cols + first);
    for (std::size_t j = 0; j < Cols; ++j) {
      INFO(i << ", " << j << ": " << got[i + 1][j + first]);
      CHECK(std::abs(std::stod(got[i + 1][j + first]) - wanted[i][j]) <=
            1e-11 * std::abs(wanted[i][j]));
    }
  }
}

using fit_table = std::array<std::array<double, 7>, 4>;

constexpr fit_table unsigned_fits{{{1, 0.182215306960804, -5.53220408521022, -0.0361819854476835,
                                    35.0568044539946, 43.9300919800909, 44.5847605485778},
                                   {2, 0.297684150719256, -6.1074604338793, 0.0976578030520876,
                                    28.7576148226941, 39.297442652202, 40.4578468206491},
                                   {6, 0.130055216570562, -2.51064857453362, 0.346918997502862,
                                    22.9982309269001, 32.9365760725572, 36.267573109114},
                                   {12, 0.0185810296544856, -0.674962034617504, 0.795061331730864,
                                    19.9588008835875, 27.6817569849547, 33.4451106167533}}};
constexpr fit_table signed_fits{{{1, 0.163020664503228, -9.11152654802302, -0.066287942843209,
                                  41.3857185293765, 47.8783920830147, 48.2066151001356},
                                 {2, 0.266085538254138, -8.27272702913127, 0.0565071230484736,
                                  33.82512223505, 42.9455009226102, 43.5710768052978},
                                 {6, 0.0950571123118592, -3.06192612960475, 0.489239270676727,
                                  25.5380954431232, 36.5479581870343, 38.241440698049},
                                 {12, 0.0712461902979326, -1.73469264995835, 0.691943457905845,
                                  22.8531398841647, 32.9035242146576, 36.1456863907968}}};
constexpr fit_table hybrid_fits{{{1, 0.178912383519259, -4.76401174420503, -0.0139642606050905,
                                  29.4141207563738, 40.3774504591053, 40.9609084540549},
                                 {2, 0.313760199939756, -4.93851690349421, 0.211510828290044,
                                  26.2272137748971, 37.6904234603872, 38.8139866486209},
                                 {6, 0.0959622258506174, -1.71154950491539, 0.668820150602793,
                                  22.7439930692667, 32.7983058232306, 36.0821178502385},
                                 {12, 0.0393523083758839, -0.730584771010935, 0.7851677879029,
                                  19.9382105408622, 27.6745556404079, 33.4264232778652}}};

}  // namespace

TEST_CASE("soft-threshold prints the table of WGCNA", "[cli][soft-threshold]") {
  const files in(numbers());
  const auto check = [&](const std::string& network, const fit_table& wanted) {
    INFO(network);
    const auto got = fields_of(
        in.run({"soft-threshold", "--powers", "1-2,6,12", "--network", network}, "f.tsv"));
    CHECK(got[0] == std::vector<std::string>{"Power", "SFT.R.sq", "slope", "truncated.R.sq",
                                             "mean.k.", "median.k.", "max.k."});
    check_numbers(got, 0, wanted);
  };
  check("unsigned", unsigned_fits);
  check("signed", signed_fits);
  check("signed-hybrid", hybrid_fits);
  const auto by_default = fields_of(in.run({"soft-threshold"}, "f.csv"), ',');
  REQUIRE(by_default.size() == 16);
  CHECK(by_default[12][0] == "14");
  const auto told = run_command({"soft-threshold", in.input, "--min-r-squared", "0.1"});
  CHECK(told.err.find("power 1: the first whose R^2, with a falling line, is above 0.1\n") !=
        std::string::npos);
  const auto none = run_command({"soft-threshold", in.input});
  CHECK(none.err.find("no power has an R^2, with a falling line, above 0.85\n") !=
        std::string::npos);
}

TEST_CASE("soft-threshold writes the connectivity of each row", "[cli][soft-threshold]") {
  const files in(numbers());
  const std::vector<std::string> words{"soft-threshold", "--keep",    "connectivity",
                                       "--powers",       "6,0.5",     "--network",
                                       "signed",         "--measure", "pearson"};
  const auto got = fields_of(in.run(words, "k.tsv"));
  CHECK(got[0] == std::vector<std::string>{"name", "k.6", "k.0.5"});
  REQUIRE(got.size() == 61);
  const std::array wanted{0.54624485120109,  37.4924831117515, 37.794339194583,
                          0.583484605183678, 37.2516401730683, 37.8650908542397};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(got[i + 1][0] == "X" + std::to_string(i + 1));
    CHECK(std::abs(std::stod(got[i + 1][1]) - wanted[i]) <= 1e-12 * wanted[i]);
  }
  // The same numbers as .npy.
  const std::string array = in.run(words, "k.npy");
  REQUIRE(array.size() > 60 * 2 * sizeof(double));
  double first = 0;
  std::memcpy(&first, array.data() + array.size() - 60 * 2 * sizeof(double), sizeof(double));
  CHECK(first == std::stod(got[1][1]));
}

TEST_CASE("soft-threshold takes every measure and missing values", "[cli][soft-threshold]") {
  std::string text = numbers();
  const files whole(text);
  const auto of = [](const files& in, const std::string& measure, const std::string& nan) {
    return in.run({"soft-threshold", "--measure", measure, "--nan", nan, "--keep", "connectivity",
                   "--powers", "1"},
                  "k.tsv");
  };
  std::vector<std::string> results;
  for (const char* measure : {"spearman", "pearson", "cosine", "bicor", "kendall"}) {
    results.push_back(of(whole, measure, "reject"));
  }
  for (std::size_t a = 0; a < results.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) CHECK(results[a] != results[b]);
  }
  text.replace(0, text.find(' '), "NA");
  const files holed(text);
  check_refused(run_command({"soft-threshold", holed.input}), exit_bad_input, "a missing value");
  const auto left_out = fields_of(of(holed, "pearson", "propagate"));
  const auto pairwise = fields_of(of(holed, "pearson", "pairwise"));
  CHECK(left_out[1][1] == "NaN");
  CHECK(std::stod(pairwise[1][1]) > 0);
  CHECK(std::stod(pairwise[2][1]) > std::stod(left_out[2][1]));
}

TEST_CASE("soft-threshold says what is wrong", "[cli][soft-threshold]") {
  const files in(numbers());
  const auto usage = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {"soft-threshold", in.input});
    check_refused(run_command(words), exit_usage, part);
  };
  for (const std::string powers :
       {"", "x", "0", "101", "3-1", "1-100", "1,,2", "1-", "nan", "2;3"}) {
    usage({"--powers", powers}, "--powers");
  }
  usage({"--keep", "overlap"}, "--keep: got overlap, expected connectivity|fit");
  usage({"--keep", "connectivity", "--bins", "5"}, "--bins needs --keep fit");
  usage({"--min-observations", "5"}, "--min-observations needs --nan pairwise");
  usage({"--bins", "2"}, "--bins: got 2");
  usage({"--network", "other"}, "expected signed|signed-hybrid|unsigned");
}
