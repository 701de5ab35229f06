#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "help/help.hpp"
#include "terminal/format.hpp"

namespace sitter {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::size_t kCellIndent = 4;

/// How to read the page to which a link leads. Nothing if it is no topic.
std::string topic_hint(std::string_view target) {
  const std::string_view name = target.substr(0, target.find(".md"));
  const bool is_topic = std::any_of(topics().begin(), topics().end(),
                                    [&](const Topic& topic) { return topic.name == name; });
  return is_topic ? fmt::format(" (mcp-sitter help {})", name) : std::string();
}

/// Without the marks for emphasis and code, and with the words of a link for the link.
std::string plain(std::string_view text) {
  std::string result;
  bool is_code = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`') {
      is_code = !is_code;
    } else if (c == '\\' && at + 1 < text.size() && text[at + 1] == '|') {
      result += text[++at];
    } else if (is_code) {
      result += c;
    } else if (c == ']' && text.substr(at).starts_with("](")) {
      const std::size_t end = text.find(')', at);
      if (end == text.npos) break;
      result += topic_hint(text.substr(at + 2, end - at - 2));
      at = end;
    } else if (c != '*' && c != '[') {
      result += c;
    }
  }
  return result;
}

/// The cells of a row, which begins and ends with a bar.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t at = 1; at < row.size(); ++at) {
    if (row[at] == '|' && row[at - 1] != '\\') {
      const std::size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
      cells.push_back(plain(cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin)));
      cell.clear();
    } else {
      cell += row[at];
    }
  }
  return cells;
}

bool is_rule(std::string_view row) { return row.find_first_not_of("|-: ") == row.npos; }

/// Where a line of a list begins its text; 0 if it is none.
std::size_t list_indent(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return 0;
  const std::string_view rest = line.substr(begin);
  if (rest.starts_with("- ")) return begin + 2;
  const std::size_t digits = rest.find_first_not_of("0123456789");
  return digits != 0 && digits != rest.npos && rest.substr(digits).starts_with(". ")
             ? begin + digits + 2
             : 0;
}

class Writer {
 public:
  void line(std::string_view line) {
    if (line.starts_with(kFence)) {
      end_paragraph();
      in_fence_ = !in_fence_;
    } else if (in_fence_) {
      text_ += fmt::format("    {}\n", line);
    } else if (line.starts_with("    ") && paragraph_.empty()) {
      text_ += fmt::format("{}\n", line);
    } else if (line.starts_with('|')) {
      row(line);
    } else if (line.find_first_not_of(' ') == line.npos) {
      end_paragraph();
      end_block();
      titles_.clear();
    } else if (line.starts_with('#')) {
      end_paragraph();
      heading(line);
    } else if (const std::size_t indent = list_indent(line)) {
      end_paragraph();
      indent_ = indent;
      text_ += std::string(line.substr(0, indent));
      is_beside_ = true;
      paragraph_ = line.substr(indent);
    } else {
      if (!paragraph_.empty()) paragraph_ += ' ';
      paragraph_ += line.substr(line.find_first_not_of(' '));
    }
  }

  std::string take() {
    end_paragraph();
    return std::move(text_);
  }

 private:
  void heading(std::string_view line) {
    const std::string title = plain(line.substr(line.find_first_not_of("# ")));
    text_ += fmt::format("{}\n{}\n", title,
                         std::string(character_count(title), line[1] == '#' ? '-' : '='));
  }

  void row(std::string_view line) {
    if (is_rule(line)) {
      // What stands above the rule are the titles of the columns.
      text_.resize(before_row_);
      titles_ = cells_of(last_row_);
      return;
    }
    before_row_ = text_.size();
    last_row_ = line;
    const std::vector<std::string> cells = cells_of(line);
    bool is_first = true;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const std::size_t indent = is_first ? 0 : kCellIndent;
      if (cells[column].empty()) continue;
      // Two columns explain themselves.
      const bool has_title =
          column > 0 && column < titles_.size() && titles_.size() > 2 && !titles_[column].empty();
      const std::string cell = (has_title ? titles_[column] + ": " : "") + cells[column];
      for (const std::string& part : wrapped(cell, kPageWidth - indent)) {
        text_ += std::string(indent, ' ') + part + '\n';
      }
      is_first = false;
    }
  }

  void end_paragraph() {
    if (paragraph_.empty()) return;
    for (const std::string& part : wrapped(plain(paragraph_), kPageWidth - indent_)) {
      if (!is_beside_) text_.append(indent_, ' ');
      is_beside_ = false;
      text_ += part + '\n';
    }
    paragraph_.clear();
    indent_ = 0;
  }

  void end_block() {
    if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
  }

  std::string text_;
  std::string paragraph_;
  std::size_t indent_ = 0;
  /// Whether the mark of a list stands at the begin of the line already.
  bool is_beside_ = false;
  bool in_fence_ = false;
  std::size_t before_row_ = 0;
  /// The row before, and the titles of the columns once the rule has come.
  std::string last_row_;
  std::vector<std::string> titles_;
};

}  // namespace

std::string page_text(std::string_view markdown) {
  Writer writer;
  for (const std::string_view line : text_lines(markdown)) writer.line(line);
  return writer.take();
}

}  // namespace sitter
