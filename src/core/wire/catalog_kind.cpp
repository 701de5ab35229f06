#include "core/wire/catalog_kind.hpp"

namespace sitter {

std::string_view catalog_name(CatalogKind kind) {
  switch (kind) {
    case CatalogKind::tools:
      return "tools";
    case CatalogKind::prompts:
      return "prompts";
    case CatalogKind::resources:
      break;
  }
  return "resources";
}

}  // namespace sitter
