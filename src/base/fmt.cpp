// fmt, compiled once. Compiling its functions in every file that formats a message took most of the
// time of a build. The other files see declarations alone; this one emits what they call. Nothing
// of fmt reaches the users of the library: its symbols are hidden, and no libfmt is linked.
#ifndef FMT_HEADER_ONLY
#error "this file is to be compiled with FMT_HEADER_ONLY"
#endif
#include <fmt/format.h>

#include <string>

namespace {

// Taking the address of an inline function emits it.
[[gnu::used]] std::string (*const format_text)(fmt::string_view, fmt::format_args) = &fmt::vformat;
[[gnu::used]] void (*const print_text)(std::FILE*, fmt::string_view,
                                       fmt::format_args) = &fmt::vprint;
[[gnu::used]] void (*const print_standard)(fmt::string_view, fmt::format_args) = &fmt::vprint;

}  // namespace
