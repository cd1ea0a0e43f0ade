// Results as text and .npy, and what becomes of a file that cannot be completed.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gpu/p_value.hpp>

#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"
#include "io/write/temporary_files.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

constexpr gpu::index_t observations = 30;

/// Edges of 40 rows each; `distinct` different statistics.
std::vector<gpu::edge> make_edges(std::size_t count, std::size_t distinct) {
  std::mt19937_64 engine(11);
  std::vector<double> statistics(distinct);
  for (double& s : statistics) s = static_cast<double>(engine()) * 0x1p-63 - 1;
  statistics[0] = 1;
  std::vector<gpu::edge> edges(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double statistic = statistics[engine() % distinct];
    edges[k] = {static_cast<gpu::node_id>(k / 40), static_cast<gpu::node_id>(5000 + k % 40),
                statistic, gpu::correlation_p_value(statistic, observations)};
  }
  return edges;
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Asked again and again while a pipe is full: whether that lasts. Nothing can be written then.
bool full_for_long(int descriptor) {
  pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&room, 1, 0) == 0;
}

/// The lines as one would write them by hand; the statistic is compared as a number.
void check_lines(const std::string& text, const std::vector<gpu::edge>& edges,
                 const gpu::io::row_names& names) {
  std::size_t wrong = 0;
  std::size_t at = text.find('\n') + 1;
  for (const gpu::edge& e : edges) {
    std::string front = names.name(e.row);
    front += '\t';
    front += names.name(e.col);
    front += '\t';
    wrong += text.compare(at, front.size(), front) != 0;
    char* end = nullptr;
    wrong += std::strtod(text.c_str() + at + front.size(), &end) != e.statistic;
    std::string back = "\t";
    back += printed("%.6g", gpu::correlation_t(e.statistic, observations));
    back += '\t';
    back += printed("%.6g", e.p);
    back += '\n';
    const auto behind = static_cast<std::size_t>(end - text.c_str());
    wrong += text.compare(behind, back.size(), back) != 0;
    at = behind + back.size();
  }
  CHECK(wrong == 0);
  CHECK(at == text.size());
}

}  // namespace

TEST_CASE("Edges as text are in order and exact, on any number of threads", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  gpu::io::row_names given;
  for (int i = 0; i < 6000; ++i) given.add(std::string(static_cast<std::size_t>(i % 50), 'n'));
  for (const gpu::io::row_names& names : {gpu::io::row_names(), given}) {
    for (const std::size_t distinct : {3UL, 20000UL}) {
      for (const int threads : {1, 3}) {
        const auto edges = make_edges(30000, distinct);
        gpu::io::output_file out(folder.path("edges.tsv"));
        const auto writer = gpu::io::make_edge_writer(gpu::io::result_format::tsv, out,
                                                      {.names = names,
                                                       .rows = 6000,
                                                       .observations = observations,
                                                       .rank_test = gpu::significance::student_t,
                                                       .threads = threads});
        // In pieces of every size, so that blocks and pieces do not match.
        std::size_t given_edges = 0;
        for (std::size_t piece = 1; given_edges < edges.size(); piece = piece * 3 + 1) {
          const std::size_t count = std::min(piece, edges.size() - given_edges);
          writer->write(std::span(edges).subspan(given_edges, count));
          given_edges += count;
        }
        writer->write({});
        writer->finish();
        out.commit();
        CHECK(gpu_test::read_file(folder.path("edges.tsv")).size() == out.bytes_written());
        check_lines(gpu_test::read_file(folder.path("edges.tsv")), edges, names);
      }
    }
  }
}

