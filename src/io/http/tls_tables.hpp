#pragma once

namespace sitter {

/// Makes the constant tables of OpenSSL usable. Must be called before anything else of OpenSSL.
/// False if the system does not allow it; nothing of OpenSSL may be called then.
///
/// These tables are most of what a static PIE relocates at its start: more than 300 KiB, which
/// would be copied for each bridge, although few use TLS. So the static program relocates them
/// here.
bool ready_tls_tables();

}  // namespace sitter
