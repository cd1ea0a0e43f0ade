// Writes a table in the shape of the job this project began with: n rows of small counts with very
// many ties and zeros, 30 columns. The same arguments give the same bytes, on any number of
// threads.
//
//   generate_counts FILE [ROWS] [dense|sparse] [SEED] [COLUMNS]
//
// FILE ending in .npy is written as an int32 array, anything else as text, numbers separated by
// spaces; "-" is standard output. Each row draws its own share of zeros, from 0 to 0.5 (dense) or
// from 0.6 to 0.98 (sparse); the other values are uniform from 1 to 40. In dense counts nearly all
// rows have a ranking of their own, in sparse ones very many rows share theirs.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int largest_count = 40;
constexpr std::int64_t rows_per_block = 1 << 14;

struct request {
  std::string file;
  std::int64_t rows = 1'000'000;
  double least_zeros = 0.0;
  double most_zeros = 0.5;
  std::uint64_t seed = 1;
  std::int64_t cols = 30;
};

// splitmix64: one multiplication chain a number, and any seed gives a good sequence, so that each
// row can have a generator of its own.
class generator {
 public:
  generator(std::uint64_t seed, std::int64_t row)
      : state_(mix(seed) ^ mix(static_cast<std::uint64_t>(row) + 0x632be59bd9b4e019)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

constexpr double two_to_32 = 4294967296.0;

// One draw decides by its high half whether a value is zero, and by its low half which count it is.
void fill_row(const request& job, std::int64_t row, std::vector<std::int32_t>& values) {
  generator draw(job.seed, row);
  const double unit = static_cast<double>(draw.next() >> 32) / two_to_32;
  const double share = job.least_zeros + unit * (job.most_zeros - job.least_zeros);
  const auto cut = static_cast<std::uint64_t>(share * two_to_32);
  for (std::int32_t& value : values) {
    const std::uint64_t bits = draw.next();
    const std::uint64_t count = ((bits & 0xffffffff) * largest_count) >> 32;
    value = (bits >> 32) < cut ? 0 : static_cast<std::int32_t>(count) + 1;
  }
}

void append_text(const std::vector<std::int32_t>& values, std::string& out) {
  char digits[12];
  for (const std::int32_t value : values) {
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, end).push_back(' ');
  }
  out.back() = '\n';
}

void append_binary(const std::vector<std::int32_t>& values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t));
}

// The header of .npy format 1.0: a magic, the length of the text that follows, the text padded so
// that the values start at a multiple of 64 bytes.
std::string npy_header(const request& job) {
  std::string text = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                     std::to_string(job.rows) + ", " + std::to_string(job.cols) + "), }";
  constexpr std::size_t preamble = 10;
  text.append(63 - (preamble + text.size()) % 64, ' ').push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(text.size() % 256));
  header.push_back(static_cast<char>(text.size() / 256));
  return header + text;
}

void write(std::FILE* file, const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
    throw std::runtime_error("writing failed; is the disk full?");
  }
}

std::string block_of_rows(const request& job, std::int64_t block, bool binary) {
  std::string bytes;
  std::vector<std::int32_t> values(static_cast<std::size_t>(job.cols));
  const std::int64_t first = block * rows_per_block;
  const std::int64_t last = std::min(first + rows_per_block, job.rows);
  for (std::int64_t row = first; row < last; ++row) {
    fill_row(job, row, values);
    binary ? append_binary(values, bytes) : append_text(values, bytes);
  }
  return bytes;
}

// Threads fill blocks of rows side by side; the blocks are written in order.
void write_table(const request& job, std::FILE* file, bool binary) {
  if (binary) write(file, npy_header(job));
  const std::int64_t blocks = (job.rows + rows_per_block - 1) / rows_per_block;
  const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  std::deque<std::future<std::string>> coming;
  for (std::int64_t block = 0; block < blocks || !coming.empty(); ++block) {
    if (block < blocks) {
      coming.push_back(
          std::async(std::launch::async, block_of_rows, std::cref(job), block, binary));
    }
    if (coming.size() < at_once && block + 1 < blocks) continue;
    write(file, coming.front().get());
    coming.pop_front();
  }
  if (std::fflush(file) != 0) throw std::runtime_error("writing failed; is the disk full?");
}

template <class Integer>
Integer parse(std::string_view text, const char* name, Integer least) {
  Integer value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < least) {
    throw std::invalid_argument(std::string(name) + ": got '" + std::string(text) +
                                "', expected an integer from " + std::to_string(least));
  }
  return value;
}

request parse_arguments(int argc, char** argv) {
  if (argc < 2 || argc > 6) {
    throw std::invalid_argument(
        "usage: generate_counts FILE [ROWS] [dense|sparse] [SEED] [COLUMNS]");
  }
  request job{.file = argv[1]};
  if (argc > 2) job.rows = parse<std::int64_t>(argv[2], "ROWS", 0);
  const std::string_view shape = argc > 3 ? argv[3] : "dense";
  if (shape == "sparse") {
    job.least_zeros = 0.6;
    job.most_zeros = 0.98;
  } else if (shape != "dense") {
    throw std::invalid_argument("got '" + std::string(shape) + "', expected dense or sparse");
  }
  if (argc > 4) job.seed = parse<std::uint64_t>(argv[4], "SEED", 0);
  if (argc > 5) job.cols = parse<std::int64_t>(argv[5], "COLUMNS", 1);
  return job;
}

void run(const request& job) {
  if (job.file == "-") return write_table(job, stdout, false);
  std::FILE* file = std::fopen(job.file.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot write " + job.file);
  const bool binary = std::string_view(job.file).ends_with(".npy");
  try {
    write_table(job, file, binary);
  } catch (...) {
    std::fclose(file);
    throw;
  }
  if (std::fclose(file) != 0) throw std::runtime_error("writing " + job.file + " failed");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse_arguments(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::cerr << "generate_counts: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "generate_counts: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
