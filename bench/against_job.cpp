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
#include <gpu/prepared_rows.hpp>
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

template <class Call>
timing time_call(const Call& call) {
  timing one;
  const auto start = std::chrono::steady_clock::now();
  const gpu::pair_summary summary = call();
  one.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  one.pairs_seconds = summary.pairs_seconds;
  one.pairs = static_cast<double>(summary.pairs_tested);
  one.kept = summary.pairs_kept;
  one.variant = std::string(gpu::to_string(summary.variant));
  return one;
}

timing median(std::vector<timing> all) {
  if (all.empty()) return {};
  if (all.size() > 1) all.erase(all.begin());  // the first is not counted
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

// Queries of rows that are prepared once.
template <class T>
void query(bool spearman, index_t rows_of_x, index_t rows_of_y, index_t cols, const job& work) {
  const auto x = make_rows<T>(rows_of_x, cols, 1);
  const gpu::prepared_rows y = spearman
                                   ? gpu::prepare_spearman_rows(make_rows<T>(rows_of_y, cols, 2))
                                   : gpu::prepare_pearson_rows(make_rows<T>(rows_of_y, cols, 2));
  const gpu::pair_options options{};
  std::vector<timing> calls;
  for (int turn = 0; turn <= work.repeats; ++turn) {
    calls.push_back(time_call([&] {
      return call_with_sink(work, [&](const auto& sink) {
        return spearman ? gpu::spearman_all_pairs(x, y, options, sink)
                        : gpu::pearson_all_pairs(x, y, options, sink);
      });
    }));
  }
  const timing got = median(calls);
  std::printf(
      "{\"measure\": \"%s\", \"x\": %lld, \"prepared_y\": %lld, \"cols\": %lld, \"sink\": "
      "\"%.*s\", "
      "\"p_or_k\": %g, \"variant\": \"%s\", \"prepare_seconds\": %.6f, \"seconds\": %.6f, "
      "\"pairs_seconds\": %.6f, \"kept\": %llu}\n",
      spearman ? "spearman" : "pearson", static_cast<long long>(rows_of_x),
      static_cast<long long>(rows_of_y), static_cast<long long>(cols),
      static_cast<int>(work.sink.size()), work.sink.data(), work.p_or_k, got.variant.c_str(),
      y.seconds(), got.seconds, got.pairs_seconds, static_cast<unsigned long long>(got.kept));
}

template <class T>
void compare(bool spearman, index_t rows_of_x, index_t rows_of_y, index_t cols, const job& work) {
  const double meetings = static_cast<double>(rows_of_x) * static_cast<double>(rows_of_y);
  const bool is_top_k = work.sink == "top_k";
  const auto rows = static_cast<index_t>(std::sqrt(is_top_k ? meetings : 2 * meetings));
  const gpu::pair_options options{};
  const auto x = make_rows<T>(rows_of_x, cols, 1);
  const auto y = make_rows<T>(rows_of_y, cols, 2);
  const auto table = make_rows<T>(rows, cols, 3);
  std::vector<timing> of_rectangle;
  std::vector<timing> of_triangle;
  for (int turn = 0; turn <= work.repeats; ++turn) {
    of_rectangle.push_back(time_call([&] {
      return call_with_sink(work, [&](const auto& sink) {
        return spearman ? gpu::spearman_all_pairs(x, y, options, sink)
                        : gpu::pearson_all_pairs(x, y, options, sink);
      });
    }));
    of_triangle.push_back(time_call([&] {
      return call_with_sink(work, [&](const auto& sink) {
        return spearman ? gpu::spearman_all_pairs(table, options, sink)
                        : gpu::pearson_all_pairs(table, options, sink);
      });
    }));
  }
  const timing against = median(of_rectangle);
  const timing triangle = median(of_triangle);
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

template <class T>
void run(bool spearman, char** argv, const job& work, bool prepared) {
  const index_t rows_of_x = std::atoll(argv[2]);
  const index_t rows_of_y = std::atoll(argv[3]);
  const index_t cols = std::atoll(argv[4]);
  if (prepared) return query<T>(spearman, rows_of_x, rows_of_y, cols, work);
  compare<T>(spearman, rows_of_x, rows_of_y, cols, work);
}

}  // namespace

int main(int argc, char** argv) {
  const bool prepared = argc == 9 && std::string_view(argv[8]) == "prepared";
  if (argc != 8 && !prepared) {
    std::fprintf(stderr,
                 "against_job spearman|pearson rows_of_x rows_of_y cols "
                 "edges|counts|top_k|dense p_or_k repeats [prepared]\n");
    return 2;
  }
  try {
    const job work{argv[5], std::atof(argv[6]), std::atoi(argv[7])};
    if (std::string_view(argv[1]) == "spearman") {
      run<std::int8_t>(true, argv, work, prepared);
    } else {
      run<float>(false, argv, work, prepared);
    }
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
