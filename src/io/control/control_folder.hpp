#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// The folder in which each bridge of this user has its socket. It is in XDG_RUNTIME_DIR, which
/// belongs to the user alone (XDG Base Directory Specification). Without that variable, it is a
/// folder that is named after the user's number, in the folder for temporary files. On Windows, it
/// is in LOCALAPPDATA, which belongs to the user alone, too.
std::string control_folder();

/// The socket of this process in that folder, named after its pid, whether it exists or not. On
/// Windows, it is a file with the name of a pipe.
std::string control_socket();

/// Removes a file of such a folder. If the folder is then empty, removes the folder too.
void remove_control_file(const std::string& file);

/// Creates the folder if it is missing. Returns an empty string, or the reason why the folder
/// cannot be used: it must belong to the user, and no other user may enter it.
std::string prepare_control_folder();

/// All sockets that belong to the user, whether a process listens on them or not: in this folder,
/// and in the folders that a bridge with another environment would use.
std::vector<std::string> control_sockets();

/// The same for files with this ending.
std::vector<std::string> control_files(std::string_view ending);

}  // namespace sitter