TEST_CASE("Degrees as text are one line a row, of two tables with its table", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  const gpu::io::row_names names;
  gpu::pair_counts counts;
  counts.degree = {2, 0};
  const auto text_of = [&](const gpu::io::result_context& context) {
    gpu::io::output_file out(folder.path("degrees.tsv"));
    gpu::io::write_counts(gpu::io::result_format::tsv, out, counts, context);
    out.commit();
    return gpu_test::read_file(folder.path("degrees.tsv"));
  };
  const gpu::io::result_context alone{.names = names, .rows = 2, .observations = observations};
  CHECK(text_of(alone) == "name\tdegree\nX1\t2\nX2\t0\n");
  // Formatting takes no view of a null pointer, not even an empty one.
  CHECK(alone.table_column(0, '\t').empty());

  counts.y_degree = {1};
  const gpu::io::result_context against{.names = names,
                                        .rows = 2,
                                        .observations = observations,
                                        .against = &names,
                                        .against_rows = 1};
  CHECK(text_of(against) == "table\tname\tdegree\nx\tX1\t2\nx\tX2\t0\ny\tY1\t1\n");
}

TEST_CASE("A failing write reaches the caller from whichever thread", "[io][writer]") {
  const gpu::io::row_names names;
  const auto edges = make_edges(100000, 100);
  gpu::io::output_file out("/dev/full");
  CHECK_FALSE(out.can_replace());
  const auto write_all = [&](std::size_t count, int threads) {
    const auto writer = gpu::io::make_edge_writer(
        gpu::io::result_format::tsv, out,
        {.names = names, .rows = 6000, .observations = 30, .threads = threads});
    writer->write(std::span(edges).first(count));
    writer->finish();
  };
  for (const int threads : {1, 3, 8}) {
    // The header fails, then a block, then what is left for the end.
    for (const std::size_t count : {100000UL, 5000UL, 10UL, 0UL}) {
      CHECK_THROWS_AS(write_all(count, threads), gpu::io::output_error);
    }
  }
  CHECK_THROWS_AS(gpu::io::make_edge_writer(gpu::io::result_format::npy, out,
                                            {.names = names, .rows = 6000, .observations = 30}),
                  gpu::io::output_error);
}

TEST_CASE("A file has its name when it is complete, and not before", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  const std::string path = folder.write("out", "old");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path("")),
                         std::filesystem::directory_iterator());
  };
  SECTION("Committed") {
    gpu::io::output_file out(path);
    out.write("abc");
    out.replace(1, "X");
    CHECK(files() == 2);
    CHECK(gpu_test::read_file(path) == "old");
    out.commit();
    CHECK(gpu_test::read_file(path) == "aXc");
    CHECK(out.bytes_written() == 3);
  }
  SECTION("Abandoned") {
    {
      gpu::io::output_file(path).write("abc");
    }
    CHECK(gpu_test::read_file(path) == "old");
  }
  SECTION("Ended by a signal") {
    gpu::io::output_file out(path);
    out.write("ab");
    CHECK(files() == 2);
    gpu::io::remove_temporary_files();
    CHECK(files() == 1);
  }
  SECTION("Two at a time") {
    gpu::io::output_file first(path);
    gpu::io::output_file second(path);
    first.write("first");
    second.write("second");
    second.commit();
    first.commit();
    CHECK(gpu_test::read_file(path) == "first");
  }
  SECTION("Not to be renamed: the result is complete, so it stays and is named") {
    gpu::io::output_file out(path);
    out.write("abc");
    std::filesystem::remove(path);
    std::filesystem::create_directories(path + "/in the way");
    std::string message;
    try {
      out.commit();
    } catch (const gpu::io::output_error& error) {
      message = error.what();
    }
    const std::size_t at = message.find("the result is in ");
    REQUIRE(at != std::string::npos);
    CHECK(gpu_test::read_file(message.substr(at + 17)) == "abc");
    std::filesystem::remove_all(path);
    std::filesystem::remove(message.substr(at + 17));
    std::ofstream(path) << "old";
  }
  CHECK(files() == 1);
}

TEST_CASE("Outputs have no more bytes together than their budget", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  gpu::io::byte_budget budget(5);
  gpu::io::output_file first(folder.path("first"), {.budget = &budget});
  gpu::io::output_file second(folder.path("second"), {.budget = &budget});
  first.write("abc");
  CHECK_THROWS_AS(second.write("abc"), gpu::io::output_limit_reached);
  CHECK(second.bytes_written() == 0);
  second.write("ab");
  CHECK_THROWS_AS(first.write("a"), gpu::io::output_limit_reached);
}

