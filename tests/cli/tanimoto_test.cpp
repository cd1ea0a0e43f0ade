// gpu-similarity tanimoto beside sets of column numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "reference/tanimoto_reference.hpp"
#include "support/catch.hpp"
#include "support/npy_bytes.hpp"

using namespace gpu_test;

namespace {

constexpr int bits = 166;
constexpr int all_rows = 60;

using rows = std::vector<column_set>;

/// Groups of similar rows; row 5 is empty, row 7 equals row 6.
rows make_rows(int count, unsigned seed) {
  std::mt19937 random(seed);
  rows out;
  column_set prototype;
  const auto is_set = [&](double share) {
    return static_cast<double>(random() % 1000) < 1000 * share;
  };
  for (int i = 0; i < count; ++i) {
    column_set row;
    if (i % 10 == 0) prototype.clear();
    for (int k = 0; k < bits; ++k) {
      if (i % 10 == 0 && is_set(0.3)) prototype.push_back(k);
      const bool is_common = std::binary_search(prototype.begin(), prototype.end(), k);
      if (is_set(is_common ? 0.9 : 0.03)) row.push_back(k);
    }
    out.push_back(row);
  }
  if (count > 7) {
    out[5].clear();
    out[7] = out[6];
  }
  return out;
}

std::string hex_of(const column_set& row) {
  std::vector<unsigned> octets((bits + 7) / 8);
  for (const auto k : row) octets[static_cast<std::size_t>(k / 8)] |= 1U << (k % 8);
  std::string out;
  for (const unsigned octet : octets) {
    out += "0123456789abcdef"[octet >> 4];
    out += "0123456789abcdef"[octet & 15U];
  }
  return out;
}

std::string binary_of(const column_set& row) {
  std::string out(bits, '0');
  for (const auto k : row) out[static_cast<std::size_t>(k)] = '1';
  return out;
}

std::string name_of(int i) {
  return "mol " + std::to_string(i);
}

std::string fps_of(const rows& all) {
  std::string out = "#FPS1\n#num_bits=166\n#software=test\n";
  int i = 0;
  for (const column_set& row : all) out += hex_of(row) + "\t" + name_of(i++) + "\n";
  return out;
}

std::string table_of(const rows& all) {
  std::string out = "id";
  for (int k = 0; k < bits; ++k) out += "\tb" + std::to_string(k);
  int i = 0;
  for (const column_set& row : all) {
    out += "\n" + name_of(i++);
    for (const char c : binary_of(row)) out += std::string("\t") + c;
  }
  return out + "\n";
}

/// .npy of uint8 or bool.
std::string npy_of(const std::string& descr, const std::vector<std::string>& lines) {
  std::string out = npy_header(descr, static_cast<std::int64_t>(lines.size()),
                               static_cast<std::int64_t>(lines[0].size()));
  for (const std::string& line : lines) out += line;
  return out;
}

std::string values_of(const rows& all, const std::string& descr) {
  std::vector<std::string> lines;
  for (const column_set& row : all) {
    std::string line(bits, '\0');
    for (const auto k : row) line[static_cast<std::size_t>(k)] = '\1';
    lines.push_back(line);
  }
  return npy_of(descr, lines);
}

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string wanted_edges(const rows& all, double least, bool is_named) {
  std::string out = "name_i\tname_j\ttanimoto\n";
  const auto name = [&](std::size_t i) {
    return is_named ? name_of(static_cast<int>(i)) : "X" + std::to_string(i + 1);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const double s = reference_tanimoto(all[i], all[j]);
      if (s >= least) out += name(i) + "\t" + name(j) + "\t" + number(s) + "\n";
    }
  }
  return out;
}

struct job {
  temporary_folder folder;
  /// Runs a job that has to succeed, and gives what it wrote.
  std::string run(const std::vector<std::string>& words,
                  const std::string& output = "out.tsv") const {
    std::vector<std::string> all{"tanimoto"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-q", "-o", folder.path(output)});
    const auto result = run_command(all);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_file(folder.path(output));
  }
};

}  // namespace

