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

Method list_method(CatalogKind kind) {
  switch (kind) {
    case CatalogKind::tools:
      return Method::tools_list;
    case CatalogKind::prompts:
      return Method::prompts_list;
    case CatalogKind::resources:
      return Method::resources_list;
  }
  return Method::other;
}

Method changed_method(CatalogKind kind) {
  switch (kind) {
    case CatalogKind::tools:
      return Method::tools_list_changed;
    case CatalogKind::prompts:
      return Method::prompts_list_changed;
    case CatalogKind::resources:
      return Method::resources_list_changed;
  }
  return Method::other;
}

std::optional<CatalogKind> changed_kind(Method method) {
  for (const CatalogKind kind : kCatalogKinds) {
    if (changed_method(kind) == method) return kind;
  }
  return std::nullopt;
}

}  // namespace sitter
