// Any all-pairs job on rows that are made here, timed from host rows to the host result.
//
//   pair_job < jobs
//
// A line of the input is one job, nine words and then options in any order:
//   measure rows cols pairs_in_blocks factor_variance levels cut sink calls [option ...]
//
// measure: spearman, pearson, ... The next five words are those of
// tests/support/correlated_rows.hpp; pairs_in_blocks 0 makes independent rows. cut: the largest p,
// or the least magnitude of a measure without p; several with commas between them, from the loosest
// to the strictest. sink: edges, unordered, stream, counts, bh (counts of Benjamini and
// Hochberg), top_k (10), dense (floats), dense64, connectivity (20 powers), max_t, differential,
// differential_counts or differential_top_k (the first half of the columns and the second); "cpu:"
// in front of it runs it on the CPU. calls: timed ones after one that is not.
//
//   y=ROWS              against a second table of so many rows; prepared=1: that is prepared once
//   missing=SHARE       of the values, pair by pair; masks=N: row i has mask i modulo N
//   threads=N, devices=N, variant=NAME, fold=NAME, bins=N, permutations=N (of max_t)
//   table=FILE          writes the table as float32 .npy, for a peer
//
// Prints a line for each job and cut: how many pairs were kept and their share; the median, best
// and worst call in seconds; preparation and pairs of the last call; edges a second; the checksum
// of the result, which depends neither on order, memory nor device. After several cuts: the largest
// ratio of a stricter cut's time to a looser one's.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/differential.hpp>
#include <gpu/max_t.hpp>
#include <gpu/prepared_rows.hpp>

#include "common/digest.hpp"
#include "tests/support/correlated_rows.hpp"

namespace {

using gpu::index_t;

struct job {
  gpu::measure what = gpu::measure::spearman;
  gpu_test::correlated_shape shape;
  std::vector<double> cuts;
  std::string sink;
  int calls = 1;
  std::map<std::string, std::string> options;

  [[nodiscard]] std::string text(const std::string& option) const {
    const auto found = options.find(option);
    return found == options.end() ? "" : found->second;
  }
  [[nodiscard]] double number(const std::string& option, double otherwise = 0) const {
    const std::string value = text(option);
    return value.empty() ? otherwise : std::stod(value);
  }
};

template <class Value>
Value named(std::string_view name, std::initializer_list<Value> values) {
  for (const Value value : values) {
    if (gpu::to_string(value) == name) return value;
  }
  throw std::runtime_error("no such option: " + std::string(name));
}

job read_job(const std::string& line) {
  job out;
  std::istringstream in(line);
  std::string name;
  std::string cuts;
  in >> name >> out.shape.rows >> out.shape.cols >> out.shape.pairs_in_blocks >>
      out.shape.factor_variance >> out.shape.levels >> cuts >> out.sink >> out.calls;
  if (in.fail() || out.calls < 1) throw std::runtime_error("expected nine words and options");
  out.what = gpu::measure_of(name);
  std::istringstream each(cuts);
  for (std::string cut; std::getline(each, cut, ',');) out.cuts.push_back(std::stod(cut));
  constexpr std::string_view known[] = {"y",       "prepared", "missing",     "masks",
                                        "threads", "devices",  "variant",     "fold",
                                        "bins",    "table",    "permutations"};
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    const std::string option = word.substr(0, equals);
    if (equals == std::string::npos || std::ranges::find(known, option) == std::end(known)) {
      throw std::runtime_error("no such option: " + word);
    }
    out.options[option] = word.substr(equals + 1);
  }
  return out;
}

gpu::pair_options options_of(const job& asked) {
  using enum gpu::pair_variant;
  using gpu::row_folding;
  gpu::pair_options out;
  if (asked.sink.starts_with("cpu:")) out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = static_cast<int>(asked.number("threads"));
  for (int device = 0; device < asked.number("devices"); ++device) {
    out.exec.devices.push_back(device);
  }
  if (asked.number("missing") > 0) out.nans = gpu::nan_policy::pairwise;
  if (const std::string name = asked.text("variant"); !name.empty()) {
    out.variant = named(name, {automatic, naive, tiled, shared_tiled, tensor, hopper});
  }
  // Rates of all pairs, whatever repeats.
  const std::string fold = asked.text("fold");
  out.fold = fold == "automatic" ? row_folding::automatic
             : fold == "always"  ? row_folding::always
                                 : row_folding::never;
  return out;
}

