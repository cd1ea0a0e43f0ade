// gpu-similarity modules: the connected components of a table of edges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "cli/outputs/outputs.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/jobs.hpp"
#include "io/field_text.hpp"
#include "io/io_error.hpp"
#include "io/read/input.hpp"
#include "io/read/numbered_lines.hpp"
#include "io/text/number.hpp"
#include "io/text/text_fields.hpp"
#include "io/write/buffered_text.hpp"

namespace gpu::cli {
namespace {

/// Connected components of a network whose edges come one by one: nodes by name, in sets that
/// edges join. Memory: the names and about 100 bytes a node, whatever
/// the number of edges.
class node_sets {
 public:
  using node = std::uint32_t;

  /// The node of that name, which is new the first time.
  node node_of(std::string_view name);
  /// Joins the sets of two nodes.
  void join(node a, node b);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] const std::string& name(node a) const { return *names_[a]; }

  /// The nodes, set by set: the largest set first, of equal ones the one with the earlier node;
  /// within a set in the order in which they came.
  [[nodiscard]] std::vector<node> list();
  /// A node that tells the set of `a` from others, and how many nodes the set has.
  node root_of(node a);
  [[nodiscard]] std::size_t set_size(node a) { return size_[root_of(a)]; }

 private:
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, node, hash, std::equal_to<>> nodes_;
  std::vector<const std::string*> names_;  // keys of nodes_, which stay where they are
  std::vector<node> above_;                // a root is above itself
  std::vector<node> size_;                 // of the set of a root
};

node_sets::node node_sets::node_of(std::string_view name) {
  if (const auto found = nodes_.find(name); found != nodes_.end()) return found->second;
  if (names_.size() == std::numeric_limits<node>::max()) {
    throw capacity_exceeded("a network of more than 2^32 - 1 nodes is not offered",
                            std::ssize(names_));
  }
  const auto made = static_cast<node>(names_.size());
  names_.push_back(&nodes_.emplace(std::string(name), made).first->first);
  above_.push_back(made);
  size_.push_back(1);
  return made;
}

node_sets::node node_sets::root_of(node a) {
  while (above_[a] != a) a = above_[a] = above_[above_[a]];
  return a;
}

void node_sets::join(node a, node b) {
  a = root_of(a);
  b = root_of(b);
  if (a == b) return;
  if (size_[a] < size_[b]) std::swap(a, b);
  above_[b] = a;
  size_[a] += size_[b];
}

std::vector<node_sets::node> node_sets::list() {
  std::vector<node> earliest(size(), std::numeric_limits<node>::max());  // of the set of a root
  std::vector<node> out(size());
  for (node a = 0; a < size(); ++a) {
    out[a] = a;
    earliest[root_of(a)] = std::min(earliest[root_of(a)], a);
  }
  std::sort(out.begin(), out.end(), [&](node a, node b) {
    const node x = root_of(a);
    const node y = root_of(b);
    if (size_[x] != size_[y]) return size_[x] > size_[y];
    return std::pair(earliest[x], a) < std::pair(earliest[y], b);
  });
  return out;
}

/// Which fields of a line are read, as the header names them.
struct edge_columns {
  char separator = '\t';
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t statistic = 0;
};

class edge_table {
 public:
  edge_table(const modules_command& job, io::input& file)
      : job_(job), file_(file.name()), lines_(file.lines()) {}

  void read(node_sets& nodes) {
    read_header();
    std::vector<std::string> fields;
    for (std::string_view line; lines_.next(line);) {
      if (line.empty()) continue;
      constexpr index_t lines_between_looks = 1 << 16;
      if (lines_.number() % lines_between_looks == 0 && is_interrupted()) {
        throw interrupted_run("interrupted: nothing is written");
      }
      split(line, fields);
      const node_sets::node a = nodes.node_of(field(fields, columns_.first, "a name"));
      const node_sets::node b = nodes.node_of(field(fields, columns_.second, "a name"));
      ++edges_;
      if (job_.min_abs > 0 && !is_strong(field(fields, columns_.statistic, "a statistic")))
        continue;
      ++joined_;
      nodes.join(a, b);
    }
  }
  [[nodiscard]] index_t edges() const { return edges_; }
  /// Those that the cut keeps.
  [[nodiscard]] index_t joined() const { return joined_; }

