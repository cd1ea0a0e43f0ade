#include <gpu/tanimoto.hpp>

#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"
#include "options.hpp"
#include "pairs/run_summary.hpp"

namespace gpu_python {
namespace {

// A table of 32-bit words with its bits.
class bit_table {
 public:
  bit_table(nb::handle words, gpu::index_t cols, const char* name) : words_(words, name) {
    const auto view = words_.as<std::int32_t>(name);
    bits_ = gpu::bit_matrix_view(reinterpret_cast<const std::uint32_t*>(view.data()), view.rows(),
                                 cols, view.row_stride());
  }
  [[nodiscard]] gpu::bit_matrix_view bits() const noexcept { return bits_; }

 private:
  host_array words_;
  gpu::bit_matrix_view bits_;
};

// A call: its tables and options. Sinks read what is left of the options.
class tanimoto_call {
 public:
  tanimoto_call(nb::handle x, nb::handle y, gpu::index_t cols, option_reader& reader)
      : x_(x, cols, "x"), context_(reader) {
    if (!y.is_none()) y_.emplace(y, cols, "y");
    reader.read("min_abs", keep.min_abs);
    reader.read("variant", options_.variant);
    const nb::handle part = reader.take("part");
    if (part.is_valid()) options_.part = read_part(part);
    options_.exec = context_.execution();
  }

  [[nodiscard]] bool has_y() const noexcept { return y_.has_value(); }
  template <class Sink>
  auto run(const Sink& sink) {
    return context_.run([&] {
      return y_ ? gpu::tanimoto_all_pairs(x_.bits(), y_->bits(), options_, sink)
                : gpu::tanimoto_all_pairs(x_.bits(), options_, sink);
    });
  }
  [[nodiscard]] run_summary told(gpu::pair_summary&& summary) const {
    return {.of_run = std::move(summary), .has_y = has_y()};
  }

  gpu::pair_filter keep;

 private:
  bit_table x_;
  std::optional<bit_table> y_;
  execution_context context_;
  gpu::tanimoto_options options_;
};

// The edges and the summary.
nb::tuple edges(nb::handle x, nb::handle y, gpu::index_t cols, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  tanimoto_call call(x, y, cols, reader);
  gpu::edge_sink sink{.keep = call.keep};
  reader.read("max_edges", sink.max_edges);
  reader.check_all_read();
  gpu::edge_list result = call.run(sink);
  return nb::make_tuple(vector_to_numpy(std::move(result.edges)),
                        call.told(std::move(result.summary)));
}

// Indices, statistics, counts and the summary.
nb::tuple partners(nb::handle x, nb::handle y, gpu::index_t cols, gpu::index_t k,
                   nb::dict keywords) {
  option_reader reader(std::move(keywords));
  tanimoto_call call(x, y, cols, reader);
  reader.check_all_read();
  gpu::neighbor_table result = call.run(gpu::top_k_sink{.k = k, .keep = call.keep});
  return nb::make_tuple(matrix_to_numpy<gpu::node_id>(std::move(result.index), 2),
                        matrix_to_numpy<double>(std::move(result.statistic), 2),
                        vector_to_numpy(std::move(result.count)),
                        call.told(std::move(result.summary)));
}

// Tested, kept, degrees of x and of y (or None), histogram and the summary.
nb::tuple counts(nb::handle x, nb::handle y, gpu::index_t cols, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  tanimoto_call call(x, y, cols, reader);
  gpu::count_sink sink{.keep = call.keep};
  reader.read("histogram_bins", sink.histogram_bins);
  reader.check_all_read();
  gpu::pair_counts result = call.run(sink);
  return nb::make_tuple(result.tested, result.kept, vector_to_numpy(std::move(result.degree)),
                        call.has_y() ? vector_to_numpy(std::move(result.y_degree)) : nb::none(),
                        vector_to_numpy(std::move(result.histogram)),
                        call.told(std::move(result.summary)));
}

// The matrix and the summary.
template <class Value>
nb::tuple dense(nb::handle x, nb::handle y, gpu::index_t cols, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  tanimoto_call call(x, y, cols, reader);
  reader.check_all_read();
  auto result = call.run(gpu::basic_dense_sink<Value>{});
  run_summary summary = call.told(std::move(result.summary));
  return nb::make_tuple(matrix_to_numpy<Value>(std::move(result), 2), std::move(summary));
}

}  // namespace

void bind_tanimoto(nb::module_& module) {
  const auto define = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("x"), nb::arg("y").none(), nb::arg("cols"),
               nb::arg("options"));
  };
  define("tanimoto_edges", &edges);
  module.def("tanimoto_partners", &partners, nb::arg("x"), nb::arg("y").none(), nb::arg("cols"),
             nb::arg("k"), nb::arg("options"));
  define("tanimoto_counts", &counts);
  define("tanimoto_dense_f64", &dense<double>);
  define("tanimoto_dense_f32", &dense<float>);
}

}  // namespace gpu_python
