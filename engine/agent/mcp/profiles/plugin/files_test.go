package plugin

import (
	"strings"
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestReadSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	text := api.FilesReadOutput{Kind: "text", Text: "a\n", FirstLine: 1, LastLine: 2, TotalLines: 9}
	cut := func(how string) api.FilesReadOutput { o := text; o.Cut = how; return o }
	line := api.FilesReadOutput{Kind: "text", Cut: "line", FirstLine: 3, LineBytes: 60 << 10}
	for _, tc := range []struct {
		args   string
		out    api.FilesReadOutput
		err    error
		want   string
		failed bool
	}{
		{`{"path":"f"}`, text, nil, "a\n", false},
		{`{"path":"f"}`, cut("lines"), nil, "a\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]", false},
		{`{"path":"f"}`, cut("bytes"), nil, "a\n\n[Showing lines 1-2 of 9 (50.0KB limit). Use offset=3 to continue.]", false},
		{`{"path":"f","limit":2}`, cut("limit"), nil, "a\n\n[7 more lines in file. Use offset=3 to continue.]", false},
		{`{"path":"a b"}`, line, nil, "[Line 3 is 60.0KB, exceeds 50.0KB limit. Use exec: sed -n '3p' 'a b' | head -c 51200]", false},
		{`{"path":"f","offset":12}`, api.FilesReadOutput{Kind: "text", TotalLines: 9}, nil, "Offset 12 is beyond end of file (9 lines total)", true},
		{`{"path":"f"}`, api.FilesReadOutput{Kind: "binary", Size: 2048}, nil, "Cannot show f: it is a binary file (2.0KB).", true},
		{`{"path":"f"}`, api.FilesReadOutput{Kind: "image", Size: 5 << 20}, nil, "Cannot show f: the image is 6.7MB in base64; a result holds at most 5.0MB.", true},
		{`{"path":"f","offset":0}`, text, nil, "read f: offset is a line number from 1", true},
		{`{"path":"f","limit":0}`, text, nil, "read f: limit must be at least 1", true},
		{`{"path":"f"}`, text, api.Errorf(api.CodeNotFound, "read f: none"), "read f: none", true},
	} {
		f := newAgent(t, toolkit.Plugin)
		mcptest.Handle(f.Fake, api.FilesRead, func(in api.FilesReadInput) (api.FilesReadOutput, error) {
			if !strings.HasPrefix(in.Path, "/home/me/") {
				t.Errorf("it reads %s", in.Path)
			}
			return tc.out, tc.err
		})
		f.Check("read", tc.args, tc.want, tc.failed)
	}
}

func TestReadJSONFollowsAPointer(t *testing.T) {
	t.Parallel()
	f := newAgent(t, toolkit.Plugin)
	mcptest.Handle(f.Fake, api.FilesReadJSON, func(api.FilesReadJSONInput) (api.FilesReadJSONOutput, error) {
		return api.FilesReadJSONOutput{Value: map[string]any{"a": []any{1, map[string]any{"b/c": true}}}}, nil
	})
	for _, tc := range []struct {
		pointer, want string
		failed        bool
	}{
		{"", `{"a":[1,{"b/c":true}]}`, false},
		{"/a/0", "1", false},
		{"/a/1/b~1c", "true", false},
		{"/a/2", `read JSON: nothing at "2" of pointer "/a/2"`, true},
		{"/x", `read JSON: nothing at "x" of pointer "/x"`, true},
		{"a", `read JSON: pointer "a" does not begin with /`, true},
	} {
		f.Check("read_json", `{"path":"f","pointer":"`+tc.pointer+`"}`, tc.want, tc.failed)
	}
}

