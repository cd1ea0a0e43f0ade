#pragma once
// Records as JSON, and back. each_member(record, see) calls see(name, place) for every member of a
// record: what is written and what is read follow from that one list.

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "cli/options/option_words.hpp"
#include "cli/outputs/row_counts.hpp"
#include "io/file_digest.hpp"
#include "io/json.hpp"
#include "io/table.hpp"

namespace gpu::cli {

template <class Counts, class See>
  requires std::same_as<std::remove_const_t<Counts>, row_counts>
void each_member(Counts& counts, See& see) {
  see("constant_rows", counts.constant_rows);
  see("nan_rows", counts.nan_rows);
  see("infinite_rows", counts.infinite_rows);
  see("y_constant_rows", counts.y_constant_rows);
  see("y_nan_rows", counts.y_nan_rows);
  see("y_infinite_rows", counts.y_infinite_rows);
}

template <class Summary, class See>
  requires std::same_as<std::remove_const_t<Summary>, pair_summary>
void each_member(Summary& s, See& see) {
  see("rows", s.rows);
  see("cols", s.cols);
  see("observations", s.observations);
  see("y_rows", s.y_rows);
  see("patterns", s.patterns);
  see("pairs_tested", s.pairs_tested);
  see("pairs_kept", s.pairs_kept);
  see("pairs_by_t", s.pairs_by_t);
  see("test", s.test);
  see("least_p", s.least_p);
  see("max_p_effective", s.max_p_effective);
  see("min_abs_effective", s.min_abs_effective);
  see("cut_at_least", s.cut_at_least);
  see("cut_at_most", s.cut_at_most);
  see("checksum", s.checksum);
  see("backend", s.used);
  see("device", s.device);
  see("variant", s.variant);
}

/// A number as eight hexadecimal digits.
template <class Integer>
struct as_hex {
  Integer& value;
};
template <class Integer>
as_hex(Integer&) -> as_hex<Integer>;

template <class Digest, class See>
  requires std::same_as<std::remove_const_t<Digest>, io::file_digest>
void each_member(Digest& digest, See& see) {
  see("bytes", digest.bytes);
  see("crc32", as_hex{digest.crc32});
}

template <class Reading, class See>
  requires std::same_as<std::remove_const_t<Reading>, io::table_reading>
void each_member(Reading& reading, See& see) {
  see("rows_named_by", reading.rows_named_by);
  see("columns_named_by", reading.columns_named_by);
  see("notes", reading.notes);
}

/// The checksum that to_string() wrote.
[[nodiscard]] std::optional<pair_checksum> parse_checksum(std::string_view text);

template <class Value>
concept has_words = !words_of<Value>.empty();

class json_writer {
 public:
  template <class Value>
  void operator()(std::string_view name, const Value& value) {
    members_.push_back(fmt::format("\"{}\": {}", name, text_of(value)));
  }
  template <class Record>
  void add(const Record& record) {
    each_member(record, *this);
  }
  [[nodiscard]] std::string line() const { return fmt::format("{{{}}}", joined(", ")); }
  [[nodiscard]] std::string lines() const { return fmt::format("{{\n  {}\n}}\n", joined(",\n  ")); }

  [[nodiscard]] static std::string text_of(bool value) { return value ? "true" : "false"; }
  [[nodiscard]] static std::string text_of(std::integral auto value) {
    return fmt::to_string(value);
  }
  [[nodiscard]] static std::string text_of(double value) { return io::json_number(value); }
  [[nodiscard]] static std::string text_of(std::string_view value) { return io::json_text(value); }
  [[nodiscard]] static std::string text_of(const std::string& value) {
    return io::json_text(value);
  }
  [[nodiscard]] static std::string text_of(const char* value) { return io::json_text(value); }
  [[nodiscard]] static std::string text_of(as_hex<const std::uint32_t> number) {
    return fmt::format("\"{:08x}\"", number.value);
  }
  [[nodiscard]] static std::string text_of(const pair_checksum& value) {
    return io::json_text(gpu::to_string(value));
  }
  [[nodiscard]] static std::string text_of(has_words auto value) {
    return io::json_text(word_of(value));
  }
  [[nodiscard]] static std::string text_of(std::nullopt_t /*none*/) { return "null"; }
  [[nodiscard]] static std::string text_of(const json_writer& object) { return object.line(); }
  template <class Value>
  [[nodiscard]] static std::string text_of(const std::optional<Value>& value) {
    return value ? text_of(*value) : text_of(std::nullopt);
  }
  template <class Value>
  [[nodiscard]] static std::string text_of(const std::vector<Value>& list) {
    std::string out;
    for (const Value& each : list) out.append(out.empty() ? "" : ", ").append(text_of(each));
    return fmt::format("[{}]", out);
  }
  [[nodiscard]] static std::string text_of(
      const std::vector<std::pair<std::string, std::string>>& texts) {
    json_writer out;
    for (const auto& [name, value] : texts) out(name, value);
    return out.line();
  }
  template <class Record>
  [[nodiscard]] static std::string text_of(const Record& record)
    requires requires(json_writer& see) { each_member(record, see); }
  {
    json_writer out;
    each_member(record, out);
    return out.line();
  }

