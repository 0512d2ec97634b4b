package mcp

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// listOf returns the result of tools/list and its size in bytes.
func listOf(t *testing.T, o toolkit.Options) (tools []listedTool, size int) {
	t.Helper()
	for _, one := range selectTools(o) {
		tools = append(tools, describeTool(o.ToolPrefix, one))
	}
	b, err := json.Marshal(&toolList{CacheScope: "private", Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return tools, len(b)
}

// Some clients truncate longer descriptions.
const maxDescription = 2048

func TestToolListIsShort(t *testing.T) {
	t.Parallel()
	seeds := []toolkit.Profile{toolkit.Core, toolkit.Android, toolkit.OS, toolkit.Terminal, toolkit.Plugin}
	for _, tc := range []struct {
		profiles []toolkit.Profile
		most     int
		machines bool
	}{
		{[]toolkit.Profile{toolkit.Native}, 10_100, false},
		{[]toolkit.Profile{toolkit.Native}, 11_000, true},
		{[]toolkit.Profile{toolkit.TerminalTools}, 8_300, false},
		{[]toolkit.Profile{toolkit.All}, 19_000, true},
		{seeds, 16 << 10, false},
	} {
		tools, size := listOf(t, toolkit.Options{Profiles: tc.profiles, NoMachines: !tc.machines})
		if size > tc.most {
			t.Errorf("the list of the %d tools of %v has %d bytes, more than %d", len(tools), tc.profiles, size, tc.most)
		}
		for _, l := range tools {
			checkDescriptions(t, l)
		}
	}
}

func checkDescriptions(t *testing.T, l listedTool) {
	t.Helper()
	texts := []string{l.Doc}
	var walk func(value any)
	walk = func(value any) {
		members, _ := value.(map[string]any)
		for name, member := range members {
			if text, ok := member.(string); ok && name == "description" {
				texts = append(texts, text)
			}
			walk(member)
		}
	}
	var schema any
	if err := json.Unmarshal(l.In, &schema); err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	walk(schema)
	for _, text := range texts {
		if len(text) >= maxDescription {
			t.Errorf("%s has a description of %d bytes: %.60s…", l.Name, len(text), text)
		}
	}
}

func TestEachProfileListsItsToolsOnce(t *testing.T) {
	t.Parallel()
	tools, _ := listOf(t, toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}})
	names := map[string]bool{}
	for _, l := range tools {
		if names[l.Name] {
			t.Errorf("%s is listed twice", l.Name)
		}
		names[l.Name] = true
		if !regexp.MustCompile(`^[a-z][a-z0-9_-]{1,63}$`).MatchString(l.Name) {
			t.Errorf("%s is no name for a tool", l.Name)
		}
		if len(l.Doc) < 10 {
			t.Errorf("%s does not say what it is for", l.Name)
		}
	}
	for _, p := range toolkit.Profiles() {
		for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{p}}) {
			if !names[one.Name] {
				t.Errorf("%s of profile %s is not in all", one.Name, p)
			}
		}
	}
}

func TestNativeProfileListsItsTools(t *testing.T) {
	t.Parallel()
	tools, _ := listOf(t, toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}})
	var names []string
	for _, l := range tools {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	want := strings.Fields(`agent_list agent_prompt agent_transcript agent_wait edit env_get env_set env_unset exec find grep history ls machine_list output_search
		process_list process_log process_restart process_start process_stop process_stop_all process_wait
		read session_exec session_kill session_list session_read session_resize session_screen session_start
		session_wait session_write write`)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("native tools (-want +got):\n%s", diff)
	}
}

func TestTerminalToolsProfileHasNativeToolsExceptFileTools(t *testing.T) {
	t.Parallel()
	var want, got []string
	files := strings.Fields("read write edit grep find ls")
	for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}}) {
		if !slices.Contains(files, one.Name) {
			want = append(want, one.Name)
		}
	}
	for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.TerminalTools}}) {
		got = append(got, one.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 20 {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestMachinesAreOfferedOnlyIfThereAreAny(t *testing.T) {
	t.Parallel()
	for _, p := range toolkit.Profiles() {
		for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{p}, NoMachines: true}) {
			if one.Hosted || one.Name == "machine_list" {
				t.Errorf("%s: %s is offered for other machines", p, one.Name)
			}
		}
	}
}

func TestReadOnlyServerRevealsNoSecret(t *testing.T) {
	t.Parallel()
	for _, p := range []toolkit.Profile{toolkit.Native, toolkit.OS, toolkit.All} {
		tools := selectTools(toolkit.Options{Profiles: []toolkit.Profile{p}, ReadOnly: true})
		i := slices.IndexFunc(tools, func(one toolkit.Tool) bool { return one.Name == "env_get" })
		if i < 0 || strings.Contains(tools[i].Doc+string(tools[i].Schema()), "reveal") {
			t.Errorf("%s: env_get is at %d, or reveals", p, i)
		}
	}
}

func TestReadOnlyListsOnlyReadingTools(t *testing.T) {
	t.Parallel()
	tools, _ := listOf(t, toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}, ReadOnly: true})
	if len(tools) == 0 {
		t.Fatal("nothing is left")
	}
	for _, l := range tools {
		if !l.Hints.ReadOnly {
			t.Errorf("%s is left", l.Name)
		}
	}
}

