#pragma once
// The options of a command as data. The parser, the manual page and what is said of unknown words
// are made from them; parser.cpp is the one file that knows the library that parses.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace gpu::cli {

/// Takes the text of a value, or looks at it; says what is wrong with it, "" where nothing is.
using text_taker = std::function<std::string(const std::string&)>;

class option {
 public:
  /// Where the value goes; of a flag a bool, or what is done.
  using destination = std::variant<bool*, std::function<void()>, std::string*, double*, int*,
                                   std::int64_t*, std::uint64_t*, std::vector<int>*, text_taker>;

  option(std::string_view names, destination to, std::string help);

  option* type_name(std::string type);
  option* check(text_taker look);
  option* required();
  option* excludes(const option* other);
  /// The result of a job depends on it: all parts of a job have the same.
  option* of_result();
  /// The same, as far as it says how INPUT is read.
  option* of_reading();

  std::vector<std::string> names;  ///< "-o", "--output"; of an argument its name alone.
  destination to;
  std::string help;
  std::string type = {};  ///< What the help calls the value; words with | between them.
  std::string heading = "Options";
  text_taker look = {};
  bool is_required = false;
  const option* excluded = nullptr;
  bool is_given = false;  ///< On the line that was parsed.
  enum class effect { other, result, reading } decides = effect::other;
  std::function<std::string()> said = {};  ///< The value of a text_taker, as text.

  [[nodiscard]] bool is_argument() const { return names.front().front() != '-'; }
  [[nodiscard]] bool is_flag() const { return to.index() < 2; }
  /// "-o, --output FILE"
  [[nodiscard]] std::string title() const;
  /// The value as text, in the fewest digits that give it back; "" of none.
  [[nodiscard]] std::string value_text() const;
  /// Takes what value_text() said; false for another text.
  [[nodiscard]] bool take(const std::string& text) const;
};

/// The numbers that an option accepts, in the words that the library has for them.
struct number_range {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool is_above = false;  ///< Not `least` itself.
  bool is_below = false;  ///< Not `most` itself.
};

[[nodiscard]] text_taker number_in(const number_range& range, bool is_whole);

/// Other words for some of the values.
using aliases = std::map<std::string, std::string>;

/// Options that some jobs refuse.
struct option_rule {
  bool applies = false;      ///< To this job.
  std::string_view options;  ///< With blanks between them: the first that is given breaks the rule.
  std::string what;          ///< Behind the option.
};

/// A verb with its options, in the order of the help.
struct verb {
  std::string name;
  std::string description;
  std::string footer = {};
  std::deque<option> options = {};  ///< Their places stay.
  std::string heading = "Options";  ///< In the help, of the options that are added next.

  option* add(std::string_view names, option::destination to, std::string help);
  template <class Value>
  option* add_option(std::string_view names, Value& value, std::string help) {
    return add(names, &value, std::move(help));
  }
  template <class Number>
  option* add_number(std::string_view names, Number& value, const char* type,
                     const number_range& range, std::string help) {
    return add_option(names, value, std::move(help))
        ->type_name(type)
        ->check(number_in(range, std::is_integral_v<Number>));
  }
  /// A file, which has a name.
  option* add_file(std::string_view names, std::string& value, std::string help,
                   const char* type = "FILE");

  /// An option whose value is one of a few words, in capitals or not; `take` gets its number.
  option* add_words(std::string_view names, const std::vector<std::string_view>& known,
                    std::function<void(std::size_t)> take, std::string help, const aliases& others);

  /// What the first of `rules` that is broken says; "" where none is.
  [[nodiscard]] std::string broken(std::initializer_list<option_rule> rules) const;
  /// Whether it has the option, and it is given.
  [[nodiscard]] bool is_given(std::string_view option_name) const;
};

/// A number of bytes from 1, with or without a unit: K, M, G and T are powers of 1000, Ki, Mi, Gi
/// and Ti of 1024; a B may follow.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace gpu::cli
