// Times the way that all pairs choose beside every other way that they could take, over the plane
// of shapes: rows 2 to 1e7 x columns 3 to 1e6.
//
//   plane_job [cpu|cuda] [--rows N,...] [--cols M,...] [--seconds S] [--cell S] [--bytes B]
//   [--threads T]
//
// --seconds: of the whole plane (150); the cells of most work come last and are left out when it is
// over. --cell: most seconds of a call; cells whose chosen way takes longer are left out (0.5).
// --rows, --cols: the shapes of the cells (2 to 1e7 and 3 to 1e6).
// --bytes: most bytes of a table and of a dense result (4e9 and a quarter of it). Rows are
// independent, of normal values in single precision, in host memory, and results are there too.
//
// Prints a JSON line for each way of each cell: backend, measure, sink, rows, cols, way, and the
// best seconds of its calls. `chosen` is the call without a forced way. A way that took more than
// twice the chosen time and was stopped has "stopped": true. Ends with 1 where a way kept other
// pairs than the chosen one.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "common/data.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "plan/forced/forced_ways.hpp"

namespace {

using gpu::index_t;
using gpu::cpu::cpu_pair_way;
using gpu::cpu::cpu_row_form;

struct arguments {
  gpu::backend target = gpu::backend::cpu;
  std::vector<index_t> rows = {2, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
  std::vector<index_t> cols = {3, 10, 30, 100, 300, 1000, 3000, 10'000, 100'000, 1'000'000};
  double seconds = 150;
  double cell = 0.5;
  double bytes = 4e9;
  int threads = 0;
};

enum class sink_kind { counts, edges, dense };
constexpr sink_kind sinks[] = {sink_kind::counts, sink_kind::edges, sink_kind::dense};
constexpr double loose_p = 0.05;
constexpr double strict_p = 1e-9;
constexpr std::uint64_t most_edges = 100'000'000;

const char* name_of(sink_kind sink) {
  switch (sink) {
    case sink_kind::counts:
      return "counts";
    case sink_kind::edges:
      return "edges";
    case sink_kind::dense:
      break;
  }
  return "dense";
}

struct job {
  gpu::measure what;
  sink_kind sink;
  index_t rows;
  index_t cols;

