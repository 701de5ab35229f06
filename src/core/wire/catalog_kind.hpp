#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/wire/method.hpp"

namespace sitter {

/// The lists of a child that are compared after a restart.
enum class CatalogKind { tools, prompts, resources };

inline constexpr std::array kCatalogKinds = {CatalogKind::tools, CatalogKind::prompts,
                                             CatalogKind::resources};

/// "tools", "prompts", "resources".
std::string_view catalog_name(CatalogKind kind);
/// The method that lists this kind.
Method list_method(CatalogKind kind);
/// The notification that this list has changed.
Method changed_method(CatalogKind kind);
/// Which list this notification is about. Empty if it is about no list.
std::optional<CatalogKind> changed_kind(Method method);

}  // namespace sitter
