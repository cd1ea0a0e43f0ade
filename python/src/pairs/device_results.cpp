// All pairs of tables in device memory with results there: outputs come described as device_view()
// has it, 32- and 64-bit integers by their address and extents alone.
#include <gpu/device_sinks.hpp>

#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

template <class T>
gpu::device_matrix_view<T> matrix_at(const nb::tuple& described) {
  return {reinterpret_cast<T*>(nb::cast<std::uintptr_t>(described[0])),
          nb::cast<gpu::index_t>(described[1]), nb::cast<gpu::index_t>(described[2]),
          nb::cast<gpu::index_t>(described[3])};
}

// All elements of an array without gaps; an empty view of None.
template <class T>
gpu::device_vector_view<T> vector_at(nb::handle described) {
  if (described.is_none()) return {};
  const auto matrix = matrix_at<T>(nb::borrow<nb::tuple>(described));
  return {matrix.data(), matrix.rows() * matrix.cols()};
}

// make(call) gives the sink; the call returns before the work is done.
template <class MakeSink>
void run(nb::handle x, nb::handle y, nb::dict keywords, const MakeSink& make) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  const auto sink = make(call, reader);
  reader.check_all_read();
  if (!tables.are_on_device()) {
    throw nb::type_error("x, y: expected tables in device memory, not prepared");
  }
  call.context.run(
      [&] { gpu::detail::all_pairs(call.what, tables.of(call.bits), call.options, sink); });
}

template <class Value>
void dense(nb::handle x, nb::handle y, const nb::tuple& out, nb::dict keywords) {
  run(x, y, std::move(keywords), [&](const pair_call&, option_reader&) {
    return gpu::basic_device_dense_sink<Value>{.out = matrix_at<Value>(out)};
  });
}

void partners(nb::handle x, nb::handle y, const nb::tuple& index, const nb::tuple& statistic,
              const nb::tuple& count, nb::dict keywords) {
  run(x, y, std::move(keywords), [&](const pair_call& call, option_reader& reader) {
    gpu::device_top_k_sink sink{.index = matrix_at<gpu::node_id>(index),
                                .statistic = matrix_at<double>(statistic),
                                .count = vector_at<gpu::node_id>(count),
                                .keep = call.keep};
    reader.read("order", sink.order);
    return sink;
  });
}

void counts(nb::handle x, nb::handle y, nb::handle degree, nb::handle y_degree,
            nb::handle histogram, nb::handle totals, nb::dict keywords) {
  run(x, y, std::move(keywords), [&](const pair_call& call, option_reader&) {
    return gpu::device_count_sink{.degree = vector_at<std::uint32_t>(degree),
                                  .y_degree = vector_at<std::uint32_t>(y_degree),
                                  .histogram = vector_at<std::uint64_t>(histogram),
                                  .totals = vector_at<std::uint64_t>(totals),
                                  .keep = call.keep};
  });
}

// `records` are 24 bytes an edge.
void edges(nb::handle x, nb::handle y, const nb::tuple& records, nb::handle found,
           nb::dict keywords) {
  const auto memory = matrix_at<std::uint64_t>(records);
  run(x, y, std::move(keywords), [&](const pair_call& call, option_reader&) {
    return gpu::device_edge_sink{
        .edges = {reinterpret_cast<gpu::edge*>(memory.data()), memory.rows()},
        .found = vector_at<std::uint64_t>(found),
        .keep = call.keep};
  });
}

}  // namespace

void bind_device_results(nb::module_& module) {
  const auto x = nb::arg("x");
  const auto y = nb::arg("y").none();
  const auto options = nb::arg("options");
  module.def("dense_device_f64", &dense<double>, x, y, nb::arg("out"), options);
  module.def("dense_device_f32", &dense<float>, x, y, nb::arg("out"), options);
  module.def("partners_device", &partners, x, y, nb::arg("index"), nb::arg("statistic"),
             nb::arg("count"), options);
  module.def("counts_device", &counts, x, y, nb::arg("degree"), nb::arg("y_degree").none(),
             nb::arg("histogram").none(), nb::arg("totals"), options);
  module.def("edges_device", &edges, x, y, nb::arg("records"), nb::arg("found"), options);
}

}  // namespace gpu_python
