#include "core/tool_server/command_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/text.hpp"

namespace sitter {
namespace {

using Kind = RunArguments::Kind;

constexpr std::string_view kEndOfOptions = "--";

/// How much of an argument a complaint shows, in bytes.
constexpr std::size_t kWordShownMax = 60;

/// A flag that may belong to what stands behind it. A flag with "=" has its value already.
bool is_flag(std::string_view literal) {
  return literal.size() > 1 && literal.starts_with('-') && literal != kEndOfOptions &&
         literal.find('=') == std::string_view::npos;
}

}  // namespace

std::variant<CommandTemplate, Complaint> CommandTemplate::read(std::string_view words,
                                                               const std::set<std::string>& known) {
  auto group = read_group(words, known);
  if (auto* const complaint = std::get_if<Complaint>(&group)) return std::move(*complaint);
  CommandTemplate made;
  made.words_ = std::get<Group>(std::move(group));
  return made;
}

std::variant<CommandTemplate::Group, Complaint> CommandTemplate::read_group(
    std::string_view words, const std::set<std::string>& known) {
  if (!words.starts_with('[')) {
    return Complaint{fmt::format("{} is not a list of words", brief(words, kWordShownMax))};
  }
  Group group;
  for (const std::string_view word : json_elements(words)) {
    if (word.starts_with('[')) {
      auto inner = read_group(word, known);
      if (auto* const complaint = std::get_if<Complaint>(&inner)) return std::move(*complaint);
      if (!std::get<Group>(inner).empty()) {
        group.push_back({{}, std::get<Group>(std::move(inner))});
      }
      continue;
    }
    const auto text = json_decoded(word);
    if (!text) {
      return Complaint{
          fmt::format("{} is neither a word nor a list of words", brief(word, kWordShownMax))};
    }
    if (text->find('\0') != std::string::npos) {
      return Complaint{fmt::format("the word {} has a NUL character, which no word can have",
                                   brief(word, kWordShownMax))};
    }
    group.push_back({TextTemplate::read(*text, known)});
  }
  return group;
}

std::set<std::string> CommandTemplate::names() const {
  std::set<std::string> names;
  add_names(words_, names);
  return names;
}

void CommandTemplate::add_names(const Group& group, std::set<std::string>& names) {
  for (const Element& element : group) {
    names.merge(element.word.names());
    add_names(element.group, names);
  }
}

void CommandTemplate::drop_tool(const ToolNames& names) {
  std::size_t count = 0;
  for (const std::vector<std::string>& name : names) {
    const auto is_same = [](const std::string& text, const Element& element) {
      return element.group.empty() && element.word.is_literal() && element.word.literal() == text;
    };
    if (name.size() > count && name.size() <= words_.size() &&
        std::equal(name.begin(), name.end(), words_.begin(), is_same)) {
      count = name.size();
    }
  }
  words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count));
}

/// Writes the words of one command.
class CommandTemplate::Writer {
 public:
  explicit Writer(const RunArguments& arguments) : arguments_(arguments) {}

  void add(const Group& group) {
    bool is_behind_flag = false;
    for (const Element& element : group) {
      if (complaint_) return;
      if (!element.group.empty()) {
        if (has_all(element.group)) add(element.group);
      } else if (element.word.is_literal()) {
        put(element.word.literal());
        if (words_.back() == kEndOfOptions) is_past_options_ = true;
      } else {
        add(element.word, is_behind_flag && may_be_value(element.word));
      }
      is_behind_flag =
          element.group.empty() && element.word.is_literal() && is_flag(element.word.literal());
    }
  }

  std::variant<std::vector<std::string>, Complaint> take() {
    if (complaint_) return *std::move(complaint_);
    return std::move(words_);
  }

 private:
  bool has_all(const Group& group) const {
    return std::all_of(group.begin(), group.end(), [this](const Element& element) {
      return !element.group.empty() || has_all(element.word);
    });
  }

  bool has_all(const TextTemplate& word) const {
    const auto names = word.names();
    return std::all_of(names.begin(), names.end(), [this](const std::string& name) {
      return arguments_.kind(name) != Kind::missing;
    });
  }

  /// Whether a flag before this word could take the word as its value.
  static bool may_be_value(const TextTemplate& word) {
    const TextTemplate::Piece& first = word.pieces().front();
    return first.is_place || !first.text.starts_with('-');
  }