  [[nodiscard]] bool of_ranks() const { return what == gpu::measure::spearman; }
  [[nodiscard]] double work() const {
    const auto n = static_cast<double>(rows);
    return n * static_cast<double>(cols) * (30 + n / 2);
  }
};

/// A way: what is forced, and options.
struct way {
  std::string name;
  gpu::pair_options options = {};
  gpu::detail::forced_cpu_ways cpu = {};
  gpu::detail::forced_cuda_ways cuda = {};
};

void add_cpu_ways(const job& of, const gpu::pair_options& options, std::vector<way>& out) {
  out.push_back({.name = "one thread", .options = options});
  out.back().options.exec.cpu_threads = 1;
  if (of.sink != sink_kind::dense) {
    out.push_back({.name = "screen", .options = options, .cpu = {.way = cpu_pair_way::screen}});
    out.push_back({.name = "search", .options = options, .cpu = {.way = cpu_pair_way::search}});
    out.push_back({.name = "every", .options = options, .cpu = {.way = cpu_pair_way::every}});
  }
  if (!of.of_ranks()) {
    if (of.sink == sink_kind::dense) return;  // by doubles, whatever drops pairs
    out.push_back({.name = "floats", .options = options, .cpu = {.form = cpu_row_form::floats}});
    out.push_back(
        {.name = "rounded values", .options = options, .cpu = {.form = cpu_row_form::wide}});
    return;
  }
  const bool has_int8_sums = gpu::cpu::usable_pair_kernels().int8.search != nullptr;
  const cpu_row_form chosen = gpu::cpu::choose_cpu_rank_form(of.cols, has_int8_sums);
  constexpr std::pair<cpu_row_form, const char*> forms[] = {
      {cpu_row_form::bytes, "bytes"},
      {cpu_row_form::short_sums, "short sums"},
      {cpu_row_form::wide, "wide"}};
  for (const auto& [form, name] : forms) {
    if (form == chosen || !gpu::cpu::can_take_rank_form(form, of.cols, has_int8_sums)) continue;
    out.push_back({.name = name, .options = options, .cpu = {.form = form}});
  }
}

void add_cuda_ways(const job& of, const gpu::pair_options& options, std::vector<way>& out) {
  for (const gpu::pair_variant variant :
       {gpu::pair_variant::shared_tiled, gpu::pair_variant::tensor}) {
    out.push_back({.name = std::string(gpu::to_string(variant)), .options = options});
    out.back().options.variant = variant;
  }
  out.push_back({.name = "tiles", .options = options, .cuda = {.products = false}});
  out.push_back({.name = "products", .options = options, .cuda = {.products = true}});
  switch (of.sink) {
    case sink_kind::dense:
      if (of.of_ranks()) return;
      out.push_back({.name = "halves", .options = options, .cuda = {.halves = true}});
      out.push_back({.name = "no halves", .options = options, .cuda = {.halves = false}});
      return;
    case sink_kind::counts:
      out.push_back({.name = "counts by tiles",
                     .options = options,
                     .cuda = {.fast_counts = false, .screen = 0}});
      break;
    case sink_kind::edges:
      break;
  }
  out.push_back({.name = "no screen", .options = options, .cuda = {.screen = 0}});
  out.push_back({.name = "first screen", .options = options, .cuda = {.screen = 1}});
  out.push_back({.name = "second screen", .options = options, .cuda = {.screen = 2}});
}

std::vector<way> ways_of(const job& of, const arguments& asked) {
  const gpu::pair_options options{.exec = {.target = asked.target, .cpu_threads = asked.threads}};
  std::vector<way> out{{.name = "chosen", .options = options}};
  out.push_back({.name = "naive", .options = options});
  out.back().options.variant = gpu::pair_variant::naive;
  if (of.of_ranks()) {
    out.push_back({.name = "folded", .options = options});
    out.back().options.fold = gpu::row_folding::always;
    out.push_back({.name = "not folded", .options = options});
    out.back().options.fold = gpu::row_folding::never;
  }
  if (asked.target == gpu::backend::cpu) {
    add_cpu_ways(of, options, out);
  } else {
    add_cuda_ways(of, options, out);
  }
  return out;
}

/// Forces a way while it lives.
class forcing {
 public:
  explicit forcing(const way& how) { gpu::detail::ways_in_force() = {how.cpu, how.cuda}; }
  ~forcing() { gpu::detail::ways_in_force() = {}; }
  forcing(const forcing&) = delete;
  forcing& operator=(const forcing&) = delete;
};

using clock_type = std::chrono::steady_clock;
double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

struct answer {
  std::uint64_t kept = 0;
  gpu::pair_checksum checksum = {};
  friend bool operator==(const answer&, const answer&) = default;
};

struct call_time {
  double seconds = 0;
  answer found = {};
};

// A call, stopped where it takes more than `most` seconds; infinity: never.
call_time time_call(const job& of, const way& how, const std::vector<float>& values,
                    double most = std::numeric_limits<double>::infinity()) {
  const gpu::matrix_view<const float> rows(values.data(), of.rows, of.cols);
  gpu::pair_options options = how.options;
  const forcing forced(how);
  const auto start = clock_type::now();
  if (most < std::numeric_limits<double>::infinity()) {
    options.exec.on_progress = [&](const gpu::progress&) {
      return seconds_since(start) > most ? gpu::progress_reply::cancel
                                         : gpu::progress_reply::proceed;
    };
  }
  // The memory of a result is given back behind the time.
  const auto answer_of = [&](const auto& result) {
    return call_time{seconds_since(start), {result.summary.pairs_kept, result.summary.checksum}};
  };
  switch (of.sink) {
    case sink_kind::counts:
      return answer_of(
          gpu::all_pairs(of.what, rows, options, gpu::count_sink{.keep = {.max_p = loose_p}}));
    case sink_kind::edges:
      return answer_of(
          gpu::all_pairs(of.what, rows, options,
                         gpu::edge_sink{.keep = {.max_p = strict_p}, .max_edges = most_edges}));
    case sink_kind::dense:
      break;
  }
  return answer_of(gpu::all_pairs(of.what, rows, options, gpu::dense_sink_f32{}));
}

/// A way that was tried.
struct trial {
  way how;
  double best = std::numeric_limits<double>::infinity();
  int calls = 0;
  bool is_stopped = false;

