class McpSitter < Formula
  desc "Keeps an MCP client connected while its server is rebuilt and restarted"
  homepage "https://github.com/mcp-sitter/mcp-sitter"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@RELEASE@/mcp-sitter-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256 darwin-arm64@"
    end
    on_intel do
      url "@RELEASE@/mcp-sitter-@VERSION@-darwin-x64.tar.gz"
      sha256 "@SHA256 darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@RELEASE@/mcp-sitter-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256 linux-arm64@"
    end
    on_intel do
      url "@RELEASE@/mcp-sitter-@VERSION@-linux-x64.tar.gz"
      sha256 "@SHA256 linux-x64@"
    end
  end

  def install
    bin.install "bin/mcp-sitter"
    man1.install "share/man/man1/mcp-sitter.1"
    bash_completion.install "share/bash-completion/completions/mcp-sitter"
    zsh_completion.install "share/zsh/site-functions/_mcp-sitter"
    fish_completion.install "share/fish/vendor_completions.d/mcp-sitter.fish"
    doc.install "LICENSE", "THIRD-PARTY-NOTICES.txt", "README.md"
  end

  test do
    assert_match "mcp-sitter #{version}", shell_output("#{bin}/mcp-sitter --version")
  end
end
