// The steps of Benjamini and Hochberg's cut of a job in parts: counts that add up, and what follows
// from their sums. A search is a tuple (max_p, tail, observations, family, least, most).
#include <nanobind/stl/vector.h>
#include <gpu/discovery.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

nb::tuple search_to_python(const gpu::discovery_search& search) {
  return nb::make_tuple(search.max_p, std::string(name_of(search.side)),
                        double{search.observations}, search.family, search.least, search.most);
}

gpu::discovery_search search_of(const nb::tuple& told) {
  return {.max_p = nb::cast<double>(told[0]),
          .side = enum_from_name<gpu::tail>("tail", nb::cast<std::string>(told[1])),
          .observations = nb::cast<double>(told[2]),
          .family = nb::cast<std::uint64_t>(told[3]),
          .least = nb::cast<std::uint64_t>(told[4]),
          .most = nb::cast<std::uint64_t>(told[5])};
}

// The search that was counted for, the pairs below and above the bins, and the bins.
nb::tuple count_discoveries(nb::handle x, nb::handle y, const nb::object& search,
                            nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::discovery_sink sink{.keep = call.keep};
  if (!search.is_none()) sink.search = search_of(nb::cast<nb::tuple>(search));
  reader.check_all_read();
  gpu::discovery_counts counts = call.context.run([&] { return call.all_pairs(tables, sink); });
  return nb::make_tuple(search_to_python(counts.search), counts.below, counts.at_or_above,
                        vector_to_numpy(std::move(counts.bins)));
}

// The next search, and the cut on p where that search is decided, else None.
nb::tuple next_search(const nb::tuple& search, std::uint64_t below, std::uint64_t at_or_above,
                      nb::handle bins) {
  gpu::discovery_counts counts;
  counts.search = search_of(search);
  counts.below = below;
  counts.at_or_above = at_or_above;
  counts.bins = nb::cast<std::vector<std::uint64_t>>(bins);
  const gpu::discovery_search next = gpu::next_search(counts);
  return nb::make_tuple(search_to_python(next), next.is_decided()
                                                    ? nb::object(nb::float_(next.max_p_effective()))
                                                    : nb::none());
}

}  // namespace

void bind_discoveries(nb::module_& module) {
  module.def("count_discoveries", &count_discoveries, nb::arg("x"), nb::arg("y").none(),
             nb::arg("search").none(), nb::arg("options"));
  module.def("next_search", &next_search, nb::arg("search"), nb::arg("below"),
             nb::arg("at_or_above"), nb::arg("bins"));
}

}  // namespace gpu_python
