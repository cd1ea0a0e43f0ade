#include "cli/verbs/modules/node_sets.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <gpu/error.hpp>

namespace gpu::cli {

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

node_sets::listing node_sets::list() {
  std::vector<node> earliest(size(), std::numeric_limits<node>::max());  // of the set of a root
  std::vector<node> root(size());
  for (node a = 0; a < size(); ++a) {
    root[a] = root_of(a);
    earliest[root[a]] = std::min(earliest[root[a]], a);
  }
  listing out;
  out.nodes.resize(size());
  std::iota(out.nodes.begin(), out.nodes.end(), node{0});
  std::sort(out.nodes.begin(), out.nodes.end(), [&](node a, node b) {
    if (root[a] == root[b]) return a < b;
    if (size_[root[a]] != size_[root[b]]) return size_[root[a]] > size_[root[b]];
    return earliest[root[a]] < earliest[root[b]];
  });
  for (std::size_t k = 0; k < size(); ++k) {
    if (k == 0 || root[out.nodes[k]] != root[out.nodes[k - 1]]) out.first.push_back(k);
  }
  return out;
}

}  // namespace gpu::cli
