#include "cli/process/messages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <exception>

#include "cli/process/interrupt.hpp"
#include "io/io_error.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

void write_to_stderr(std::string_view text) noexcept {
  constexpr int milliseconds = 100;
  pollfd waited{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  while (!text.empty()) {
    const int ready = ::poll(&waited, 1, milliseconds);
    if (ready <= 0) {
      if (is_interrupted()) return;  // nobody reads, and the run is to end
      continue;
    }
    const ssize_t done =
        ::write(STDERR_FILENO, text.data(), std::min(text.size(), std::size_t{PIPE_BUF}));
    if (done < 0 && errno != EINTR && errno != EAGAIN) return;
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
  }
}

/// `text` with an escape for each hidden character except those of `kept`.
std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const io::text_character next = io::first_character(text);
    const auto code = static_cast<std::uint32_t>(next.code);
    constexpr std::uint32_t most_short = 0xff;
    if (!io::is_hidden(next.code) || kept.find(text.front()) != kept.npos) {
      out += text.substr(0, next.bytes);
    } else if (text.front() == '\n') {
      out += "\\n";
    } else if (text.front() == '\t') {
      out += "\\t";
    } else {
      out += code > most_short ? fmt::format("\\u{:04x}", code) : fmt::format("\\x{:02x}", code);
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

/// The same without memory: what is not plain becomes '?'.
void say_plainly(std::string_view text) noexcept {
  std::array<char, 256> plain{};
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, plain.size());
    std::transform(piece.begin(), piece.end(), plain.begin(),
                   [](char c) { return c == '\n' || (c >= ' ' && c < '\x7f') ? c : '?'; });
    write_to_stderr({plain.data(), piece.size()});
    text.remove_prefix(piece.size());
  }
}

}  // namespace

void open_standard_streams() noexcept {
  // Ascending: open() takes the lowest descriptor that is free. The wrong direction makes reading
  // and writing fail, as they would on a closed descriptor.
  for (const auto& [descriptor, flags] :
       {std::pair(STDIN_FILENO, O_WRONLY), std::pair(STDOUT_FILENO, O_RDONLY),
        std::pair(STDERR_FILENO, O_WRONLY)}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", flags) < 0) return;
  }
}

std::string printable(std::string_view text) {
  return escaped(text, "");
}

void say(std::string_view text) noexcept {
  try {
    write_to_stderr(escaped(text, "\n\t"));
  } catch (const std::exception&) {  // no memory for the copy
    say_plainly(text);
  }
}

void show_on_line(std::string_view text) noexcept {
  try {
    write_to_stderr("\r\x1b[K" + printable(text));
  } catch (const std::exception&) {  // the next one will do
  }
}

void note(std::string_view file, const std::vector<std::string>& messages) noexcept {
  try {
    for (const std::string& message : messages) {
      say(fmt::format("gpu-similarity: note: {}: {}\n", printable(file), printable(message)));
    }
  } catch (const std::exception&) {
    say("gpu-similarity: no memory for a note on how the input is read\n");
  }
}

void complain(std::string_view message) noexcept {
  try {
    say(fmt::format("gpu-similarity: {}\n", printable(message)));
  } catch (const std::exception&) {  // no memory for the copy
    say("gpu-similarity: ");
    say(message);
    say("\n");
  }
}

void print(std::string_view text) {
  io::output_file out("-", {.stop = is_interrupted});
  out.write(text);
  out.commit();
}

}  // namespace gpu::cli
