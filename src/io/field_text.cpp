#include "io/field_text.hpp"

namespace gpu::io {

bool needs_quotes(std::string_view name, char separator) {
  if (name.empty()) return false;
  if (name.front() == ' ' || name.back() == ' ') return true;
  for (const char c : name) {
    if (c == separator || c == '"' || c == '\'' || c == '#' || c == '\n' || c == '\r') return true;
  }
  return false;
}

std::string field_of(std::string_view name, char separator) {
  if (!needs_quotes(name, separator)) return std::string(name);
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

std::optional<row_names> fields_of(const row_names& names, char separator) {
  index_t i = 0;
  while (i < names.size() && !needs_quotes(names[i], separator)) ++i;
  if (i == names.size()) return {};
  row_names out;
  for (i = 0; i < names.size(); ++i) out.add(field_of(names[i], separator));
  return out;
}

}  // namespace gpu::io
