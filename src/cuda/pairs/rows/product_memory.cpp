// Memory for products, and for statistics that go through it.

#include <algorithm>

#include "base/round_up.hpp"
#include "cuda/pairs/rows/device_rows.hpp"

namespace gpu::cuda {

std::size_t device_rows::kept_words(index_t elements) {
  return static_cast<std::size_t>(ceil_div(elements, kernels::places_of_word));
}

std::size_t device_rows::product_bytes(std::size_t elements) const {
  const std::size_t words =
      is_pairwise(format_.tile) ? kept_words(static_cast<index_t>(elements)) : 0;
  return elements * sizeof(double) + words * sizeof(std::uint32_t);
}

void device_rows::fit_products(std::size_t rows, pair_budget& budget) {
  if (!format_.products) return;
  const auto least = static_cast<std::size_t>(least_product_elements(format_));
  const auto wanted = static_cast<std::size_t>(product_elements(format_, count_, count_));
  const std::size_t fitting = std::min(wanted, budget.left() / 8 / sizeof(double));
  // Without them some rows have no way at all.
  const std::size_t elements =
      finishes_statistics(format_.tile) ? std::max(fitting, least) : fitting;
  const auto padding = static_cast<std::size_t>(format_.product_rows(count_) - count_);
  const std::size_t bytes = product_bytes(elements) + padding * format_.product_row_bytes();
  // The rows have to be resident beside them.
  format_.products = elements >= least && bytes <= budget.left() / 4 &&
                     rows * format_.bytes() <= resident_share(budget.left() - bytes);
  if (finishes_statistics(format_.tile)) {
    budget.require(bytes + rows * format_.bytes(), is_pairwise(format_.tile)
                                                       ? "rows with missing values"
                                                       : "the signs of all pairs of columns");
    format_.products = true;
  }
  if (!format_.products) return;
  budget.take(bytes, "products of rows");
  product_elements_ = static_cast<index_t>(elements);
}

void device_rows::take_product_memory(pair_budget& budget) {
  const auto least = static_cast<std::size_t>(least_product_elements(format_));
  const auto wanted = static_cast<std::size_t>(product_elements(format_, fresh_, count_));
  const std::size_t elements =
      std::max(least, std::min(wanted, budget.left() / 8 / sizeof(double)));
  budget.take(product_bytes(elements), "products of rows");
  product_elements_ = static_cast<index_t>(elements);
}

}  // namespace gpu::cuda
