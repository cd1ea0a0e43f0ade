#include "io/write/edges/matrix_market_writer.hpp"

#include <fmt/format.h>

#include <charconv>

#include "io/write/parallel_text.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t number_room = 32;  // of an integer or a double, and the blank behind it

template <class Number>
char* append_number(char* out, Number value) {
  return std::to_chars(out, out + number_room, value).ptr;
}

}  // namespace

void write_matrix_market(output_file& out, std::span<const edge> edges,
                         const result_context& context) {
  const bool is_symmetric = context.against == nullptr;
  out.write(fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n",
                        is_symmetric ? "symmetric" : "general", context.rows, context.cols(),
                        edges.size()));
  parallel_text text(out, context.threads);
  text.write(std::ssize(edges), 3 * number_room, [&](char* to, index_t first, index_t last) {
    for (const edge& e :
         edges.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first))) {
      const index_t row = index_t{e.row} + 1;
      const index_t col = index_t{e.col} + 1;
      to = append_number(to, is_symmetric ? col : row);
      *to++ = ' ';
      to = append_number(to, is_symmetric ? row : col);
      *to++ = ' ';
      to = append_number(to, e.statistic);
      *to++ = '\n';
    }
    return to;
  });
}

}  // namespace gpu::io
