// Messages of the library in the words of the command: every member that a message of the sources
// names has an option that stands for it, and every such option is one of the command.
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/options/library_words.hpp"
#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;
using gpu::cli::in_words_of_command;

/// Members that no line of the command can set wrongly.
const std::set<std::string> unreachable{
    "options.a",
    "options.b",
    "options.beta",
    "options.product",
    "options.workspace",
    "execution.stream",
    "matmul_options.variant",
    "count_sink.histogram_bins",
    "discovery_sink.search",
    "differential_edge_sink.max_edges",
    "edge_sink.max_edges",
    "stream_sink.consume",
    "stream_sink.batch_edges",
};

/// Words such as "options.variant" in the literals of a file.
std::set<std::string> members_in(const std::string& text) {
  static const std::regex literal(R"re("(?:[^"\\\n]|\\.)*")re");
  static const std::regex member(
      R"re(\b([a-z_]*options|execution|pair_filter|[a-z_]+_sink)(\.[a-z_]+)+)re");
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), literal), end; i != end; ++i) {
    const std::string words = i->str();
    if (words.find(".hpp") != std::string::npos) continue;
    for (std::sregex_iterator m(words.begin(), words.end(), member); m != end; ++m) {
      found.insert(m->str());
    }
  }
  return found;
}

/// The help of the verbs.
std::string all_pages() {
  std::string pages;
  for (const char* verb :
       {"spearman", "rank", "top-k", "mean-filter", "differential", "tversky", "soft-threshold"}) {
    pages += run_command({verb, "--help"}).out;
  }
  return pages;
}

}  // namespace

TEST_CASE("Every member that the library's messages name is an option of the command",
          "[cli][words]") {
  std::set<std::string> members;
  for (const char* folder : {"src/api", "src/base", "src/cpu", "src/cuda", "src/cuda_runtime",
                             "src/pairs", "src/plan", "src/stats", "kernels"}) {
    const fs::path root = fs::path(GPU_SIMILARITY_SOURCE_DIR) / folder;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file()) members.merge(members_in(read_file(entry.path())));
    }
  }
  CHECK(members.size() > 20);
  const std::string pages = all_pages();
  for (const std::string& member : members) {
    if (unreachable.contains(member) || member.starts_with("device_")) continue;
    const std::string said = in_words_of_command(member + ": got 1, expected 2");
    const std::string option = said.substr(0, said.find_first_of(": "));
    INFO(member << ": " << said);
    CHECK(said.starts_with('-'));
    CHECK(std::regex_search(pages, std::regex("(^|[ ,\n])" + option + "[ ,\n]")));
  }
}

TEST_CASE("What stands for a member is an option of the command", "[cli][words]") {
  const std::string pages = all_pages();
  const std::regex option(R"((^|\s)(--?[a-z-]+))");
  for (const gpu::cli::library_word& word : gpu::cli::library_words()) {
    const std::string meant(word.meant);
    for (std::sregex_iterator i(meant.begin(), meant.end(), option), end; i != end; ++i) {
      INFO(meant);
      CHECK(pages.find((*i)[2].str()) != std::string::npos);
    }
  }
}

TEST_CASE("Words are replaced whole", "[cli][words]") {
  CHECK(in_words_of_command("execution.target: cuda was asked for, but it is not there") ==
        "--backend: cuda was asked for, but it is not there");
  CHECK(in_words_of_command("options.exec.workspace_bytes: got 1, this call needs 4096") ==
        "--memory-limit: got 1, this call needs 4096");
  CHECK(in_words_of_command("options.origin: got 1, expected 0 for boundary::valid") ==
        "--origin: got 1, expected 0 for --boundary valid");
  CHECK(in_words_of_command("x: got 2 columns") == "INPUT: got 2 columns");
  CHECK(in_words_of_command("y: got 2 columns") == "--against: got 2 columns");
  CHECK(in_words_of_command("my_options.variant_of") == "my_options.variant_of");
  CHECK(in_words_of_command("matmul_options.variant") == "matmul_options.variant");
  CHECK(in_words_of_command("") == "");
}

TEST_CASE("Messages of a run name options, rows and columns", "[cli][words]") {
  const temporary_folder folder;
  const std::string input =
      folder.write("in.tsv", "name\ta\tb\tc\td\ng1\t1\t2\tNA\t3\ng2\t2\t4\t1\t5\ng3\t4\t4\t4\t1\n");
  const std::string whole = folder.write("whole.txt", "1 2 3 4\n4 3 2 2\n5 7 9 8\n");
  const auto says = [](const std::vector<std::string>& line, const std::string& part) {
    const auto result = run_command(line);
    INFO(result.err);
    CHECK(result.exit_code != 0);
    CHECK(result.err.find("gpu-similarity: " + part) != std::string::npos);
  };
  says({"spearman", whole, "--backend", "cpu", "--variant", "hopper"}, "--variant: hopper is not");
  says({"spearman", whole, "--backend", "cpu", "--memory-limit", "10"}, "--memory-limit: got 10");
  says({"cosine", whole, "--max-p", "0.1"}, "--max-p: Cosine has no significance test");
  says({"mean-filter", whole, "-w", "3", "--origin", "9"}, "--origin: got 9");
  const std::string place = ": got a missing value in row 'g1', column 'c', expected a number";
  says({"spearman", input}, input + ":2: column 4" + place);
  says({"rank", input}, input + ":2: column 4" + place);
  says({"spearman", input, "--transpose"},
       input + ":2: column 4: got a missing value in row 'c', column 'g1', expected a number");
}
