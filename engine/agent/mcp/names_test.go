package mcp

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/tests/seed"
)

func TestUnusualNamesAreQuotedAndAcceptedQuoted(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	shown := map[string]string{ // inside the folder; in a path, spaces and quotes are in the middle
		"new\nline.txt": `"new\nline.txt"`, `new\nline.txt`: `new\nline.txt`, `back\slash`: `back\slash`, "rtl\u202egnp": `"rtl\u202egnp"`,
		"bad\xff": `"bad\xff"`, "bad\ufffd": "bad\ufffd", `"quoted"`: `"\"quoted\""`, "50%41": "50%41", " space": `" space"`, "größe": "größe",
	}
	for name := range shown {
		r.createFile("dir/"+name, "text")
	}
	list := func(tool, prefix, suffix string, args object) {
		t.Helper()
		rows := []string{}
		for name, quoted := range shown {
			if prefix != "" {
				quoted = r.agent.DisplayName(prefix + name)
			}
			rows = append(rows, quoted+suffix)
		}
		got, noted := strings.CutSuffix(resultText(r.call(tool, args)), toolkit.QuotedNote)
		lines := strings.Split(got, "\n")
		slices.Sort(rows)
		slices.Sort(lines)
		if diff := cmp.Diff(rows, lines); diff != "" || !noted {
			t.Errorf("%s: %s", tool, diff)
		}
	}
	list("ls", "", "", object{"path": "dir"})
	list("find", "dir/", "", object{"path": "dir", "pattern": "*"})
	list("grep", "dir/", ":1:text", object{"path": "dir", "pattern": "^text"})
	for name := range shown {
		path := r.agent.DisplayName("dir/" + name)
		r.checkExact(t, exactCall{"read", object{"path": path}, "text", false})
		r.checkExact(t, exactCall{"edit", object{"path": path, "edits": []object{{"search": "text", "replace": "words"}}}, "Updated " + path + " (edit 1: 1 replacement).", false})
		r.checkExact(t, exactCall{"ls", object{"path": path}, path, false})
		r.checkExact(t, exactCall{"write", object{"path": path, "content": "new"}, "Wrote 3 bytes to " + path + ".", false})
		if got := r.readContent("dir/" + name); got != "new" {
			t.Errorf("%q holds %q", name, got)
		}
	}
}

func TestFoldersWithQuotedNamesAreSearched(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("odd\n/f", "text")
	r.checkExact(t, exactCall{"ls", object{}, `"odd\n/"` + toolkit.QuotedNote, false})
	r.checkExact(t, exactCall{"ls", object{"path": `"odd\n/"`}, "f", false})
	r.checkExact(t, exactCall{"find", object{"path": `"odd\n"`, "pattern": "f"}, `"odd\n/f"` + toolkit.QuotedNote, false})
	r.checkExact(t, exactCall{"grep", object{"path": `"odd\n/f"`, "pattern": "text"}, `"odd\n/f":1:text` + toolkit.QuotedNote, false})
}

func TestOtherProfilesWriteNamesUnquoted(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Plugin)
	r.createFile("new\nline", "a")
	r.createFile(`"q"`, "b")
	r.checkExact(t, exactCall{"ls", object{}, "./\n../\n\"q\"\nnew\\nline", false})
	r.checkExact(t, exactCall{"read", object{"path": `"q"`}, "b", false})
}

func TestAnyDisplayedNameParsesBack(t *testing.T) {
	t.Parallel()
	f := &toolkit.Agent{Options: &toolkit.Options{CWD: "/", Home: "/"}}
	seed.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "is text") {
			name = rapid.StringN(1, 40, -1).Draw(t, "text")
		}
		name = strings.ReplaceAll(name, "\x00", "0") // a file name cannot contain it
		shown := f.DisplayName(name)
		if got := f.ParsePath(shown); got != name || strings.ContainsAny(shown, "\n\r\x1b") {
			t.Fatalf("%q is shown as %q and read as %q", name, shown, got)
		}
	})
}

func TestShellQuotedNameReachesProgramUnchanged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "two words", "it's", "bad\xff'%d\\x $HOME\n.", "new\nline"} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+toolkit.QuoteForShell(name)).Output()
		if err != nil || string(out) != name {
			t.Errorf("%q arrives as %q, %v", name, out, err)
		}
	}
}
