#pragma once
// What every sink says of a call, as bytes: two calls are compared to the last bit.

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/similarity.hpp>

namespace gpu_test {

/// Bytes of results, with the name of the sink in front, for messages.
using said_by_sinks = std::vector<std::pair<std::string_view, std::string>>;

template <class T>
void add_bytes(std::string& out, std::span<const T> values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
template <class T>
void add_bytes(std::string& out, const std::vector<T>& values) {
  add_bytes(out, std::span<const T>(values));
}
template <class T>
void add_bytes(std::string& out, const gpu::matrix<T>& values) {
  add_bytes(out, std::span<const T>(values.data(),
                                    static_cast<std::size_t>(values.rows() * values.cols())));
}
inline void add_bytes(std::string& out, const gpu::pair_summary& summary) {
  add_bytes(out, summary.constant_rows);
  add_bytes(out, summary.nan_rows);
  add_bytes(out, summary.y_constant_rows);
  add_bytes(out, summary.y_nan_rows);
  add_bytes(out, summary.infinite_rows);
  add_bytes(out, summary.y_infinite_rows);
  out += std::to_string(summary.pairs_tested) + ' ' + std::to_string(summary.pairs_kept) + ' ' +
         std::to_string(summary.patterns);
  add_bytes(out, std::span(&summary.checksum, 1));
}

template <class Value>
void add_result(std::string& out, const gpu::correlation_matrix<Value>& dense) {
  add_bytes(out, static_cast<const gpu::matrix<Value>&>(dense));
}
inline void add_result(std::string& out, const gpu::edge_list& list) {
  add_bytes(out, std::span<const gpu::edge>(list.edges));
}
inline void add_result(std::string& out, const gpu::neighbor_table& table) {
  add_bytes(out, table.index);
  add_bytes(out, table.statistic);
  add_bytes(out, table.count);
}
inline void add_result(std::string& out, const gpu::pair_counts& counts) {
  add_bytes(out, counts.degree);
  add_bytes(out, counts.y_degree);
  add_bytes(out, counts.histogram);
}
inline void add_result(std::string& out, const gpu::discovery_counts& counts) {
  out += std::to_string(counts.below) + ' ' + std::to_string(counts.at_or_above);
  add_bytes(out, counts.bins);
}

/// What call(sink) gives for every sink with a result in host memory; those with a p where `tests`.
template <class Call>
said_by_sinks what_sinks_say(const Call& call, bool tests) {
  said_by_sinks out;
  const auto say = [&](std::string_view name, const auto& sink) {
    const auto result = call(sink);
    std::string& bytes = out.emplace_back(name, "").second;
    add_result(bytes, result);
    add_bytes(bytes, result.summary);
  };
  const gpu::pair_filter keep =
      tests ? gpu::pair_filter{.max_p = 0.2} : gpu::pair_filter{.min_abs = 0.4};
  say("dense", gpu::dense_sink{});
  say("dense of floats", gpu::dense_sink_f32{});
  say("edges", gpu::edge_sink{.keep = keep});
  say("partners", gpu::top_k_sink{.k = 3});
  say("counts", gpu::count_sink{.keep = keep, .histogram_bins = 20});
  std::string& streamed = out.emplace_back("stream", "").second;
  add_bytes(streamed, call(gpu::stream_sink{.keep = keep, .consume = [&](auto batch) {
                                              add_bytes(streamed,
                                                        std::span<const gpu::edge>(batch));
                                            }}));
  if (tests) say("discoveries", gpu::discovery_sink{.keep = {.max_p = 0.2}});
  return out;
}

/// The first sink that says something else; empty where none does.
inline std::string_view first_difference(const said_by_sinks& a, const said_by_sinks& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return a[i].first;
  }
  return {};
}

}  // namespace gpu_test
