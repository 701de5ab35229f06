#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sitter {

/// The key of an id. All spellings of an id have the same key: 1 and 1.0, "\u00fc" and "ü".
/// Different integers have different keys, whatever their size.
std::string id_key(std::string_view raw_id);

/// The double to which a server rounds this id if the server reads all numbers as doubles. Such a
/// server then answers under another spelling of the id. Empty for a number below 2^53, and for any
/// id that is not a number.
std::optional<double> rounded_id(std::string_view raw_id);

/// The double that such a server may have printed as this id, if the double is at least 2^53. The
/// id then has a point or an exponent; or all digits of the double, as C prints them; or the
/// shortest digits that identify the double with zeros after them, as JavaScript prints them. Empty
/// for any other id.
std::optional<double> printed_double(std::string_view raw_id);

/// Whether only a server that keeps every digit can have written this id.
bool shows_every_digit(std::string_view raw_id);

/// Whether a server that stores integers in 64 bits keeps this number.
bool fits_64_bits(std::string_view raw_id);

/// Whether both raw ids mean the same id.
bool same_id(std::string_view a, std::string_view b);

/// Whether `raw_id` is its own key, as nearly all ids are.
bool is_plain_id(std::string_view raw_id);

/// The key of an id, without a copy if the id is its own key. The id must outlive it.
class IdKey {
 public:
  explicit IdKey(std::string_view raw_id)
      : made_(is_plain_id(raw_id) ? std::string() : id_key(raw_id)),
        text_(made_.empty() ? raw_id : made_) {}
  IdKey(const IdKey&) = delete;
  IdKey& operator=(const IdKey&) = delete;

  std::string_view text() const { return text_; }

 private:
  const std::string made_;
  const std::string_view text_;
};

}  // namespace sitter
