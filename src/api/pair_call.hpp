#pragma once
// From the options of an all-pairs call to a request: here, once, and nowhere behind.

#include <memory>
#include <optional>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/detail/option_rules.hpp>

#include "pairs/columns/column_model.hpp"
#include "pairs/engine.hpp"

namespace gpu::inline v0::detail {

class pair_call {
 public:
  /// Checks the options, with what else the call meets. The tables' data outlives it.
  pair_call(measure what, const pair_tables& tables, const pair_options& options, unsigned meets);
  pair_call(const pair_call&) = delete;
  pair_call& operator=(const pair_call&) = delete;

  [[nodiscard]] const pair_request& request() const { return request_; }
  [[nodiscard]] const measure_traits& what() const { return request_.what; }
  /// What the columns stand for, or null.
  [[nodiscard]] const std::shared_ptr<const column_model>& columns() const { return columns_; }

 private:
  std::shared_ptr<const column_model> columns_;
  std::optional<column_rows> x_;
  std::optional<column_rows> y_;
  pair_request request_;
};

/// What tables are, of call_facts.
unsigned facts_of(const pair_tables& tables);
/// What a sink asks for, of call_facts.
template <class Sink>
unsigned facts_of(const Sink& sink) {
  return facts_of(sink.keep);
}
template <class Value>
unsigned facts_of(const basic_dense_sink<Value>& /*sink*/) {
  return call_facts::without_p;
}
inline unsigned facts_of(const connectivity_sink& /*sink*/) {
  return call_facts::without_p | call_facts::connectivity;
}
inline unsigned facts_of(const discovery_sink& /*sink*/) {
  return call_facts::discoveries;
}

/// Calls macro(Sink) for each sink with pairs in host memory, which calls run and plan.
#define GPU_SIMILARITY_FOR_EACH_PAIR_SINK(macro)                                  \
  macro(basic_dense_sink<double>) macro(basic_dense_sink<float>) macro(edge_sink) \
      macro(top_k_sink) macro(count_sink) macro(stream_sink)

}  // namespace gpu::inline v0::detail
