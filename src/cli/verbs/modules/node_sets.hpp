#pragma once
// Connected components of a network whose edges come one by one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpu::cli {

/// Nodes by name, in sets that edges join. Memory: the names and about 100 bytes a node, whatever
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
  /// within a set in the order in which they came. `first` of a set is where it begins.
  struct listing {
    std::vector<node> nodes = {};
    std::vector<std::size_t> first = {};
  };
  [[nodiscard]] listing list();

 private:
  node root_of(node a);

  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, node, hash, std::equal_to<>> nodes_;
  std::vector<const std::string*> names_;  // keys of nodes_, which stay where they are
  std::vector<node> above_;                // a root is above itself
  std::vector<node> size_;                 // of the set of a root
};

}  // namespace gpu::cli