void lose_values(gpu::matrix<float>& rows, double share, index_t masks) {
  std::mt19937_64 scattered(1);
  std::uniform_real_distribution<double> uniform;
  for (index_t i = 0; i < rows.rows(); ++i) {
    std::mt19937_64 mask(static_cast<std::uint64_t>(masks > 0 ? i % masks : 0));
    for (index_t k = 0; k < rows.cols(); ++k) {
      if (uniform(masks > 0 ? mask : scattered) < share) {
        rows(i, k) = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }
}

gpu::matrix<float> make_rows(const job& asked, index_t rows, std::uint64_t seed) {
  gpu_test::correlated_shape shape = asked.shape;
  shape.rows = rows;
  shape.seed = seed;
  if (shape.pairs_in_blocks <= 0) {
    shape.pairs_in_blocks = 1e-9;  // every row is a block of its own
    shape.block_variance = 0;
  }
  gpu::matrix<float> out = gpu_test::correlated_matrix<float>(shape);
  lose_values(out, asked.number("missing"), static_cast<index_t>(asked.number("masks")));
  return out;
}

// NumPy's file format, version 1.0.
void write_npy(const std::string& path, gpu::matrix_view<const float> rows) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows.rows()) + ", " + std::to_string(rows.cols()) + "), }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out << static_cast<char>(header.size() % 256) << static_cast<char>(header.size() / 256) << header;
  out.write(reinterpret_cast<const char*>(rows.data()),
            static_cast<std::streamsize>(rows.rows() * rows.cols()) *
                static_cast<std::streamsize>(sizeof(float)));
}

// What a call said: its result was destroyed outside of the time.
struct outcome {
  double seconds = 0;
  std::uint64_t kept = 0;
  std::uint64_t tested = 0;
  double prepare_seconds = 0;
  double pairs_seconds = 0;
  std::string checksum;
};

template <class Call, class Digest>
outcome time_call(const Call& call, const Digest& digest) {
  outcome out;
  const auto start = std::chrono::steady_clock::now();
  const auto result = call();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto fill = [&](const auto& summary) {
    out.kept = summary.pairs_kept;
    out.tested = summary.pairs_tested;
    if constexpr (requires { summary.prepare_seconds; }) {
      out.prepare_seconds = summary.prepare_seconds;
      out.pairs_seconds = summary.pairs_seconds;
      out.checksum = gpu::to_string(summary.checksum);
    }
  };
  if constexpr (requires { result.summary; }) {
    fill(result.summary);
  } else if constexpr (requires { result.pairs_kept; }) {
    fill(result);
  }
  if (const std::string own = digest(result); !own.empty()) out.checksum = own;
  return out;
}

// The tables of a job, and one call of it.
class prepared_job {
 public:
  explicit prepared_job(const job& asked)
      : asked_(asked),
        sink_(asked.sink.starts_with("cpu:") ? asked.sink.substr(4) : asked.sink),
        options_(options_of(asked)),
        x_(make_rows(asked, asked.shape.rows, 1)) {
    if (const std::string file = asked.text("table"); !file.empty()) write_npy(file, x_.view());
    if (asked.number("y") > 0) y_ = make_rows(asked, static_cast<index_t>(asked.number("y")), 2);
    if (asked.number("prepared") > 0) {
      if (!y_) throw std::runtime_error("expected y=ROWS, which are prepared");
      prepared_ = gpu::prepare_rows(asked.what, *y_, options_);
    }
    columns_.resize(static_cast<std::size_t>(asked.shape.cols));
    std::iota(columns_.begin(), columns_.end(), 0);
  }

  [[nodiscard]] outcome call(double cut) const {
    const bool has_p = gpu::info_of(asked_.what).test != gpu::significance::none;
    const gpu::pair_filter keep =
        has_p ? gpu::pair_filter{.max_p = cut} : gpu::pair_filter{.min_abs = cut};
    if (sink_ == "counts" || sink_ == "bh") {
      gpu::count_sink sink{.keep = keep,
                           .histogram_bins = static_cast<index_t>(asked_.number("bins"))};
      if (sink_ == "bh") sink.keep.adjust = gpu::adjustment::benjamini_hochberg;
      return run(sink, [](const auto& r) { return gpu_bench::digest_of(r.degree); });
    }
    if (sink_ == "top_k") return run(gpu::top_k_sink{.k = 10, .keep = keep});
    if (sink_ == "dense") {
      return run(gpu::dense_sink_f32{},
                 [](const auto& r) { return gpu_bench::digest_of(r.view()); });
    }
    if (sink_ == "dense64") {
      return run(gpu::dense_sink{}, [](const auto& r) { return gpu_bench::digest_of(r.view()); });
    }
    if (sink_ == "stream") {
      return run(gpu::stream_sink{.keep = keep, .consume = [](std::span<const gpu::edge>) {}});
    }
    if (sink_ == "edges" || sink_ == "unordered") {
      return run(gpu::edge_sink{.keep = keep,
                                .order = sink_ == "unordered"
                                             ? gpu::edge_order::unspecified
                                             : gpu::edge_order::by_row_then_column});
    }
    return call_of_one_table(cut);
  }