  void note(double seconds) {
    best = std::min(best, seconds);
    ++calls;
  }
};

constexpr double short_call = 0.01;  // of which the first call may be of another kind than the next
constexpr double most_ratio = 2;     // of the chosen time, beyond which a way is stopped
constexpr double contender_ratio = 1.5;
constexpr int least_rounds = 2;
constexpr int most_rounds = 20;

bool all_alike = true;

// The first calls of a way; none where it is not offered.
std::optional<trial> try_way(const job& of, const way& how, const std::vector<float>& values,
                             double most, std::optional<answer>& expected) {
  trial out{.how = how};
  const auto start = clock_type::now();
  try {
    do {
      const call_time call = time_call(of, how, values, most);
      out.note(call.seconds);
      if (!expected) expected = call.found;
      if (call.found != *expected) {
        all_alike = false;
        std::fprintf(stderr, "plane_job: %s of %lld x %lld by %s kept %llu pairs, expected %llu\n",
                     name_of(of.sink), static_cast<long long>(of.rows),
                     static_cast<long long>(of.cols), how.name.c_str(),
                     static_cast<unsigned long long>(call.found.kept),
                     static_cast<unsigned long long>(expected->kept));
      }
    } while (out.calls < least_rounds && seconds_since(start) < short_call);
  } catch (const gpu::cancelled&) {
    out.note(seconds_since(start));
    out.is_stopped = true;
  } catch (const gpu::unsupported&) {
    return std::nullopt;
  }
  return out;
}

void print(const job& of, const arguments& asked, const trial& tried) {
  std::printf(
      "{\"backend\": \"%s\", \"measure\": \"%s\", \"sink\": \"%s\", \"rows\": %lld, \"cols\": "
      "%lld, "
      "\"way\": \"%s\", \"seconds\": %.4g, \"calls\": %d%s}\n",
      asked.target == gpu::backend::cpu ? "cpu" : "cuda",
      std::string(gpu::info_of(of.what).name).c_str(), name_of(of.sink),
      static_cast<long long>(of.rows), static_cast<long long>(of.cols), tried.how.name.c_str(),
      tried.best, tried.calls, tried.is_stopped ? ", \"stopped\": true" : "");
}

// Every way once, then those near the best in turn, for about `seconds` in all.
void measure(const job& of, const arguments& asked, const std::vector<float>& values,
             double seconds) {
  const auto start = clock_type::now();
  const std::vector<way> ways = ways_of(of, asked);
  std::optional<answer> expected;
  std::vector<trial> tried;
  double least = asked.cell;
  for (const way& how : ways) {
    const bool is_chosen = tried.empty();
    const double most = is_chosen ? asked.cell : most_ratio * tried.front().best + short_call;
    std::optional<trial> one = try_way(of, how, values, most, expected);
    if (is_chosen && (!one || one->is_stopped || one->best > asked.cell)) return;
    if (!one) continue;
    least = std::min(least, one->best);
    tried.push_back(*std::move(one));
  }
  for (int round = 0; round < most_rounds; ++round) {
    for (trial& one : tried) {
      const bool is_near = &one == &tried.front() || one.best < contender_ratio * least;
      if (one.is_stopped || !is_near) continue;
      if (round >= least_rounds && seconds_since(start) > seconds) break;
      one.note(time_call(of, one.how, values).seconds);
      least = std::min(least, one.best);
    }
    if (round + 1 >= least_rounds && seconds_since(start) > seconds) break;
  }
  for (const trial& one : tried) print(of, asked, one);
  std::fflush(stdout);
}

std::vector<job> plane(const arguments& asked) {
  std::vector<job> out;
  for (const index_t rows : asked.rows) {
    for (const index_t cols : asked.cols) {
      const auto elements = static_cast<double>(rows) * static_cast<double>(cols);
      if (elements * sizeof(float) > asked.bytes) continue;
      for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
        for (const sink_kind sink : sinks) {
          const double result =
              static_cast<double>(rows) * static_cast<double>(rows) * sizeof(float);
          if (sink == sink_kind::dense && result > asked.bytes / 4) continue;
          out.push_back({what, sink, rows, cols});
        }
      }
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const job& x, const job& y) { return x.work() < y.work(); });
  return out;
}

void run(const arguments& asked) {
  const std::vector<job> jobs = plane(asked);
  std::size_t elements = 0;
  for (const job& of : jobs) {
    elements =
        std::max(elements, static_cast<std::size_t>(of.rows) * static_cast<std::size_t>(of.cols));
  }
  const std::vector<float> values =
      gpu_bench::random_values<float>(static_cast<std::int64_t>(elements));
  const auto start = clock_type::now();
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const double left = asked.seconds - seconds_since(start);
    if (left <= 0) {
      std::fprintf(stderr, "plane_job: the time is over, %zu of %zu jobs are left out\n",
                   jobs.size() - k, jobs.size());
      return;
    }
    const job& of = jobs[k];
    try {
      measure(of, asked, values, left / static_cast<double>(jobs.size() - k));
    } catch (const gpu::error& failure) {
      std::fprintf(stderr, "plane_job: %s of %lld x %lld: %s\n", name_of(of.sink),
                   static_cast<long long>(of.rows), static_cast<long long>(of.cols),
                   failure.what());
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "plane_job: %s of %lld x %lld: no memory\n", name_of(of.sink),
                   static_cast<long long>(of.rows), static_cast<long long>(of.cols));
    }
  }
}

