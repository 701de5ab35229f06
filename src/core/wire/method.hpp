#pragma once

#include <cstdint>
#include <string_view>

namespace sitter {

/// The methods that the bridge treats in a special way.
enum class Method : std::uint8_t {
  other,
  initialize,
  server_discover,
  subscriptions_listen,
  ping,
  tools_list,
  tools_call,
  prompts_list,
  prompts_get,
  resources_list,
  resource_templates_list,
  resources_read,
  resources_subscribe,
  resources_unsubscribe,
  completion_complete,
  logging_set_level,
  logging_message,
  initialized,
  cancelled,
  progress,
  roots_list_changed,
  tools_list_changed,
  prompts_list_changed,
  resources_list_changed,
  resources_updated,
  subscriptions_acknowledged,
};

Method method_of(std::string_view name);

/// The name of a method on the wire; empty for `other`.
std::string_view method_name(Method method);

/// Whether the method asks for a page of tools, prompts, resources or resource templates.
bool is_list(Method method);

/// Whether the method changes what the server has to know about the session.
bool is_setting(Method method);

}  // namespace sitter
