#include "io/system/user_folders.hpp"

namespace sitter {

std::string path_of(const UserFolder& folder,
                    const std::function<const char*(const char*)>& environment) {
  const char* const value = environment(std::string(folder.variable).c_str());
  if (value == nullptr || *value == '\0') return {};
  return own_form(value).append(folder.rest);
}

}  // namespace sitter