 private:
  static constexpr auto no_digest = [](const auto&) { return std::string(); };

  template <class Sink, class Digest = decltype(no_digest)>
  outcome run(const Sink& sink, const Digest& digest = no_digest) const {
    return time_call(
        [&] {
          if (prepared_) return gpu::all_pairs(asked_.what, x_, *prepared_, options_, sink);
          if (y_) return gpu::all_pairs(asked_.what, x_, *y_, options_, sink);
          return gpu::all_pairs(asked_.what, x_, options_, sink);
        },
        digest);
  }

  [[nodiscard]] outcome call_of_one_table(double cut) const {
    if (y_) throw std::runtime_error("the sink " + sink_ + " is of one table");
    if (sink_ == "connectivity") {
      std::vector<double> powers(20);
      std::iota(powers.begin(), powers.end(), 1);
      return time_call(
          [&] {
            return gpu::all_pairs(asked_.what, x_, options_,
                                  gpu::connectivity_sink{.powers = powers});
          },
          no_digest);
    }
    if (sink_ == "max_t") {
      const gpu::max_t_options how{.permutations =
                                       static_cast<index_t>(asked_.number("permutations", 100))};
      return time_call([&] { return gpu::max_t(asked_.what, x_, options_, how); },
                       [&](const auto& null) { return std::to_string(null.cut(0.05)); });
    }
    const std::span<const index_t> all(columns_);
    const gpu::column_groups groups{all.first(all.size() / 2), all.last(all.size() / 2)};
    const auto differences = [&](const auto& sink) {
      return time_call(
          [&] { return gpu::differential_pairs(asked_.what, x_, groups, options_, sink); },
          no_digest);
    };
    const gpu::differential_filter differing{.max_p = cut};
    if (sink_ == "differential") return differences(gpu::differential_edge_sink{.keep = differing});
    if (sink_ == "differential_counts") {
      return differences(gpu::differential_count_sink{.keep = differing});
    }
    if (sink_ == "differential_top_k") return differences(gpu::differential_top_k_sink{.k = 10});
    throw std::runtime_error("no such sink: " + sink_);
  }

  const job& asked_;
  std::string sink_;
  gpu::pair_options options_;
  gpu::matrix<float> x_;
  std::optional<gpu::matrix<float>> y_;
  std::optional<gpu::prepared_rows> prepared_;
  std::vector<index_t> columns_;
};

// The median of the calls at one cut.
double run_cut(const job& asked, const prepared_job& ready, double cut) {
  outcome last = ready.call(cut);
  std::vector<double> seconds;
  for (int call = 0; call < asked.calls; ++call) {
    last = ready.call(cut);
    seconds.push_back(last.seconds);
  }
  std::ranges::sort(seconds);
  const double median = seconds[seconds.size() / 2];
  std::printf(
      "%s %lldx%lld p<=%g %s kept %llu (%.3g) s %.6f best %.6f worst %.6f prepare %.6f pairs %.6f "
      "edges/s %.3g checksum %s\n",
      std::string(gpu::to_string(asked.what)).c_str(), static_cast<long long>(asked.shape.rows),
      static_cast<long long>(asked.shape.cols), cut, asked.sink.c_str(),
      static_cast<unsigned long long>(last.kept),
      last.tested > 0 ? static_cast<double>(last.kept) / static_cast<double>(last.tested) : 0.0,
      median, seconds.front(), seconds.back(), last.prepare_seconds, last.pairs_seconds,
      static_cast<double>(last.kept) / median, last.checksum.c_str());
  std::fflush(stdout);
  return median;
}

void run_job(const job& asked) {
  const prepared_job ready(asked);
  double worst = 0;
  double shortest = std::numeric_limits<double>::infinity();
  for (const double cut : asked.cuts) {
    const double seconds = run_cut(asked, ready, cut);
    worst = std::max(worst, seconds / shortest);
    shortest = std::min(shortest, seconds);
  }
  if (asked.cuts.size() > 1) std::printf("  stricter / looser at worst: %.3f\n", worst);
}

}  // namespace

int main() {
  int failures = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty() || line.front() == '#') continue;
    try {
      run_job(read_job(line));
    } catch (const std::exception& failure) {
      std::printf("%s: %s\n", line.c_str(), failure.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
