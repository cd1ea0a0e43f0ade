// What the command says about itself: help, what was probably meant, completions, the manual page.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

using namespace gpu_test;

namespace {

const words all_verbs{"spearman",  "pearson", "cosine",  "bicor",          "kendall",
                      "correlate", "rank",    "top-k",   "mean-filter",    "differential",
                      "tanimoto",  "dice",    "tversky", "soft-threshold", "modules",
                      "parts",     "merge",   "info",    "completion",     "manual"};

/// What bash completes behind the words of a command line, the last of which is being typed.
words completed(const std::string& script, const words& line) {
  std::string typed;
  for (const std::string& word : line) typed += " '" + word + "'";
  const std::string program = "source " + script + "; COMP_WORDS=(" GPU_SIMILARITY_COMMAND + typed +
                              "); COMP_CWORD=" + std::to_string(line.size()) +
                              "; _gpu_similarity; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const temporary_folder folder;
  const std::string file = folder.write("run.sh", program);
  const std::string out = folder.path("out");
  if (std::system(("bash " + file + " > " + out).c_str()) != 0) return {"bash failed"};
  std::istringstream lines(read_file(out));
  words found;
  for (std::string word; std::getline(lines, word);) {
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

bool is_there(const char* program) {
  return std::system((std::string("command -v ") + program + " > /dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("A word that nothing takes is named, with what was probably meant", "[cli][help]") {
  const temporary_folder folder;
  const std::string in = folder.write("in.txt", "1 2 3 4\n4 3 2 2\n");
  const auto said = [](const words& line) {
    const auto result = run_command(line);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(has(said({"spearmann", in}), "unknown command spearmann, did you mean spearman?"));
  CHECK(has(said({"correlat"}), "did you mean correlate?"));
  CHECK(
      has(said({"friedman", in}), "unknown command friedman, expected one of spearman, pearson,"));
  CHECK(has(said({"help", "friedman"}), "unknown command friedman"));
  CHECK(has(said({"spearman", in, "--thread", "3"}),
            "unknown option --thread of spearman, did you mean --threads?"));
  CHECK(has(said({"spearman", "--max-q=0.1"}),
            "unknown option --max-q of spearman, did you mean --max-p?"));
  CHECK(has(said({"spearman", in, "--alpha", "0.05"}), "did you mean --max-p?"));
  CHECK(has(said({"spearman", in, "--fdr=0.05"}), "did you mean --max-p P --adjust bh?"));
  CHECK(has(said({"rank", in, "--sep", ";"}), "did you mean --delimiter?"));
  CHECK(has(said({"rank", in, "--alpha", "1"}), "unknown option --alpha of rank, see --help"));
  CHECK(has(said({"rank", in, "--zzzz"}), "unknown option --zzzz of rank, see --help"));
  CHECK(has(said({"spearman", in, "more"}),
            "unexpected argument more of spearman, a second table follows --against"));
  CHECK(has(said({"rank", in, "more"}), "unexpected argument more of rank, see --help"));
  CHECK(has(said({"pearson", in, "--top-k", "3"}), "did you mean --keep top-k -k K?"));
  for (const char* const other : {"--lag", "--pan", "--plot", "--rank"}) {
    INFO(other);
    const std::string text = said({"spearman", in, other});
    CHECK(has(text, "unknown option"));
    CHECK(has(text, "did you mean") == (std::string(other) == "--pan"));  // --plan, or --nan
  }
  CHECK(has(said({"--verzion"}), "did you mean --version?"));
  CHECK(has(said({}), "A subcommand is required"));
  // What a word begins, and help.
  CHECK(has(said({"help", "top"}), "unknown command top, did you mean top-k?"));
  CHECK(has(said({"hlep"}), "unknown command hlep, did you mean help?"));
  CHECK(has(said({"rank", in, "--delim", "x"}), "did you mean --delimiter?"));
  CHECK(has(said({"rank", in, "--out", "x"}), "did you mean --output?"));
  CHECK(
      has(said({"spearman", in, "--method", "kendall"}), "did you mean correlate --measure NAME?"));
  CHECK(has(said({"differential", in, "--method", "x"}), "did you mean --measure?"));
  // Options stand behind the command.
  CHECK(has(said({"--max-p", "0.05", "spearman", in}),
            "--max-p is before spearman, expected it after: gpu-similarity spearman INPUT "
            "--max-p"));
  CHECK(has(said({"-o", "x.tsv", "spearman", in}), "-o is before spearman"));
  CHECK(has(said({"--zzzz", "spearman", in}), "unknown option --zzzz of spearman, see --help"));
  CHECK(
      has(said({"--kep", "edges", in}), "--kep is before the command, expected the command first"));
  CHECK(has(said({"--quiet", "spearmann", in}), "did you mean spearman?"));
}

TEST_CASE("help COMMAND is COMMAND --help", "[cli][help]") {
  CHECK(run_command({"help"}).out == run_command({"--help"}).out);
  for (const std::string& verb : all_verbs) {
    const auto help = run_command({"help", verb});
    INFO(verb);
    CHECK(help.exit_code == 0);
    CHECK(help.err.empty());
    CHECK(has(help.out, "Usage: gpu-similarity " + verb));
    CHECK(help.out == run_command({verb, "--help"}).out);
    CHECK(has(run_command({"--help"}).out, "\n  " + verb));
  }
  const std::string pairs = run_command({"help", "spearman"}).out;
  CHECK(has(pairs, "edges         name_i, name_j, rho, t, p, and q with --adjust"));
  CHECK(has(pairs, "top-k         name_i, rank, name_j, rho, t, p, and q with --adjust"));
  CHECK(has(pairs, "Examples:\n  gpu-similarity spearman"));
  CHECK(has(run_command({"help", "cosine"}).out, "edges         name_i, name_j, cosine\n"));
}

TEST_CASE("Words of an option may have capitals, and other names", "[cli][help]") {
  const temporary_folder folder;
  const std::string in = folder.write("in.txt", "1 2 3 4 5\n4 3 2 2 1\n5 7 9 8 9\n");
  const auto with = [&](const std::string& adjust) {
    const auto result = run_command({"spearman", in, "--max-p", "0.9", "--adjust", adjust, "-q"});
    CHECK(result.exit_code == 0);
    return result.out;
  };
  const std::string wanted = with("bh");
  CHECK(has(wanted, "\tq\n"));
  for (const char* word : {"BH", "fdr", "FDR"}) CHECK(with(word) == wanted);
  CHECK(with("bonf") == with("bonferroni"));
  CHECK(with("bonf") != wanted);
  CHECK(has(run_command({"spearman", in, "--adjust", "holm"}).err,
            "--adjust: got holm, expected bh|bonferroni|max-t|none"));
}

TEST_CASE("bash completes commands, options, their words and files", "[cli][help]") {
  const temporary_folder folder;
  const std::string script = folder.write("c.bash", run_command({"completion", "bash"}).out);
  CHECK(completed(script, {"spear"}) == words{"spearman"});
  CHECK(completed(script, {"help", "mean"}) == words{"mean-filter"});
  CHECK(completed(script, {"spearman", "--adj"}) == words{"--adjust"});
  CHECK(completed(script, {"spearman", "--adjust", "b"}) == words{"bh", "bonferroni"});
  CHECK(completed(script, {"rank", "in.txt", "--ties", "max"}) == words{"max"});
  CHECK(completed(script, {"rank", "--keep"}).empty());
  CHECK(completed(script, {"completion", "z"}) == words{"zsh"});
  CHECK(completed(script, {""}).size() == all_verbs.size() + 3);  // help, --help, --version too
  CHECK(completed(script, {"mean-filter", "--o"}) == words{"--origin", "--output"});
  CHECK(completed(script, {"parts", "--"}) ==
        words{"--help", "--format", "--quick", "--check", "--clean"});
  // A value that is no word, no file and no folder.
  CHECK(completed(script, {"spearman", "--max-p", ""}).empty());
  // bash splits at the sign.
  CHECK(completed(script, {"spearman", "--adjust", "=", "b"}) == words{"bh", "bonferroni"});
  CHECK(completed(script, {"rank", "--ties", "="}).size() == 5);
  const std::string table = folder.write("table.tsv", "1 2\n");
  CHECK(completed(script, {"spearman", table.substr(0, table.size() - 4)}) == words{table});
  CHECK(completed(script, {"pearson", "-o", table.substr(0, table.size() - 4)}) == words{table});
}

TEST_CASE("The page holds every command, and scripts are those of their shells", "[cli][help]") {
  const temporary_folder folder;
  const std::string page = run_command({"manual"}).out;
  CHECK(page.starts_with(".TH GPU\\-SIMILARITY 1"));
  for (const std::string& verb : all_verbs) {
    std::string name = verb;
    if (const std::size_t at = name.find('-'); at != std::string::npos) name.insert(at, 1, '\\');
    INFO(verb);
    CHECK(has(page, ".SS \"gpu\\-similarity " + name));
  }
  CHECK(has(page, "\\fB\\-\\-max\\-p P\\fR\nKeep pairs with p <= P"));
  CHECK(has(page, "The options of spearman, and:\n.TP\n\\fB\\-\\-measure"));
  CHECK(has(page, ".SH \"EXIT STATUS\""));
  // The shells themselves, where they are there.
  const std::string zsh_file =
      folder.write("_gpu-similarity", run_command({"completion", "zsh"}).out);
  if (is_there("zsh")) CHECK(std::system(("zsh -n " + zsh_file).c_str()) == 0);
}
