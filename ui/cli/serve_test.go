package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// runServe runs the command line with a server that records its options.
func runServe(t *testing.T, args ...string) (got *factory.ServeOptions, status int, said string) {
	t.Helper()
	var out, stderr bytes.Buffer
	o := factory.Options{Version: "1.2.3", Stdout: &out, Stderr: &stderr, Stdin: strings.NewReader(""), Environ: []string{"TERM=dumb"},
		Profiles: []string{"native", "core", "all"},
		Serve: func(_ context.Context, o factory.ServeOptions) error {
			got = &o
			return nil
		},
		Dashboard: func(context.Context, factory.DashboardOptions) error { return nil },
	}
	status = Main(t.Context(), o, args)
	return got, status, out.String() + stderr.String()
}

func TestServePassesItsFlags(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		want factory.ServeOptions
	}{
		{"--serve", factory.ServeOptions{}},
		{"--serve --profile core,native --profile all --read-only --tool-prefix t_ --read-unbounded --root .",
			factory.ServeOptions{Profiles: []string{"core", "native", "all"}, ReadOnly: true, ToolPrefix: "t_", ReadUnbounded: true, Roots: []string{dir}}},
		{"--serve --as ci-2_b.x", factory.ServeOptions{As: "ci-2_b.x"}},
		{"--serve --http :7777 --insecure", factory.ServeOptions{HTTP: ":7777", Insecure: true}},
		{"--serve --http 127.0.0.1:7777 --token-file /t --allow-host box --allow-origin https://a --allow-origin https://b",
			factory.ServeOptions{HTTP: "127.0.0.1:7777", TokenFile: "/t", AllowHosts: []string{"box"}, AllowOrigins: []string{"https://a", "https://b"}}},
	} {
		got, status, said := runServe(t, strings.Fields(tc.args)...)
		if status != 0 || got == nil {
			t.Errorf("%s: status %d: %s", tc.args, status, said)
			continue
		}
		if diff := cmp.Diff(tc.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.args, diff)
		}
	}
}

func TestServeRejectsIncompatibleFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--profile core":                          "--profile needs --serve",
		"--http 127.0.0.1:1":                      "--http needs --serve",
		"--serve --token-file /t":                 "--token-file needs --serve --http",
		"--serve --profile nothing":               `unknown profile "nothing"; known are native, core, all`,
		"--serve --tool-prefix a/b":               "only letters",
		"--serve --root /no/such/folder":          "not a folder",
		"--as ci":                                 "--as needs --serve",
		"--serve --as a/b":                        "give 1 to 64 letters",
		"--serve --as=":                           "give 1 to 64 letters",
		"--serve --insecure":                      "--insecure needs --serve --http",
		"--serve --as " + strings.Repeat("a", 65): "give 1 to 64 letters",
		"--serve something":                       `unknown command "something"`,
		"--serve --root /dev/null --http :":       "not a folder",
	} {
		if got, status, said := runServe(t, strings.Fields(args)...); got != nil || status != output.StatusUsage || !strings.Contains(said, want) {
			t.Errorf("%s: %+v, status %d: %s", args, got, status, said)
		}
	}
}

func TestHelpDescribesServing(t *testing.T) {
	_, status, said := runServe(t, "--help")
	for _, want := range []string{"--serve", "--http", "--profile", "--read-only", "--tool-prefix", "--token-file", "--as", "--insecure"} {
		if !strings.Contains(said, want) {
			t.Errorf("status %d, and %s is not in the help:\n%s", status, want, said)
		}
	}
	if strings.Contains(said, "--conformance") {
		t.Error("the help offers a profile of the tests")
	}
}

func TestCompletionOffersProfiles(t *testing.T) {
	_, status, said := runServe(t, "__complete", "--serve", "--profile", "")
	if status != 0 || !strings.Contains(said, "native\ncore\nall\n") {
		t.Errorf("status %d: %s", status, said)
	}
}
