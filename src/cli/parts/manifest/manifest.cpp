#include "cli/parts/manifest/manifest.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <gpu/backend.hpp>

#include "io/json.hpp"

namespace gpu::cli {
namespace {

using io::json_number;
using io::json_text;
using io::json_value;

constexpr std::string_view format_name = "gpu-similarity part 1";
constexpr std::string_view own_digest = ",\n  \"manifest_crc32\": \"";

std::string digest_members(const io::file_digest& digest) {
  return fmt::format("\"bytes\": {}, \"crc32\": \"{:08x}\"", digest.bytes, digest.crc32);
}

std::string own_digest_of(std::string_view text) {
  io::file_digest digest;
  digest.add(text);
  return fmt::format("{}{:08x}\"\n}}\n", own_digest, digest.crc32);
}

std::string options_json(const job_key& job) {
  std::string out;
  for (const auto& [name, value] : job.options) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", json_text(name), json_text(value));
  }
  return fmt::format("{{{}}}", out);
}

std::string files_json(const part_manifest& m) {
  std::string out;
  for (const part_file& file : m.files) {
    out += fmt::format("{}{{\"role\": {}, \"name\": {}, {}}}", out.empty() ? "" : ", ",
                       json_text(file.role), json_text(file.name), digest_members(file.digest));
  }
  return fmt::format("[{}]", out);
}

std::string search_json(const std::optional<discovery_search>& search) {
  if (!search) return "null";
  return fmt::format("{{\"least\": {}, \"most\": {}}}", search->least, search->most);
}

std::string reading_json(const io::table_reading& reading) {
  std::string notes;
  for (const std::string& note : reading.notes) {
    notes += (notes.empty() ? "" : ", ") + json_text(note);
  }
  return fmt::format("{{\"rows_named_by\": {}, \"columns_named_by\": {}, \"notes\": [{}]}}",
                     json_text(reading.rows_named_by), json_text(reading.columns_named_by), notes);
}

void add_summary(io::json_members& members, const part_manifest& m) {
  const pair_summary& s = m.summary;
  members.add("rows", fmt::to_string(s.rows));
  members.add("cols", fmt::to_string(s.cols));
  members.add("observations", json_number(s.observations));
  members.add("y_rows", fmt::to_string(s.y_rows));
  members.add("constant_rows", fmt::to_string(m.constant_rows));
  members.add("nan_rows", fmt::to_string(m.nan_rows));
  members.add("infinite_rows", fmt::to_string(m.infinite_rows));
  members.add("y_constant_rows", fmt::to_string(m.y_constant_rows));
  members.add("y_nan_rows", fmt::to_string(m.y_nan_rows));
  members.add("y_infinite_rows", fmt::to_string(m.y_infinite_rows));
  members.add("first_row", fmt::to_string(s.part_begin));
  members.add("end_row", fmt::to_string(s.part_end));
  members.add("patterns", fmt::to_string(s.patterns));
  members.add("family", fmt::to_string(m.family));
  members.add("pairs_tested", fmt::to_string(s.pairs_tested));
  members.add("pairs_kept", fmt::to_string(s.pairs_kept));
  members.add("pairs_by_t", fmt::to_string(s.pairs_by_t));
  members.add("test", json_text(to_string(s.test)));
  members.add("least_p", json_number(s.least_p));
  members.add("checksum", json_text(gpu::to_string(s.checksum)));
  members.add("max_p_effective", json_number(s.max_p_effective));
  members.add("min_abs_effective", json_number(s.min_abs_effective));
  members.add("cut_at_least", json_number(s.cut_at_least));
  members.add("cut_at_most", json_number(s.cut_at_most));
  members.add("backend", json_text(gpu::to_string(s.used)));
  members.add("device", json_text(s.device));
  members.add("variant", json_text(gpu::to_string(s.variant)));
}

/// Reads members and notes whether all were there.
class member_reader {
 public:
  explicit member_reader(const json_value& object) : object_(object) {}

  [[nodiscard]] bool is_whole() const { return is_whole_; }

  void read(std::string_view key, std::string& out) {
    const json_value* value = expect(key, json_value::kind::text);
    if (value != nullptr) out = value->text();
  }
  template <std::integral Integer>
  void read(std::string_view key, Integer& out) {
    const json_value* value = expect(key, json_value::kind::number);
    const auto count = value != nullptr ? value->count() : std::nullopt;
    note(count && std::in_range<Integer>(*count));
    if (is_whole_) out = static_cast<Integer>(*count);
  }
  /// A number, or null for what JSON cannot write.
  void read(std::string_view key, double& out, double if_null) {
    const json_value* value = object_.find(key);
    note(value != nullptr);
    if (value == nullptr) return;
    const auto number =
        value->type() == json_value::kind::null ? std::optional(if_null) : value->number();
    note(number.has_value());
    out = number.value_or(0);
  }
  void read(std::string_view key, pair_checksum& out) {
    std::string text;
    read(key, text);
    const auto checksum = parse_checksum(text);
    note(checksum.has_value());
    out = checksum.value_or(pair_checksum{});
  }
  void read_digest(io::file_digest& out) {
    std::string text;
    read("bytes", out.bytes);
    read("crc32", text);
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), out.crc32, 16);
    note(error == std::errc() && end == text.data() + text.size());
  }
  const json_value* expect(std::string_view key, json_value::kind kind) {
    const json_value* value = object_.find(key);
    note(value != nullptr && value->type() == kind);
    return is_whole_ ? value : nullptr;
  }
  [[nodiscard]] const json_value* find(std::string_view key) const { return object_.find(key); }
  void note(bool is_there) { is_whole_ = is_whole_ && is_there; }

 private:
  const json_value& object_;
  bool is_whole_ = true;
};

