// The first call of every operation on CUDA, and the best of those behind it, from host to host:
// where the library holds no machine code for the device, the driver compiles the kernels of a call
// at its first use, which is to be seen here.
//
//   call_times [--repeats N] [--filter TEXT] [--checksums 1]
//
// A line a call, at once: its name, seconds of the first call, the best of N (5) further ones, the
// kernel's variant where there is a choice, and a checksum of the result where asked for; before
// them the device and the code that it runs, and the seconds that the driver and the context take.
// Tables are seeded.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/similarity.hpp>

#include "common/digest.hpp"
#include "tests/support/correlated_rows.hpp"

namespace {

using gpu::index_t;

const gpu::execution on_cuda{.target = gpu::backend::cuda};

using shared_rows = std::shared_ptr<const gpu::matrix<float>>;

/// What a call leaves: the variant that ran, or nothing, and how to add up its result.
struct answer {
  std::string variant;
  std::function<std::string()> checksum;
};

struct call {
  std::string name;
  std::function<answer()> run;
};

struct settings {
  int repeats = 5;
  std::string filter = {};
  bool has_checksums = false;
};

double seconds_of(const std::function<answer()>& run, answer& last) {
  last = {};  // freeing a result is no part of a call
  const auto start = std::chrono::steady_clock::now();
  last = run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The answer of a call whose result is a matrix.
template <class T>
answer of_matrix(gpu::matrix<T>&& result) {
  const auto kept = std::make_shared<gpu::matrix<T>>(std::move(result));
  return {"", [kept] { return gpu_bench::digest_of(std::as_const(*kept).view()); }};
}

template <class Result>
answer of_pairs(Result&& result) {
  const auto kept = std::make_shared<Result>(std::move(result));
  const auto add_up = [kept] {
    if constexpr (requires { kept->degree; }) {
      return gpu_bench::digest_of(kept->degree);
    } else if constexpr (requires { kept->view(); }) {
      return gpu_bench::digest_of(std::as_const(*kept).view());
    } else {
      return gpu::to_string(kept->summary.checksum);
    }
  };
  return {std::string(gpu::to_string(kept->summary.variant)), add_up};
}

template <class T = float>
std::shared_ptr<gpu::matrix<T>> correlated(index_t rows, index_t cols) {
  return std::make_shared<gpu::matrix<T>>(gpu_test::correlated_matrix<T>(
      {.rows = rows, .cols = cols, .pairs_in_blocks = 0.04, .block_variance = 0.85}));
}

shared_rows correlated_with_holes(index_t row_count, index_t cols) {
  const auto made = correlated(row_count, cols);
  gpu::matrix<float>& rows = *made;
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (index_t i = 0; i < rows.rows(); ++i) {
    for (index_t k = 0; k < rows.cols(); ++k) {
      if (uniform(engine) < 0.02) rows(i, k) = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return made;
}

template <class Sink>
call pairs(const std::string& name, gpu::measure what, index_t rows, index_t cols,
           const Sink& sink) {
  return {name + " " + std::to_string(rows) + " x " + std::to_string(cols),
          [=, data = correlated(rows, cols)] {
            return of_pairs(gpu::all_pairs(what, *data, {.exec = on_cuda}, sink));
          }};
}

void add_pairs(std::vector<call>& all) {
  using enum gpu::measure;
  const gpu::pair_filter keep{.max_p = 1e-6};
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{22283, 57}, {12625, 128}}) {
    all.push_back(pairs("spearman counts", spearman, rows, cols, gpu::count_sink{.keep = keep}));
    all.push_back(pairs("spearman edges", spearman, rows, cols, gpu::edge_sink{.keep = keep}));
  }
  all.push_back(pairs("spearman top_k", spearman, 22283, 57, gpu::top_k_sink{.k = 10}));
  all.push_back(pairs("spearman dense", spearman, 2000, 57, gpu::dense_sink{}));
  all.push_back(pairs("spearman edges", spearman, 2000, 1000, gpu::edge_sink{.keep = keep}));
  all.push_back(pairs("spearman edges", spearman, 1000, 20000, gpu::edge_sink{.keep = keep}));
  all.push_back(pairs("pearson counts", pearson, 22283, 57, gpu::count_sink{.keep = keep}));
  all.push_back(pairs("pearson edges", pearson, 22283, 57, gpu::edge_sink{.keep = keep}));
  all.push_back(pairs("pearson top_k", pearson, 22283, 57, gpu::top_k_sink{.k = 10}));
  all.push_back(pairs("pearson dense", pearson, 1000, 20000, gpu::dense_sink{}));
  all.push_back(
      {"pearson edges of missing values 4000 x 60", [data = correlated_with_holes(4000, 60), keep] {
         const gpu::pair_options options{.nans = gpu::nan_policy::pairwise, .exec = on_cuda};
         return of_pairs(gpu::all_pairs(pearson, *data, options, gpu::edge_sink{.keep = keep}));
       }});
  all.push_back(
      {"spearman edges of missing values 4000 x 60",
       [data = correlated_with_holes(4000, 60), keep] {
         const gpu::pair_options options{.nans = gpu::nan_policy::pairwise, .exec = on_cuda};
         return of_pairs(gpu::all_pairs(spearman, *data, options, gpu::edge_sink{.keep = keep}));
       }});
}

void add_rows(std::vector<call>& all) {
  for (const index_t cols : {30, 128, 2000}) {
    all.push_back({"rank_rows 100000 x " + std::to_string(cols), [data = correlated(100000, cols)] {
                     return of_matrix(gpu::rank_rows(*data, {.exec = on_cuda}));
                   }});
  }
  all.push_back({"mean_filter 4000 x 20000, window 101", [data = correlated(4000, 20000)] {
                   gpu::matrix<float> means(4000, 20000);
                   gpu::mean_filter(*data, means, {.window = 101, .exec = on_cuda});
                   return of_matrix(std::move(means));
                 }});
  all.push_back({"top_k 100 of 4000 x 20000", [data = correlated(4000, 20000)] {
                   return of_matrix(std::move(gpu::top_k(*data, 100, {.exec = on_cuda}).indices));
                 }});
}

template <class T>
call product(const std::string& name, index_t extent) {
  return {name + " " + std::to_string(extent), [data = correlated<T>(extent, extent)] {
            return of_matrix(gpu::matmul(*data, *data, {.exec = on_cuda}));
          }};
}

void add_products(std::vector<call>& all) {
  all.push_back(product<float>("matmul float", 4096));
  all.push_back(product<double>("matmul double", 2048));
  all.push_back({"binary_matmul 8192 x 8192", [data = correlated(8192, 8192)] {
                   const gpu::bit_matrix bits = gpu::pack_bits(*data, 0.0F, on_cuda);
                   return of_matrix(gpu::binary_matmul(bits, bits, {.exec = on_cuda}));
                 }});
}

void print_device() {
  const auto start = std::chrono::steady_clock::now();
  (void)gpu::resolve_backend(on_cuda);  // throws where there is no device, and says why
  const gpu::device_info device = gpu::available_devices().front();
  const double driver =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s, compute %d.%d, %s code of %d.%d\n", device.name.c_str(), device.compute_major,
              device.compute_minor, std::string(gpu::to_string(device.code)).c_str(),
              device.code_major, device.code_minor);
  std::printf("driver: first %.4f s\n", driver);
  answer last;
  const gpu::matrix<float> little(2, 3);
  const double context = seconds_of(
      [&] {
        const gpu::pair_options options{.variant = gpu::pair_variant::naive, .exec = on_cuda};
        (void)gpu::plan_all_pairs(gpu::measure::spearman, little, options);
        return answer{};
      },
      last);
  std::printf("context: first %.4f s\n", context);
  std::fflush(stdout);
}

void measure(const settings& asked) {
  print_device();
  std::vector<call> all;
  add_pairs(all);
  add_rows(all);
  add_products(all);
  for (const call& one : all) {
    if (one.name.find(asked.filter) == std::string::npos) continue;
    answer last;
    const double first = seconds_of(one.run, last);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < asked.repeats; ++i) best = std::min(best, seconds_of(one.run, last));
    std::printf("%s: first %.4f s, best %.6f s%s%s", one.name.c_str(), first,
                asked.repeats > 0 ? best : first, last.variant.empty() ? "" : ", ",
                last.variant.c_str());
    if (asked.has_checksums) std::printf(", checksum %s", last.checksum().c_str());
    std::printf("\n");
    std::fflush(stdout);
  }
}

settings read_settings(int argc, char** argv) {
  settings out;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc || (name != "--repeats" && name != "--filter" && name != "--checksums")) {
      throw std::invalid_argument("call_times [--repeats N] [--filter TEXT] [--checksums 1]");
    }
    if (name == "--repeats") out.repeats = std::atoi(argv[i + 1]);
    if (name == "--filter") out.filter = argv[i + 1];
    if (name == "--checksums") out.has_checksums = std::string_view(argv[i + 1]) == "1";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(read_settings(argc, argv));
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