// The sizes of a list such as "10,100".
std::optional<std::vector<index_t>> sizes_of(const char* list) {
  std::vector<index_t> out;
  for (char* end = nullptr;; list = end + 1) {
    const long long size = std::strtoll(list, &end, 10);
    if (end == list || size < 2 || size > 10'000'000) return std::nullopt;
    out.push_back(size);
    if (*end == '\0') return out;
    if (*end != ',') return std::nullopt;
  }
}

std::optional<arguments> read(int argc, char** argv) {
  arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "cpu" || word == "cuda") {
      out.target = word == "cpu" ? gpu::backend::cpu : gpu::backend::cuda;
      continue;
    }
    if (i + 1 == argc) return std::nullopt;
    const char* const said = argv[++i];
    if (word == "--rows" || word == "--cols") {
      const std::optional<std::vector<index_t>> sizes = sizes_of(said);
      if (!sizes) return std::nullopt;
      (word == "--rows" ? out.rows : out.cols) = *sizes;
      continue;
    }
    const double value = std::strtod(said, nullptr);
    if (!(value > 0)) return std::nullopt;
    if (word == "--seconds") {
      out.seconds = value;
    } else if (word == "--cell") {
      out.cell = value;
    } else if (word == "--bytes") {
      out.bytes = value;
    } else if (word == "--threads") {
      out.threads = static_cast<int>(value);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<arguments> asked = read(argc, argv);
  if (!asked) {
    std::fprintf(stderr,
                 "usage: plane_job [cpu|cuda] [--rows N,...] [--cols M,...] [--seconds S] [--cell "
                 "S] [--bytes B] [--threads T]\n");
    return 2;
  }
  try {
    run(*asked);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "plane_job: %s\n", failure.what());
    return 1;
  }
  return all_alike ? 0 : 1;
}
