#pragma once
// Tables on which parts of a job have gone wrong or may do so: rows that repeat, constant rows and
// rows with a NaN in one place or everywhere, ties, groups that move together, wide rows.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "faults/model/random_source.hpp"
#include "support/npy_bytes.hpp"

namespace gpu_test {

struct random_table {
  int rows = 0;
  int cols = 0;
  std::vector<double> values = {};  ///< [rows, cols]
  bool has_nan = false;
  std::string kind = {};  ///< For a person who reads of a failure.

  double& at(int row, int col) {
    return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                  static_cast<std::size_t>(col)];
  }
  [[nodiscard]] const double* row(int i) const {
    return values.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(cols);
  }
};

/// Which rows something happens to: a block at either end, rows here and there, or nearly all.
inline std::vector<int> drawn_rows(random_source& random, int rows) {
  std::vector<int> out;
  const int begin = random.below(rows);
  const int way = random.below(5);
  const double share = random.unit();
  const int spared = random.below(rows);
  for (int i = 0; i < rows; ++i) {
    const bool is_drawn = way == 0   ? i < begin
                          : way == 1 ? i >= begin
                          : way == 2 ? random.happens(share * share)
                          : way == 3 ? i != spared && i != begin
                                     : i < rows / 2;
    if (is_drawn) out.push_back(i);
  }
  return out;
}

namespace model_detail {

inline void fill_alike(random_table& table, random_source& random) {
  switch (random.below(4)) {
    case 0:
      table.kind = "normal";
      for (double& value : table.values) value = random.bell();
      return;
    case 1: {
      const int most = random.between(1, 9);
      table.kind = "tied, 0 to " + std::to_string(most);
      for (double& value : table.values) value = random.below(most + 1);
      return;
    }
    case 2: {
      const double share = 0.02 + 0.3 * random.unit();
      table.kind = "sparse";
      for (double& value : table.values) value = random.happens(share) ? random.between(1, 2) : 0;
      return;
    }
    default: {
      table.kind = "groups that move together";
      std::vector<double> factor(static_cast<std::size_t>(table.cols));
      const int group = random.between(2, 30);
      const double noise = random.unit();
      for (int i = 0; i < table.rows; ++i) {
        if (i % group == 0)
          std::generate(factor.begin(), factor.end(), [&] { return random.bell(); });
        for (int j = 0; j < table.cols; ++j) {
          table.at(i, j) = factor[static_cast<std::size_t>(j)] + noise * random.bell();
        }
      }
    }
  }
}

/// Makes rows the same as others by their ranks: copies, multiples and shifted ones, and mirror
/// images, which are not the same.
inline void repeat_rows(random_table& table, random_source& random) {
  const int patterns = random.between(1, std::max(1, table.rows / random.between(2, 12)));
  table.kind += ", " + std::to_string(patterns) + " patterns";
  const bool is_in_blocks = random.happens(0.3);
  for (int i = patterns; i < table.rows; ++i) {
    const int from = is_in_blocks ? i * patterns / table.rows : random.below(patterns);
    const double factor = random.happens(0.1) ? -1 : random.between(1, 2);
    const int shift = random.below(3);
    for (int j = 0; j < table.cols; ++j) table.at(i, j) = factor * table.at(from, j) + shift;
  }
}

inline void spoil_rows(random_table& table, random_source& random) {
  if (random.happens(0.45)) {
    const std::vector<int> rows = drawn_rows(random, table.rows);
    table.kind += ", " + std::to_string(rows.size()) + " constant rows";
    for (const int i : rows) {
      for (int j = 0; j < table.cols; ++j) table.at(i, j) = 1;
    }
  }
  if (random.happens(0.1)) {
    const std::vector<int> rows = drawn_rows(random, table.rows);
    table.kind += ", " + std::to_string(rows.size()) + " rows with an infinite value";
    for (const int i : rows) {
      table.at(i, random.below(table.cols)) = std::numeric_limits<double>::infinity();
    }
  }
  if (random.happens(0.2)) {
    const std::vector<int> rows = drawn_rows(random, table.rows);
    table.kind += ", " + std::to_string(rows.size()) + " rows with a NaN";
    for (const int i : rows) {
      table.at(i, random.below(table.cols)) = std::numeric_limits<double>::quiet_NaN();
    }
    table.has_nan = !rows.empty();
  }
}

}  // namespace model_detail

/// A table of that shape.
inline random_table draw_table(random_source& random, int rows, int cols, bool must_repeat) {
  random_table out{.rows = rows, .cols = cols};
  out.values.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  model_detail::fill_alike(out, random);
  if (must_repeat || random.happens(0.5)) model_detail::repeat_rows(out, random);
  model_detail::spoil_rows(out, random);
  out.kind = std::to_string(rows) + " x " + std::to_string(cols) + ", " + out.kind;
  return out;
}

/// A table of 0 and 1, some rows without a 1.
inline random_table draw_bits(random_source& random, int rows, int cols) {
  random_table out{.rows = rows, .cols = cols};
  const double share = 0.05 + 0.9 * random.unit();
  for (int i = 0; i < rows * cols; ++i) out.values.push_back(random.happens(share) ? 1 : 0);
  for (int i = 0; i < rows; ++i) {
    if (!random.happens(0.03)) continue;
    for (int j = 0; j < cols; ++j) out.at(i, j) = 0;
  }
  out.kind = std::to_string(rows) + " x " + std::to_string(cols) + ", bits";
  return out;
}

/// As a MatrixMarket file of what is not 0.
inline std::string mtx_of(const random_table& table) {
  std::string entries;
  int count = 0;
  char number[32];
  for (int i = 0; i < table.rows; ++i) {
    for (int j = 0; j < table.cols; ++j) {
      const double value = table.row(i)[j];
      if (value == 0) continue;
      std::snprintf(number, sizeof number, "%.7g", value);
      entries += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " +
                 (std::isnan(value) ? "nan" : number) + "\n";
      ++count;
    }
  }
  return "%%MatrixMarket matrix coordinate real general\n" + std::to_string(table.rows) + " " +
         std::to_string(table.cols) + " " + std::to_string(count) + "\n" + entries;
}

/// As tab-separated text; integers without a point, so that the reader takes them for such.
inline std::string text_of(const random_table& table, bool has_names) {
  std::string out;
  char number[32];
  for (int i = 0; i < table.rows; ++i) {
    if (has_names) out += "g" + std::to_string(i) + "\t";
    for (int j = 0; j < table.cols; ++j) {
      std::snprintf(number, sizeof number, "%.7g", table.row(i)[j]);
      out.append(j > 0 ? "\t" : "").append(std::isnan(table.row(i)[j]) ? "NaN" : number);
    }
    out += "\n";
  }
  return out;
}

/// As a .npy file of doubles.
inline std::string npy_of(const random_table& table) {
  std::string out = npy_header("<f8", table.rows, table.cols);
  out.append(reinterpret_cast<const char*>(table.values.data()),
             table.values.size() * sizeof(double));
  return out;
}

}  // namespace gpu_test
