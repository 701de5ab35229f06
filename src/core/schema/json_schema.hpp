#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sitter {

struct SchemaParts;

/// A JSON Schema against which values are checked: the assertions of 2020-12 and of draft 7. The
/// keywords beside `$ref` count in each draft.
///
/// What is not checked never makes a value wrong, also below `not` and `oneOf`:
/// `unevaluatedProperties`, `unevaluatedItems`, `$dynamicRef`, `$recursiveRef`, a reference that
/// does not point into the schema itself, and a pattern that RE2 cannot read.
class JsonSchema {
 public:
  enum class Reading {
    standard,  ///< `format` only annotates
    /// As the official TypeScript clients (Ajv) read it: a value must also have the `format`, if
    /// `has_format` knows that, and `nullable` allows null. Patterns that take long to compile are
    /// not checked.
    of_clients,
  };

  /// The way to a value: keys, and indices of items.
  using Path = std::vector<std::variant<std::string, std::size_t>>;

  struct Violation {
    /// Where the value stands that does not fit: "limits.max[2]"; empty for the whole value.
    std::string place;
    /// A clause with the value as its subject: "is no integer".
    std::string what;
    /// The part of the schema that the value does not fit, as JSON.
    std::string part;
    /// The value could not be checked, which counts as a violation.
    bool is_unchecked = false;
  };

  /// `raw` must be valid JSON that is not nested deeper than `limits::kNestingMax`.
  explicit JsonSchema(std::string_view raw, Reading reading = Reading::standard);
  JsonSchema(JsonSchema&&) noexcept;
  JsonSchema& operator=(JsonSchema&&) noexcept;
  ~JsonSchema();

  /// What of the schema is not checked, as a clause for each: "the pattern ... is no RE2 pattern".
  const std::vector<std::string>& unchecked() const;
  /// The first thing that does not fit. `raw` is a value under the same conditions; one with half
  /// of a surrogate pair, or with a number beyond the range of a double, does not fit. Neither does
  /// one that is too large to be checked, or at which the schema refers to itself without end.
  /// `part` is a reference to the part of the schema that counts, as in "#/$defs/Tool"; if there is
  /// none, no value fits.
  /// With `nulls`, a member that is null and may be missing is no violation, but noted there.
  std::optional<Violation> check(std::string_view raw, const std::string& part = "#",
                                 std::vector<Path>* nulls = nullptr) const;

 private:
  class Checker;

  std::unique_ptr<SchemaParts> parts_;
  Reading reading_;
};

}  // namespace sitter