TEST_CASE("A stop request ends the wait for a reader and for room", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  int asked = 0;
  const gpu::io::output_settings settings{.stop = [&] { return ++asked > 2; }};
  gpu::io::output_file unread(pipe, settings);
  CHECK_FALSE(unread.can_replace());
  CHECK_THROWS_AS(unread.write("abc"), gpu::io::interrupted);

  const int held = ::open(pipe.c_str(), O_RDWR);  // a reader that reads nothing
  gpu::io::output_file full(pipe, {.stop = [&] { return full_for_long(held); }});
  CHECK_THROWS_AS(full.write(std::string(1 << 20, 'x')), gpu::io::interrupted);
  CHECK(full.bytes_written() < (1 << 20));
  ::close(held);
  std::signal(SIGPIPE, SIG_IGN);
  CHECK_THROWS_AS(full.write("abc"), gpu::io::closed_pipe);
}

TEST_CASE("Outputs are told apart by file, not by name", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  const auto target = [&](const std::string& name) {
    return gpu::io::resolve_output(folder.path(name));
  };
  (void)folder.write("there", "");
  std::filesystem::create_hard_link(folder.path("there"), folder.path("twin"));
  std::filesystem::create_symlink("free", folder.path("to free"));
  std::filesystem::create_symlink(folder.path(""), folder.path("folder"));
  CHECK(gpu::io::is_same_output(target("there"), target("twin")));
  CHECK(gpu::io::is_same_output(target("there"), target("folder/./there")));
  CHECK(gpu::io::is_same_output(target("free"), target("to free")));
  CHECK(gpu::io::is_same_output(target("free"), target("folder/free")));
  CHECK_FALSE(gpu::io::is_same_output(target("free"), target("there")));
  CHECK_FALSE(gpu::io::is_same_output(target("free"), target("other")));
  CHECK(gpu::io::is_same_output(gpu::io::resolve_output("-"),
                                gpu::io::resolve_output("/dev/stdout")));
  CHECK_FALSE(gpu::io::is_same_output(gpu::io::resolve_output("/dev/null"),
                                      gpu::io::resolve_output("/dev/null")));
  CHECK(gpu::io::is_same_file(target("folder/twin"), folder.path("there")));
  CHECK_FALSE(gpu::io::is_same_file(target("free"), folder.path("there")));
  CHECK_THROWS_AS(target("absent/file"), gpu::io::output_error);
  CHECK_THROWS_AS(target(""), gpu::io::output_error);
  std::filesystem::create_symlink("loop", folder.path("loop"));
  CHECK_THROWS_AS(target("loop"), gpu::io::output_error);
}

namespace {

constexpr std::size_t records_begin = 192;  // behind the header

/// Sizes of files are limited while it lives.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  rlimit before_{};
};

std::string records_of(std::span<const gpu::edge> edges) {
  return {reinterpret_cast<const char*>(edges.data()), edges.size_bytes()};
}

}  // namespace

