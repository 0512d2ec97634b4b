package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

const packageText = `{
	"name": "shop",
	"scripts": {
		"predev": "node check.js",
		"dev": "vite --port 3000",
		"build": "tsc -b",
		"start:api": "node api.js",
		"prepare": "husky",
		"-odd": "x"
	},
	"devDependencies": {"vite": "^7"}
}
`

func TestPackageScriptsStartOnlyIfNamed(t *testing.T) {
	f := mustParse(t, "package.json", packageText)
	dir := filepath.Dir(f.Path)
	entry := func(line int, name, script string) Entry {
		return Entry{Name: name, At: Position{line, 3}, Manual: true, Script: script,
			Start: api.ProcessStartInput{Name: name, Command: []string{"npm", "run", name}, CWD: dir}}
	}
	want := []Entry{entry(5, "dev", "vite --port 3000"), entry(6, "build", "tsc -b"), entry(7, "start:api", "node api.js")}
	if diff := cmp.Diff(want, f.Entries); diff != "" {
		t.Error(diff)
	}
	if f.Name != "shop" {
		t.Errorf("the project is %s", f.Name)
	}
	if diff := cmp.Diff([]string{`line 9, column 3: script "-odd" is left out: npm would take its name for an option`}, f.Notices); diff != "" {
		t.Error(diff)
	}
	if order, err := f.Order(nil); err != nil || len(order) > 0 {
		t.Errorf("without a name it starts %v, %v", order, err)
	}
	if order, err := f.Order([]string{"build"}); err != nil || len(order) != 1 || order[0].Name != "build" {
		t.Errorf("build starts %v, %v", order, err)
	}
	for name, serves := range map[string]bool{"dev": true, "start:api": true, "watch-css": true, "build": false, "restart": false} {
		if e := (Entry{Name: name}); e.Serves() != serves {
			t.Errorf("Serves of %s is %v", name, !serves)
		}
	}
}

func TestLockFileDecidesThePackageManager(t *testing.T) {
	for _, test := range []struct {
		files map[string]string
		want  string
	}{
		{nil, "npm"},
		{map[string]string{"web/package-lock.json": ""}, "npm"},
		{map[string]string{"web/pnpm-lock.yaml": ""}, "pnpm"},
		{map[string]string{"web/yarn.lock": ""}, "yarn"},
		{map[string]string{"web/bun.lock": ""}, "bun"},
		{map[string]string{"web/bun.lockb": ""}, "bun"},
		{map[string]string{"yarn.lock": ""}, "yarn"},
		{map[string]string{"yarn.lock": "", "web/package-lock.json": ""}, "npm"},
		{map[string]string{"web/package.json": `{"packageManager": "pnpm@9.1.0+sha512.a"}`, "web/yarn.lock": ""}, "pnpm"},
		{map[string]string{"package.json": `{"packageManager": "bun"}`}, "bun"},
		{map[string]string{"web/package.json": `{"packageManager": "rm -rf"}`}, "npm"},
		{map[string]string{"web/package.json": `{`, "web/yarn.lock": ""}, "yarn"},
	} {
		dir := t.TempDir()
		for _, folder := range []string{".git", "web"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range test.files {
			write(t, filepath.Join(dir, name), text)
		}
		if got := packageManager(filepath.Join(dir, "web")); got != test.want {
			t.Errorf("%v: %s, want %s", test.files, got, test.want)
		}
	}
}

func TestFindPrefersProjectFilesToPackageJSON(t *testing.T) {
	dir := t.TempDir()
	web := filepath.Join(dir, "web")
	if err := os.Mkdir(web, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(web, "package.json"), packageText)
	if path, err := Find(web); err != nil || path != filepath.Join(web, "package.json") {
		t.Errorf("%s, %v", path, err)
	}
	write(t, filepath.Join(dir, "Procfile"), "a: b\n")
	if path, err := Find(web); err != nil || path != filepath.Join(dir, "Procfile") {
		t.Errorf("%s, %v", path, err)
	}
}

func TestLastDuplicateScriptWins(t *testing.T) {
	for text, want := range map[string]map[string]string{
		`{"scripts": {"a": "b", "gone": "x", "-z": ""}, "scripts": {"a": "c", "d": "e"}}`: {"a": "c", "d": "e"},
		`{"scripts": {"a": "b", "a": "c"}}`:                                               {"a": "c"},
		`{"scripts": {"dev": "b", "predev": "c"}, "scripts": {"predev": "d"}}`:            {"predev": "d"},
	} {
		f := mustParse(t, "package.json", text)
		got := map[string]string{}
		for _, e := range f.Entries {
			got[e.Name] = e.Script
		}
		if diff := cmp.Diff(want, got); diff != "" || len(f.Notices) > 0 {
			t.Errorf("%s: %s%q", text, diff, f.Notices)
		}
	}
}

func TestOmittedScriptIsReportedWithItsReason(t *testing.T) {
	for name, why := range map[string]string{
		"-x": "npm would take its name for an option", "": "must not be empty", "a ": "must not begin or end with a blank",
		"0123456789ab": "must not look like an id", `a\u0001`: "must consist of visible characters", "`x`": "must not contain", "build/prod": "must not contain",
		strings.Repeat("n", 60): "must have at most 56 characters",
	} {
		f := mustParse(t, "package.json", `{"scripts": {"ok": "y", "`+name+`": "x"}}`)
		if len(f.Entries) != 1 || len(f.Notices) != 1 || !strings.Contains(f.Notices[0], "is left out: ") || !strings.Contains(f.Notices[0], why) {
			t.Errorf("%q: %q, want %s", name, f.Notices, why)
		}
	}
}

func TestPackageErrorsHavePositions(t *testing.T) {
	for text, says := range map[string]string{
		"{\n  \"scripts\": {\n    \"dev\": 3\n  }\n}": `line 3, column 5: script "dev" must be a line of text`,
		"{\n  \"scripts\": []\n}":                     "line 2, column 3: scripts must be a JSON object",
		"{\n  \"scripts\": {\"a\\\"b\": 3}\n}":        `line 2, column 15: script "a\"b" must be a line of text`,
		`{"é": [1, 2], "scripts": []}`:                "line 1, column 15: scripts must be a JSON object",
		"{\n  \"a\": 1,\n}":                           "line 3, column 1: invalid character '}'",
		"[]":                                          "line 1, column 1: the file must be a JSON object",
		"":                                            "line 1, column 1: unexpected end",
		`{"name": "x"}`:                               "it has no scripts",
	} {
		_, err := parse(t, "package.json", text)
		var mistake *Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
}
