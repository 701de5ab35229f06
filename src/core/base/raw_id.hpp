#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sitter {

/// Two spellings of the same id have the same key: 1 and 1.0, "\u00fc" and "ü". Integers stay apart
/// whatever their size.
std::string id_key(std::string_view raw_id);

/// What a server that reads all numbers as doubles makes of a number from 2^53 on, which it then
/// answers under another spelling; nothing for any other id.
std::optional<double> rounded_id(std::string_view raw_id);

/// The double of which this is a print, from 2^53 on, as such a server writes it: with all digits
/// of the double as C does, with the shortest that mean it and zeros behind them as JavaScript
/// does, or with a point or an exponent. Nothing for any other id.
std::optional<double> printed_double(std::string_view raw_id);

/// Only a server that keeps every digit can have written this id.
bool shows_every_digit(std::string_view raw_id);

/// Whether a server that keeps integers of 64 bits keeps this number.
bool fits_64_bits(std::string_view raw_id);

/// Two raw ids that mean the same.
bool same_id(std::string_view a, std::string_view b);

/// True when `raw_id` is its own key, which spares the copy for nearly all ids.
bool is_plain_id(std::string_view raw_id);

}  // namespace sitter