func TestSchemasAreObjectsWithoutUnionsOfTypes(t *testing.T) {
	t.Parallel()
	for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}}) {
		schema := toolkit.InputSchema(one.In)
		var s map[string]any
		if err := json.Unmarshal(schema, &s); err != nil || s["type"] != "object" {
			t.Errorf("%s: the schema is no object: %s, %v", one.Name, schema, err)
		}
		checkTypes(t, one.Name, s)
	}
}

// checkTypes fails if a type in a schema is not a single word.
func checkTypes(t *testing.T, at string, schema map[string]any) {
	t.Helper()
	if kind, ok := schema["type"]; ok && reflect.TypeOf(kind).Kind() != reflect.String {
		t.Errorf("%s has the type %v", at, kind)
	}
	if value, ok := schema["default"]; ok && !allowsValue(schema, value) {
		t.Errorf("%s has the default %v: %v", at, value, schema)
	}
	if schema["type"] == "array" && schema["items"] == nil {
		t.Errorf("%s does not say what is in it", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		checkTypes(t, at+"."+name, p.(map[string]any))
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			checkTypes(t, at+"."+key, inner)
		}
	}
}

// allowsValue reports whether a schema allows a value.
func allowsValue(schema map[string]any, value any) bool {
	if choices, ok := schema["enum"].([]any); ok && !slices.Contains(choices, value) {
		return false
	}
	n, number := value.(float64)
	least, bounded := schema["minimum"].(float64)
	most, limited := schema["maximum"].(float64)
	switch schema["type"] {
	case "integer", "number":
		return number && (!bounded || n >= least) && (!limited || n <= most)
	case "string":
		return reflect.TypeOf(value).Kind() == reflect.String
	}
	return reflect.TypeOf(value).Kind() == reflect.Bool
}

func TestSharedArgumentsHaveOneType(t *testing.T) {
	t.Parallel()
	types := map[string]map[string]string{}
	for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.Native}}) {
		var s struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(one.Schema(), &s); err != nil {
			t.Fatal(err)
		}
		for name, p := range s.Properties {
			if p.Type == "" {
				t.Errorf("%s.%s has no type", one.Name, name)
			}
			if name == "maxOutput" || name == "lease" {
				t.Errorf("%s lists %s", one.Name, name)
			}
			if types[name] == nil {
				types[name] = map[string]string{}
			}
			types[name][p.Type] = one.Name
		}
	}
	for _, name := range []string{"since", "max_output", toolkit.HostArgument} {
		if len(types[name]) != 1 {
			t.Errorf("%s has the types %v", name, types[name])
		}
	}
}

func TestSchemasStateDefaultsAndLimits(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{}
	for _, one := range selectTools(toolkit.Options{Profiles: []toolkit.Profile{toolkit.All}}) {
		var s struct {
			Properties map[string]struct{ Default, Minimum, Maximum any }
		}
		if err := json.Unmarshal(toolkit.InputSchema(one.In), &s); err != nil {
			t.Fatal(err)
		}
		for name, p := range s.Properties {
			defaults[one.Name+"."+name] = []any{p.Default, p.Minimum, p.Maximum}
		}
	}
	for name, want := range map[string][]any{
		"exec.timeoutMs":                       {30_000.0, 100.0, 300_000.0},
		"exec.max_output":                      {8000.0, nil, nil},
		"process_log.max_output":               {float64(toolkit.DefaultSize), nil, nil},
		"session_exec.timeout_ms":              {30_000.0, nil, 300_000.0},
		"grep.limit":                           {100.0, 1.0, nil},
		"local_run_shell.timeout_ms":           {60_000.0, nil, 300_000.0},
		"termux_fs.parents":                    {true, nil, nil},
		"shell_cmd.timeoutSeconds":             {5.0, 0.0, nil},
		"run_terminal_command.timeout_seconds": {30.0, 0.0, nil},
		"write_output.format":                  {"markdown", nil, nil},
	} {
		if diff := cmp.Diff(want, defaults[name]); diff != "" {
			t.Errorf("%s: default, least and most (-want +got):\n%s", name, diff)
		}
	}
}

