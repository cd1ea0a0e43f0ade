#include "io/columns/column_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/parallel.hpp"
#include "io/io_error.hpp"

namespace gpu::io {
namespace {

void add(named_fault& fault, const std::string& name) {
  if (fault.count++ == 0) fault.first = name;
}

template <class T>
void reorder(matrix<T>& values, std::span<const index_t> place, int threads) {
  constexpr index_t rows_at_once = 64;
  detail::parallel_for_ranges(values.rows(), rows_at_once, threads, [&](auto range, int) {
    std::vector<T> row(place.size());
    for (index_t i = range.begin; i < range.end; ++i) {
      T* const own = values.row(i).data();
      std::copy_n(own, row.size(), row.data());
      for (std::size_t j = 0; j < row.size(); ++j) own[j] = row[static_cast<std::size_t>(place[j])];
    }
  });
}

void reorder(bit_matrix& bits, std::span<const index_t> place, int threads) {
  const auto words = static_cast<std::size_t>(bits.row_words());
  detail::parallel_for(bits.rows(), threads, [&](index_t i, int) {
    std::uint32_t* const own = bits.view().row(i);
    const std::vector<std::uint32_t> row(own, own + words);
    std::fill_n(own, words, 0U);
    for (std::size_t j = 0; j < place.size(); ++j) {
      const auto from = static_cast<std::size_t>(place[j]);
      own[j / 32] |= ((row[from / 32] >> (from % 32)) & 1U) << (j % 32);
    }
  });
}

void reorder(sparse_matrix& sparse, std::span<const index_t> place, int threads) {
  std::vector<index_t> to(place.size());
  for (std::size_t j = 0; j < place.size(); ++j) {
    to[static_cast<std::size_t>(place[j])] = static_cast<index_t>(j);
  }
  std::visit(
      [&]<class Index>(sparse_pattern<Index>& own) {
        for (Index& column : own.column) {
          column = static_cast<Index>(to[static_cast<std::size_t>(column)]);
        }
      },
      sparse.pattern);
  sort_columns(sparse, threads);
}

}  // namespace

std::string named_fault::text() const {
  const std::string name = fmt::format("column {}", quoted(first));
  if (count < 2) return name;
  return fmt::format("{} and {} other{}", name, count - 1, count == 2 ? "" : "s");
}

name_match match_names(std::span<const std::string> wanted, std::span<const std::string> given) {
  name_match out;
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!places.emplace(wanted[k], k).second) add(out.repeated_in_wanted, wanted[k]);
  }
  constexpr index_t nowhere = -1;
  out.place.assign(wanted.size(), nowhere);
  for (std::size_t k = 0; k < given.size(); ++k) {
    const auto found = places.find(given[k]);
    if (found == places.end()) {
      add(out.unknown, given[k]);
      continue;
    }
    index_t& place = out.place[found->second];
    if (place != nowhere) add(out.repeated_in_given, given[k]);
    place = static_cast<index_t>(k);
  }
  for (const auto& [name, k] : places) {
    if (out.place[k] == nowhere) ++out.missing.count;
  }
  if (!out.missing.is_there()) return out;
  for (const std::string& name : wanted) {
    if (out.place[places.at(name)] != nowhere) continue;
    out.missing.first = name;
    break;
  }
  return out;
}

void reorder_columns(table& table, std::span<const index_t> place, int threads) {
  const int team = detail::thread_count(threads);
  if (table.sparse) {
    reorder(*table.sparse, place, team);
  } else if (table.bits) {
    reorder(*table.bits, place, team);
  } else {
    std::visit([&](auto& values) { reorder(values, place, team); }, table.values);
  }
  std::vector<std::string> names;
  names.reserve(place.size());
  for (const index_t k : place) {
    names.push_back(std::move(table.columns.names[static_cast<std::size_t>(k)]));
  }
  table.columns.names = std::move(names);
}

}  // namespace gpu::io