TEST_CASE("tanimoto reads fingerprints however they stand in a file", "[cli][tanimoto]") {
  const rows all = make_rows(all_rows, 1);
  const job in;
  const auto check = [&](const std::string& file, const std::string& text, bool is_named,
                         std::vector<std::string> words = {}) {
    INFO(file);
    words.insert(words.begin(), in.folder.write(file, text));
    words.insert(words.end(), {"--threshold", "0.6"});
    CHECK(in.run(words) == wanted_edges(all, 0.6, is_named));
  };
  check("a.fps", fps_of(all), true);
  check("no_headers.fps", fps_of(all).substr(fps_of(all).find("software=test") + 14), true,
        {"--input-format", "fps", "--bits", "166"});
  check("table.tsv", table_of(all), true);
  check("u1.npy", values_of(all, "|u1"), false);
  check("bool.npy", values_of(all, "|b1"), false);
  // What the refusal of digits in one field says to do.
  std::string digits;
  std::string fields;
  for (const column_set& row : all) {
    digits += binary_of(row) + "\n";
    for (const char c : binary_of(row)) fields += std::string(1, c) + " ";
    fields += "\n";
  }
  check_refused(run_command({"tanimoto", in.folder.write("digits.txt", digits)}), exit_bad_input,
                "become one by sed 's/[01]/& /g'");
  check("fields.txt", fields, false);
  const auto piped =
      run_command({"tanimoto", "-", "-t", "0.6", "-q"}, {.input_path = in.folder.path("a.fps")});
  CHECK(piped.out == wanted_edges(all, 0.6, true));
}

TEST_CASE("tanimoto takes columns as rows, and sparse files", "[cli][tanimoto]") {
  const rows all = make_rows(all_rows, 2);
  const job in;
  std::string turned;
  std::string entries;
  int count = 0;
  for (int k = 0; k < bits; ++k) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_set = std::binary_search(all[i].begin(), all[i].end(), k);
      turned += is_set ? "1 " : "0 ";
      if (is_set) entries += std::to_string(i + 1) + " " + std::to_string(k + 1) + "\n";
      count += is_set ? 1 : 0;
    }
    turned += "\n";
  }
  const std::string wanted = wanted_edges(all, 0.5, false);
  CHECK(in.run({in.folder.write("t.txt", turned), "--transpose", "-t", "0.5"}) == wanted);
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n60 166 ";
  CHECK(in.run({in.folder.write("m.mtx", head + std::to_string(count) + "\n" + entries), "-t",
                "0.5"}) == wanted);
}

TEST_CASE("tanimoto keeps partners, counts and the matrix", "[cli][tanimoto]") {
  const rows all = make_rows(all_rows, 3);
  const job in;
  const std::string file = in.folder.write("a.fps", fps_of(all));
  std::string partners = "name_i\trank\tname_j\ttanimoto\n";
  std::string degrees = "name\tdegree\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::size_t> others;
    std::size_t degree = 0;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (j == i) continue;
      others.push_back(j);
      degree += reference_tanimoto(all[i], all[j]) >= 0.6 ? 1U : 0U;
    }
    std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
      return is_larger(sizes_of(all[i], all[a]), sizes_of(all[i], all[b]));
    });
    for (std::size_t e = 0; e < 4; ++e) {
      partners += name_of(static_cast<int>(i)) + "\t" + std::to_string(e + 1) + "\t" +
                  name_of(static_cast<int>(others[e])) + "\t" +
                  number(reference_tanimoto(all[i], all[others[e]])) + "\n";
    }
    degrees += name_of(static_cast<int>(i)) + "\t" + std::to_string(degree) + "\n";
  }
  CHECK(in.run({file, "--keep", "top-k", "-k", "4"}) == partners);
  CHECK(in.run({file, "--keep", "counts", "-t", "0.6"}) == degrees);
  std::istringstream dense(in.run({file, "--keep", "dense"}));
  std::string line;
  std::getline(dense, line);
  for (std::size_t i = 0; std::getline(dense, line); ++i) {
    std::string wanted = name_of(static_cast<int>(i));
    for (const column_set& other : all) wanted += "\t" + number(reference_tanimoto(all[i], other));
    CHECK(line == wanted);
  }
  const auto report = in.folder.path("report.json");
  (void)in.run({file, "-t", "0.6", "--report", report});
  CHECK(report_value(read_file(report), "pairs_tested") == "1770");
  CHECK(report_value(read_file(report), "observations") == "null");
}

