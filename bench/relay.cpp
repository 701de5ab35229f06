// The yardstick of the benchmarks: copies bytes between its own stdin and stdout and those of a
// command, with two blocking threads, and does nothing else.
//
//     relay <command> [args...]

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <thread>

namespace {

void copy(int from, int to) {
  std::array<char, 64 * 1024> buffer;
  while (true) {
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count <= 0) break;
    for (ssize_t done = 0; done < count;) {
      const ssize_t written =
          write(to, buffer.data() + done, static_cast<std::size_t>(count - done));
      if (written <= 0) return;
      done += written;
    }
  }
  close(to);
}

}  // namespace

int main(int argc, char** argv) {
  int input[2];
  int output[2];
  if (argc < 2 || pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) return 2;
  // After a fork, the parent would have to copy the pages that it shares with the child.
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    _exit(127);
  }
  if (pid < 0) return 2;
  close(input[0]);
  close(output[1]);
  std::thread(copy, STDIN_FILENO, input[1]).detach();
  copy(output[0], STDOUT_FILENO);
  int status = 0;
  waitpid(pid, &status, 0);
  // The other thread may still wait for input.
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
