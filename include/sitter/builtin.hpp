#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sitter {

/// The tools that the bridge adds. `Tools::rows` says what each is. `call` is the last one,
/// and is offered to some clients only.
enum class Builtin { status, kill, binary_info, child_stderr, rebuild, build_log, call };

inline constexpr std::array kBuiltins = {
    Builtin::status,  Builtin::kill,      Builtin::binary_info, Builtin::child_stderr,
    Builtin::rebuild, Builtin::build_log, Builtin::call};
static_assert(kBuiltins.size() == static_cast<std::size_t>(Builtin::call) + 1);

/// The default name: "sitter_status" and so on.
std::string_view plain_name(Builtin builtin);

/// Whether the tool is offered only if there is a build command.
bool is_for_builds(Builtin builtin);

}  // namespace sitter
