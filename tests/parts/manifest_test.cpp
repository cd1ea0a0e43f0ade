// Manifests of parts: what is written is read back, and what was changed is not taken.
#include <limits>
#include <string>

#include "cli/outputs/json_record.hpp"
#include "cli/parts/folder/part_folder.hpp"
#include "cli/parts/joining/joined_parts.hpp"
#include "cli/parts/manifest/manifest.hpp"
#include "io/json.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using namespace gpu::cli;  // NOLINT

part_manifest some_manifest() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  part_manifest m;
  m.job = {.version = "0.1.0",
           .input = {.bytes = 453366, .crc32 = 0xc1532874},
           .options = {{"statistic", "spearman"}, {"max-p", "0.05"}, {"tail", "greater"}}};
  m.number = 3;
  m.of = 12;
  m.summary.rows = 5000;
  m.summary.cols = 30;
  m.summary.observations = 30;
  m.summary.part_begin = 10;
  m.summary.part_end = 20;
  m.summary.pairs_tested = 49'735;
  m.summary.pairs_kept = 17;
  m.summary.checksum = {.count = 17, .mix1 = ~std::uint64_t{0}, .mix2 = 1};
  m.summary.max_p_effective = 0.1 + 0.2;
  m.summary.cut_at_least = 0.8457793331771033;
  m.summary.cut_at_most = -infinity;
  m.summary.device = "a \"device\"\n\xff";
  m.summary.variant = gpu::pair_variant::tiled;
  m.without.constant_rows = 2;
  m.family = 4998 * 4997 / 2;  // of the rows that are not constant
  m.files = {{"rows", "part-03-of-12.tsv", {.bytes = 5, .crc32 = 0xabc}}};
  m.reading = {.rows_named_by = "column 1", .notes = {"line 1 ('a', \"b\")", ""}};
  m.seconds = 1.5;
  return m;
}

}  // namespace

TEST_CASE("A manifest is read back as it was written", "[parts]") {
  part_manifest m = some_manifest();
  const auto read = parse_manifest(to_json(m));
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(m));
  CHECK(read->job == m.job);
  CHECK(read->family == m.family);
  CHECK(read->summary.checksum == m.summary.checksum);
  CHECK(read->summary.max_p_effective == m.summary.max_p_effective);
  CHECK(read->summary.cut_at_most == m.summary.cut_at_most);
  CHECK(read->summary.device == m.summary.device);
  CHECK(read->reading.rows_named_by == "column 1");
  CHECK(read->reading.columns_named_by.empty());
  CHECK(read->reading.notes == m.reading.notes);
  CHECK(!read->search);
  m.step = 2;
  m.search = gpu::discovery_search{.max_p = 0.05,
                                   .side = gpu::tail::greater,
                                   .observations = 30,
                                   .family = m.family,
                                   .least = 5,
                                   .most = 9};
  CHECK(!parse_manifest(to_json(m)));  // no pass has files of that name
  m.files = {{"bins", "count-2-part-03-of-12.bins", {.bytes = 5, .crc32 = 0xabc}}};
  const auto pass = parse_manifest(to_json(m));
  REQUIRE(pass);
  CHECK(pass->step == 2);
  CHECK(*pass->search == *m.search);
}

TEST_CASE("A manifest of which a byte was changed, or is missing, is none", "[parts]") {
  const std::string text = to_json(some_manifest());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    CHECK(!parse_manifest(changed));
    CHECK(!parse_manifest(text.substr(0, i)));
  }
  CHECK(!parse_manifest(""));
  CHECK(!parse_manifest("{}"));
  // A name that leads out of the folder, and numbers that no part has.
  const auto is_taken = [](const auto& change) {
    part_manifest other = some_manifest();
    change(other);
    return parse_manifest(to_json(other)).has_value();
  };
  CHECK(is_taken([](part_manifest&) {}));
  CHECK(!is_taken([](auto& m) { m.files.front().name = "../part-03-of-12.tsv"; }));
  CHECK(!is_taken([](auto& m) { ++m.family; }));
  CHECK(!is_taken([](auto& m) { m.without.nan_rows = 4999; }));
  CHECK(!is_taken([](auto& m) { m.summary.pairs_tested = m.family + 1; }));
  CHECK(!is_taken([](auto& m) { m.summary.part_begin = 21; }));
  CHECK(!is_taken([](auto& m) { m.summary.y_rows = 3; }));
}

