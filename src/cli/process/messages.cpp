#include "cli/process/messages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <exception>

#include "cli/process/interrupt.hpp"

namespace gpu::cli {
namespace {

bool is_control(unsigned char c) {
  constexpr unsigned char first_printable = 0x20;
  constexpr unsigned char del = 0x7f;
  return c < first_printable || c == del;
}

/// Whether the control characters U+0080 to U+009F of UTF-8 begin here.
bool is_long_control(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return false;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return text[at] == '\xc2' && second >= 0x80 && second < 0xa0;
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
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_control(c)) {
      out += fmt::format("\\x{:02x}", c);
    } else if (is_long_control(text, i)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  return out;
}

void say(std::string_view text) noexcept {
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

}  // namespace gpu::cli
