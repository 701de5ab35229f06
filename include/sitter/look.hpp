#pragma once

#include <optional>

#include "sitter/request_handle.hpp"

namespace sitter {

/// The purpose of an inspection of the file under development. The order carries it to the shell,
/// and the shell returns it with the result.
struct Look {
  enum class Purpose {
    remember,  ///< only a running child shows which file a wrapper runs
    notice,
    status,
    status_for_log,
    binary_info,
    kill_check,  ///< which other processes a kill would end
    kill,
    rebuild,
  };

  Purpose purpose = Purpose::remember;
  /// The request that the result answers, if there is one.
  std::optional<RequestHandle> request = {};
};

}  // namespace sitter