func TestInputSchemaFollowsItsGoType(t *testing.T) {
	t.Parallel()
	type part struct {
		N *int `json:"n,omitempty"`
	}
	type in struct {
		part
		Name  string            `json:"name" doc:"a \"name\""`
		Kind  string            `json:"kind,omitempty" enum:"a,b" default:"a"`
		Many  *int              `json:"many,omitempty" default:"3" min:"1" max:"9"`
		Env   map[string]string `json:"env,omitempty"`
		Parts []part            `json:"parts,omitempty"`
		Kinds []string          `json:"kinds,omitempty" enum:"a,b"`
		Any   any               `json:"any,omitempty"`
		When  time.Time         `json:"when,omitzero"`
		own   int
	}
	want := `{"type":"object","properties":{"n":{"type":"integer"},"name":{"type":"string","description":"a \"name\""},` +
		`"kind":{"type":"string","enum":["a","b"],"default":"a"},"many":{"type":"integer","default":3,"minimum":1,"maximum":9},"env":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"parts":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},"kinds":{"type":"array","items":{"type":"string","enum":["a","b"]}},"any":{},` +
		`"when":{"type":"string"}},"required":["name"]}`
	if got := string(toolkit.InputSchema(reflect.TypeFor[in]())); got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
	_ = in{own: 1}
}

func TestToolNamesAcceptUnderscoresForHyphens(t *testing.T) {
	t.Parallel()
	s := newServer(t.Context(), toolkit.Options{Profiles: []toolkit.Profile{toolkit.Core}, ToolPrefix: "p_", CWD: "/"})
	s.names["p_some-tool-name"] = true
	for called, want := range map[string]string{
		"p_some-tool-name": "p_some-tool-name", "p_some_tool_name": "p_some-tool-name",
		"some_tool_name": "some_tool_name", "p_some": "p_some",
	} {
		if got := s.canonicalName(called); got != want {
			t.Errorf("%s is %s, want %s", called, got, want)
		}
	}
}

func TestRootsComeFromOptionsOrProfile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		o     toolkit.Options
		roots []string
		cwd   string
	}{
		{toolkit.Options{CWD: "/w", Home: "/h"}, []string{"/w", "/h/outputs"}, "/w"},
		{toolkit.Options{CWD: "/w", Home: "/h", Profiles: []toolkit.Profile{toolkit.Plugin}}, []string{"/w", "/h"}, "/w"},
		{toolkit.Options{CWD: "/w", Home: "/h", Profiles: []toolkit.Profile{toolkit.Android}}, []string{"/w", "/h"}, "/w"},
		{toolkit.Options{CWD: "/w", Home: "/h", Profiles: []toolkit.Profile{toolkit.Core}}, []string{"/w", "/h"}, "/w"},
		{toolkit.Options{CWD: "/w", Home: "/h", Profiles: []toolkit.Profile{toolkit.OS}}, []string{"/w", "/h/outputs"}, "/w"},
		{toolkit.Options{CWD: "/w/sub", Roots: []string{"/x", "/w"}}, []string{"/x", "/w"}, "/w/sub"},
		{toolkit.Options{CWD: "/wider", Roots: []string{"/w"}}, []string{"/w"}, "/w"},
	} {
		got := tc.o.WithDefaults()
		if !slices.Equal(got.Roots, tc.roots) || got.CWD != tc.cwd {
			t.Errorf("%+v: roots %v and folder %s", tc.o, got.Roots, got.CWD)
		}
	}
}

func TestActorIsNamedAfterItsClient(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                       "agent:unknown",
		"Claude Code":            "agent:Claude-Code/1",
		"agent:codex":            "agent:codex/1",
		"agent:":                 "agent:unknown",
		"x\x1b[31m\n":            "agent:x--31m-/1",
		strings.Repeat("é", 100): "agent:" + strings.Repeat("é", 32) + "/1",
	} {
		if got := toolkit.ActorOf(&sdk.Implementation{Name: name, Version: "1"}); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

func TestCommandLineUsesShellOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                 nil,
		" python3  -i ":    {"python3", "-i"},
		"cd x && make":     {"/bin/sh", "-c", "cd x && make"},
		"FOO=1 make":       {"/bin/sh", "-c", "FOO=1 make"},
		"echo 'two words'": {"/bin/sh", "-c", "echo 'two words'"},
	} {
		if got := toolkit.Argv(line); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestEffectDeterminesToolHints(t *testing.T) {
	t.Parallel()
	for effect, want := range map[api.Effect]string{
		api.Read: `{"readOnlyHint":true}`, api.Write: `{"destructiveHint":false}`, api.Destructive: `{}`,
	} {
		got, err := json.Marshal(describeTool("", toolkit.Tool{Effect: effect, In: reflect.TypeFor[struct{}](), Out: reflect.TypeFor[toolkit.None]()}).Hints)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s", effect, got, want)
		}
	}
}
