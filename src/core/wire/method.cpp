#include "core/wire/method.hpp"

#include <array>
#include <utility>

namespace sitter {
namespace {

constexpr std::array kMethods = {
    std::pair{Method::tools_call, std::string_view("tools/call")},
    std::pair{Method::progress, std::string_view("notifications/progress")},
    std::pair{Method::ping, std::string_view("ping")},
    std::pair{Method::tools_list, std::string_view("tools/list")},
    std::pair{Method::cancelled, std::string_view("notifications/cancelled")},
    std::pair{Method::initialize, std::string_view("initialize")},
    std::pair{Method::server_discover, std::string_view("server/discover")},
    std::pair{Method::subscriptions_listen, std::string_view("subscriptions/listen")},
    std::pair{Method::initialized, std::string_view("notifications/initialized")},
    std::pair{Method::prompts_list, std::string_view("prompts/list")},
    std::pair{Method::prompts_get, std::string_view("prompts/get")},
    std::pair{Method::resources_list, std::string_view("resources/list")},
    std::pair{Method::resource_templates_list, std::string_view("resources/templates/list")},
    std::pair{Method::resources_read, std::string_view("resources/read")},
    std::pair{Method::resources_subscribe, std::string_view("resources/subscribe")},
    std::pair{Method::resources_unsubscribe, std::string_view("resources/unsubscribe")},
    std::pair{Method::completion_complete, std::string_view("completion/complete")},
    std::pair{Method::logging_set_level, std::string_view("logging/setLevel")},
    std::pair{Method::logging_message, std::string_view("notifications/message")},
    std::pair{Method::roots_list_changed, std::string_view("notifications/roots/list_changed")},
    std::pair{Method::tools_list_changed, std::string_view("notifications/tools/list_changed")},
    std::pair{Method::prompts_list_changed, std::string_view("notifications/prompts/list_changed")},
    std::pair{Method::resources_list_changed,
              std::string_view("notifications/resources/list_changed")},
    std::pair{Method::resources_updated, std::string_view("notifications/resources/updated")},
    std::pair{Method::subscriptions_acknowledged,
              std::string_view("notifications/subscriptions/acknowledged")},
};

}  // namespace

Method method_of(std::string_view name) {
  for (const auto& [method, text] : kMethods) {
    if (text == name) return method;
  }
  return Method::other;
}

std::string_view method_name(Method method) {
  for (const auto& [known, text] : kMethods) {
    if (known == method) return text;
  }
  return {};
}

bool is_list(Method method) {
  return method == Method::tools_list || method == Method::prompts_list ||
         method == Method::resources_list || method == Method::resource_templates_list;
}

bool is_setting(Method method) {
  return method == Method::logging_set_level || method == Method::resources_subscribe ||
         method == Method::resources_unsubscribe;
}

}  // namespace sitter