func TestWriteAndEditSayWhatChanged(t *testing.T) {
	t.Parallel()
	f := newAgent(t, toolkit.Plugin)
	mcptest.Handle(f.Fake, api.FilesWrite, func(in api.FilesWriteInput) (api.FilesWriteOutput, error) {
		return api.FilesWriteOutput{Written: int64(len(in.Text))}, nil
	})
	f.Check("write", `{"path":"f","content":"abc"}`, "Wrote 3 bytes to f.", false)
	f.Check("write", `{"path":"f","content":"abc","append":true}`, "Appended 3 bytes to f.", false)
	mcptest.Handle(f.Fake, api.FilesEdit, func(in api.FilesEditInput) (api.FilesEditOutput, error) {
		return api.FilesEditOutput{Replacements: []int{1, 2}[:len(in.Edits)]}, nil
	})
	f.Check("edit", `{"path":"f","edits":[{"search":"a","replace":"b"},{"search":"c","replace":"d","replaceAll":true}]}`,
		"Updated f (edit 1: 1 replacement, edit 2: 2 replacements).", false)
	f.Check("write_output", `{"name":"..","content":""}`, "write report \"..\": the name consists only of dots and blanks\nhint: give a word or two saying what the report is about", true)
}

func TestSearchResultsHaveUsablePaths(t *testing.T) {
	t.Parallel()
	hit := func(path string, line int64, match bool) api.GrepLine {
		return api.GrepLine{Path: path, Line: line, Match: match, Text: "x"}
	}
	for _, tc := range []struct {
		args  string
		file  bool
		lines []api.GrepLine
		want  string
	}{
		{`{"pattern":"x"}`, false, nil, "No matches found."},
		{`{"pattern":"x"}`, false, []api.GrepLine{hit("a", 1, true), hit("b", 2, true)}, "a:1:x\nb:2:x"},
		{`{"pattern":"x","path":"."}`, false, []api.GrepLine{hit("a", 1, true)}, "a:1:x"},
		{`{"pattern":"x","path":"src/"}`, false, []api.GrepLine{hit("a", 1, true)}, "src/a:1:x"},
		{`{"pattern":"x","path":"/"}`, false, []api.GrepLine{hit("a", 1, true)}, "/a:1:x"},
		{`{"pattern":"x","path":"src/file"}`, true, []api.GrepLine{hit("file", 1, true)}, "src/file:1:x"},
		{`{"pattern":"x","path":"dir/dir"}`, false, []api.GrepLine{hit("dir", 1, true)}, "dir/dir/dir:1:x"},
		{`{"pattern":"x","context":1}`, false, []api.GrepLine{hit("a", 1, true), hit("a", 2, false), hit("a", 9, true)}, "a:1:x\na-2-x\n--\na:9:x"},
	} {
		f := newAgent(t, toolkit.Plugin)
		mcptest.Handle(f.Fake, api.FilesGrep, func(in api.FilesGrepInput) (api.FilesGrepOutput, error) {
			if in.Limit != grepLimit {
				t.Errorf("its limit is %d", in.Limit)
			}
			return api.FilesGrepOutput{Lines: tc.lines, File: tc.file}, nil
		})
		f.Check("grep", tc.args, tc.want, false)
	}
}

func TestListsAreTruncatedWithANote(t *testing.T) {
	t.Parallel()
	f := newAgent(t, toolkit.Plugin)
	name := strings.Repeat("n", maxSearchText/2)
	mcptest.Handle(f.Fake, api.FilesFind, func(api.FilesFindInput) (api.FilesFindOutput, error) {
		return api.FilesFindOutput{Paths: []string{name, name, "last"}, Limited: true}, nil
	})
	f.Check("find", `{"pattern":"*"}`, name+"\n[Output truncated to 65536 bytes; 2 line(s) omitted.]\n[Limit of 1000 results reached; there are more.]", false)
	f.Check("find", `{"pattern":"*","limit":-1}`, "limit cannot be negative", true)
	for profile, want := range map[toolkit.Profile]string{
		toolkit.Plugin: "./\n../\na\ndir/\nlink/\n[Output truncated by limit: 3 entries omitted.]",
		toolkit.Native: "a\ndir/\nlink/\n[Output truncated by limit: 3 entries omitted.]",
	} {
		f := newAgent(t, profile)
		mcptest.Handle(f.Fake, api.FilesList, func(in api.FilesListInput) (api.FilesListOutput, error) {
			return api.FilesListOutput{Entries: []api.FileInfo{{Name: "a"}, {Name: "dir", Type: "dir"}, {Name: "link", ToDir: true}}, Omitted: 3}, nil
		})
		f.Check("ls", `{}`, want, false)
	}
}
