#pragma once
// The words that options have for their values: one table, for the parser, the key of a job in
// parts and messages.

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options/options.hpp"

namespace gpu::cli {

template <class Value>
using word = std::pair<std::string_view, Value>;
template <class Value>
using words = std::vector<word<Value>>;

template <class Value>
inline constexpr auto words_of = std::array<word<Value>, 0>{};

template <>
inline constexpr auto words_of<tail> = std::to_array<word<tail>>(
    {{"two-sided", tail::two_sided}, {"greater", tail::greater}, {"less", tail::less}});
template <>
inline constexpr auto words_of<adjustment> =
    std::to_array<word<adjustment>>({{"none", adjustment::none},
                                     {"bonferroni", adjustment::bonferroni},
                                     {"bh", adjustment::benjamini_hochberg}});
template <>
inline constexpr auto words_of<correction> =
    std::to_array<word<correction>>({{"none", correction::none},
                                     {"bonferroni", correction::bonferroni},
                                     {"bh", correction::benjamini_hochberg},
                                     {"max-t", correction::max_t}});
template <>
inline constexpr auto words_of<column_shuffle> = std::to_array<word<column_shuffle>>(
    {{"permutation", column_shuffle::permutation}, {"circular", column_shuffle::circular}});
template <>
inline constexpr auto words_of<column_match> = std::to_array<word<column_match>>(
    {{"name", column_match::name}, {"position", column_match::position}});
template <>
inline constexpr auto words_of<keep_kind> =
    std::to_array<word<keep_kind>>({{"edges", keep_kind::edges},
                                    {"top-k", keep_kind::top_k},
                                    {"counts", keep_kind::counts},
                                    {"dense", keep_kind::dense}});
template <>
inline constexpr auto words_of<parts_format> = std::to_array<word<parts_format>>(
    {{"text", parts_format::text}, {"slurm", parts_format::slurm}, {"json", parts_format::json}});
template <>
inline constexpr auto words_of<page_kind> =
    std::to_array<word<page_kind>>({{"bash", page_kind::bash}, {"zsh", page_kind::zsh}});
template <>
inline constexpr auto words_of<neighbor_order> =
    std::to_array<word<neighbor_order>>({{"by-absolute-value", neighbor_order::by_absolute_value},
                                         {"by-value", neighbor_order::by_value}});
template <>
inline constexpr auto words_of<p_method> = std::to_array<word<p_method>>(
    {{"auto", p_method::automatic}, {"t", p_method::t}, {"exact", p_method::exact}});
template <>
inline constexpr auto words_of<nan_policy> =
    std::to_array<word<nan_policy>>({{"reject", nan_policy::reject},
                                     {"propagate", nan_policy::propagate},
                                     {"pairwise", nan_policy::pairwise},
                                     {"omit", nan_policy::omit}});
template <>
inline constexpr auto words_of<backend> = std::to_array<word<backend>>(
    {{"auto", backend::automatic}, {"cpu", backend::cpu}, {"cuda", backend::cuda}});
template <>
inline constexpr auto words_of<pair_variant> =
    std::to_array<word<pair_variant>>({{"automatic", pair_variant::automatic},
                                       {"naive", pair_variant::naive},
                                       {"tiled", pair_variant::tiled},
                                       {"shared_tiled", pair_variant::shared_tiled},
                                       {"tensor", pair_variant::tensor},
                                       {"hopper", pair_variant::hopper}});
template <>
inline constexpr auto words_of<significance> =
    std::to_array<word<significance>>({{"none", significance::none},
                                       {"student_t", significance::student_t},
                                       {"floored_t", significance::floored_t},
                                       {"kendall", significance::kendall},
                                       {"permutations", significance::permutations}});
template <>
inline constexpr auto words_of<row_folding> =
    std::to_array<word<row_folding>>({{"auto", row_folding::automatic},
                                      {"never", row_folding::never},
                                      {"always", row_folding::always}});
template <>
inline constexpr auto words_of<io::choice> = std::to_array<word<io::choice>>(
    {{"auto", io::choice::automatic}, {"yes", io::choice::yes}, {"no", io::choice::no}});
template <>
inline constexpr auto words_of<io::delimiter> =
    std::to_array<word<io::delimiter>>({{"auto", io::delimiter::automatic},
                                        {"comma", io::delimiter::comma},
                                        {"tab", io::delimiter::tab},
                                        {"semicolon", io::delimiter::semicolon},
                                        {"bar", io::delimiter::bar},
                                        {"blanks", io::delimiter::blanks}});
template <>
inline constexpr auto words_of<char> = std::to_array<word<char>>({{".", '.'}, {",", ','}});
template <>
inline constexpr auto words_of<io::result_format> =
    std::to_array<word<io::result_format>>({{"tsv", io::result_format::tsv},
                                            {"csv", io::result_format::csv},
                                            {"npy", io::result_format::npy}});
template <>
inline constexpr auto words_of<io::fingerprint_format> = io::fingerprint_formats;

template <class Value>
[[nodiscard]] std::string word_of(Value value) {
  for (const auto& [text, meant] : words_of<Value>) {
    if (meant == value) return std::string(text);
  }
  return "";
}

template <class Value>
[[nodiscard]] words<Value> words_for(std::initializer_list<Value> values) {
  words<Value> out;
  for (const Value value : values) {
    for (const auto& each : words_of<Value>) {
      if (each.second == value) out.push_back(each);
    }
  }
  return out;
}

/// Whether `text` is a word for a value, which `value` becomes.
template <class Value>
[[nodiscard]] bool read_word(std::string_view text, Value& value) {
  for (const auto& [known, meant] : words_of<Value>) {
    if (known != text) continue;
    value = meant;
    return true;
  }
  return false;
}

}  // namespace gpu::cli
