package transport

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/tests/needs"
)

func TestReadHelloSkipsLoginOutput(t *testing.T) {
	for _, banner := range []string{"", "Welcome\n", "no end of line", "tandem-bridge/", strings.Repeat("x", 100_000) + "\r\n"} {
		var line bytes.Buffer
		if err := (Hello{Version: "1.2.3", Protocol: 4}).Write(&line); err != nil {
			t.Fatal(err)
		}
		r := strings.NewReader(banner + line.String() + "the first frame")
		var noise bytes.Buffer
		h, err := ReadHello(r, &noise)
		if err != nil || h.Version != "1.2.3" || h.Protocol != 4 {
			t.Errorf("behind %.20q: %+v, %v", banner, h, err)
		}
		if r.Len() != len("the first frame") || strings.TrimSpace(noise.String()) != strings.TrimSpace(banner) {
			t.Errorf("behind %.20q: %d bytes are left, and the banner was %.30q", banner, r.Len(), noise.String())
		}
	}
}

func TestReadHelloRejectsOtherOutput(t *testing.T) {
	for _, text := range []string{"", "Welcome\n", strings.Repeat("y\n", maxNoise), marker, marker + "not json\n", marker + `{"version":"1\r\nX: y"}` + "\n", marker + strings.Repeat("x", maxHello+1)} {
		if _, err := ReadHello(strings.NewReader(text), new(bytes.Buffer)); !errors.Is(err, ErrNoBridge) && !strings.Contains(err.Error(), "no end") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestAsksDistinguishesPromptsFromBanners(t *testing.T) {
	for _, q := range []string{"me@box's password: ", "Enter passphrase for key '/k': ", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
		"Verification code: ", "# Tailscale SSH requires an additional check.\n# To authenticate, visit: https://login.tailscale.com/a/1\n", "[sudo] password for me:"} {
		if !Asks(q) {
			t.Errorf("no question: %q", q)
		}
	}
	for _, b := range []string{"", "Welcome to Debian\nsee https://help.example.org\n", "Last login: today\n", "motd: 3 updates\n"} {
		if Asks(b) || NeedsPerson(b) {
			t.Errorf("a question: %q", b)
		}
	}
	for _, e := range []string{"Host key verification failed.\r\n", "me@box: Permission denied (publickey).", "sudo: a password is required"} {
		if !NeedsPerson(e) {
			t.Errorf("needs nobody: %q", e)
		}
	}
}

// words splits a line at blanks, and treats text in single quotes as one word. All login shells
// split such a line like this, even those that are not POSIX shells.
func words(t *testing.T, line string) (all []string) {
	t.Helper()
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
			continue
		}
		if strings.ContainsAny(part, "\"$`\\!;&|<>(){}*?~#") {
			t.Errorf("outside of quotes: %q", part)
		}
		all = append(all, strings.Fields(part)...)
	}
	return all
}

func TestTandemIsFoundOutsidePATHByAnyLoginShell(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, ".local/bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	argv := words(t, Tandem("bridge --read-only"))
	if len(argv) != 4 || !slices.Equal(argv[:3], []string{"exec", "sh", "-c"}) || strings.ContainsAny(argv[3], "!\n") {
		t.Fatalf("the login shell gets %q", argv)
	}
	run := func() string {
		cmd := exec.Command("/bin/sh", argv[2:]...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := run(); !Missing(out) {
		t.Errorf("without tandem: %q", out)
	}
	if err := os.WriteFile(filepath.Join(bin, "tandem"), []byte("#!/bin/sh\necho found \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out := run(); out != "found bridge --read-only\n" {
		t.Errorf("with tandem in ~/.local/bin: %q", out)
	}
}

func TestMastersFindsConnectionsOfTheDataDirectory(t *testing.T) {
	listen := func(path string) {
		t.Helper()
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	machines := []Machine{{Name: "box", SSH: "box"}, {Name: "away", SSH: "away"}, {Name: "command", Transport: []string{"true"}}}
	short, runtime := socketDir(t), socketDir(t)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	listen(ControlPath(short, "box"))
	listen(ControlPath(short, "forgotten"))
	if err := os.WriteFile(filepath.Join(short, "ssh-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{ControlPath(short, "box"), ControlPath(short, "forgotten")}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(Masters(short, machines))); !slices.Equal(got, want) {
		t.Errorf("in the data directory: %q, want %q", got, want)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	path := ControlPath(long, "box")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	listen(path)
	if got := Masters(long, machines); !slices.Equal(got, []string{path}) {
		t.Errorf("outside of it: %q, want %q", got, path)
	}
}

func TestConnectionOfAnotherUserIsNotShared(t *testing.T) {
	dir := socketDir(t)
	m := Machine{Name: "box", SSH: "box"}
	path := ControlPath(dir, m.Name)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if argv := m.Background(dir); !slices.Contains(argv, path) {
		t.Errorf("its own connection is not shared: %q", argv)
	}
	if os.Geteuid() != 0 {
		return // only root can change a file's owner
	}
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if argv := m.Background(dir); slices.Contains(argv, path) {
		t.Errorf("a link runs %q", argv)
	}
	if got := Masters(dir, []Machine{m}); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}

// TestSSHForwardsNoAgentOrDisplay asks ssh about a configuration that forwards everything.
func TestSSHForwardsNoAgentOrDisplay(t *testing.T) {
	ssh := needs.Program(t, "openssh-client", "ssh")
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte("Host *\nForwardAgent yes\nForwardX11 yes\nLocalForward 1234 localhost:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := Machine{Name: "box", SSH: "me@box"}
	for name, argv := range map[string][]string{"link": m.Background(dir), "login": m.Master(dir), "command": m.Foreground(dir, "true")} {
		at := slices.Index(argv, "--")
		out, err := exec.Command(ssh, slices.Concat([]string{"-F", config, "-G"}, argv[1:at+2])...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"forwardagent no", "forwardx11 no", "clearallforwardings yes"} {
			if !strings.Contains(string(out), want+"\n") {
				t.Errorf("a %s lacks %q", name, want)
			}
		}
	}
}

func TestBackgroundLinkNeverPrompts(t *testing.T) {
	argv := Machine{Name: "box", SSH: "me@box"}.Background(t.TempDir())
	line := strings.Join(argv, " ")
	if !strings.Contains(line, "BatchMode=yes") || !slices.Contains(argv, "-T") || argv[len(argv)-3] != "--" || argv[len(argv)-2] != "me@box" {
		t.Errorf("a link runs %q", argv)
	}
	if path := ControlPath(strings.Repeat("/long", 30), "box"); len(path)+17 > 107 {
		t.Errorf("ssh cannot bind %s", path)
	}
}

// socketDir returns a temporary folder whose path leaves room for a socket's name.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
