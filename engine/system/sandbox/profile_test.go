package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const whole = `{
	"filesystem": {"denyRead": ["/home/u/.ssh"], "allowWrite": ["/tmp/x"], "denyWrite": ["/tmp/x/keep"]},
	"network": {"allowedDomains": ["example.org", "*.example.com"], "deniedDomains": ["bad.example.com"]},
	"limits": {"open_files": 64, "processes": 32, "memory_bytes": 1073741824, "cpu_seconds": 60}
}`

func TestParseReadsEveryField(t *testing.T) {
	want := Profile{
		Filesystem: Filesystem{DenyRead: []string{"/home/u/.ssh"}, AllowWrite: []string{"/tmp/x"}, DenyWrite: []string{"/tmp/x/keep"}},
		Network:    &Network{AllowedDomains: []string{"example.org", "*.example.com"}, DeniedDomains: []string{"bad.example.com"}},
		Limits:     &Limits{OpenFiles: 64, Processes: 32, MemoryBytes: 1 << 30, CPUSeconds: 60},
	}
	path := filepath.Join(t.TempDir(), "sandbox.json")
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadLayers(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Layers{want}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := LoadLayers(path + ".missing"); err == nil {
		t.Error("a missing profile was read")
	}
}

func TestInvalidProfileIsRejectedWithAReason(t *testing.T) {
	for profile, want := range map[string]string{
		``:                                      "the file is empty",
		`{`:                                     "line 1: a closing brace, bracket or quote is missing",
		`{"filesystem": {}} {}`:                 "unexpected data after its end",
		`{"filesystem": {}}, `:                  "unexpected data after its end",
		"{\n\"filesystem\": }":                  "line 2: ",
		`{"filesytem": {}}`:                     `unknown field "filesytem"`,
		`{"network": {"allowUnixSockets": []}}`: `unknown field "allowUnixSockets"`,
		"{\n\"filesystem\": {\"denyRead\": \"/x\"}}":               `line 2: "filesystem.denyRead" cannot be a JSON string`,
		`{"limits": {"open_files": -1}}`:                           "limits.open_files",
		`{"filesystem": {"denyRead": ["~/x"]}}`:                    `filesystem.denyRead: path "~/x" is not absolute`,
		`{"filesystem": {"allowWrite": [""]}}`:                     "not absolute",
		`{"filesystem": {"denyWrite": ["/missing/*"]}}`:            "patterns are not supported",
		"{\"filesystem\": {\"denyWrite\": [\"/x\\u0000\"]}}":       "NUL",
		`{"network": {"allowedDomains": ["https://example.org"]}}`: `network.allowedDomains: "https://example.org"`,
		`{"network": {"allowedDomains": ["example.org:443"]}}`:     "without scheme, port and path",
		`{"network": {"allowedDomains": [""]}}`:                    "empty",
		`{"network": {"allowedDomains": ["a.*.org"]}}`:             "cannot be in a host name",
		`{"network": {"deniedDomains": ["*."]}}`:                   "network.deniedDomains",
		`{"network": {"deniedDomains": ["127.1"]}}`:                "neither a host name nor an IP address",
	} {
		_, err := Parse([]byte(profile))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want %q", profile, err, want)
		}
	}
	if _, err := Parse([]byte(strings.Repeat(" ", maxProfile+1))); err == nil {
		t.Error("a profile without bounds was read")
	}
}

