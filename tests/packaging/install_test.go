// Package packaging tests the installer and what a release writes.
package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"tandem/tests/needs"
)

// program is the program in the archives. It notes its arguments beside itself.
const program = "#!/bin/sh\necho \"$@\" >>\"$0.calls\"\n[ ! -e \"$0.noexec\" ]\n"

// An installer is the release 9.8.7 on a loopback server, and a computer to install it on.
type installer struct {
	t      *testing.T
	script string // path of install.sh
	tools  string // the only folder of PATH
	dir    string // to install in
	before func(*exec.Cmd)
}

func newInstaller(t *testing.T, download string) *installer {
	t.Helper()
	in := &installer{t: t, tools: t.TempDir(), dir: filepath.Join(t.TempDir(), "bin")}
	for _, tool := range []string{"cat", "chmod", "gzip", "mkdir", "mktemp", "mv", "rm", "sha256sum", "tar", "uname", download} {
		if err := os.Symlink(needs.Program(t, tool, tool), filepath.Join(in.tools, tool)); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string][]byte{}
	text := readFile(t, "../../packaging/install.sh")
	for _, arch := range []string{"amd64", "arm64"} {
		archive := packProgram(t, "tandem_9.8.7_linux_"+arch)
		files["/v9.8.7/tandem_9.8.7_linux_"+arch+".tar.gz"] = archive
		text = strings.ReplaceAll(text, "@"+strings.ToUpper(arch)+"@", fmt.Sprintf("%x", sha256.Sum256(archive)))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if files[r.URL.Path] == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(files[r.URL.Path]) // a client that left has failed, which its test notices
	}))
	t.Cleanup(server.Close)
	text = strings.NewReplacer("@VERSION@", "9.8.7", "@RELEASES@", server.URL, "@INSTALL@", server.URL+"/install.sh").Replace(text)
	in.script = filepath.Join(in.tools, "install.sh")
	writeFile(t, in.script, text)
	return in
}