  void add(const TextTemplate& word, bool is_behind_flag) {
    if (!has_all(word)) {
      if (is_behind_flag) words_.pop_back();
      return;
    }
    const std::string& last = word.pieces().back().text;
    if (word.pieces().back().is_place && arguments_.kind(last) == Kind::boolean) {
      if (word.is_place() && is_behind_flag) {
        if (!arguments_.is_true(last)) words_.pop_back();
        return;
      }
      if (const auto flag = flag_before_place(word)) {
        if (arguments_.is_true(last)) put(*flag);
        return;
      }
    }
    fill(word);
  }

  /// The flag of a word like `--flag{p}`.
  static std::optional<std::string> flag_before_place(const TextTemplate& word) {
    if (word.pieces().size() != 2 || word.pieces().front().is_place) return {};
    const std::string& text = word.pieces().front().text;
    if (!is_flag(text) || text.ends_with(':')) return {};
    return text;
  }

  /// Puts the arguments in their places. A list makes one word for each of its elements.
  void fill(const TextTemplate& word) {
    std::vector<std::string> made(1);
    bool has_list = false;
    const std::string name = *word.names().begin();
    for (const TextTemplate::Piece& piece : word.pieces()) {
      std::vector<std::string> texts{piece.text};
      if (piece.is_place) {
        const bool is_list = arguments_.kind(piece.text) == Kind::list;
        if (is_list && std::exchange(has_list, true)) {
          return complain(piece.text, "is the second list in one word of cli_command");
        }
        const auto found = texts_of(piece.text, is_list);
        if (!found)
          return complain(piece.text, "has half of a surrogate pair, which no text can hold");
        texts = *found;
      }
      std::vector<std::string> longer;
      std::size_t bytes = 0;
      for (const std::string& begun : made) {
        for (const std::string& text : texts) {
          longer.push_back(begun + text);
          bytes += longer.back().size() + 1;
          if (bytes > limits::kCommandBytesMax) return complain_of_size(name);
        }
      }
      made = std::move(longer);
    }
    for (std::string& one : made) push(std::move(one), word);
  }

  std::optional<std::vector<std::string>> texts_of(const std::string& name, bool is_list) const {
    if (is_list) return arguments_.texts(name);
    auto text = arguments_.text(name);
    if (!text) return {};
    return std::vector{*std::move(text)};
  }

  void push(std::string made, const TextTemplate& word) {
    const TextTemplate::Piece& first = word.pieces().front();
    const std::string name = first.is_place ? first.text : *word.names().begin();
    if (made.find('\0') != std::string::npos) {
      complain(name, "has a NUL character, which no word of a command can have");
    } else if (first.is_place && made.starts_with('-') && !is_past_options_) {
      complain(name, fmt::format("begins with \"-\" ({}), so the command could take it for an "
                                 "option; in cli_command the word \"--\" before it, or a flag with "
                                 "\"=\" in the same word, would allow it",
                                 brief(made, kWordShownMax)));
    } else if (made == first.text && is_flag(made) && !is_past_options_) {
      complain(name, fmt::format("is empty, so {} would take the next word for its value",
                                 brief(made, kWordShownMax)));
    } else if (made.size() > limits::kWordBytesMax) {
      complain(name, fmt::format("makes a word of {} bytes, and a word of a command has at most {} "
                                 "(execve(2)); the member stdin of the description takes more",
                                 made.size(), limits::kWordBytesMax));
    } else {
      put(std::move(made));
      if (bytes_ > limits::kCommandBytesMax) complain_of_size(name);
    }
  }

  void put(std::string word) {
    // execve(2) counts the NUL, too.
    bytes_ += word.size() + 1;
    words_.push_back(std::move(word));
  }

  void complain_of_size(const std::string& name) {
    complain(name, fmt::format("makes the command longer than {} bytes (execve(2)); the member "
                               "stdin of the description takes more",
                               limits::kCommandBytesMax));
  }

  void complain(const std::string& name, std::string_view what) {
    if (!complaint_)
      complaint_ = {fmt::format("the argument `{}` {}", brief(name, kWordShownMax), what)};
  }

  const RunArguments& arguments_;
  std::vector<std::string> words_;
  std::size_t bytes_ = 0;
  std::optional<Complaint> complaint_;
  bool is_past_options_ = false;
};

std::variant<std::vector<std::string>, Complaint> CommandTemplate::words(
    const RunArguments& arguments) const {
  Writer writer(arguments);
  writer.add(words_);
  return writer.take();
}

}  // namespace sitter
