#include "fuzz/reference_records.hpp"

#include <algorithm>
#include <utility>

namespace gpu_test {
namespace {

/// One character after the other.
class record_reader {
 public:
  record_reader(const std::string& text, char separator, const std::string& comment)
      : text_(text), separator_(separator), comment_(comment) {}

  bool next(reference_record& record) {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string line = text_.substr(at_, end - at_);
      const bool is_comment =
          !comment_.empty() && without_blanks(line).substr(0, comment_.size()) == comment_;
      if (!is_comment && !is_blank_line(line)) break;
      at_ = end + 1;
      ++line_;
    }
    if (at_ >= text_.size()) return false;
    record = {};
    record.line = line_;
    while (take_field(record)) {
    }
    if (record.is_faulty && record.is_whole) leave_record();
    ++at_;
    ++line_;
    return true;
  }

 private:
  [[nodiscard]] bool is_blank_line(const std::string& line) const {
    return std::all_of(line.begin(), line.end(), [this](char c) {
      return c == ' ' || c == '\r' || (c == '\t' && separator_ != '\t');
    });
  }
  [[nodiscard]] bool is_end() const { return at_ >= text_.size() || text_[at_] == '\n'; }
  [[nodiscard]] bool separates(char c) const {
    return separator_ == ' ' ? c == ' ' || c == '\t' : c == separator_;
  }
  [[nodiscard]] bool pads(char c) const {
    return c == ' ' || c == '\r' || (c == '\t' && separator_ != '\t');
  }
  void skip_padding() {
    while (!is_end() && pads(text_[at_])) ++at_;
  }

  /// Takes a field and what separates it from the next; false where there is no next.
  bool take_field(reference_record& record) {
    skip_padding();
    if (separator_ == ' ' && is_end()) return false;
    if (at_ < text_.size() && text_[at_] == '"') return take_quoted(record);
    std::string field;
    while (!is_end() && !separates(text_[at_])) field += text_[at_++];
    record.fields.push_back(without_blanks(field));
    record.quoted.push_back(false);
    if (is_end()) return false;
    ++at_;
    return true;
  }

  bool take_quoted(reference_record& record) {
    std::string field;
    bool is_closed = false;
    for (++at_; at_ < text_.size() && !is_closed; ++at_) {
      if (text_[at_] == '"' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        ++at_;
        field += '"';
      } else if (text_[at_] == '"') {
        is_closed = true;
      } else {
        if (text_[at_] == '\n') ++line_;
        field += text_[at_];
      }
    }
    if (!is_closed) {
      record.is_faulty = true;
      record.is_whole = false;
      return false;
    }
    const std::size_t behind = at_;
    skip_padding();
    if (!is_end()) {
      const std::string padding = text_.substr(behind, at_ - behind);
      const bool is_separated = separator_ == ' '
                                    ? padding.find_first_of(" \t") != std::string::npos
                                    : text_[at_] == separator_;
      if (!is_separated) {
        record.is_faulty = true;
        return false;
      }
    }
    record.fields.push_back(field);
    record.quoted.push_back(true);
    if (is_end()) return false;
    if (separator_ != ' ') ++at_;
    return true;
  }

  /// Behind a wrong quote nothing is read any more.
  void leave_record() { at_ = text_.size(); }

  const std::string& text_;
  char separator_;
  const std::string& comment_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

bool may_separate(char c) {
  return std::string("\t,;| ").find(c) != std::string::npos;
}

}  // namespace

bool is_reference_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string without_blanks(const std::string& text) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (begin < end && is_reference_blank(text[begin])) ++begin;
  while (begin < end && is_reference_blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

std::vector<reference_record> reference_records(const std::string& text, char separator,
                                                const std::string& comment) {
  record_reader reader(text, separator, comment);
  std::vector<reference_record> records;
  for (reference_record record; reader.next(record);) records.push_back(record);
  return records;
}

std::string reference_head(const std::string& text) {
  std::string head;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (lines == 100 || (lines >= 2 && at >= 1048576)) break;
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    const std::string line = text.substr(at, end + 1 - at);
    if (!without_blanks(line.substr(0, line.find('\n'))).empty()) ++lines;
    head += line;
    at = end + 1;
  }
  return head;
}

char reference_separator(const std::string& head, const gpu::io::text_options& options) {
  // Fields in quotes, as far as that is known without the separator, are no numbers.
  std::string plain;
  for (std::size_t at = 0; at < head.size();) {
    const bool opens =
        head[at] == '"' && (at == 0 || head[at - 1] == '\n' || may_separate(head[at - 1]));
    std::size_t close = at + 1;
    while (opens && close < head.size() && head[close] == '"' && close + 1 < head.size() &&
           head[close + 1] == '"') {
      close += 2;
    }
    while (opens && close < head.size() && head[close] != '"') {
      ++close;
      while (close + 1 < head.size() && head[close] == '"' && head[close + 1] == '"') close += 2;
    }
    const bool closes = opens && close < head.size() && head[close] == '"' &&
                        (close + 1 == head.size() || head[close + 1] == '\n' ||
                         head[close + 1] == '\r' || may_separate(head[close + 1]));
    if (closes) {
      plain += std::string(close + 1 - at, 'q');
      at = close + 1;
    } else {
      plain += head[at++];
    }
  }
  std::string telling;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < plain.size() && lines < 2;) {
    const std::size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string line = plain.substr(at, end - at);
    at = end + 1;
    const std::string text = without_blanks(line);
    if (text.empty()) continue;
    if (!options.comment.empty() && text.substr(0, options.comment.size()) == options.comment) {
      continue;
    }
    telling = line;
    ++lines;
  }
  // A tab behind blanks indents a line, and one at its end is forgotten.
  const bool has_tab = without_blanks(telling).find('\t') != std::string::npos;
  if (has_tab || telling.substr(0, 1) == "\t") return '\t';
  gpu::io::text_options with_comma = options;
  with_comma.decimal = ',';
  std::vector<std::pair<std::size_t, char>> scores;
  for (const char c : std::string(",;| ")) {
    if (c == ',' && options.decimal == ',') continue;
    if (c != ' ' && telling.find(c) == std::string::npos) continue;
    std::size_t score = 0;
    for (const reference_record& record : reference_records(telling, c, "")) {
      for (const std::string& field : record.fields) {
        const bool is_value = is_reference_value(field, options) ||
                              (c != ',' && is_reference_value(field, with_comma));
        score += is_value ? 1U : 0U;
      }
    }
    scores.emplace_back(score, c);
  }
  const auto better = [](const auto& a, const auto& b) { return a.first < b.first; };
  return std::max_element(scores.begin(), scores.end(), better)->second;
}

}  // namespace gpu_test
