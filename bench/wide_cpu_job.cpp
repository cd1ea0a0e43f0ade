// Calls of all pairs on one table by the CPU, one for each line that is read: what
// bench/peers/wide_cpu_peers.py runs in turn with NumPy, on the same rows.
//
//   wide_cpu_job table.npy < calls
//
// A line is a call: measure sink max_p [file]. measure: spearman, pearson, ...; sink: dense (in
// doubles), counts or edges. Answers each with a line: seconds of the call from host rows to the
// host result and of what follows the preparation; the same of its threads in the processor; how
// many pairs were kept. A dense result and the degrees of counts go to the file where one is named,
// which is not timed; nor is giving the memory of a result back.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

#include <gpu/all_pairs.hpp>

#include "io/read/read_table.hpp"

namespace {

struct call {
  gpu::measure what = gpu::measure::spearman;
  std::string sink;
  double max_p = 1;
  std::string file;
};

call read_call(const std::string& line) {
  call out;
  std::string measure;
  std::istringstream in(line);
  if (!(in >> measure >> out.sink >> out.max_p)) throw std::runtime_error("no call: " + line);
  out.what = gpu::measure_of(measure);
  in >> out.file;
  return out;
}

template <class T>
void save(const std::string& path, const T* data, gpu::index_t count) {
  if (path.empty()) return;
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data),
            static_cast<std::streamsize>(count) * static_cast<std::streamsize>(sizeof(T)));
  if (!out) throw std::runtime_error("cannot write " + path);
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct moment {
  std::chrono::steady_clock::time_point clock = std::chrono::steady_clock::now();
  double threads = processor_seconds();
};

double seconds_between(const moment& from, const moment& to) {
  return std::chrono::duration<double>(to.clock - from.clock).count();
}

void report(const moment& start, const moment& prepared, const moment& end,
            const gpu::pair_summary& summary) {
  std::printf("%.7f %.7f %.7f %.7f %llu\n", seconds_between(start, end),
              seconds_between(prepared, end), end.threads - start.threads,
              end.threads - prepared.threads, static_cast<unsigned long long>(summary.pairs_kept));
  std::fflush(stdout);
}

template <class T>
void run(const call& asked, gpu::matrix_view<const T> rows) {
  moment prepared;
  gpu::pair_options options{.exec = {.target = gpu::backend::cpu}};
  options.exec.on_progress = [&](const gpu::progress& state) {
    if (state.stage == "prepare") prepared = {};
    return gpu::progress_reply::proceed;
  };
  const gpu::pair_filter keep{.max_p = asked.max_p};
  const moment start;
  if (asked.sink == "dense") {
    const auto result = gpu::all_pairs(asked.what, rows, options, gpu::dense_sink{});
    const moment end;
    save(asked.file, result.view().data(), rows.rows() * rows.rows());
    report(start, prepared, end, result.summary);
  } else if (asked.sink == "counts") {
    const auto result = gpu::all_pairs(asked.what, rows, options, gpu::count_sink{.keep = keep});
    const moment end;
    save(asked.file, result.degree.data(), static_cast<gpu::index_t>(result.degree.size()));
    report(start, prepared, end, result.summary);
  } else if (asked.sink == "edges") {
    const auto result = gpu::all_pairs(asked.what, rows, options, gpu::edge_sink{.keep = keep});
    report(start, prepared, {}, result.summary);
  } else {
    throw std::runtime_error("no sink: " + asked.sink);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: wide_cpu_job table.npy < calls\n");
    return 2;
  }
  try {
    const gpu::io::table table = gpu::io::read_table(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      std::visit([&](const auto& matrix) { run(read_call(line), matrix.view()); }, table.values);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "wide_cpu_job: %s\n", failure.what());
    return 1;
  }
  return 0;
}
