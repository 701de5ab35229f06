#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The arguments of one call, as the client has written them.
class RunArguments {
 public:
  enum class Kind { missing, boolean, list, text };

  /// `raw` is a raw JSON object, and must outlive this one. Of a name that is written twice, the
  /// last value counts.
  explicit RunArguments(std::string_view raw);

  /// null counts as missing, and so does an empty list.
  Kind kind(const std::string& name) const;
  bool is_true(const std::string& name) const { return raw(name) == "true"; }
  /// The argument as the text of one word: a string decoded, everything else as JSON. Nothing if a
  /// string has half of a surrogate pair, which no text can hold.
  std::optional<std::string> text(const std::string& name) const;
  /// The elements of a list, under the same conditions.
  std::optional<std::vector<std::string>> texts(const std::string& name) const;

 private:
  std::string_view raw(const std::string& name) const;

  std::map<std::string, std::string_view> values_;
};

}  // namespace sitter
