#pragma once
// The verbs and options of a parser as a table: what pages and completions are written from.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace gpu::cli {

/// What stands behind an option.
enum class value_kind { none, word, file, folder, other };

struct option_entry {
  std::vector<std::string> names =
      {};  ///< "-o", "--output"; of a positional argument its name alone.
  bool is_positional = false;
  value_kind value = value_kind::none;
  std::string type = {};                ///< What the help calls the value.
  std::vector<std::string> words = {};  ///< That a value of kind `word` may be.
  std::string description = {};
  std::string group = {};

  /// "-o, --output FILE"
  [[nodiscard]] std::string title() const;
  [[nodiscard]] bool operator==(const option_entry& other) const {
    return names == other.names && type == other.type && description == other.description;
  }
};

struct verb_entry {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<option_entry> options = {};
};

/// The verbs of `app` in their order.
[[nodiscard]] std::vector<verb_entry> verbs_of(const CLI::App& app);

}  // namespace gpu::cli