func TestParseLayersAcceptsLayersAndASingleProfile(t *testing.T) {
	first, second := Profile{Network: &Network{}}, Profile{Filesystem: Filesystem{AllowWrite: []string{"/tmp/x"}}, Limits: &Limits{OpenFiles: 64}}
	for text, want := range map[string]Layers{
		`{"network": {}}`: {first},
		`{"layers": [{"network": {}}, {"filesystem": {"allowWrite": ["/tmp/x"]}, "limits": {"open_files": 64}}]}`: {first, second},
	} {
		got, err := ParseLayers([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		`{"layers": []}`: "there are 0 layers; must be 1 to 8",
		`{"layers": [{}` + strings.Repeat(`, {}`, 8) + `]}`:     "there are 9 layers",
		`{"layers": [{}], "network": {}}`:                       `"layers" must stand alone`,
		`{"layers": [{}, {"netwrok": {}}]}`:                     `unknown field "netwrok"`,
		`{"layers": [{}, {"filesystem": {"denyRead": ["x"]}}]}`: `layer 2: sandbox profile: filesystem.denyRead: path "x" is not absolute`,
		`{"layers": {}}`:   `"layers" cannot be a JSON object`,
		`{"layers": null}`: "unknown field",
	} {
		if _, err := ParseLayers([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want %q", text, err, want)
		}
	}
}

func TestStrictestLayerWins(t *testing.T) {
	some := Profile{Network: &Network{AllowedDomains: []string{"example.org", "*.example.com"}}, Limits: &Limits{OpenFiles: 64, CPUSeconds: 5}}
	fewer := Profile{Network: &Network{AllowedDomains: []string{"*"}, DeniedDomains: []string{"example.org"}}, Limits: &Limits{OpenFiles: 32, MemoryBytes: 9}}
	for _, c := range []struct {
		layers Layers
		want   access
	}{
		{Layers{{}, {}}, openNetwork},
		{Layers{{}, some}, proxyNetwork},
		{Layers{some, {Network: &Network{}}}, noNetwork},
		{Layers{{Network: &Network{}}, some}, noNetwork},
	} {
		if got := c.layers.network(); got != c.want {
			t.Errorf("%+v leave network %d, want %d", c.layers, got, c.want)
		}
	}
	both := Layers{some, {}, fewer}
	if diff := cmp.Diff(Limits{OpenFiles: 32, MemoryBytes: 9, CPUSeconds: 5}, both.limits()); diff != "" {
		t.Error(diff)
	}
	hosts, err := both.hosts()
	if err != nil {
		t.Fatal(err)
	}
	for host, allowed := range map[string]bool{"a.example.com": true, "example.org": false, "example.net": false} {
		if err := hosts.checkHost(host); (err == nil) != allowed {
			t.Errorf("%s: %v", host, err)
		}
	}
	if open, err := (Layers{{}, {}}).hosts(); err != nil || open.checkHost("example.org") == nil {
		t.Errorf("without a restricted layer the proxy lets out: %v", err)
	}
}

func TestCheckNamesTheMissingKernelFeature(t *testing.T) {
	files := Profile{}
	off := Profile{Network: &Network{}}
	some := Profile{Network: &Network{AllowedDomains: []string{"example.org"}}}
	for _, c := range []struct {
		kernel  kernel
		profile Profile
		want    string
	}{
		{kernel{landlockErr: errPlatform}, files, "no Landlock"},
		{kernel{landlock: 1}, files, "must have version 3 (Linux 6.2); this kernel has version 1"},
		{kernel{landlock: 3}, files, ""},
		{kernel{landlock: 3}, off, ""},
		{kernel{landlock: 3}, some, "to confine allowedDomains, Landlock must have version 4"},
		{kernel{landlock: 4}, some, ""},
		{kernel{landlock: 9, seccomp: errPlatform}, files, "system calls cannot be filtered"},
	} {
		err := c.kernel.check(Layers{c.profile})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v with %+v gave %v, want %q", c.kernel, c.profile, err, c.want)
		}
	}
}

func TestEnvironmentNamesTheProxyOnlyIfNeeded(t *testing.T) {
	const proxyURL = "http://u:p@127.0.0.1:1"
	for _, p := range []Layers{{{}}, {{Network: &Network{}}}} {
		if env := p.Env(proxyURL); env != nil {
			t.Errorf("%+v gave %q", p, env)
		}
	}
	some := Layers{{Network: &Network{AllowedDomains: []string{"example.org"}}}}
	env := some.Env(proxyURL)
	for _, want := range []string{"HTTP_PROXY=" + proxyURL, "https_proxy=" + proxyURL, "ALL_PROXY=" + proxyURL, "NO_PROXY="} {
		if !slices.Contains(env, want) {
			t.Errorf("the environment lacks %s: %q", want, env)
		}
	}
}

func TestCommandKeepsArgumentsSeparate(t *testing.T) {
	got := Command("/bin/tandem", "/d/sandbox.json", "0022", []string{"prog", "--", "-x"})
	want := []string{"/bin/tandem", "launch", "/d/sandbox.json", "0022", "--", "prog", "--", "-x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"filesystem":{"denyRead":["/a\u0000"]},"network":null}`))
	f.Add([]byte(`{"network":{"allowedDomains":["*.","[::1]","*"]}}`))
	f.Add([]byte(`{"layers":[{},{"network":{}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseLayers(data)
		if err != nil {
			return
		}
		// An accepted profile survives writing and reading unchanged.
		written, err := json.Marshal(map[string]Layers{"layers": p})
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseLayers(written)
		if err != nil {
			t.Fatalf("%s is refused the second time: %v", written, err)
		}
		if again.network() != p.network() {
			t.Errorf("%s: the network changed", written)
		}
	})
}
