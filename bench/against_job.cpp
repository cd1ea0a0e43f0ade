// x against y beside the triangle of one table with as many pairs, on rows made here: small
// integers with ties, or doubles.
//
//   against_job spearman|pearson rows_of_x rows_of_y cols edges|counts|top_k|dense p_or_k repeats
//
// Prints one JSON object: median seconds of the whole calls from host rows to host results, and of
// their pairs alone, with the rates of both in pairs per second of the latter. A row of the top-k
// of one table meets every other row, so that table has sqrt(rows_of_x rows_of_y) rows; else it has
// sqrt(2 rows_of_x rows_of_y). With "0" repeats each call runs once, uncounted calls apart.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/matrix.hpp>
#include <gpu/pearson.hpp>
#include <gpu/spearman.hpp>

namespace {

using gpu::index_t;

template <class T>
gpu::matrix<T> make_rows(index_t rows, index_t cols, std::uint64_t seed) {
  gpu::matrix<T> out(rows, cols);
  std::uint64_t state = seed;
  for (index_t i = 0; i < rows * cols; ++i) {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    if constexpr (sizeof(T) == 1) {
      out.data()[i] = static_cast<T>(z >> 32 & 15);
    } else {
      out.data()[i] = static_cast<T>(static_cast<double>(z >> 11) * 0x1p-53);
    }
  }
  return out;
}

struct job {
  std::string_view sink;
  double p_or_k;
  int repeats;
};

struct timing {
  double seconds = 0;
  double pairs_seconds = 0;
  double pairs = 0;
  std::uint64_t kept = 0;
  std::string variant;
};

// The median of `work.repeats` calls after one that is not counted.
template <class Call>
timing measure(const job& work, const Call& call) {
  std::vector<timing> all(static_cast<std::size_t>(std::max(work.repeats, 0)) + 1);
  for (timing& one : all) {
    const auto start = std::chrono::steady_clock::now();
    const gpu::pair_summary summary = call();
    one.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    one.pairs_seconds = summary.pairs_seconds;
    one.pairs = static_cast<double>(summary.pairs_tested);
    one.kept = summary.pairs_kept;
    one.variant = std::string(gpu::to_string(summary.variant));
  }
  if (all.size() > 1) all.erase(all.begin());
  std::sort(all.begin(), all.end(),
            [](const timing& a, const timing& b) { return a.pairs_seconds < b.pairs_seconds; });
  return all[all.size() / 2];
}

// The summary of one call with the job's sink.
template <class Run>
gpu::pair_summary call_with_sink(const job& work, const Run& run) {
  if (work.sink == "dense") return run(gpu::dense_sink_f32{}).summary;
  if (work.sink == "counts") {
    return run(gpu::count_sink{.keep = {.max_p = work.p_or_k}}).summary;
  }
  if (work.sink == "top_k") {
    return run(gpu::top_k_sink{.k = static_cast<index_t>(work.p_or_k)}).summary;
  }
  return run(gpu::edge_sink{.keep = {.max_p = work.p_or_k}}).summary;
}

template <class T>
void compare(bool spearman, index_t rows_of_x, index_t rows_of_y, index_t cols, const job& work) {
  const double meetings = static_cast<double>(rows_of_x) * static_cast<double>(rows_of_y);
  const bool is_top_k = work.sink == "top_k";
  const auto rows = static_cast<index_t>(std::sqrt(is_top_k ? meetings : 2 * meetings));
  const gpu::pair_options options{};
  timing against;
  {
    const auto x = make_rows<T>(rows_of_x, cols, 1);
    const auto y = make_rows<T>(rows_of_y, cols, 2);
    against = measure(work, [&] {
      return call_with_sink(work, [&](const auto& sink) {
        return spearman ? gpu::spearman_all_pairs(x, y, options, sink)
                        : gpu::pearson_all_pairs(x, y, options, sink);
      });
    });
  }
  timing triangle;
  {
    const auto table = make_rows<T>(rows, cols, 3);
    triangle = measure(work, [&] {
      return call_with_sink(work, [&](const auto& sink) {
        return spearman ? gpu::spearman_all_pairs(table, options, sink)
                        : gpu::pearson_all_pairs(table, options, sink);
      });
    });
  }
  const double both = is_top_k ? 2.0 : 1.0;  // a pair of one table is met by both of its rows
  const double rate = against.pairs / against.pairs_seconds;
  const double rate_of_triangle = both * triangle.pairs / triangle.pairs_seconds;
  std::printf(
      "{\"measure\": \"%s\", \"x\": %lld, \"y\": %lld, \"cols\": %lld, \"sink\": \"%.*s\", "
      "\"p_or_k\": %g, \"variant\": \"%s\", \"seconds\": %.6f, \"pairs_seconds\": %.6f, "
      "\"pairs_per_second\": %.4g, \"kept\": %llu, \"triangle_rows\": %lld, "
      "\"triangle_seconds\": %.6f, \"triangle_pairs_seconds\": %.6f, "
      "\"triangle_pairs_per_second\": %.4g, \"triangle_kept\": %llu, \"ratio\": %.4f}\n",
      spearman ? "spearman" : "pearson", static_cast<long long>(rows_of_x),
      static_cast<long long>(rows_of_y), static_cast<long long>(cols),
      static_cast<int>(work.sink.size()), work.sink.data(), work.p_or_k, against.variant.c_str(),
      against.seconds, against.pairs_seconds, rate, static_cast<unsigned long long>(against.kept),
      static_cast<long long>(rows), triangle.seconds, triangle.pairs_seconds, rate_of_triangle,
      static_cast<unsigned long long>(triangle.kept), rate / rate_of_triangle);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr,
                 "against_job spearman|pearson rows_of_x rows_of_y cols "
                 "edges|counts|top_k|dense p_or_k repeats\n");
    return 2;
  }
  try {
    const job work{argv[5], std::atof(argv[6]), std::atoi(argv[7])};
    if (std::string_view(argv[1]) == "spearman") {
      compare<std::int8_t>(true, std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]),
                           work);
    } else {
      compare<float>(false, std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]), work);
    }
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
