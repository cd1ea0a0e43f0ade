// Columns that lie apart, as a table of Arrow or a data frame has them: a buffer of values for
// each column, and a bitmap that says which values are there. Its rows are the variables.
//
// No Arrow is needed to compile this. Of an arrow::Table with one chunk a column, the buffer is
// std::static_pointer_cast<arrow::DoubleArray>(table->column(j)->chunk(0))->raw_values().
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <gpu/similarity.hpp>

namespace {

struct column {
  std::vector<double> values;
  std::vector<std::uint8_t> is_valid;  // bit i % 8 of byte i / 8; empty where all are there

  [[nodiscard]] bool is_there(std::size_t i) const {
    return is_valid.empty() || (is_valid[i / 8] >> i % 8 & 1) != 0;
  }
};

// 60 variables in 40 columns; the first ten move together, and one value is missing.
std::vector<column> some_table() {
  std::mt19937 engine(1);
  std::normal_distribution<double> noise;
  std::vector<column> out(40);
  for (column& c : out) {
    const double factor = noise(engine);
    for (int i = 0; i < 60; ++i) c.values.push_back((i < 10 ? factor : 0) + 0.3 * noise(engine));
  }
  out[7].is_valid.assign(8, 0xff);
  out[7].is_valid[0] = 0xff & ~(1 << 3);  // of variable 3
  return out;
}

void run() {
  const std::vector<column> table = some_table();
  const std::size_t rows = table.front().values.size();

  // A column without missing values is read where it lies. What Arrow stores where a value is
  // missing is arbitrary, so such a column is copied with NaN there.
  std::vector<std::vector<double>> copies;
  copies.reserve(table.size());
  std::vector<const double*> begins;
  for (const column& c : table) {
    if (c.is_valid.empty()) {
      begins.push_back(c.values.data());
      continue;
    }
    std::vector<double>& copy = copies.emplace_back(c.values);
    for (std::size_t i = 0; i < rows; ++i) {
      if (!c.is_there(i)) copy[i] = std::numeric_limits<double>::quiet_NaN();
    }
    begins.push_back(copy.data());
  }
  const gpu::column_list_view x(begins, rows);

  const auto edges = gpu::spearman_all_pairs(x, {.nans = gpu::nan_policy::pairwise},
                                             gpu::edge_sink{.keep = {.max_p = 1e-6}});
  for (const gpu::edge& e : edges) {
    if (e.row == 3) std::printf("3 and %u: rho %.3f, p %.1e\n", e.col, e.statistic, e.p);
  }
  if (edges.edges.size() != 45) throw std::runtime_error("expected the 45 pairs of the first ten");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arrow_columns: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