void read_job(member_reader& members, job_key& job) {
  members.read("version", job.version);
  if (const json_value* input = members.expect("input", json_value::kind::object)) {
    member_reader digest(*input);
    digest.read_digest(job.input);
    members.note(digest.is_whole());
  }
  const json_value* against = members.find("against");
  if (against != nullptr && against->type() == json_value::kind::object) {
    member_reader digest(*against);
    digest.read_digest(job.against.emplace());
    members.note(digest.is_whole());
  }
  if (const json_value* options = members.expect("options", json_value::kind::object)) {
    for (const auto& [name, value] : options->members())
      job.options.emplace_back(name, value.text());
  }
}

void read_files(member_reader& members, std::vector<part_file>& files) {
  const json_value* list = members.expect("files", json_value::kind::array);
  if (list == nullptr) return;
  for (const auto& [unused, value] : list->members()) {
    part_file file;
    member_reader reader(value);
    reader.read("role", file.role);
    reader.read("name", file.name);
    reader.read_digest(file.digest);
    // A name leads nowhere else.
    members.note(reader.is_whole() && !file.name.empty() &&
                 file.name.find('/') == std::string::npos);
    files.push_back(std::move(file));
  }
}

/// How a table was read, where the manifest says it.
void read_reading(member_reader& members, std::string_view key, io::table_reading& out) {
  const json_value* value = members.find(key);
  if (value == nullptr) return;
  member_reader reader(*value);
  reader.read("rows_named_by", out.rows_named_by);
  reader.read("columns_named_by", out.columns_named_by);
  if (const json_value* notes = reader.expect("notes", json_value::kind::array)) {
    for (const auto& [unused, note] : notes->members()) out.notes.push_back(note.text());
  }
  members.note(reader.is_whole());
}

void read_summary(member_reader& members, part_manifest& m) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  pair_summary& s = m.summary;
  members.read("rows", s.rows);
  members.read("cols", s.cols);
  double observations = 0;
  members.read("observations", observations, 0);
  s.observations = observations;
  members.read("y_rows", s.y_rows);
  members.read("constant_rows", m.constant_rows);
  members.read("nan_rows", m.nan_rows);
  members.read("infinite_rows", m.infinite_rows);
  members.read("y_constant_rows", m.y_constant_rows);
  members.read("y_nan_rows", m.y_nan_rows);
  members.read("y_infinite_rows", m.y_infinite_rows);
  members.read("first_row", s.part_begin);
  members.read("end_row", s.part_end);
  members.read("patterns", s.patterns);
  members.read("family", m.family);
  members.read("pairs_tested", s.pairs_tested);
  members.read("pairs_kept", s.pairs_kept);
  members.read("pairs_by_t", s.pairs_by_t);
  std::string test;
  members.read("test", test);
  for (const significance each : {significance::student_t, significance::floored_t,
                                  significance::kendall, significance::permutations}) {
    if (test == to_string(each)) s.test = each;
  }
  members.read("least_p", s.least_p, 0.0);
  members.read("checksum", s.checksum);
  members.read("max_p_effective", s.max_p_effective, infinity);
  members.read("min_abs_effective", s.min_abs_effective, infinity);
  members.read("cut_at_least", s.cut_at_least, infinity);
  members.read("cut_at_most", s.cut_at_most, -infinity);
  members.read("device", s.device);
  std::string used;
  members.read("backend", used);
  s.used = used == gpu::to_string(backend::cuda) ? backend::cuda : backend::cpu;
  std::string variant;
  members.read("variant", variant);
  for (const pair_variant v : {pair_variant::naive, pair_variant::tiled, pair_variant::shared_tiled,
                               pair_variant::tensor, pair_variant::hopper}) {
    if (variant == gpu::to_string(v)) s.variant = v;
  }
}

// Columns of a search: none where counting passes bin p itself.
observation_count observations_of_search(const part_manifest& m) {
  switch (m.summary.test) {
    case significance::kendall:
    case significance::permutations:
      return 0;
    case significance::none:
    case significance::student_t:
    case significance::floored_t:
      break;
  }
  return m.summary.observations;
}