// packProgram returns an archive as release.sh packs it.
func packProgram(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for name, text := range map[string]string{"LICENSE": "MIT", "tandem": program + strings.Repeat("# padding\n", 1<<14)} {
		if err := w.WriteHeader(&tar.Header{Name: folder + "/" + name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// command returns the run of the installer by dash, reading the script from standard input as in
// the pipe of the install line.
func (in *installer) command(args ...string) *exec.Cmd {
	script, err := os.Open(in.script)
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(func() { script.Close() })
	cmd := exec.Command(needs.Program(in.t, "dash", "dash"), append([]string{"-s", "--"}, args...)...)
	cmd.Stdin = script
	cmd.Env = []string{"PATH=" + in.tools, "HOME=" + in.t.TempDir(), "TANDEM_INSTALL_DIR=" + in.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask on
	if in.before != nil {
		in.before(cmd)
	}
	return cmd
}

// run runs the installer and returns what it printed.
func (in *installer) run(args ...string) (string, error) {
	out, err := in.command(args...).CombinedOutput()
	return string(out), err
}

func (in *installer) succeeds(args ...string) string {
	in.t.Helper()
	out, err := in.run(args...)
	if err != nil {
		in.t.Fatalf("install.sh %v: %v\n%s", args, err, out)
	}
	return out
}

// names returns the names in the folder to install in.
func (in *installer) names() string {
	entries, err := os.ReadDir(in.dir)
	if err != nil && !os.IsNotExist(err) {
		in.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestInstallerInstallsUpgradesAndUninstalls(t *testing.T) {
	for _, download := range []string{"curl", "wget"} {
		t.Run(download, func(t *testing.T) {
			in := newInstaller(t, download)
			if out := in.succeeds(); !strings.Contains(out, "Tandem 9.8.7 is in "+in.dir+"/tandem") || !strings.Contains(out, "Add "+in.dir+" to your PATH") {
				t.Errorf("it says\n%s", out)
			}
			installed := filepath.Join(in.dir, "tandem")
			writeFile(t, installed, "an older program")
			in.before = func(cmd *exec.Cmd) { cmd.Env[0] += ":" + in.dir }
			if out := in.succeeds(); strings.Contains(out, "PATH") {
				t.Errorf("with the folder in PATH, it says\n%s", out)
			}
			if text := readFile(t, installed); !strings.HasPrefix(text, program) {
				t.Errorf("installed is %.40q", text)
			}
			if out := in.succeeds("--uninstall"); !strings.Contains(out, "your data stay") || !strings.Contains(out, "Removed "+installed) || in.names() != "" {
				t.Errorf("uninstalling leaves %q and says\n%s", in.names(), out)
			}
			if out, err := in.run("--uninstall"); err == nil {
				t.Errorf("uninstalling nothing succeeds:\n%s", out)
			}
		})
	}
}

func TestInstallerOffersToRemoveEverythingElseFirst(t *testing.T) {
	for name, c := range map[string]struct {
		declined bool // the answer to tandem uninstall
		typed    string
		left     string
	}{
		"everything":       {false, "", "tandem.calls"},
		"only the program": {true, "y\n", "tandem.calls tandem.noexec"},
		"nothing":          {true, "n\n", "tandem tandem.calls tandem.noexec"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstaller(t, "curl")
			in.succeeds()
			if c.declined {
				writeFile(t, filepath.Join(in.dir, "tandem.noexec"), "")
			}
			cmd := in.command("--uninstall")
			terminal, err := pty.StartWithAttrs(cmd, nil, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer terminal.Close()
			if _, err := terminal.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			out, _ := io.ReadAll(terminal) // ends with EIO
			err = cmd.Wait()
			if removed := !strings.HasPrefix(c.left, "tandem "); removed != (err == nil) || in.names() != c.left {
				t.Errorf("left: %s, %v\n%s", in.names(), err, out)
			}
			if calls := readFile(t, filepath.Join(in.dir, "tandem.calls")); calls != "uninstall --keep-program\n" {
				t.Errorf("it called tandem with %q and printed\n%s", calls, out)
			}
		})
	}
}

func TestInstallerRefusalsChangeNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*testing.T, *installer)
		says  string
	}{
		"broken sum": {func(t *testing.T, in *installer) {
			text := readFile(t, in.script)
			i := strings.Index(text, "sum_amd64=") + len("sum_amd64=")
			j := strings.Index(text, "sum_arm64=") + len("sum_arm64=")
			writeFile(t, in.script, text[:i]+"0000"+text[i+4:j]+"0000"+text[j+4:])
		}, "another checksum than expected"},
		"full disk": {func(_ *testing.T, in *installer) {
			in.before = func(cmd *exec.Cmd) { // a limit of files' sizes fails writes in the same place
				cmd.Args = []string{cmd.Args[0], "-c", `ulimit -f 1; exec "$0" -s`, cmd.Path}
			}
		}, "nothing was changed"},
		"wrong processor": {fakeUname("Linux", "riscv64"), "there is no build for riscv64"},
		"wrong system":    {fakeUname("Darwin", "arm64"), "Tandem needs Linux; this is Darwin"},
		"missing release": {func(t *testing.T, in *installer) {
			writeFile(t, in.script, strings.ReplaceAll(readFile(t, in.script), "version=9.8.7", "version=9.8.6"))
		}, "cannot download"},
		"no program runs": {func(t *testing.T, in *installer) { // as on a file system mounted noexec
			text := readFile(t, in.script)
			writeFile(t, in.script, strings.Replace(text, `"$work/$name/tandem" --version`, `: >"$work/$name/tandem.noexec"; "$work/$name/tandem" --version`, 1))
		}, "does not run in"},
		"no SHA-256": {func(t *testing.T, in *installer) {
			if err := os.Remove(filepath.Join(in.tools, "sha256sum")); err != nil {
				t.Fatal(err)
			}
		}, "no program here computes SHA-256"},
		"cut off": {func(t *testing.T, in *installer) {
			text := readFile(t, in.script)
			writeFile(t, in.script, text[:strings.LastIndex(text, "main \"$@\"")]+"exit 1")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstaller(t, "curl")
			if err := os.Mkdir(in.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(in.dir, "tandem"), "an older program")
			c.spoil(t, in)
			out, err := in.run()
			if err == nil || !strings.Contains(out, c.says) {
				t.Errorf("%v\n%s", err, out)
			}
			if text := readFile(t, filepath.Join(in.dir, "tandem")); text != "an older program" || in.names() != "tandem" {
				t.Errorf("changed: %s, tandem is %.40q", in.names(), text)
			}
		})
	}
}

func fakeUname(system, machine string) func(*testing.T, *installer) {
	return func(t *testing.T, in *installer) {
		path := filepath.Join(in.tools, "uname")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, "#!/bin/sh\ncase $1 in -s) echo "+system+" ;; -m) echo "+machine+" ;; esac\n")
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// writeFile writes an executable file.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
