#include "core/tool_server/run_arguments.hpp"

#include "core/base/json_text.hpp"

namespace sitter {
namespace {

std::optional<std::string> text_of(std::string_view raw) {
  return raw.starts_with('"') ? json_decoded(raw) : std::string(raw);
}

}  // namespace

RunArguments::RunArguments(std::string_view raw) {
  for (JsonMember& member : json_members(raw)) values_[std::move(member.key)] = member.value;
}

std::string_view RunArguments::raw(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string_view() : found->second;
}

RunArguments::Kind RunArguments::kind(const std::string& name) const {
  const std::string_view value = raw(name);
  if (value.empty() || value == "null") return Kind::missing;
  if (value == "true" || value == "false") return Kind::boolean;
  if (!value.starts_with('[')) return Kind::text;
  return json_elements(value).empty() ? Kind::missing : Kind::list;
}

std::optional<std::string> RunArguments::text(const std::string& name) const {
  return text_of(raw(name));
}

std::optional<std::vector<std::string>> RunArguments::texts(const std::string& name) const {
  std::vector<std::string> texts;
  for (const std::string_view element : json_elements(raw(name))) {
    auto text = text_of(element);
    if (!text) return {};
    texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace sitter