void read_search(member_reader& members, part_manifest& m) {
  if (m.step == 0) return;
  const json_value* object = members.expect("search", json_value::kind::object);
  if (object == nullptr) return;
  discovery_search search{.observations = observations_of_search(m), .family = m.family};
  member_reader reader(*object);
  reader.read("least", search.least);
  reader.read("most", search.most);
  members.note(reader.is_whole());
  const std::string& max_p = m.job.option("max-p");
  const auto [end, error] =
      std::from_chars(max_p.data(), max_p.data() + max_p.size(), search.max_p);
  members.note(error == std::errc());
  const std::string& side = m.job.option("tail");
  search.side = side == "greater" ? tail::greater : side == "less" ? tail::less : tail::two_sided;
  m.search = search;
}

}  // namespace

const part_file* part_manifest::file(std::string_view role) const {
  for (const part_file& f : files) {
    if (f.role == role) return &f;
  }
  return nullptr;
}

std::string panel_text(const part_manifest& m) {
  const bool is_folded = m.job.option("keep") == word_of(keep_kind::folded_edges) && m.step == 0;
  const char* const what = is_folded ? "patterns" : "rows";
  const pair_summary& s = m.summary;
  if (s.part_begin == s.part_end) return fmt::format("no {}", what);
  return fmt::format("{} {} to {}", what, s.part_begin + 1, s.part_end);
}

std::uint64_t family_of(const pair_summary& s) {
  const auto valid = [](index_t rows, const std::vector<index_t>& constant,
                        const std::vector<index_t>& with_nan,
                        const std::vector<index_t>& infinite) {
    return static_cast<std::uint64_t>(rows) - constant.size() - with_nan.size() - infinite.size();
  };
  const std::uint64_t x = valid(s.rows, s.constant_rows, s.nan_rows, s.infinite_rows);
  if (s.y_rows == 0) return tests_of(x, std::nullopt);
  return tests_of(x, valid(s.y_rows, s.y_constant_rows, s.y_nan_rows, s.y_infinite_rows));
}

std::uint64_t tests_of(std::uint64_t x, std::optional<std::uint64_t> y) {
  if (y) return x * *y;
  return x % 2 == 0 ? x / 2 * (x - std::min<std::uint64_t>(x, 1)) : (x - 1) / 2 * x;
}

std::string to_json(const part_manifest& m) {
  io::json_members members;
  members.add("format", json_text(format_name));
  members.add("version", json_text(m.job.version));
  members.add("step",
              m.step == 0 ? json_text("result") : json_text(fmt::format("count {}", m.step)));
  members.add("part", fmt::to_string(m.number));
  members.add("of", fmt::to_string(m.of));
  members.add("input", fmt::format("{{{}}}", digest_members(m.job.input)));
  members.add("against", m.job.against ? fmt::format("{{{}}}", digest_members(*m.job.against))
                                       : std::string("null"));
  members.add("options", options_json(m.job));
  add_summary(members, m);
  members.add_count("edge_sum", m.edge_sum.has_value(), m.edge_sum.value_or(0));
  members.add("search", search_json(m.search));
  members.add("reading", reading_json(m.reading));
  if (m.job.against) members.add("y_reading", reading_json(m.y_reading));
  members.add("files", files_json(m));
  members.add("seconds", fmt::format("{:.6f}", m.seconds));
  std::string text = members.object();
  text.resize(text.size() - std::string_view("\n}\n").size());
  return text + own_digest_of(text);
}

std::optional<part_manifest> parse_manifest(std::string_view text) {
  const std::size_t at = text.rfind(own_digest);
  if (at == std::string_view::npos || text.substr(at) != own_digest_of(text.substr(0, at))) {
    return {};
  }
  const auto value = json_value::parse(text);
  if (!value || value->type() != json_value::kind::object) return {};
  member_reader members(*value);
  part_manifest m;
  std::string format;
  std::string step;
  members.read("format", format);
  members.read("step", step);
  members.read("part", m.number);
  members.read("of", m.of);
  read_job(members, m.job);
  read_summary(members, m);
  const json_value* edge_sum = members.find("edge_sum");
  if (edge_sum != nullptr && edge_sum->type() != json_value::kind::null) {
    members.read("edge_sum", m.edge_sum.emplace());
  }
  read_reading(members, "reading", m.reading);
  read_reading(members, "y_reading", m.y_reading);
  read_files(members, m.files);
  members.read("seconds", m.seconds, 0);
  constexpr std::string_view count = "count ";
  if (step.starts_with(count)) {
    std::from_chars(step.data() + count.size(), step.data() + step.size(), m.step);
    members.note(m.step > 0);
  } else {
    members.note(step == "result");
  }
  read_search(members, m);
  members.note(format == format_name && m.number >= 1 && m.number <= m.of);
  if (!members.is_whole()) return {};
  return m;
}

std::optional<pair_checksum> parse_checksum(std::string_view text) {
  pair_checksum out;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto take = [&](std::uint64_t& value, int base) {
    const auto [stopped, error] = std::from_chars(at, end, value, base);
    at = stopped;
    return error == std::errc();
  };
  const auto colon = [&] { return at != end && *at++ == ':'; };
  if (take(out.count, 10) && colon() && take(out.mix1, 16) && colon() && take(out.mix2, 16) &&
      at == end) {
    return out;
  }
  return {};
}

}  // namespace gpu::cli
