#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tool_server/run_arguments.hpp"
#include "core/tool_server/text_template.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// A word of a command has at most this many bytes (MAX_ARG_STRLEN, execve(2)).
inline constexpr std::size_t kWordBytesMax = 128 * kKiB - 1;

/// The words of a command have at most this many bytes together: the most that Linux takes with the
/// environment, whatever the limit of the stack (execve(2)).
inline constexpr std::size_t kCommandBytesMax = 6 * kMiB;

}  // namespace limits

/// The words by which a command may name the tool itself: {"notes"}, {"python3", "notes.py"}.
using ToolNames = std::set<std::vector<std::string>>;

/// The words of a command, with places for the arguments of a call. No shell is involved: what an
/// argument contains never makes a word of its own, and is never interpreted.
///
///     word of the template   argument        words of the command
///     {p}                    text, number    one word
///     {p}                    list            a word for each element
///     {p}                    object          one word, as JSON
///     --flag {p}             true            --flag
///     --flag {p}             false           none
///     --flag{p}              true, false     --flag, or none
///     {p}                    true, false     the word true, or the word false
///     a{p}b                  any of these    the text in its place; for a list, once per element
///     any of these           missing         none, and none for a flag directly before
///     [words]                one is missing  none for the whole group
///
/// A flag is a word without a place and without `=` that begins with `-`, except `-` and `--`. It
/// stays if the missing word behind it begins with `-`. null and an empty list count as missing.
///
/// An argument at the begin of a word must not begin with `-`, so that it cannot be taken for an
/// option, unless the word `--` stands before it.
class CommandTemplate {
 public:
  /// `words` is a raw JSON array of strings and, for groups, of arrays of the same kind. `known`
  /// are the names of the parameters.
  static std::variant<CommandTemplate, Complaint> read(std::string_view words,
                                                       const std::set<std::string>& known);

  /// The names of all places.
  std::set<std::string> names() const;
  /// The words for these arguments, which fit the schema of the tool.
  std::variant<std::vector<std::string>, Complaint> words(const RunArguments& arguments) const;

  /// Leaves out the words at the begin if they are the tool itself.
  void drop_tool(const ToolNames& names);

 private:
  struct Element;
  using Group = std::vector<Element>;
  struct Element {
    /// A word, unless `group` has elements.
    TextTemplate word;
    Group group = {};
  };
  class Writer;

  static std::variant<Group, Complaint> read_group(std::string_view words,
                                                   const std::set<std::string>& known);
  static void add_names(const Group& group, std::set<std::string>& names);

  Group words_;
};

}  // namespace sitter
