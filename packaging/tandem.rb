# Homebrew formula for Linux, written by packaging/release.sh.
class Tandem < Formula
  desc "Terminal and process manager that keeps everything running"
  homepage "@SOURCE@"
  version "@VERSION@"
  license "MIT"
  depends_on :linux

  on_intel do
    url "@RELEASES@/v@VERSION@/tandem_@VERSION@_linux_amd64.tar.gz"
    sha256 "@AMD64@"
  end
  on_arm do
    url "@RELEASES@/v@VERSION@/tandem_@VERSION@_linux_arm64.tar.gz"
    sha256 "@ARM64@"
  end

  def install
    bin.install "tandem"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tandem"
    zsh_completion.install "completions/_tandem"
    fish_completion.install "completions/tandem.fish"
    doc.install "THIRD-PARTY.txt"
  end

  test do
    assert_match "tandem #{version}", shell_output("#{bin}/tandem --version")
  end
end