TEST_CASE("dice and tversky are other ratios of the same bits", "[cli][tanimoto]") {
  const rows all = make_rows(all_rows, 5);
  const job in;
  const std::string file = in.folder.write("a.fps", fps_of(all));
  const auto wanted = [&](const std::string& symbol, const set_fractions& of, bool is_against) {
    std::string out = "name_i\tname_j\t" + symbol + "\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = is_against ? 0 : i + 1; j < all.size(); ++j) {
        const set_sizes terms = terms_of(all[i], all[j], of);
        const double s = static_cast<double>(terms.common) / static_cast<double>(terms.either);
        if (s < 0.75) continue;
        out += name_of(static_cast<int>(i)) + "\t" + name_of(static_cast<int>(j)) + "\t" +
               number(s) + "\n";
      }
    }
    return out;
  };
  const auto edges = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"-t", "0.75", "-q"});
    const auto result = run_command(words);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  CHECK(edges({"dice", file}) == wanted("dice", {2, 1, 1}, false));
  CHECK(edges({"tversky", file, "--alpha", "0.3", "--beta", "0.3"}) ==
        wanted("tversky", {10, 3, 3}, false));
  const std::vector<std::string> against{"tversky", file,  "--against", file,
                                         "--alpha", "0.3", "--beta",    "0"};
  CHECK(edges(against) == wanted("tversky", {10, 3, 0}, true));
  // In parts: the folder knows the weights.
  std::vector<std::string> parts = against;
  const std::string out = in.folder.path("out.tsv");
  parts.insert(parts.end(), {"-t", "0.75", "-q", "-o", out, "--resume", "--parts", "3"});
  CHECK(run_command(parts).exit_code == 0);
  CHECK(read_file(out) == wanted("tversky", {10, 3, 0}, true));
  check_refused(run_command({"tversky", file, "--alpha", "0.3"}), exit_bad_input, "no order");
  check_refused(run_command({"tversky", file, "--alpha", "-1"}), exit_usage, "--alpha");
  check_refused(run_command({"tversky", file, "--alpha", "0.1234567"}), exit_bad_input,
                "fractions");
  check_refused(run_command({"dice", file, "--alpha", "1"}), exit_usage, "--alpha");
}

TEST_CASE("tanimoto writes no p of partners", "[cli][tanimoto]") {
  const job in;
  // Of two bits no correlation would have a test.
  const std::string input = in.folder.write("t.csv", "a,1,0\nb,1,1\nc,0,1\n");
  const std::string output = in.folder.path("k.npy");
  const auto result = run_command({"tanimoto", input, "--input-format", "table", "--keep", "top-k",
                                   "-k", "1", "-q", "-o", output});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const std::string bytes = read_file(output);
  double p = 0;  // the last eight bytes of a line of the array
  std::memcpy(&p, bytes.data() + bytes.size() - sizeof p, sizeof p);
  CHECK(std::isnan(p));
  CHECK(in.run({input, "--input-format", "table", "--keep", "top-k", "-k", "1"}) ==
        "name_i\trank\tname_j\ttanimoto\na\t1\tb\t0.5\nb\t1\ta\t0.5\nc\t1\tb\t0.5\n");
}

TEST_CASE("tanimoto compares two files", "[cli][tanimoto]") {
  const rows x = make_rows(9, 4);
  const rows y = make_rows(all_rows, 4);
  const job in;
  const std::string file = in.folder.write("x.fps", fps_of(x));
  const std::string other = in.folder.write("y.tsv", table_of(y));
  std::string wanted = "name_i\tname_j\ttanimoto\n";
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double s = reference_tanimoto(x[i], y[j]);
      if (s < 0.7) continue;
      wanted += name_of(static_cast<int>(i)) + "\t" + name_of(static_cast<int>(j)) + "\t" +
                number(s) + "\n";
    }
  }
  CHECK(in.run({file, "--against", other, "-t", "0.7"}) == wanted);
  check_refused(run_command({"tanimoto", file, "--against",
                             in.folder.write("short.txt", "0 1 0 1\n1 1 1 1\n")}),
                exit_bad_input, "got 4 bits, expected 166");
}

