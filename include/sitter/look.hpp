#pragma once

#include <optional>

#include "sitter/request_handle.hpp"

namespace sitter {

/// What a look at the file under development is for. It goes out with the order, and the shell
/// gives it back with what it saw.
struct Look {
  enum class Purpose {
    remember,  ///< only a running child shows which file is behind a wrapper
    notice,
    status,
    status_for_log,
    binary_info,
    kill_check,  ///< who else would be met by a kill
    kill,
    rebuild,
  };

  Purpose purpose = Purpose::remember;
  /// The request that is answered with it, if one is.
  std::optional<RequestHandle> request = {};
};

}  // namespace sitter
