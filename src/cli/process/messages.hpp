#pragma once
// Messages on standard error, and text on standard output. Writing messages cannot fail: a closed
// or full standard error changes no result and no exit code.

#include <string>
#include <string_view>
#include <vector>

namespace gpu::cli {

/// Opens what is closed of standard input, output and error, so that no file of the run takes their
/// place: messages go nowhere then, reading and writing fail.
void open_standard_streams() noexcept;

/// `text` with hidden characters (io::is_hidden) written as \xNN, \uNNNN, \t, \n: names and cells
/// of a file cannot move the cursor of a terminal or turn what it shows around.
[[nodiscard]] std::string printable(std::string_view text);

/// Writes `text` to standard error, with escapes for hidden characters except line ends and tabs.
void say(std::string_view text) noexcept;

/// Replaces the last line of the terminal by `text`, made printable.
void show_on_line(std::string_view text) noexcept;

/// "gpu-similarity: note: <file>: <message>", a line for each, with control characters made
/// printable. `file` may also be the name of a device.
void note(std::string_view file, const std::vector<std::string>& messages) noexcept;

/// "gpu-similarity: <message>", with control characters made printable.
void complain(std::string_view message) noexcept;

/// Writes all of `text` to standard output.
/// @throw io::output_error, io::interrupted
void print(std::string_view text);

}  // namespace gpu::cli
