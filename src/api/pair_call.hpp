#pragma once
// An all-pairs call as its engine takes it: the descriptor of its measure and its tables, of rows
// with missing values or with covariates and weights where the options say so.

#include <memory>
#include <optional>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/detail/option_rules.hpp>

#include "pairs/columns/column_model.hpp"
#include "pairs/columns/column_rows.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

class pair_call {
 public:
  /// Checks the options, with what else the call meets. The tables' data outlives it.
  pair_call(measure what, const pair_tables& tables, const pair_options& options, unsigned meets);
  pair_call(const pair_call&) = delete;
  pair_call& operator=(const pair_call&) = delete;

  [[nodiscard]] const measure_traits& what() const { return what_; }
  [[nodiscard]] const pair_tables& tables() const { return tables_; }
  /// Covariates and weights, or null.
  [[nodiscard]] const std::shared_ptr<const column_model>& columns() const { return columns_; }

 private:
  std::shared_ptr<const column_model> columns_;
  measure_traits what_;
  std::optional<column_rows> x_;
  std::optional<column_rows> y_;
  pair_tables tables_;
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
