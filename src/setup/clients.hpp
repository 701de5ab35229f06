#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/environment.hpp"
#include "io/system/user_folders.hpp"
#include "setup/document.hpp"

namespace sitter::setup {

/// How a client spells an entry for a server.
struct Spelling {
  std::string_view environment = "env";
  std::string_view headers = "headers";
  /// The member `type` of a server over stdio. Empty: there is no such member.
  std::string_view stdio_type = {};
  /// `command` is a list that holds the arguments too.
  bool command_is_list = false;
  /// A `url` without `type` means the transport HTTP+SSE.
  bool plain_url_is_sse = false;
  /// An entry may hold the members for the transport in this member, and new entries do.
  std::string_view nested = {};
  /// The member that keeps the server's tools in the model's context. Empty: there is none.
  std::string_view always_load = {};
};

/// One of the files in which a client keeps servers, or a part of such a file.
struct Place {
  std::string scope;
  std::string file;
  /// The object whose members are the servers.
  Path servers;
  /// A client starts the servers of this place in the project. Otherwise it is not known where.
  bool is_in_project = false;
  /// The folder for which the part of the file counts, if other folders have parts of their own.
  std::string project = {};
};

struct Client {
  /// A pattern of a file: the first variable that is set, and what follows its value. `{home}` and
  /// `{settings}` stand for folders of the user.
  struct File {
    std::string_view variable;
    std::string rest;
  };
  struct Row {
    std::string_view scope;
    /// Without a variable, `rest` is in the project.
    std::vector<File> files;
    /// `{root}` stands for the root of the repository, `{here}` for the project.
    std::vector<std::string_view> servers;
    bool is_in_project = false;
  };

  std::string_view name;
  std::string_view title;
  Notation notation = Notation::json;
  Spelling spelling;
  /// The first one is where the client itself puts a new server.
  std::vector<Row> rows;
  /// How the client takes notice of the change.
  std::string_view next_step;
};

const std::vector<Client>& clients();

/// "claude, codex, ..."
std::string client_names();

/// Throws Failure if there is no such client.
const Client& client_named(const std::string& name);

/// Where setup works, and for which program.
struct Surroundings {
  /// The working directory, without links.
  std::string project;
  Environment environment;
  /// The path of this program.
  std::string program;
  UserFolders folders = kUserFolders;
};

/// The places of a client, in the order of its rows. A place whose variables are not set is left
/// out.
std::vector<Place> places(const Client& client, const Surroundings& here);

/// The object at this place, or an empty one. Nothing if there is no such file. Throws Failure if
/// it cannot be read.
std::optional<Json> servers_at(const Client& client, const Place& place);

// An empty scope stands for all of them. These throw Failure if the client has no such scope.

/// The only place that holds a server of this name. Throws Failure if there is none or more than
/// one.
Place place_of(const Client& client, const std::string& scope, const std::string& name,
               const Surroundings& here);

/// Where the client itself would put a new server.
Place place_for_new(const Client& client, const std::string& scope, const Surroundings& here);

}  // namespace sitter::setup