TEST_CASE("tanimoto plans, and writes no more than it may", "[cli][tanimoto]") {
  const rows all = make_rows(all_rows, 7);
  const job in;
  const std::string file = in.folder.write("a.fps", fps_of(all));
  const std::string edges = wanted_edges(all, 0.6, true);
  const auto plan = run_command({"tanimoto", file, "-t", "0.6", "--plan"});
  const auto kept = std::count(edges.begin(), edges.end(), '\n') - 1;
  CHECK(plan.out.find("pairs\t1770\n") != std::string::npos);
  CHECK(plan.out.find("kept, estimated\t" + std::to_string(kept) + ",") != std::string::npos);
  check_refused(
      run_command({"tanimoto", file, "-o", in.folder.path("no.tsv"), "--max-output", "10k"}), 4,
      "more than the 10.0 kB of --max-output");
}

TEST_CASE("tanimoto says what is wrong", "[cli][tanimoto]") {
  const temporary_folder folder;
  const auto fails = [&](const std::string& text, const std::string& part,
                         std::vector<std::string> words = {}) {
    INFO(text);
    words.insert(words.begin(), {"tanimoto", folder.write("in.fps", text)});
    check_refused(run_command(words), exit_bad_input, part);
  };
  fails("#FPS1\n#num_bits=16\nffff\ta\nff\tb\n",
        ":4: column 1: got 2 hexadecimal digits, expected 4");
  fails("#FPS1\n#num_bits=16\nffff\ta\nfgff\tb\n",
        ":4: column 1: got 'fgff', expected hexadecimal");
  fails("#FPS1\n#num_bits=12\nffff\ta\n", ":3: column 1: got a bit after the last of 12");
  fails("#FPS1\n#num_bits=x\nffff\ta\n", ":2: got 'x', expected a number of bits");
  fails("#FPS1\n#num_bits=16\nffff\ta\n#late\n", ":4: got a header after");
  fails("#FPS1\n#num_bits=16\nffff a\n",
        ":3: got 'ffff a', expected a fingerprint, a tab and a name");
  fails("#FPS1\n#num_bits=16\n", "has no fingerprint");
  fails("#FPS1\n#num_bits=16\nffff\ta\n", "got 1 row");
  fails("#FPS1\n#num_bits=16\nffff\ta\n", ":2: got 16 bits, expected 8", {"--bits", "8"});
  fails("fff\ta\nfff\tb\n", "got 3 hexadecimal digits", {"--input-format", "fps"});
  fails("00ff00ff\ta\n0f0f0f0f\tb\n", "got '0f0f0f0f' in one field");
  fails("id,label,fp\n0,1,0101010101\n1,0,0101010111\n", "got '0101010101' in one field");
  fails("0 1 1\n1 2 0\n", "got 2 in row 2, column 2 of values, expected 0 or 1");
  fails("id,x,y\nm,0,1\nn,,1\n", "got a missing value in row 2 ('n'), column 1");
  fails("#FPS1\n0011\ta\n4455\tb\n", "with which --transpose does not go", {"--transpose"});
  fails("0 1 1\n1 1 0\n", "got 3 columns, expected 4 for 4 bits",
        {"--bits", "4", "--input-format", "table"});
  const std::string packed = folder.write("p.npy", npy_of("|u1", {"\xFF\xFF", "\xFF\xFF"}));
  check_refused(run_command({"tanimoto", packed}), exit_bad_input, "np.unpackbits(a, axis=1)");
  check_refused(run_command({"tanimoto", packed, "--input-format", "fps"}), exit_bad_input,
                "is not text");
  const auto usage = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {"tanimoto", packed});
    check_refused(run_command(words), exit_usage, part);
  };
  usage({"-t", "1.5"}, "--threshold: got 1.5, expected a number from 0 to 1");
  usage({"--keep", "partners"}, "expected counts|dense|edges|top-k");
  usage({"-k", "3"}, "-k needs --keep top-k");
  usage({"--keep", "dense", "-t", "0.5"}, "--threshold does not go with --keep dense");
  usage({"--bits", "0"}, "--bits: got 0");
  usage({"--part", "1/2"}, "--part needs --output-dir");
  usage({"--max-p", "0.05"}, "--max-p");
}
