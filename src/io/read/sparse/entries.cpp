#include "io/read/sparse/entries.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"

namespace gpu::io {
namespace {

// What is known of all entries.
struct entry_range {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  bool has_reals = false;
};

entry_range range_of(const std::vector<entry_piece>& pieces) {
  entry_range out;
  for (const auto& piece : pieces) {
    out.smallest = std::min<std::int64_t>(out.smallest, piece.smallest);
    out.largest = std::max<std::int64_t>(out.largest, piece.largest);
    out.has_reals = out.has_reals || std::holds_alternative<array<double>>(piece.values);
  }
  return out;
}

// Pieces one behind the other that one thread takes: the entries of a row stay in their order.
struct piece_group {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// As many groups as threads, but no more than keep the cursors of all at half an index an entry.
// Pieces are about equally large.
std::vector<piece_group> group_pieces(std::size_t pieces, index_t rows, std::size_t entries,
                                      int threads) {
  const std::size_t most = entries / (2 * (static_cast<std::size_t>(rows) + 1));
  std::vector<piece_group> groups(
      std::clamp<std::size_t>(most, 1, static_cast<std::size_t>(detail::thread_count(threads))));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g] = {g * pieces / groups.size(), (g + 1) * pieces / groups.size()};
  }
  return groups;
}

template <class Index>
class assembly {
 public:
  assembly(std::vector<entry_piece>& pieces, index_t rows, bool is_symmetric, int threads,
           std::size_t entries)
      : pieces_(pieces),
        rows_(static_cast<std::size_t>(rows)),
        is_symmetric_(is_symmetric),
        threads_(detail::thread_count(threads)),
        groups_(group_pieces(pieces.size(), rows, entries, threads)) {
    count();
  }

  template <class T>
  void move_to(sparse_matrix& out) {
    array<T> values(pattern_.column.size());
    detail::parallel_for(static_cast<index_t>(groups_.size()), threads_, [&](index_t g, int) {
      const piece_group& group = groups_[static_cast<std::size_t>(g)];
      for (std::size_t k = group.begin; k < group.end; ++k) {
        entry_piece& piece = pieces_[k];
        std::visit([&](const auto& from) { scatter(piece, from, values, cursor_of(g)); },
                   piece.values);
        piece = {};
      }
    });
    out.pattern = std::move(pattern_);
    out.values = std::move(values);
  }

 private:
  [[nodiscard]] Index* cursor_of(index_t group) {
    return next_.data() + static_cast<std::size_t>(group) * rows_;
  }

  // Where each group has its first entry of each row.
  void count() {
    next_.assign(groups_.size() * rows_, 0);
    detail::parallel_for(static_cast<index_t>(groups_.size()), threads_, [&](index_t g, int) {
      Index* const counts = cursor_of(g);
      const piece_group& group = groups_[static_cast<std::size_t>(g)];
      for (std::size_t k = group.begin; k < group.end; ++k) {
        for (const std::int32_t row : pieces_[k].row) ++counts[row];
        if (!is_symmetric_) continue;
        for (std::size_t i = 0; i < pieces_[k].row.size(); ++i) {
          if (pieces_[k].row[i] != pieces_[k].col[i]) ++counts[pieces_[k].col[i]];
        }
      }
    });
    pattern_.row_begin.resize(rows_ + 1);
    Index running = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      pattern_.row_begin[row] = running;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        running += std::exchange(next_[g * rows_ + row], running);
      }
    }
    pattern_.row_begin[rows_] = running;
    pattern_.column.resize(static_cast<std::size_t>(running));
  }

  template <class From, class T>
  void scatter(const entry_piece& piece, const array<From>& from, array<T>& values, Index* next) {
    // The type of all was chosen so that it holds those of each piece.
    if constexpr (std::is_same_v<T, double> || !std::is_same_v<From, double>) {
      Index* const column = pattern_.column.data();
      T* const out = values.data();
      for (std::size_t i = 0; i < from.size(); ++i) {
        const std::int32_t row = piece.row[i];
        const std::int32_t col = piece.col[i];
        const Index at = next[row]++;
        column[at] = static_cast<Index>(col);
        out[at] = static_cast<T>(from[i]);
        if (!is_symmetric_ || row == col) continue;
        const Index there = next[col]++;
        column[there] = static_cast<Index>(row);
        out[there] = static_cast<T>(from[i]);
      }
    }
  }

  std::vector<entry_piece>& pieces_;
  std::size_t rows_;
  bool is_symmetric_;
  int threads_;
  std::vector<piece_group> groups_;
  std::vector<Index> next_;  // [groups, rows]
  sparse_pattern<Index> pattern_;
};

template <class Index>
void assemble_to(std::vector<entry_piece>& pieces, bool is_symmetric, int threads,
                 std::size_t entries, sparse_matrix& out) {
  const entry_range range = range_of(pieces);
  assembly<Index> all(pieces, out.rows, is_symmetric, threads, entries);
  const bool fits =
      std::in_range<std::int32_t>(range.smallest) && std::in_range<std::int32_t>(range.largest);
  if (range.has_reals || !fits) return all.template move_to<double>(out);
  with_narrowest(range.smallest, range.largest, [&]<class T>(T) { all.template move_to<T>(out); });
}

}  // namespace

sparse_matrix assemble(std::vector<entry_piece> pieces, index_t rows, index_t cols,
                       bool is_symmetric, int threads) {
  std::size_t entries = 0;
  for (const entry_piece& piece : pieces) entries += piece.row.size();
  sparse_matrix out{.rows = rows, .cols = cols};
  if (std::in_range<std::int32_t>(is_symmetric ? 2 * entries : entries)) {
    assemble_to<std::int32_t>(pieces, is_symmetric, threads, entries, out);
  } else {
    assemble_to<std::int64_t>(pieces, is_symmetric, threads, entries, out);
  }
  return out;
}

}  // namespace gpu::io
