#pragma once

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace sitter {

/// Notes a text that a person or a model gets in the file that SITTER_TEXTS names, if it names one.
/// A zero byte follows each text, and each text comes once. `./dev texts` prints the list.
inline void note_text(const std::string& text) {
  static const char* const file = std::getenv("SITTER_TEXTS");
  static std::set<std::string> noted;
  if (file == nullptr || text.empty() || !noted.insert(text).second) return;
  std::ofstream(file, std::ios::app | std::ios::binary) << text + '\0';
}

/// Calls `take` for each string in the message that may be prose. A string that is JSON, as in the
/// results of the built-in tools, is read in turn.
template <class Take>
void each_text(const nlohmann::json& message, const Take& take) {
  if (message.is_structured()) {
    for (const auto& part : message) each_text(part, take);
  } else if (message.is_string()) {
    const auto& text = message.template get_ref<const std::string&>();
    const auto inner = text.starts_with('{') ? nlohmann::json::parse(text, nullptr, false)
                                             : nlohmann::json(nlohmann::json::value_t::discarded);
    if (!inner.is_discarded()) {
      each_text(inner, take);
    } else if (text.find(' ') != text.rfind(' ')) {
      take(text);
    }
  }
}

}  // namespace sitter
