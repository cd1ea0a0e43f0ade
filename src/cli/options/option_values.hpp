#pragma once
// What the values of options may be.

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpu::cli {

/// A check of a number, worded as the library words its own.
[[nodiscard]] CLI::Validator number_in(const std::string& expected, bool (*holds)(double));

/// Whether a verb has the option, and it is given.
[[nodiscard]] bool is_given(const CLI::App& app, const char* option);

/// A file, which has a name.
[[nodiscard]] CLI::Validator file_name();

/// A number of bytes from 1, with or without a unit: K, M, G and T are powers of 1000, Ki, Mi, Gi
/// and Ti of 1024; a B may follow.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace gpu::cli