 private:
  [[nodiscard]] std::string joined(std::string_view between) const {
    std::string out;
    for (const std::string& each : members_) out.append(out.empty() ? "" : between).append(each);
    return out;
  }
  std::vector<std::string> members_;
};

/// Reads the members of an object, and notes whether all of them were there. What is null, as a
/// number that is not finite is, leaves its place as it is.
class json_reader {
 public:
  explicit json_reader(const io::json_value& object) : object_(object) {}

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  void note(bool is_there) { is_whole_ = is_whole_ && is_there; }

  template <class Value>
  void operator()(std::string_view name, Value&& place) {
    const io::json_value* const value = object_.find(name);
    note(value != nullptr && read(*value, place));
  }
  template <class Record>
  void add(Record& record) {
    each_member(record, *this);
  }

 private:
  using kind = io::json_value::kind;

  static bool read(const io::json_value& value, std::string& place) {
    place = value.text();
    return value.type() == kind::text;
  }
  template <std::integral Integer>
  static bool read(const io::json_value& value, Integer& place) {
    const std::optional<std::uint64_t> count = value.count();
    if (!count || !std::in_range<Integer>(*count)) return false;
    place = static_cast<Integer>(*count);
    return true;
  }
  static bool read(const io::json_value& value, double& place) {
    const std::optional<double> number = value.number();
    place = number.value_or(place);
    return number || value.type() == kind::null;
  }
  static bool read(const io::json_value& value, observation_count& place) {
    double number = place;
    const bool is_there = read(value, number);
    place = number;
    return is_there;
  }
  static bool read(const io::json_value& value, as_hex<std::uint32_t>& place) {
    const char* const end = value.text().data() + value.text().size();
    const auto [stopped, error] = std::from_chars(value.text().data(), end, place.value, 16);
    return value.type() == kind::text && error == std::errc() && stopped == end;
  }
  static bool read(const io::json_value& value, pair_checksum& place) {
    const std::optional<pair_checksum> sum = parse_checksum(value.text());
    place = sum.value_or(place);
    return sum.has_value();
  }
  template <has_words Value>
  static bool read(const io::json_value& value, Value& place) {
    return read_word(value.text(), place);
  }
  template <class Value>
  static bool read(const io::json_value& value, std::optional<Value>& place) {
    return value.type() == kind::null || read(value, place.emplace());
  }
  template <class Value>
  static bool read(const io::json_value& value, std::vector<Value>& list) {
    bool is_whole = value.type() == kind::array;
    for (const auto& [unused, each] : value.members()) {
      is_whole = is_whole && read(each, list.emplace_back());
    }
    return is_whole;
  }
  static bool read(const io::json_value& value,
                   std::vector<std::pair<std::string, std::string>>& texts) {
    bool is_whole = value.type() == kind::object;
    for (const auto& [name, each] : value.members()) {
      is_whole = is_whole && read(each, texts.emplace_back(name, "").second);
    }
    return is_whole;
  }
  template <class Record>
  static bool read(const io::json_value& value, Record& record)
    requires requires(json_reader& see) { each_member(record, see); }
  {
    json_reader inner(value);
    each_member(record, inner);
    return inner.is_whole();
  }

  const io::json_value& object_;
  bool is_whole_ = true;
};

}  // namespace gpu::cli
