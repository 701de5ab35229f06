#pragma once

#include <cstddef>

#include "sitter/time.hpp"

/// Every bound of the bridge, each with the reason for its number.
namespace sitter::limits {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

/// simdjson reads whole vectors, so this many bytes after a line must be readable.
inline constexpr std::size_t kLinePadding = 64;

/// The protocol has no size limit. The official TypeScript clients end their connection at 10 MiB,
/// so this is far above anything that works with them. A developer's machine still has memory for
/// six times this size.
inline constexpr std::size_t kLineMax = 256 * kMiB;

/// The official TypeScript clients end their connection at a line of this size, with or without a
/// bridge. The log says so when such a line is passed on.
inline constexpr std::size_t kTypeScriptLineMax = 10 * kMiB;

/// Before the bridge parses a line of this size or more, this much memory must be free: for each
/// byte of the line, simdjson's index and strings (less than six bytes) and two copies, and a fixed
/// reserve. Otherwise the line counts as too long. Smaller lines are not checked, because the check
/// would take longer than reading them. If there is no memory for a smaller line, the program ends.
inline constexpr std::size_t kRoomAskedFrom = kMiB;
inline constexpr std::size_t kRoomPerByte = 8;
inline constexpr std::size_t kRoomBeside = 16 * kMiB;

/// How much is kept of each end of a line that is too long: the id is at one of the ends.
inline constexpr std::size_t kLineEndKept = 4 * kKiB;

/// How many bytes may be queued in one direction before the bridge stops reading from the other
/// side.
inline constexpr std::size_t kQueueBytesMax = 16 * kMiB;

/// A child that takes nothing for this long while its queue is full is not merely slow.
inline constexpr Milliseconds kDeafAfter{1000};

/// How long a client with too much in flight is not read before its requests are refused. Answers
/// that come meanwhile make room. A kill or a cancellation, which may be what helps, waits for no
/// longer than this.
inline constexpr Milliseconds kCrowdWait{1000};

/// Requests and notifications that wait while no child serves. A client normally sends a handful of
/// requests at once, so a client with a thousand of them is in an endless loop.
inline constexpr std::size_t kWaitingCountMax = 1000;
/// The bytes of these waiting lines, since a build may take minutes: the size of one queue to a
/// child.
inline constexpr std::size_t kWaitingBytesMax = kQueueBytesMax;

/// Requests that a child may have unanswered. At about 160 bytes each, they take about 20 MiB.
inline constexpr std::size_t kInFlightCountMax = 131072;

/// The bytes of the ids of these requests, and of the lines that are kept for a second try: the
/// size of one queue to a child. At this bound no more lines are kept.
inline constexpr std::size_t kInFlightBytesMax = kQueueBytesMax;

/// Cancelled requests that are remembered in case the child answers them anyway. A server of the
/// official SDKs never does, so without a bound they would accumulate.
inline constexpr std::size_t kCancelledCountMax = 1000;

/// Ids of cancelled streams that are remembered. A server may still end such a stream properly,
/// with a result that carries the id. It does so soon after the cancellation.
inline constexpr std::size_t kCancelledStreamsMax = 64;

/// Progress tokens of answered requests that are remembered in case the child still reports
/// progress for them. A child that reports so late does it within its last few requests.
inline constexpr std::size_t kEndedTokensMax = 64;

/// Requests of the child that the client has not answered. A client shows them to a person. The
/// second bound is for the bytes of their ids and progress tokens, which are kept: 4 KiB for each
/// request if all are open.
inline constexpr std::size_t kChildRequestsMax = 1000;
inline constexpr std::size_t kChildRequestBytesMax = 4 * kMiB;

/// A grandchild may hold the pipes of a child that has exited, so the bridge waits no longer than
/// this for their end. What the child itself wrote is in the pipe by then, and is read within a few
/// milliseconds.
inline constexpr Milliseconds kDrain{300};

/// The last process that a build or run started may still be between fork(2) and setsid(2). That
/// takes microseconds, and some scheduler ticks on a busy machine.
inline constexpr Milliseconds kBuildLeavesWait{100};

/// After SIGKILL, a process in uninterruptible sleep or of another user may not end at all.
inline constexpr Milliseconds kGiveUpAfterKill{2000};

/// docker, podman, kubectl and ssh must first end something on another machine or in a daemon.
inline constexpr Milliseconds kRemoteTermGrace{5000};

/// Clients send SIGTERM 2 s after they have closed our stdin, so at the end of the session a longer
/// --kill-grace is cut to this length: two such steps end a stubborn child in time.
inline constexpr Milliseconds kShutdownRungMax{500};

/// After a signal there is little time: Claude Code kills 0.5 s after its first signal.
inline constexpr Milliseconds kSignalKillAfter{200};
inline constexpr Milliseconds kSignalExitAfter{280};

/// How long the bridge waits for owed answers after the client has closed our stdin: `printf ... |
/// mcp-sitter` should print them all. Official clients send SIGTERM long before.
inline constexpr Milliseconds kOwedWait{10000};

/// Lists that are compared after a respawn: the pages of each list, since a server may return
/// cursors in a circle, and the bytes of each list, enough for two thousand tools of 2 KiB.
inline constexpr int kListPagesMax = 100;
inline constexpr std::size_t kListBytesMax = 4 * kMiB;

/// How long a new child may take for what it must answer before it serves. The client's request
/// waits meanwhile, and a list that is never answered must not use up the 60 s that the official
/// TypeScript clients wait. Of the lists, the tools matter most. Restoring the settings of the
/// session may take as long as listing the tools, and the request that finds out the era of the
/// child as long as the other lists.
inline constexpr Milliseconds kToolsListWait{2000};
inline constexpr Milliseconds kOtherListWait{1000};

/// How long all calls that are repeated at a new child may take together. Some servers must connect
/// to something first, but the client's requests wait meanwhile, as above. The second bound is for
/// the arguments of one such call, which are kept.
inline constexpr Milliseconds kReplayWait{20000};
inline constexpr std::size_t kReplayBytesMax = kMiB;
/// The line of such a call, which is kept until the call is answered. It also has an id and a
/// `_meta`.
inline constexpr std::size_t kReplayLineMax = 2 * kReplayBytesMax;
/// How many failures of such calls the next notice reports. Nobody is likely to name more tools.
inline constexpr std::size_t kReplayFailuresMax = 10;

/// If a list changes while it is taken, the bridge takes it again, so that it sees all tools of a
/// server that is still registering them. The bound is for servers that announce a change whenever
/// they are listed.
inline constexpr int kListRestartsMax = 3;
/// For the same reason, lists are not taken again sooner than this.
inline constexpr Milliseconds kSurveyInterval{1000};

/// How deep arrays and objects may be nested in text that is parsed as a whole. Far deeper than any
/// schema, and still cheap for the recursion and the copies at each level.
inline constexpr std::size_t kNestingMax = 100;

/// Resource templates that are remembered while no child serves. A server has a handful.
inline constexpr std::size_t kTemplatesMax = 1000;

/// Cursors of one child that are distinguished from cursors of its predecessors. No list has so
/// many pages. Above this bound all cursors pass.
inline constexpr std::size_t kCursorsMax = 10000;

/// How long an answer waits for the client to list again. The official TypeScript clients wait for
/// 300 ms before they list.
inline constexpr Milliseconds kRelistWait{750};

/// How long an answer waits after the list, for a client that needs such a pause: Gemini CLI 0.61
/// shows a new tool in its next turn after 20 ms if the machine is idle, and after 100 ms if it is
/// busy.
inline constexpr Milliseconds kPauseAfterList{100};

/// The bytes of such waiting answers. Above this bound, no answer waits.
inline constexpr std::size_t kHeldBytesMax = 16 * kMiB;

/// The bytes of the answers to one batch. They are kept until the last answer has arrived, and
/// leave as one line. This is more than the official TypeScript clients accept in a line. All open
/// batches together keep no more than this either. A single answer may have any size.
inline constexpr std::size_t kBatchBytesMax = 16 * kMiB;

/// Entries of one batch. Each may be owed an error that is longer than the entry itself, and no
/// known client sends more than a few.
inline constexpr std::size_t kBatchCountMax = 10'000;

/// After this many announcements without a new list, the bridge no longer waits for the client.
inline constexpr int kUnheededMax = 2;

/// The official TypeScript clients lose progress that arrives in the same read as its answer.
inline constexpr Milliseconds kProgressGap{1};

/// Writes that wait for such gaps. Without a bound, the writes would lag further and further behind
/// a server that sends each answer right after its progress, and does so faster than the gap.
inline constexpr std::size_t kWaitingWritesMax = 50;

/// How long a build may take by default, and at most. Ten minutes is also the limit of Claude Code
/// for a command that it runs itself.
inline constexpr int kBuildSecondsDefault = 600;
inline constexpr int kBuildSecondsMax = 24 * 60 * 60;

/// How many lines of a build's output are kept. Lines need a bound of their own, since empty lines
/// have no bytes. The bytes have the same bound as in any ring.
inline constexpr std::size_t kBuildLogLinesMax = 20'000;
/// How many of these lines one call may ask for.
inline constexpr int kBuildLogShownMax = 20'000;

/// Lines of the first errors of a build, which are kept even when the log no longer holds them:
/// enough for the first ten errors with the lines that follow each of them. The second bound is for
/// the bytes of such a line, as an excerpt shows it.
inline constexpr std::size_t kBuildErrorsKept = 40;
inline constexpr std::size_t kBuildErrorBytesMax = 500;

/// How many lines of source an excerpt shows below an error. rustc, which prints the most, needs
/// seven for an error that shows two places in a file, and one more for each further label.
inline constexpr std::size_t kErrorSourceLinesMax = 8;

/// How much of the build's output the result of a rebuild shows: enough for the first errors, which
/// a model mends first, and little beside the rest of its conversation. sitter_build_log shows
/// more.
inline constexpr std::size_t kBuildExcerptLinesMax = 80;
inline constexpr std::size_t kBuildExcerptBytesMax = 3 * kKiB;

/// How many lines the next result shows after a failed reload. Their bytes have the bound of any
/// excerpt.
inline constexpr std::size_t kReloadLinesMax = 30;

/// How much the answer to a wrong sitter_call shows of the schema of a tool, or of the names of all
/// tools: as much as a notice may have.
inline constexpr std::size_t kShownSchemaMax = 4 * kKiB;

/// How long a request waits for a build. Most clients give up after 60 s, and then the model never
/// learns the reason.
inline constexpr Milliseconds kBuildPatience{45000};

/// The time between two progress notifications about a build. A person reads no faster.
inline constexpr Milliseconds kBuildProgressInterval{250};

/// How many bytes of a build's output line a progress notification shows.
inline constexpr std::size_t kBuildProgressLineMax = 200;

/// From this failed start in a row on, at least this interval lies between two starts.
inline constexpr int kFailedStartsFree = 3;
inline constexpr Milliseconds kStartInterval{1000};

/// The time from the end of a child to its restart without a request. It doubles with each restart
/// in a row, so that a child that crashes at once does not keep the machine busy. A child that runs
/// for a minute ends the row.
inline constexpr Milliseconds kRestartWaitMin{1000};
inline constexpr Milliseconds kRestartWaitMax{30000};
inline constexpr Milliseconds kGoodRunning{60000};

/// How long a child may take to acknowledge a stream before the bridge does it. This is far below
/// the 60 s that the official TypeScript client waits.
inline constexpr Milliseconds kStreamAckWait{5000};

/// How long the bridge holds back the end of a stream. A server that exits ends its streams first;
/// if the bridge passed such an end on, the client would not open the stream again.
inline constexpr Milliseconds kStreamEndWait{1000};

/// If this many children in a row die without acknowledging a stream, the next child must answer
/// another request before the bridge sends it the stream. Two, as for a request that is sent once
/// more.
inline constexpr int kStreamDeathsMax = 2;

/// Streams that may be open at the same time: as many as the official TypeScript servers allow. The
/// second bound is for the bytes of all their requests, which are kept: 4 KiB for each stream if
/// all are open.
inline constexpr std::size_t kStreamsMax = 1024;
inline constexpr std::size_t kStreamBytesMax = 4 * kMiB;

/// Subscriptions that are restored at the next child, each with a request of its own. At about 150
/// bytes each, these requests take a tenth of the queue to the child. The second bound is for the
/// bytes of the URIs, which may be long: a quarter of that queue.
inline constexpr std::size_t kSubscriptionsMax = 10000;
inline constexpr std::size_t kSubscriptionBytesMax = kQueueBytesMax / 4;

/// How many lines of the children's stderr are kept by default.
inline constexpr std::size_t kStderrLinesDefault = 1000;

/// Bytes of the children's stderr that are kept: a thousand lines of 1 KiB. The second bound is for
/// a single line. Only the beginning of a longer line is kept, since otherwise one dump would push
/// out all earlier lines.
inline constexpr std::size_t kStderrBytesMax = kMiB;
inline constexpr std::size_t kStderrLineMax = 8 * kKiB;

/// How many of these lines one call of sitter_child_stderr shows at most: as many as are kept by
/// default, and far more than a model reads.
inline constexpr std::size_t kShownLinesMax = 1000;

/// How much of the stderr a crash report quotes: enough for an assertion or a short stack trace.
/// The report is part of each answer to a call that the crash interrupted.
inline constexpr std::size_t kReportLinesMax = 20;
inline constexpr std::size_t kReportBytesMax = 4 * kKiB;

/// How much of the stderr, or of the build's output, the instructions quote if the bridge answers
/// an opening without a server. Instructions are part of every prompt, so they stay short.
inline constexpr std::size_t kOpeningQuoteMax = kKiB;

/// A notice must leave room for the result that follows it.
inline constexpr std::size_t kNoticeBytesMax = 4 * kKiB;

/// How many lines of a crashed server's stderr a notice shows. Most errors have one line, and a
/// place before or behind it.
inline constexpr std::size_t kNoticeStderrLines = 3;

/// How many findings of the lint are kept about the definitions of the tools, and as many about
/// results: more than anybody mends at once. The second number is how many of them one notice
/// tells, so that the findings leave room for the result as well.
inline constexpr std::size_t kLintFindingsMax = 100;
inline constexpr std::size_t kLintShownMax = 10;
/// A longer schema, or a longer result, is not linted: reading it would delay the answer. Schemas
/// and results that a model reads are seldom a tenth as long.
inline constexpr std::size_t kLintSchemaMax = 64 * kKiB;
inline constexpr std::size_t kLintResultMax = 64 * kKiB;
/// Of each tool, one result is linted in this time. A model seldom calls a tool more often, and a
/// client that does must not pay for the lint.
inline constexpr Milliseconds kLintInterval{1000};
/// How many tools of one child are told apart by when a result of them was linted. Clients refuse a
/// list of so many tools.
inline constexpr std::size_t kLintedToolsMax = 1000;

/// How long the server may take for the list that shows whether it was opened. Until then its error
/// is held, and the client waits.
inline constexpr Milliseconds kOwnRestartListWait{5'000};
/// A longer error is no refusal of an unopened server, and is passed on at once. It would have to
/// be held.
inline constexpr std::size_t kRefusalBytesMax = 4 * kKiB;
/// How often in a row a server that has given no list is opened again because it refuses
/// everything. A second restart may come while the server is opened after the first. A server that
/// still refuses everything is broken.
inline constexpr int kDoubtfulRestartsMax = 2;
/// After so many restarts of the server by itself in a row, without an answer to the client between
/// them, the calls of `--replay-call` wait for such an answer. A call may write a file that a
/// watcher restarts the server for, so it would restart the server for ever. It is as many as
/// `--restart` makes in a row.
inline constexpr int kUnusedRestartsMax = 10;
/// From the words of a watcher to the opening of the new server. node writes them before it ends
/// the former server, which must not read the opening.
inline constexpr Milliseconds kOwnRestartWait{1'000};
/// How long further announcements may put that off. A server that writes a watched file whenever it
/// starts would be started anew without end, and requests would wait for ever.
inline constexpr Milliseconds kOwnRestartWaitsMax{5'000};
/// So many calls that were sent last are kept for the case that a server refuses one of them as not
/// opened. A model makes fewer calls at once. A program that has more requests in flight does not
/// pay for copies.
inline constexpr std::size_t kSentLinesMax = 16;
/// A longer call is not kept. The arguments of few calls are a tenth as long.
inline constexpr std::size_t kSentLineMax = 64 * kKiB;

/// How long the name of a tool may be (MCP 2025-11-25, "Tool Names").
inline constexpr std::size_t kToolNameMax = 128;

/// How many generations sitter_status lists: enough to see whether the server always ends in the
/// same way, and little to read.
inline constexpr std::size_t kHistoryMax = 10;

/// The arguments of a built-in tool, as raw text. This is far more than the tools need. Deep
/// nesting in so little text costs next to nothing.
inline constexpr std::size_t kArgumentsBytesMax = 64 * kKiB;

/// A longer result is not searched for the beginning of a task. A result that begins a task names
/// the task and little more.
inline constexpr std::size_t kTaskResultMax = 64 * kKiB;

/// How many opening braces without an end are tried as the beginning of an object in a broken line.
/// Each try walks through the rest of the line. A log line before a message has only one or two
/// such braces.
inline constexpr int kUnclosedBracesMax = 16;

/// How many changed files are told apart: as many as a large checkout touches. The second number is
/// how many of them sitter_status names.
inline constexpr std::size_t kChangedFilesMax = 1000;
inline constexpr std::size_t kChangedFilesShown = 10;

/// If a file changes in this many reloads in a row, the bridge assumes that the reloads write it. A
/// user may save the same file during each of three builds, and never in between: then the bridge
/// reports that it ignored the file.
inline constexpr int kOwnWritesInARow = 3;
/// If only changes during reloads have led to this many reloads in a row, no further reload
/// follows, whatever the names of the files are: some builds give their output files a new name
/// each time.
inline constexpr int kFollowingReloadsMax = 10;

/// How much of the watched tree is read before other events are handled. A call waits no longer for
/// the tree than for the answer of a fast server. The second bound is for the folders and entries:
/// from the cache of the system, so many are read in about half of this time. The third is for the
/// bytes of the events that are read at once: about 250 events, which take about as long.
inline constexpr Milliseconds kWatchSlice{2};
inline constexpr std::size_t kWatchSliceSteps = 200;
inline constexpr std::size_t kWatchEventBytes = 8 * kKiB;

/// Where each watched file and folder needs an open descriptor (kqueue(2)), the process may open so
/// many, if its hard limit allows it. macOS never allows more (OPEN_MAX, setrlimit(2)). The watch
/// uses three of four. The others are for pipes and connections, which are a few hundred at most.
inline constexpr std::size_t kDescriptorsMax = 10'240;
constexpr std::size_t watch_descriptors_of(std::size_t all) { return all / 4 * 3; }

/// The largest .gitignore file that is read. The longest published ones have a few thousand lines.
inline constexpr std::size_t kIgnoreFileBytesMax = kMiB;

/// The sources of the server are looked at after a call, but not more often than this: a model
/// needs longer for an edit. A look takes no longer than the second time, which is less than a
/// person or a model notices. A large tree is looked at in several turns.
inline constexpr Milliseconds kSourceLookInterval{1000};
inline constexpr Milliseconds kSourceLookTime{5};
/// How many files and folders below the server's script are looked at, and how many of these may be
/// folders. A server under development has hundreds of files; a script in a home directory has
/// everything below it.
inline constexpr std::size_t kSourceFilesMax = 10'000;
inline constexpr std::size_t kSourceFoldersMax = 1000;
/// A file that is seen for the first time has changed since the start of the server if it is newer
/// than the start by more than this: FAT keeps times to 2 s, and the clock of a file server may
/// differ from ours a little.
inline constexpr Milliseconds kSourceClockMargin{2000};
/// How many bytes of the name of a changed file a notice shows.
inline constexpr std::size_t kSourceNameMax = 200;

/// A program that is still being written cannot be started (ETXTBSY, execve(2)). A linker finishes
/// writing it soon.
inline constexpr Milliseconds kBusyFileWait{2000};
inline constexpr Milliseconds kBusyFileInterval{100};

/// Connections of `mcp-sitter ctl`, which are from people and scripts of one user and send short
/// requests. The last bound is for bytes that wait for a connection that does not read: twice the
/// longest answer, which is a whole stderr ring.
inline constexpr std::size_t kControlConnectionsMax = 64;
inline constexpr std::size_t kControlLineMax = 64 * kKiB;
inline constexpr std::size_t kControlQueueMax = 4 * kMiB;

/// How many processes the refusal of a sitter_kill names: enough to see what they are. A busy
/// machine has hundreds of shells.
inline constexpr std::size_t kShownStrangersMax = 20;

/// A parser keeps four bytes of index for each byte of its largest line. After a line above this
/// size, a new parser takes its place.
inline constexpr std::size_t kParserKeptMax = kMiB;

}  // namespace sitter::limits