TEST_CASE("The first difference of two jobs is said", "[parts]") {
  const job_key key = some_manifest().job;
  job_key other = key;
  CHECK(difference(other, key).empty());
  other.options[1].second = "0.01";
  CHECK(difference(other, key) == "--max-p is 0.01, expected 0.05");
  other = key;
  other.version = "9.9.9";
  CHECK(difference(other, key) == "it is written by version 9.9.9, expected 0.1.0");
  other.against = gpu::io::file_digest{.bytes = 7, .crc32 = 0x12};
  CHECK(difference(other, key) == "its --against has 7 bytes with CRC-32 00000012, expected none");
  CHECK(difference(key, other) == "its --against has none, expected 7 bytes with CRC-32 00000012");
  other.input.crc32 = 0;
  CHECK(difference(other, key) ==
        "its input has 453366 bytes with CRC-32 00000000, expected 453366 bytes with CRC-32 "
        "c1532874");
}

TEST_CASE("Numbers of parts are listed as Slurm takes them", "[parts]") {
  CHECK(compact_list({}).empty());
  CHECK(compact_list({{3, 3}}) == "3");
  CHECK(compact_list({{1, 2}}) == "1-2");
  CHECK(compact_list({{3, 3}, {7, 9}, {11, 12}}) == "3,7-9,11-12");
}

TEST_CASE("A checksum is text and back", "[parts]") {
  const gpu::pair_checksum sum{.count = 123, .mix1 = 0xf, .mix2 = ~std::uint64_t{0}};
  CHECK(gpu::to_string(sum) == "123:000000000000000f:ffffffffffffffff");
  CHECK(parse_checksum(gpu::to_string(sum)) == sum);
  for (const char* wrong : {"", "1:2", "1:2:3:4", "x:0:0", "1:2:3 "}) CHECK(!parse_checksum(wrong));
}

TEST_CASE("Names of a folder are told apart", "[parts]") {
  const gpu_test::temporary_folder folder;
  CHECK(gpu::cli::name_of({0, 3, 12}, ".tsv") == "part-03-of-12.tsv");
  CHECK(gpu::cli::name_of({2, 3, 7}, ".bins") == "count-2-part-3-of-7.bins");
  for (const char* name : {"part-03-of-12.json", "count-2-part-11-of-12.json", "part-03-of-12.tsv",
                           "part-13-of-12.json", "part-0-of-12.json", "part-1-of-12.jsonx",
                           "count-0-part-1-of-12.json", "part-04-of-12.tsv.abcdef.partial", "x"}) {
    (void)folder.write(name, "");
  }
  const part_folder parts(folder.path("."));
  const part_folder::contents found = parts.list();
  CHECK(found.of == 12);
  CHECK(found.numbers.size() == 2);
  CHECK(found.numbers.at(0) == std::set<gpu::index_t>{3});
  CHECK(found.numbers.at(2) == std::set<gpu::index_t>{11});
  CHECK(found.unfinished == 1);
  CHECK(parts.check({0, 3, 12}, part_check::sizes).state == part_state::damaged);
  CHECK(parts.check({0, 4, 12}, part_check::sizes).state == part_state::missing);
  (void)folder.write("part-1-of-3.json", "");
  CHECK_THROWS_AS(parts.list(), parts_error);
}

TEST_CASE("JSON is read", "[parts]") {
  using gpu::io::json_value;
  const auto value = json_value::parse(R"( {"a": [1, -2.5e3, "x\"\\\u0041\udcff"], "b": null,
      "c": {"d": true}, "e": [], "f": {}} )");
  REQUIRE(value);
  const json_value* a = value->find("a");
  REQUIRE(a != nullptr);
  REQUIRE(a->members().size() == 3);
  CHECK(a->members()[0].second.count() == 1U);
  CHECK(a->members()[1].second.number() == -2500.0);
  CHECK(!a->members()[1].second.count());
  CHECK(a->members()[2].second.text() == "x\"\\A\xff");
  CHECK(value->find("b")->type() == json_value::kind::null);
  CHECK(value->find("c")->find("d")->type() == json_value::kind::boolean);
  CHECK(value->find("z") == nullptr);
  for (const char* wrong : {"", "{", "{\"a\"}", "[1,]", "[1 2]", "{\"a\": 1,}", "\"", "\"\\x\"",
                            "\"\\u12\"", "nul", "1x", "[1] 2", "{1: 2}"}) {
    INFO(wrong);
    CHECK(!json_value::parse(wrong));
  }
  CHECK(!json_value::parse(std::string(100, '[') + std::string(100, ']')));
}
