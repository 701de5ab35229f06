#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter::setup {

/// Why nothing was done: one sentence for stderr, which says what the user can do.
struct Failure {
  std::string what;
  /// 2 for a mistake in the words, 1 for anything else.
  int exit_code = 1;
};

/// Values of a settings file, with the members in the order of the file.
using Json = nlohmann::ordered_json;

/// The names of members from the top level down to a value.
using Path = std::vector<std::string>;

Path operator/(Path path, const std::string& member);

enum class Notation { json, toml };

/// A count as iterators take it.
constexpr std::ptrdiff_t as_offset(std::size_t count) { return static_cast<std::ptrdiff_t>(count); }

/// Whether two values say the same. The order of members does not count.
bool says_the_same(const Json& left, const Json& right);

/// The member at this path, or nothing.
const Json* find(const Json& values, const Path& path);

/// The text of a settings file. An edit changes the bytes of one value and keeps all others:
/// comments, order, indents, line ends and a byte order mark.
class Document {
 public:
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct String {
    Path path;
    Span span;
    /// What it says, without the escapes.
    std::string value;
  };

  /// Throws Failure if the text is broken; `name` names the file in the sentence. An empty text has
  /// no members.
  static std::unique_ptr<Document> read(Notation notation, std::string text,
                                        const std::string& name);
  virtual ~Document();

  const std::string& text() const { return text_; }
  const Json& values() const { return *values_; }

  /// Where the value is written. Nothing if there is no such value, or if it is a table of TOML
  /// that is written in more than one place.
  virtual std::optional<Span> span(const Path& path) const = 0;
  /// The bytes of `span`.
  std::optional<std::string> raw(const Path& path) const;

  /// The text with this value at the path, written in the layout of its neighbours. What is missing
  /// on the path is made. A new member stands behind its neighbour `after`, or at the end.
  virtual std::string with(const Path& path, const Json& value, const std::string& after) const = 0;
  /// The text with this list of strings in the place of another one. What both begin or end with
  /// keeps its bytes, and so do the comments there. Nothing if they have no end in common, or if
  /// one of them is no such list.
  std::optional<std::string> with_strings(const Path& path, const Json& wanted) const;
  /// The text with other bytes for a value that is there.
  std::string with_raw(const Path& path, const std::string& raw) const;
  /// The text without this member.
  virtual std::string without(const Path& path) const = 0;

  /// Each string in the text, but no key.
  virtual std::vector<String> strings() const = 0;

 protected:
  explicit Document(std::string text);

  /// Where the elements of a list are written. Nothing if the value is no list.
  virtual std::optional<std::vector<Span>> elements(const Path& path) const = 0;

  /// The text with other bytes in this place.
  std::string spliced(Span place, const std::string& by) const;
  /// The line end that the text uses.
  std::string line_end() const;
  /// Where the line begins that holds this byte.
  std::size_t line_begin(std::size_t at) const;
  /// The blanks at the beginning of the line that holds this byte.
  std::string indent(std::size_t at) const;

  std::string text_;
  std::unique_ptr<Json> values_;  // never null
};

/// A string as JSON and TOML write it.
std::string written_string(const std::string& text);

/// JSON in which `//` and `/* */` comments, trailing commas and a byte order mark are allowed.
std::unique_ptr<Document> read_json(std::string text, const std::string& name);

/// TOML 1.0. A table may be written with headers, with dotted keys or inline.
std::unique_ptr<Document> read_toml(std::string text, const std::string& name);

/// The JSON text, of the same length, in which spaces replace the comments and the byte order mark.
std::string without_comments(std::string_view text);

/// Replaces each comma before a closing bracket by a space. The text has no comments.
void blank_trailing_commas(std::string& text);

/// The text in which the value at `path` is `wanted`, changed member by member. A member of
/// `source` with the wanted value gives its bytes, so that its layout comes back. Throws Failure if
/// the result would not say exactly that.
std::string rewritten(Notation notation, const std::string& text, const std::string& name,
                      const Path& path, const Json& wanted, const Document* source = nullptr);

}  // namespace sitter::setup
