#include "io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gpu::io {

std::string_view row_names::operator[](index_t i) const noexcept {
  const auto k = static_cast<std::size_t>(i);
  const std::size_t begin = k == 0 ? 0 : ends_[k - 1];
  return std::string_view(text_).substr(begin, ends_[k] - begin);
}

std::string row_names::name(index_t i, char letter) const {
  return given() ? std::string((*this)[i]) : fmt::format("{}{}", letter, i + 1);
}

std::size_t row_names::longest(index_t rows) const noexcept {
  if (!given()) return fmt::formatted_size("X{}", rows);
  std::size_t longest = 0;
  for (index_t i = 0; i < size(); ++i) longest = std::max(longest, (*this)[i].size());
  return longest;
}

void row_names::add(std::string_view name) {
  text_ += name;
  ends_.push_back(text_.size());
}

void row_names::add(const row_names& others) {
  const std::size_t offset = text_.size();
  text_ += others.text_;
  for (const std::size_t end : others.ends_) ends_.push_back(offset + end);
}

index_t table::rows() const noexcept {
  if (sparse) return sparse->rows;
  if (bits) return bits->rows();
  return std::visit([](const auto& m) { return m.rows(); }, values);
}

index_t table::cols() const noexcept {
  if (sparse) return sparse->cols;
  if (bits) return bits->cols();
  return std::visit([](const auto& m) { return m.cols(); }, values);
}

std::string_view table::element_name() const noexcept {
  if (bits) return "bits";
  constexpr std::array<std::string_view, std::variant_size_v<any_matrix>> type_names{
      "int8", "int16", "int32", "uint8", "uint16", "float64", "float32"};
  return type_names[sparse ? sparse->values.index() : values.index()];
}

stored_nans find_nans(const any_matrix& in, bool by_columns) {
  stored_nans out;
  std::visit(
      [&](const auto& values) {
        const index_t outer = by_columns ? values.cols() : values.rows();
        const index_t inner = by_columns ? values.rows() : values.cols();
        for (index_t i = 0; i < outer; ++i) {
          for (index_t j = 0; j < inner; ++j) {
            const index_t row = by_columns ? j : i;
            const index_t col = by_columns ? i : j;
            if (values(row, col) == values(row, col)) continue;
            if (++out.count == 1) out.first.emplace(row, col);
          }
        }
      },
      in);
  return out;
}

}  // namespace gpu::io