TEST_CASE("Records of several threads stand in order, and take no space behind them",
          "[io][writer]") {
  const gpu::io::row_names names;
  const auto edges = make_edges(2'000'003, 100);
  const auto check = [&](const std::string& path, std::size_t count, int threads) {
    const auto wanted = std::span<const gpu::edge>(edges).first(count);
    gpu::io::output_file out(path);
    CHECK(out.has_places());
    const auto writer = gpu::io::make_edge_writer(
        gpu::io::result_format::npy, out,
        {.names = names, .rows = 50'001, .observations = observations, .threads = threads});
    // Few at a time are copied, many are written from where they lie.
    std::size_t begin = 0;
    for (std::size_t piece = 1; begin < count; piece = piece < 60'000 ? piece * 7 + 1 : 5) {
      const auto some = wanted.subspan(begin, std::min(piece, count - begin));
      std::vector<gpu::edge> given(some.begin(), some.end());
      writer->write(given);
      std::fill(given.begin(), given.end(), gpu::edge{});  // they need not stay
      begin += some.size();
      if (begin > 700'000) break;
    }
    writer->write(wanted.subspan(begin));
    writer->finish();
    out.commit();
    const std::string text = gpu_test::read_file(path);
    REQUIRE(text.size() == records_begin + wanted.size_bytes());
    CHECK(text.find("'shape': (" + std::to_string(count) + ",)") < records_begin);
    CHECK(text.compare(records_begin, std::string::npos, records_of(wanted)) == 0);
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK(static_cast<std::size_t>(status.st_blocks) * 512 < text.size() + (1U << 20));
  };
  const gpu_test::temporary_folder folder;
  const std::string path = folder.path("edges.npy");
  for (const int threads : {1, 2, 8}) check(path, 700'001, threads);  // ten blocks and a part
  // A digest is of all bytes in their order.
  CHECK_FALSE(gpu::io::output_file(path, {.takes_digest = true}).has_places());
  CHECK_FALSE(gpu::io::output_file("/dev/null").has_places());
  // In a file that lies in memory, of up to three pieces of 16 MiB.
  const std::filesystem::path memory = "/dev/shm";
  if (!std::filesystem::is_directory(memory)) return;
  const std::string shared =
      memory / ("gpu-similarity-writer-test-" + std::to_string(::getpid()) + ".npy");
  for (const std::size_t count : {std::size_t{70'000}, std::size_t{699'051}, edges.size()}) {
    check(shared, count, 8);
  }
  std::filesystem::remove(shared);
}

TEST_CASE("Records that do not fit are refused, and nothing of them stays", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  const gpu::io::row_names names;
  const auto edges = make_edges(700'000, 100);
  constexpr std::uint64_t room = 7 << 20;
  const auto check = [&](gpu::io::output_file& out, auto&& is_right_error) {
    const auto writer = gpu::io::make_edge_writer(
        gpu::io::result_format::npy, out,
        {.names = names, .rows = 20000, .observations = observations, .threads = 8});
    try {
      writer->write(edges);
      writer->finish();
      FAIL("nothing was refused");
    } catch (const gpu::io::output_error& error) {
      INFO(error.what());
      CHECK(is_right_error(error));
    }
    CHECK_THROWS_AS(writer->finish(), gpu::io::output_error);
    CHECK(out.bytes_written() <= room);
  };
  {
    const file_size_limit limit(room);
    gpu::io::output_file out(folder.path("limited"));
    check(out, [](const gpu::io::output_error& error) {
      return std::string(error.what()).find("File too large") != std::string::npos;
    });
  }
  gpu::io::byte_budget budget(room);
  gpu::io::output_file out(folder.path("budget"), {.budget = &budget});
  check(out, [](const gpu::io::output_error& error) {
    return dynamic_cast<const gpu::io::output_limit_reached*>(&error) != nullptr;
  });
}

TEST_CASE("A writer that is given up leaves no thread behind", "[io][writer]") {
  const gpu_test::temporary_folder folder;
  const gpu::io::row_names names;
  const auto edges = make_edges(100000, 100);
  for (int k = 0; k < 10; ++k) {
    gpu::io::output_file out(folder.path("edges"));
    const auto writer = gpu::io::make_edge_writer(
        gpu::io::result_format::tsv, out,
        {.names = names, .rows = 6000, .observations = observations, .threads = 3});
    writer->write(edges);
    gpu::io::output_file records(folder.path("records"));
    const auto record_writer = gpu::io::make_edge_writer(
        gpu::io::result_format::npy, records,
        {.names = names, .rows = 6000, .observations = observations, .threads = 3});
    record_writer->write(edges);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path("edges")));
  CHECK_FALSE(std::filesystem::exists(folder.path("records")));
}
