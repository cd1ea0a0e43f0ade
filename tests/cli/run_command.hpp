#pragma once
// Runs the built command in a process of its own.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/temporary_file.hpp"

namespace gpu_test {

using words = std::vector<std::string>;

inline constexpr int exit_usage = 2;
inline constexpr int exit_bad_input = 3;
inline constexpr int exit_resources = 4;

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline words with(words first, const words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

inline words split(const std::string& text, char separator) {
  words out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

inline words lines_of(const std::string& text) {
  return split(text, '\n');
}

/// The fields of every line.
inline std::vector<words> fields_of(const std::string& text, char separator = '\t') {
  std::vector<words> out;
  for (const std::string& line : lines_of(text)) out.push_back(split(line, separator));
  return out;
}

struct command_result {
  int exit_code = -1;
  std::string out;
  std::string err;
  double seconds_after_signal = 0;
  std::uint64_t peak_bytes = 0;  ///< Of memory that was there at once.
};

struct command_settings {
  std::string input_path = "/dev/null";  ///< Becomes standard input.
  std::string output_path = {};          ///< Becomes standard output; empty: captured.
  std::string error_path = {};           ///< Becomes standard error; empty: captured.
  bool closes_error = false;             ///< Starts without a standard error.
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< Added to this process's.
  std::string folder = {};              ///< Becomes the working directory; empty: this process's.
  rlim_t largest_file = RLIM_INFINITY;  ///< Writes beyond fail, as on a full disk.
  unsigned longest_seconds = 0;         ///< Ends with SIGALRM after so long; 0: never.
  /// Asked every few milliseconds while the command runs: true sends `signal`, once.
  std::function<bool()> is_time_to_signal = {};
  int signal = SIGINT;
};

inline command_result run_command(const std::vector<std::string>& arguments,
                                  const command_settings& settings = {}) {
  const temporary_folder folder;
  const std::string out = settings.output_path.empty() ? folder.path("out") : settings.output_path;
  const std::string err = settings.error_path.empty() ? folder.path("err") : settings.error_path;
  std::vector<std::string> line{GPU_SIMILARITY_COMMAND};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);

  // A signal that comes before the command has begun must not find the handlers of this process.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGFPE, SIGILL, SIGABRT}) {
      ::signal(number, SIG_DFL);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const auto redirect = [](const std::string& path, int flags, int descriptor) {
      constexpr mode_t mode = 0600;
      if (::dup2(::open(path.c_str(), flags, mode), descriptor) < 0) ::_exit(126);
    };
    redirect(settings.input_path, O_RDONLY | O_CLOEXEC, STDIN_FILENO);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, STDOUT_FILENO);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, STDERR_FILENO);
    if (settings.closes_error) ::close(STDERR_FILENO);
    for (const auto& [name, value] : settings.environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    if (!settings.folder.empty() && ::chdir(settings.folder.c_str()) != 0) ::_exit(126);
    if (settings.largest_file != RLIM_INFINITY) {
      const rlimit limit{settings.largest_file, settings.largest_file};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ::alarm(settings.longest_seconds);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);

  int status = 0;
  bool is_signalled = false;
  auto signalled_at = std::chrono::steady_clock::now();
  rusage used{};
  while (::wait4(child, &status, settings.is_time_to_signal ? WNOHANG : 0, &used) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!is_signalled && settings.is_time_to_signal()) {
      ::kill(child, settings.signal);
      is_signalled = true;
      signalled_at = std::chrono::steady_clock::now();
    }
  }
  command_result result;
  constexpr std::uint64_t unit = 1024;
  result.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * unit;
  result.seconds_after_signal =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - signalled_at).count();
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (settings.output_path.empty()) result.out = read_file(out);
  if (settings.error_path.empty()) result.err = read_file(err);
  return result;
}

/// The value of `key` in a report, as text.
inline std::string report_value(const std::string& json, const std::string& key) {
  const std::string quoted = "\"" + key + "\": ";
  const std::size_t at = json.find(quoted);
  if (at == std::string::npos) return "absent";
  const std::size_t begin = at + quoted.size();
  return json.substr(begin, json.find_first_of(",}\n", begin) - begin);
}

}  // namespace gpu_test