 private:
  [[noreturn]] void refuse(index_t column, const std::string& what) const {
    throw io::input_error(file_, {lines_.number(), column}, what);
  }

  void read_header() {
    std::string_view line;
    if (!lines_.next(line)) throw io::input_error(file_, {}, "is empty, expected a table of edges");
    columns_.separator = line.find('\t') == std::string_view::npos ? ',' : '\t';
    std::vector<std::string> names;
    split(line, names);
    const auto place = [&](std::string_view name) -> std::optional<std::size_t> {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) return std::nullopt;
      return static_cast<std::size_t>(found - names.begin());
    };
    const auto first = place("name_i");
    const auto second = place("name_j");
    if (!first || !second) {
      refuse(0,
             fmt::format("got the header {}, expected a table of edges with the columns name_i and "
                         "name_j, as text",
                         io::quoted(line)));
    }
    columns_.first = *first;
    columns_.second = *second;
    // Of differential correlation it is z, behind the statistics of both groups.
    columns_.statistic = place("z").value_or(*second + 1);
  }

  void split(std::string_view line, std::vector<std::string>& fields) {
    fields.clear();
    io::field_cursor cursor(line, {.separator = columns_.separator, .merges = false});
    for (std::string_view field; cursor.next(field);) fields.emplace_back(field);
    if (cursor.fault() == io::field_fault::none) return;
    refuse(static_cast<index_t>(fields.size()) + 1, io::text_of(cursor.fault()));
  }

  [[nodiscard]] const std::string& field(const std::vector<std::string>& fields, std::size_t at,
                                         const char* what) const {
    if (at < fields.size() && !fields[at].empty()) return fields[at];
    refuse(static_cast<index_t>(at) + 1, fmt::format("got nothing, expected {}", what));
  }

  [[nodiscard]] bool is_strong(const std::string& text) const {
    const io::number value = io::parse_number(text);
    const bool is_integer = value.kind == io::number_kind::integer;
    const double statistic = is_integer ? static_cast<double>(value.integer) : value.real;
    if ((!is_integer && value.kind != io::number_kind::real) || std::isnan(statistic)) {
      refuse(static_cast<index_t>(columns_.statistic) + 1,
             fmt::format("got {}, expected the statistic of an edge", io::quoted(text)));
    }
    return std::abs(statistic) >= job_.min_abs;
  }

  const modules_command& job_;
  std::string file_;
  io::numbered_lines lines_;
  edge_columns columns_;
  index_t edges_ = 0;
  index_t joined_ = 0;
};

struct module_counts {
  std::size_t modules = 0;
  std::size_t of_two = 0;  // and more
};

module_counts write_modules(const modules_command& job, node_sets& nodes, io::output_file& out) {
  const char separator = io::separator_of(job.format);
  io::buffered_text text(out);
  fmt::format_to(text.end(), "name{}module", separator);
  text.end_line();
  module_counts found;
  std::optional<node_sets::node> set;
  for (const node_sets::node node : nodes.list()) {
    if (std::exchange(set, nodes.root_of(node)) != nodes.root_of(node)) {
      ++found.modules;
      if (nodes.set_size(node) > 1) ++found.of_two;
    }
    fmt::format_to(text.end(), "{}{}{}", io::field_of(nodes.name(node), separator), separator,
                   found.modules);
    text.end_line();
  }
  text.flush();
  return found;
}

}  // namespace

void run(const modules_command& job) {
  run_outputs outputs(job);
  io::input file(job.input, is_interrupted, job.max_input_bytes);
  edge_table table(job, file);
  node_sets nodes;
  table.read(nodes);
  const module_counts found = write_modules(job, nodes, outputs.result());
  outputs.result().commit();
  if (job.quiet) return;
  say(fmt::format("{} of {} edges, {} nodes: {} modules of two and more, the largest of {}\n",
                  table.joined(), table.edges(), nodes.size(), found.of_two,
                  nodes.size() == 0 ? 0 : nodes.set_size(nodes.list().front())));
}

}  // namespace gpu::cli
