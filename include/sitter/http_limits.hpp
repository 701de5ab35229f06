#pragma once

#include <chrono>
#include <cstddef>

#include "sitter/limits.hpp"
#include "sitter/time.hpp"

/// The bounds for a daemon that is reached over HTTP, each with the reason for its number.
namespace sitter::limits {

/// What may wait for a daemon that is away. Its absence may last while a program of many calls runs
/// on: half a minute of a few hundred calls a second.
inline constexpr std::size_t kHttpWaitingCountMax = 10'000;
inline constexpr std::size_t kHttpWaitingBytesMax = 64 * kMiB;

/// A daemon that can be reached has at least this long for its opening, however short
/// --wait-for-server is. An opening usually takes some milliseconds.
inline constexpr Milliseconds kHttpOpeningWaitMin{1000};

/// How many bytes of the reason why a daemon cannot be reached a text shows. It may quote what the
/// daemon has answered.
inline constexpr std::size_t kAbsenceWhyMax = 400;

/// A daemon that cannot be reached is tried again after the first time, which doubles with each try
/// up to the second. On this machine a try costs next to nothing, and a restart takes less than a
/// second, so the third takes the place of the second.
inline constexpr Milliseconds kHttpConnectWaitMin{50};
inline constexpr Milliseconds kHttpConnectWaitMax{1000};
inline constexpr Milliseconds kHttpLoopbackWaitMax{100};

/// How often a daemon that was just started here is tried, until it listens. Most listen within the
/// second time, from which on it may be said why they cannot be reached.
inline constexpr Milliseconds kHttpLaunchedWait{20};
inline constexpr Milliseconds kHttpLaunchPatience{2000};

/// The connections of a process end a little before its exit is seen. For so long a request whose
/// connection has ended waits for this exit, which says more than the connection.
inline constexpr Milliseconds kHttpExitWait{200};

/// Requests that a daemon may have at the same time, each of which takes a connection. A model
/// makes fewer calls at once, and small servers accept about this many.
inline constexpr std::size_t kHttpRequestsMax = 32;

/// Responses that a daemon keeps open after their answers, each of which takes a connection too.
/// With the requests and the other streams they stay far below the 256 files of a process on macOS.
inline constexpr std::size_t kHttpAnsweredMax = 32;

/// What may wait for its turn at the daemon: twice what may wait for a daemon that is away, since
/// all of that is sent as soon as the daemon is back.
inline constexpr std::size_t kHttpOutboxMax = 2 * kHttpWaitingBytesMax;

/// How often an answer to a question of the server is sent again if it cannot be delivered.
/// Together with the waits between them, this lasts longer than a hiccup of a proxy.
inline constexpr int kHttpAnswerRepeatsMax = 3;

/// How long a notification or an answer may hold the requests after it. A daemon takes it before it
/// acts on it, so this is long even for a busy daemon.
inline constexpr Milliseconds kHttpTakenWait{10000};

/// How long a response may stay open after it has brought its answer, or after its request was
/// cancelled. Some servers never end it. The notifications that a server sends late come within a
/// second.
inline constexpr Milliseconds kHttpUselessWait{5000};

/// A machine that is gone without a word is asked for a sign of life after a connection has been
/// silent for the first time, and then at intervals of the second. With three questions without an
/// answer the connection is broken. Proxies and address translation forget a silent connection
/// after a minute or more.
inline constexpr std::chrono::seconds kTcpSilenceMax{30};
inline constexpr std::chrono::seconds kTcpQuestionInterval{10};
inline constexpr int kTcpQuestionsMax = 3;

/// How long a child that is lost is still awaited. A daemon that restarts gracefully answers what
/// it has, and refuses connections meanwhile.
inline constexpr Milliseconds kHttpLosingWait{1000};

/// How long the end of a session over HTTP may take. The client waits for the end of the bridge.
inline constexpr Milliseconds kHttpEndWait{300};

/// The time after which a broken stream is opened again if the daemon names no other: it doubles
/// with each stream that brought nothing, up to the second. A daemon can name a time from the third
/// on; a shorter time would keep both sides busy.
inline constexpr Milliseconds kHttpStreamWaitMin{1000};
inline constexpr Milliseconds kHttpStreamWaitMax{30000};
inline constexpr Milliseconds kHttpRetryMin{100};

/// How often a daemon without a session is asked for its tools because it has closed an idle
/// connection. A daemon that closes every connection early costs one list in this time.
inline constexpr Milliseconds kHttpProbeInterval{5000};

/// How often in a row the rest of an answer is asked for in vain. After that the answer is lost.
inline constexpr int kHttpEmptyResumesMax = 2;

/// A header value is taken for a secret, and hidden where a daemon repeats it, from this length on.
/// A shorter value, such as "eu", also stands in texts that have nothing to do with it.
inline constexpr std::size_t kSecretMin = 6;

/// How many redirects of one request are followed. A server needs one, to add a slash.
inline constexpr int kHttpRedirectsMax = 5;

/// How much of the body of a refusal is kept: enough for any error of JSON-RPC that a model reads.
inline constexpr std::size_t kHttpErrorBodyMax = 64 * kKiB;

/// The id and the type of an event of an HTTP daemon. The id is sent back in a header, and servers
/// refuse a longer one: nginx and Apache read 8 KiB for a header. A longer value is ignored.
inline constexpr std::size_t kEventFieldMax = 4 * kKiB;

/// The longest wait that an HTTP daemon can ask for, with `retry` or `Retry-After`. A daemon under
/// development comes back within minutes, whatever it has asked for.
inline constexpr Milliseconds kHttpWaitMax{5 * 60 * 1000};

/// How much of a response that is no message an error shows, in characters: a title and a sentence.
/// The second bound is for the bytes of it that are read. Error pages with a style sheet and a
/// stack trace are seldom half as long.
inline constexpr std::size_t kBodyWordsMax = 200;
inline constexpr std::size_t kBodyReadMax = 64 * kKiB;
/// How many bytes of WWW-Authenticate an error shows: a scheme, a realm and a reason.
inline constexpr std::size_t kChallengeBytesMax = 200;

/// Tools with parameters that a client of an HTTP daemon repeats in headers. Clients refuse a list
/// of so many tools. The third bound is for the memory of the names: about 200 bytes for each
/// parameter, and few tools have more than one. Calls of further tools leave without such headers,
/// and so do calls of a tool with more parameters than the second bound: servers refuse so many.
inline constexpr std::size_t kHeaderToolsMax = 1000;
inline constexpr std::size_t kHeaderParamsMax = 100;
inline constexpr std::size_t kHeaderNamesMax = kMiB;

/// The largest file of trusted certificates that is read. The bundles of the distributions have
/// 200 KiB; one with the text form of each certificate has 1 MiB.
inline constexpr std::size_t kTrustBytesMax = 16 * kMiB;
/// How many names of a certificate a message shows, and how many bytes of a text from a
/// certificate, an alert or a proxy. A name in the DNS has at most 253 bytes.
inline constexpr std::size_t kCertificateNamesShown = 3;
inline constexpr std::size_t kPeerTextMax = 253;

/// How long a daemon may take for the TLS handshake: two round trips and some milliseconds of
/// arithmetic. A server that speaks plain text may wait for more bytes of a request for ever.
inline constexpr Milliseconds kTlsHandshakeWait{10'000};

/// How long a proxy may take to answer CONNECT. It first connects to the daemon, and most proxies
/// give that less time.
inline constexpr Milliseconds kTunnelWait{30'000};
/// The largest head of the answer to CONNECT. Servers accept heads of 8 to 64 KiB.
inline constexpr std::size_t kTunnelHeadMax = 64 * kKiB;

/// How long a TCP connection to the daemon may take, with all addresses of its name together. A
/// daemon on this machine accepts at once. Over a network, lost first packets are sent again after
/// 1 s, 3 s and 7 s.
inline constexpr Milliseconds kConnectWait{10'000};
/// How long the name of the daemon may be looked up. The C library waits 5 s for each name server.
inline constexpr Milliseconds kLookupWait{5'000};
/// How much of the output of such a look-up is read: a thousand addresses.
inline constexpr std::size_t kLookupBytesMax = 64 * kKiB;
/// How much of /etc/hosts is read. The longest lists that block advertisers have half of this.
inline constexpr std::size_t kHostsBytesMax = 16 * kMiB;

/// The head of an HTTP response, and what comes between two pieces of a chunked body. Node.js sends
/// and takes a quarter of this.
inline constexpr std::size_t kHttpHeadMax = 64 * kKiB;
/// How long a connection may be idle before it is used again, if the daemon has announced nothing:
/// Node.js, which announces 5 s, has the shortest of the usual limits. From an announced time, the
/// margin is taken for what is under way, and nobody keeps a connection for longer than the last
/// number.
inline constexpr Milliseconds kIdleDefault{4'000};
inline constexpr Milliseconds kIdleMargin{1'000};
inline constexpr Milliseconds kIdleMax{3'600'000};

}  // namespace sitter::limits
