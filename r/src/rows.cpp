// Ranks, moving means, best values and the similarity of bits: operations on each variable.

#include "entries.hpp"
#include "pairs.hpp"

namespace gpu_r {
namespace {

// call(view) with a table whose variables are contiguous: R sends no other here.
template <class Call>
auto with_rows(const table_view& table, const Call& call) {
  if (const auto* const doubles = std::get_if<gpu::matrix_view<const double>>(&table)) {
    return call(*doubles);
  }
  if (const auto* const integers = std::get_if<gpu::matrix_view<const std::int32_t>>(&table)) {
    return call(*integers);
  }
  throw gpu::invalid_argument("x: expected a dense matrix, got a sparse one");
}

// The value (i, j) of a table as a bit; refuses what is not one.
bool bit_of(double value, gpu::index_t i, gpu::index_t j, const char* name) {
  if (value == 0 || value == 1) return value == 1;
  throw gpu::invalid_argument(std::string(name) + ": got another value than 0 or 1 in variable " +
                              std::to_string(i + 1) + ", observation " + std::to_string(j + 1));
}

gpu::bit_matrix pack_bits(SEXP table, const char* name) {
  const table_view views = read_table(table, name);
  return std::visit(
      [&]<class View>(const View& view) {
        gpu::bit_matrix bits(view.rows(), view.cols());
        const gpu::index_t words = bits.row_words();
        std::fill_n(bits.words(), bits.rows() * words, std::uint32_t{0});
        const auto set = [&](gpu::index_t i, gpu::index_t j, double value) {
          if (bit_of(value, i, j, name)) bits.words()[i * words + j / 32] |= 1U << (j % 32);
        };
        if constexpr (std::is_same_v<View, gpu::csr_view<const double>>) {
          const int* const begin = INTEGER(member_of(table, "begin"));
          const int* const place = INTEGER(member_of(table, "place"));
          for (gpu::index_t i = 0; i < view.rows(); ++i) {
            for (int at = begin[i]; at < begin[i + 1]; ++at) set(i, place[at], view.values()[at]);
          }
        } else {
          for (gpu::index_t i = 0; i < view.rows(); ++i) {
            for (gpu::index_t j = 0; j < view.cols(); ++j) {
              set(i, j, static_cast<double>(view(i, j)));
            }
          }
        }
        return bits;
      },
      views);
}

}  // namespace

SEXP rank_rows(SEXP x, SEXP options) {
  return guarded([&] {
    const table_view table = read_table(x, "x");
    option_reader reader(options);
    const execution_context context(reader);
    gpu::rank_options how{.exec = context.execution()};
    reader.read("ties", how.ties);
    bool decreasing = false;
    reader.read("decreasing", decreasing);
    if (decreasing) how.order = gpu::rank_order::descending;
    reader.read("use", how.nans);
    reader.read("variant", how.variant);
    reader.check_all_read();
    return columns_of(
        std::visit([&](const auto& view) { return gpu::rank_rows(view, how); }, table));
  });
}

SEXP mean_filter(SEXP x, SEXP options) {
  return guarded([&] {
    const table_view table = read_table(x, "x");
    option_reader reader(options);
    execution_context context(reader);
    gpu::mean_filter_options how{.exec = context.execution()};
    reader.read("window", how.window);
    reader.read("boundary", how.boundary);
    reader.read("origin", how.origin);
    bool removes = false;
    reader.read("na.rm", removes);
    if (removes) how.nans = gpu::nan_policy::omit;
    reader.read("variant", how.variant);
    reader.check_all_read();
    return with_rows(table, [&](const auto& view) {
      const gpu::index_t shorter =
          how.boundary == gpu::boundary::valid ? how.window - 1 : gpu::index_t{0};
      gpu::matrix<double> out(view.rows(), std::max(gpu::index_t{0}, view.cols() - shorter));
      context.run([&] { gpu::mean_filter(view, out, how); });
      return columns_of(out);
    });
  });
}

SEXP top_values(SEXP x, SEXP options) {
  return guarded([&] {
    const table_view table = read_table(x, "x");
    option_reader reader(options);
    execution_context context(reader);
    gpu::top_k_options how{.exec = context.execution()};
    gpu::index_t k = 1;
    reader.read("k", k);
    bool decreasing = true;
    reader.read("decreasing", decreasing);
    if (!decreasing) how.select = gpu::top_k_select::smallest;
    bool distinct = false;
    reader.read("distinct", distinct);
    reader.read("variant", how.variant);
    reader.check_all_read();
    return with_rows(table, [&](const auto& view) {
      if (distinct) {
        const auto found = context.run([&] { return gpu::top_k_distinct(view, k, how); });
        return named_list({{"values", columns_of(found.values)},
                           {"index", columns_of(found.indices)},
                           {"counts", columns_of(found.counts)},
                           {"found", vector_of(found.found)}});
      }
      const auto found = context.run([&] { return gpu::top_k(view, k, how); });
      return named_list(
          {{"values", columns_of(found.values)}, {"index", columns_of(found.indices)}});
    });
  });
}

SEXP tanimoto(SEXP x, SEXP y, SEXP result, SEXP options) {
  return guarded([&]() -> cpp11::sexp {
    const gpu::bit_matrix bits = pack_bits(x, "x");
    const bool has_y = y != R_NilValue;
    const gpu::bit_matrix y_bits = has_y ? pack_bits(y, "y") : gpu::bit_matrix();
    option_reader reader(options);
    execution_context context(reader);
    gpu::pair_options how{.part = read_part(reader), .exec = context.execution()};
    gpu::measure what = gpu::measure::tanimoto;
    reader.read("method", what);
    reader.read("alpha", how.alpha);
    reader.read("beta", how.beta);
    gpu::pair_filter keep;
    reader.read("min_abs", keep.min_abs);
    reader.read("variant", how.variant);
    const auto run = [&](const auto& sink) {
      reader.check_all_read();
      return context.run([&] {
        return has_y ? gpu::all_pairs(what, bits, y_bits, how, sink)
                     : gpu::all_pairs(what, bits, how, sink);
      });
    };
    const std::string_view wanted = CHAR(STRING_ELT(result, 0));
    if (wanted == "dense") {
      const auto found = run(gpu::dense_sink{});
      return named_list(
          {{"statistic", rows_of(found)}, {"summary", summary_of(found.summary, has_y)}});
    }
    if (wanted == "top") {
      gpu::top_k_sink sink{.keep = keep};
      reader.read("k", sink.k);
      const auto found = run(sink);
      return named_list({{"index", partners_of(found.index)},
                         {"statistic", rows_of(found.statistic)},
                         {"count", vector_of(found.count)},
                         {"summary", summary_of(found.summary, has_y)}});
    }
    if (wanted == "counts") {
      gpu::count_sink sink{.keep = keep};
      reader.read("bins", sink.histogram_bins);
      const auto found = run(sink);
      return named_list({{"tested", number_of(static_cast<double>(found.tested))},
                         {"kept", number_of(static_cast<double>(found.kept))},
                         {"degree", vector_of(found.degree)},
                         {"y_degree", has_y ? vector_of(found.y_degree) : cpp11::sexp(R_NilValue)},
                         {"histogram", vector_of(found.histogram)},
                         {"summary", summary_of(found.summary, has_y)}});
    }
    gpu::edge_sink sink{.keep = keep};
    reader.read("max_edges", sink.max_edges);
    const auto found = run(sink);
    return named_list({{"edges", edges_of({found.edges.data(), found.edges.size()})},
                       {"summary", summary_of(found.summary, has_y)}});
  });
}

}  // namespace gpu_r
