#pragma once

#include <array>
#include <string_view>

namespace sitter {

/// The lists of a child that are compared after a restart.
enum class CatalogKind { tools, prompts, resources };

inline constexpr std::array kCatalogKinds = {CatalogKind::tools, CatalogKind::prompts,
                                             CatalogKind::resources};

/// "tools", "prompts", "resources".
std::string_view catalog_name(CatalogKind kind);

}  // namespace sitter
