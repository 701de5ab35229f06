#pragma once

#include <string>
#include <variant>
#include <vector>

namespace sitter {

/// The folder of this user in which each bridge has its socket: in XDG_RUNTIME_DIR, which belongs
/// to the user alone (XDG Base Directory Specification), else one with the user's number in the
/// folder for temporary files.
std::string control_folder();

/// The socket of this process in it, named after its pid, whether it is there or not.
std::string control_socket();

/// Removes a socket, and the folder that it was in if that is empty.
void remove_control_socket(const std::string& socket);

/// Makes the folder where it is missing. Empty, or why it cannot be used: it must belong to the
/// user, and nobody else may enter it.
std::string prepare_control_folder();

/// The sockets that belong to the user, whether somebody listens or not: in this folder and in
/// those that a bridge with another environment would use.
std::vector<std::string> control_sockets();

}  // namespace sitter
